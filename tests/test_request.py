"""One model for flags, TOML and Python: what it takes, and what it says when it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragtriage
from ragtriage.errors import UsageError
from ragtriage.option_words import WORDS
from ragtriage.request import EvaluateRequest, build_request, load_about, load_config


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "10", None, 10**30])
def test_a_cutoff_is_a_whole_number_from_one(k: Any) -> None:
    with pytest.raises(UsageError, match="--k"):
        build_request({"inputs": ["x"], "k": [k]})


def test_cutoffs_keep_their_order_and_collapse() -> None:
    request = build_request({"inputs": ["x"], "k": [5, 1, 5, 10]})
    assert request.k == (5, 1, 10)
    assert request.ledger_k == 5


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"inputs": ["x"], "gates": ["recall@5 >= 1"]}, "did you mean `gate`"),
        ({"inputs": ["x"], "contract": "citations"}, "did you mean `citation`"),
        ({"inputs": ["x"], "map": {"theirs": "retrieved"}}, "did you mean `retrieved_ids`"),
        ({"inputs": ["x"], "slice": ["retrieved_ids"]}, "cannot slice by"),
        ({"inputs": ["x"], "min_recall": 1.5}, "--min-recall"),
        ({"inputs": ["x"], "min_recall": "0.5"}, "--min-recall"),
        ({"inputs": ["x"], "min_mrr": float("nan")}, "--min-mrr"),
        ({"inputs": ["x"], "normalizer": "lower"}, "--normalizer"),
        ({"inputs": ["x"], "cases": ["y"], "trace": ["z"]}, "not both"),
        ({"cases": ["y"]}, "go together"),
        ({"cases": ["-"], "trace": ["-"]}, "once only"),
        ({"inputs": ["x"], "cases_from": "ragas"}, "--cases-from: says how --cases is read"),
        ({"inputs": ["x"], "trace_from": "trec"}, "--trace-from: says how --trace is read"),
        ({"inputs": ["x"], "corpus_from": "beir"}, "--corpus-from: says how --corpus is read"),
        ({"inputs": ["x"], "run_id": "../out"}, "cannot name a run"),
        ({"inputs": ["x"], "run_id": ".hidden"}, "cannot name a run"),
        ({"inputs": ["x"], "run_id": "compare-a"}, "cannot name a run"),
        ({"inputs": ["x"], "run_id": "index.html"}, "a file of that name stands beside runs"),
        ({"inputs": ["x"], "run_id": "accepted.json"}, "a file of that name stands beside runs"),
        ({"inputs": ["x"], "run_id": ""}, "cannot name a run"),
        ({"inputs": ["x"], "run_id": "a\n"}, "cannot name a run"),
    ],
)
def test_refusals(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        build_request(options)


def test_a_config_file_may_use_dashes_and_single_values(tmp_path: Path) -> None:
    path = tmp_path / "ci.toml"
    path.write_text('k = 5\ngate = "recall@5 >= 0.8"\non-invalid = "quarantine"\n')
    assert load_config(str(path)) == {
        "k": [5],
        "gate": ["recall@5 >= 0.8"],
        "on_invalid": "quarantine",
    }


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"k = ", "not valid TOML"),
        (b"\xff", "not valid UTF-8"),
        (b"k = " + b"9" * 5_000, "not valid TOML"),
        (b"k = " + b"[" * 3_000 + b"]" * 3_000, "nested too deeply"),
        (b"k = " + b"[" * 60 + b"]" * 60, "nested too deeply"),
        (b".".join([b"k"] * 900) + b" = 1", "nested too deeply"),
    ],
    ids=range(6),
)
def test_a_config_file_that_cannot_be_read(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "ci.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=says):
        load_config(str(path))
    with pytest.raises(UsageError, match="No such file"):
        load_config(str(tmp_path / "missing.toml"))


def test_a_config_file_may_begin_with_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "ci.toml"
    path.write_bytes(b"\xef\xbb\xbfseed = 5\n")
    assert load_config(str(path)) == {"seed": 5}


def test_about_is_json_whatever_toml_can_say(tmp_path: Path) -> None:
    path = tmp_path / "about.toml"
    path.write_text("when = 2026-11-30\nbudget = inf\n[judge]\nsees = ['answer', 1.5, true]\n")
    assert load_about(str(path)) == {
        "when": "2026-11-30",
        "budget": "inf",
        "judge": {"sees": ["answer", 1.5, True]},
    }


def test_python_takes_single_values_too(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('{"case_id":"a","required_ids":["x"],"retrieved_ids":["x"]}\n')
    run = ragtriage.evaluate(path, k=1, gate="recall@1 >= 1", write=False)
    assert run.passed
    assert run.path is None
    with pytest.raises(UsageError, match="--k"):
        ragtriage.evaluate(path, k="1", write=False)
    with pytest.raises(UsageError, match="no input"):
        ragtriage.evaluate(None)


def test_every_option_is_described_in_the_words_of_the_command_line() -> None:
    fields = EvaluateRequest.model_json_schema()["properties"]
    assert {name: field["description"] for name, field in fields.items()} == WORDS
