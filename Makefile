# Every target makes what it needs: an environment in .venv, with or without uv installed.
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
RUN := .venv/bin
READY := .venv/.ready

.PHONY: demo dashboard test thorough lint end-to-end bench lock clean help

help:
	@echo "make demo        evaluate the shipped handbook run and name the report to open"
	@echo "make dashboard   browse the runs in reports/, case by case"
	@echo "make test        run the tests (under two minutes)"
	@echo "make thorough    the slower ones: whole runs in shards, in pieces, in one pass and in two"
	@echo "make lint        format, lint, types, import rules"
	@echo "make end-to-end  the tests that start real processes and a real browser"
	@echo "make bench       measure each bar of the speed contract (N=200000: the quick rows)"

demo: $(READY)
	@$(RUN)/ragtriage evaluate --cases data/handbook/cases.jsonl --trace data/handbook/run-a.jsonl \
	  --corpus data/handbook/corpus.jsonl --about data/handbook/about-a.toml --k 5 --format table

dashboard: $(READY)
	@$(UV) sync --frozen --quiet --extra dashboard
	@$(RUN)/ragtriage dashboard reports

test: $(READY)
	@$(RUN)/pytest -q -n auto

thorough: $(READY)
	@$(RUN)/pytest -q -n auto -m thorough

lint: $(READY)
	@$(RUN)/ruff format --check .
	@$(RUN)/ruff check .
	@$(RUN)/mypy
	@$(RUN)/lint-imports

end-to-end: $(READY)
	@$(RUN)/pytest -q -m end_to_end -n auto --dist loadfile

bench: $(READY)
	@$(RUN)/python -m tests.benchmarks.whole_run --cases $(or $(N),1000000)

lock:
	@$(UV) lock --upgrade

clean:
	@rm -rf .venv .uv build dist

$(READY): pyproject.toml uv.lock
	@test -x "$(UV)" || command -v "$(UV)" >/dev/null || \
	  (python3 -m venv .uv && .uv/bin/pip install --quiet uv)
	@$(UV) sync --frozen --quiet
	@touch $@
