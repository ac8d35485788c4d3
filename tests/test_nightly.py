"""The steps of a night, without a server: nights follow each other in one folder."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import ragtriage
from ragtriage import nightly
from ragtriage.accepting import accept_run, accepted_run
from ragtriage.errors import InputError, UsageError
from ragtriage.nightly_request import NightlyRequest
from ragtriage.publish.nightly import Night, render, verdict
from ragtriage.request import EvaluateRequest
from tests.support import Record, lines_of, snapshot


def case(name: str, **more: Any) -> Record:
    """A case that passes."""
    return {
        "case_id": name,
        "question": f"question {name}",
        "required_ids": ["D"],
        "retrieved_ids": ["D", "x"],
        "context_ids": ["D", "x"],
        "answer_correct": True,
    } | more


GOOD = [case("a"), case("b"), case("c")]
ONE_WORSE = [case("a"), case("b"), case("c", answer_correct=False)]
OTHER_LABELS = [case("a"), case("b"), case("c", required_ids=["x"])]


def request_of(folder: Path, **options: Any) -> NightlyRequest:
    """A night over `input.jsonl`, its runs in `reports`."""
    asked = {"inputs": [str(folder / "input.jsonl")], "out": str(folder / "reports")}
    return NightlyRequest.model_validate({"evaluate": asked} | options)


def evaluated(folder: Path, records: list[Record], run_id: str, **options: Any) -> Path:
    """The run of one night."""
    (folder / "input.jsonl").write_text(lines_of(records), encoding="utf-8")
    return ragtriage.evaluate(
        folder / "input.jsonl", out=str(folder / "reports"), run_id=run_id, **options
    ).folder


def the_night(request: NightlyRequest, run: Path) -> Night:
    """All steps after the evaluation, none refused."""
    comparison = nightly.compare_with_accepted(request, run)
    failures = nightly.failures_of(run, comparison)
    accepted = nightly.settle_acceptance(request, run, failures)
    history = nightly.rebuild_history(request.out)
    return nightly.night_of(run, comparison, accepted=accepted, history=history, failures=failures)


def accepted_in(folder: Path) -> str | None:
    found = accepted_run(folder / "reports")
    return None if found is None else found.run_id


def test_the_first_night_accepts_itself_and_the_second_is_compared_with_it(tmp_path: Path) -> None:
    request = request_of(tmp_path, max_regressions=0)
    first = the_night(request, evaluated(tmp_path, GOOD, "one"))
    assert (first.accepted, first.comparison, first.failures) == ("one", None, [])
    assert set(first.pages) == {"report", "history"}
    second = the_night(request, evaluated(tmp_path, GOOD, "two"))
    assert (second.accepted, second.failures) == (None, [])
    assert second.pages["comparison"] == tmp_path / "reports" / "compare-one-two" / "report.html"
    assert accepted_in(tmp_path) == "one"
    assert all(page.is_file() for page in second.pages.values())
    assert "two" in (tmp_path / "reports" / "index.html").read_text(encoding="utf-8")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("accept", "after"),
    [("first", ["one", "one", "one"]), ("passing", ["one", "one", "three"]), ("never", [None] * 3)],
)
def test_which_nights_are_accepted(tmp_path: Path, accept: str, after: list[str | None]) -> None:
    """The middle night has a regression, so where it is compared it fails."""
    request = request_of(tmp_path, accept=accept, max_regressions=0)
    nights = (("one", GOOD), ("two", ONE_WORSE), ("three", GOOD))
    seen = []
    for run_id, records in nights:
        night = the_night(request, evaluated(tmp_path, records, run_id))
        seen.append(accepted_in(tmp_path))
        assert bool(night.failures) == (run_id == "two" and accept != "never")
        assert night.accepted == (run_id if seen[-1] == run_id else None)
    assert seen == after


def test_a_first_night_that_fails_is_not_accepted_and_the_next_may_be(tmp_path: Path) -> None:
    request = request_of(tmp_path)
    gate = ["stage.generation <= 0"]
    first = the_night(request, evaluated(tmp_path, ONE_WORSE, "one", gate=gate))
    assert first.accepted is None
    assert [line.split(":")[1] for line in first.failures] == [" stage.generation <= 0"]
    assert the_night(request, evaluated(tmp_path, GOOD, "two", gate=gate)).accepted == "two"


def test_regressions_fail_a_night_by_name_and_everything_is_published(tmp_path: Path) -> None:
    request = request_of(tmp_path, max_regressions=0, gate=("delta.recall@10 >= 0",))
    the_night(request, evaluated(tmp_path, GOOD, "one"))
    night = the_night(request, evaluated(tmp_path, ONE_WORSE, "two"))
    assert len(night.failures) == 2
    assert night.failures[0].startswith("gate failed: --max-regressions 0: 1 case went from pass")
    assert night.failures[1] == "regressed: c"
    assert all(page.is_file() for page in night.pages.values())


def test_labels_changed_overnight_are_refused_by_name_or_allowed(tmp_path: Path) -> None:
    the_night(request_of(tmp_path), evaluated(tmp_path, GOOD, "one"))
    run = evaluated(tmp_path, OTHER_LABELS, "two")
    before = snapshot(run)
    with pytest.raises(InputError, match=r"label required_ids: .*differs on 1 of 3 cases \(c\)"):
        nightly.compare_with_accepted(request_of(tmp_path), run)
    assert snapshot(run) == before
    night = the_night(request_of(tmp_path, allow=("labels",)), run)
    assert night.failures == []
    assert night.comparison is not None
    assert [row["difference"] for row in night.comparison["differences"]] == ["label required_ids"]


def test_an_accepted_run_that_is_gone_is_said_not_replaced(tmp_path: Path) -> None:
    request = request_of(tmp_path)
    the_night(request, evaluated(tmp_path, GOOD, "one"))
    shutil.rmtree(tmp_path / "reports" / "one")
    run = evaluated(tmp_path, GOOD, "two")
    with pytest.raises(InputError, match="accept another run"):
        nightly.compare_with_accepted(request, run)
    accept_run(run)
    assert nightly.compare_with_accepted(request, evaluated(tmp_path, GOOD, "three")) is not None


def test_a_failure_of_any_step_keeps_the_run_from_being_accepted(tmp_path: Path) -> None:
    run = evaluated(tmp_path, GOOD, "one")
    request = request_of(tmp_path, accept="passing")
    assert nightly.settle_acceptance(request, run, ["the runs cannot be compared"]) is None
    assert accepted_in(tmp_path) is None


def test_a_strangers_page_is_not_written_over(tmp_path: Path) -> None:
    evaluated(tmp_path, GOOD, "one")
    (tmp_path / "reports" / "index.html").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="not written by ragtriage"):
        nightly.rebuild_history(str(tmp_path / "reports"))


def test_the_summary_says_what_failed_first_and_neutralises_data(tmp_path: Path) -> None:
    hostile = "<img src=x> [c](http://x)"
    good, bad = ([case("a"), case(hostile, answer_correct=right)] for right in (True, False))
    request = request_of(tmp_path, max_regressions=0)
    the_night(request, evaluated(tmp_path, good, "one"))
    night = the_night(request, evaluated(tmp_path, bad, "two"))
    text = render(night)
    lines = [line for line in text.splitlines() if line]
    assert lines[0] == "# Night `two`: failed"
    assert lines[1].startswith("- gate failed")
    assert "## Regressed cases" in text
    assert f"- `{hostile}`: pass" in text
    assert not set("<[") & set(re.sub(r"`[^`]*`", "", text))
    assert len(text) < 3_000
    assert "1 of 2 cases did not pass" in verdict(night)
    assert "against one: 1 of 2 cases regressed" in verdict(night)


def test_the_summary_of_a_quiet_first_night(tmp_path: Path) -> None:
    night = the_night(request_of(tmp_path), evaluated(tmp_path, GOOD, "one"))
    assert verdict(night) == "All 3 cases passed; accepted: one"
    assert render(night).startswith("# Night `one`: passed\n\nAll 3 cases passed;")
    other = the_night(request_of(tmp_path / "b", accept="never"), _moved(tmp_path))
    assert verdict(other) == "All 3 cases passed; no accepted run to compare with"


def _moved(tmp_path: Path) -> Path:
    (tmp_path / "b").mkdir()
    return evaluated(tmp_path / "b", GOOD, "one")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"evaluate": {}}, "no input"),
        ({"evaluate": {"inputs": ["-"]}}, "standard input"),
        ({"evaluate": {"inputs": ["x"], "write": False}}, "leave `write` alone"),
        ({"evaluate": {"inputs": ["x"], "run_id": "mine"}}, "second night"),
        ({"accept": "all"}, "first"),
        ({"allow": ["everything"]}, "labels"),
        ({"gate": ["recall@5 >= 0.5"]}, "delta.METRIC"),
        ({"gate": ["delta.recal@5 >= 0"]}, "recall"),
        ({"max_regressions": -1}, "greater"),
        ({"time_limit": 0}, "greater"),
        ({"no_such": 1}, "no_such"),
    ],
)
def test_parameters_that_make_no_sense(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        NightlyRequest.model_validate({"evaluate": {"inputs": ["x"]}} | options)


def test_every_parameter_is_described_and_survives_json() -> None:
    schema = NightlyRequest.model_json_schema()
    assert all(field.get("description") for field in schema["properties"].values())
    asked = NightlyRequest(
        evaluate=EvaluateRequest(inputs=("x",), k=(3,)), gate=("new.authorization == 0",)
    )
    again = NightlyRequest.model_validate(json.loads(asked.model_dump_json(by_alias=True)))
    assert again == asked


def test_a_night_asks_the_comparison_for_what_it_was_asked() -> None:
    request = NightlyRequest(
        evaluate=EvaluateRequest(
            inputs=("x",), out="there", all_cases=True, intervals=True, seed=7
        ),
        allow=("labels",),
        gate=("delta.recall@5 >= 0",),
        max_regressions=3,
        test=True,
    )
    asked = request.comparison("there/a", "there/b")
    assert (asked.base, asked.candidate, asked.out) == ("there/a", "there/b", "there")
    assert (asked.allow, asked.gate) == (("labels",), ("delta.recall@5 >= 0",))
    assert (asked.max_regressions, asked.test, asked.all_cases) == (3, True, True)
    assert (asked.intervals, asked.seed) == (True, 7)
