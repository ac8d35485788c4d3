"""The worked examples of the notes that the program grew from, number by number.

Four documents here: stage diagnosis, the citation harness's report, retrieval rankings and the
answer records. The harness's input rules and exit codes are in `test_seed_harness`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import ragtriage
from ragtriage import Run
from tests.support import (
    CONTRACTS,
    Command,
    Evaluate,
    Record,
    by_case,
    cases_in,
    summary_row,
)


@cache
def shipped(contract: str, k: int = 10) -> Run:
    """The shipped file of a contract, evaluated under it."""
    path = CONTRACTS / f"{contract}.jsonl"
    return ragtriage.evaluate(path, contract=contract, k=k, write=False)


# id: required, context, correct (None: not supplied) -> stage, break point, missing
DIAGNOSIS = {
    "missing-context": (["D1"], ["X"], False, "retrieval", "unobserved", ["D1"]),
    "wrong-generation": (["D1"], ["D1"], False, "generation", "wrong-answer", []),
    "missing-answer-label": (["D1"], ["D1"], None, "unprepared", "answer-label", None),
    "lucky-answer-gap": (["D1", "D2"], ["D1"], True, "retrieval", "unobserved", ["D2"]),
    "no-required-set": ([], ["D1"], True, "unresolved", "no-required-set", None),
}


def test_the_shipped_diagnosis_file_holds_the_documents_inputs() -> None:
    run = shipped("diagnosis")
    given = {
        name: (row["required_ids"], row["context_ids"], row["answer_correct"])
        for name, row in by_case(run).items()
    }
    assert given == {name: row[:3] for name, row in DIAGNOSIS.items()}


@pytest.mark.parametrize("name", DIAGNOSIS)
def test_diagnosis_of_the_shipped_file(name: str) -> None:
    run = shipped("diagnosis")
    row = by_case(run)[name]
    *_, stage, break_point, missing = DIAGNOSIS[name]
    assert (row["stage"], row["break_point"], row["missing"]) == (stage, break_point, missing)


@pytest.mark.parametrize(
    ("given", "stage", "break_point", "missing"),
    [
        # The document's order of checks: the required set, the label, then completeness.
        ({"required": [], "context": []}, "unresolved", "no-required-set", None),
        ({"required": ["D1"], "context": ["X"]}, "unprepared", "answer-label", None),
        ({"required": ["D1"], "context": [], "correct": None}, "unprepared", "answer-label", None),
        # Missing IDs are a sorted set.
        (
            {"required": ["D3", "D1", "D3", "D2"], "context": ["D2"], "correct": False},
            "retrieval",
            "unobserved",
            ["D1", "D3"],
        ),
        ({"required": ["D1"], "context": ["X", "D1"], "correct": True}, "pass", None, []),
    ],
)
def test_diagnosis_in_the_documents_order(
    evaluated: Evaluate,
    given: Record,
    stage: str,
    break_point: str | None,
    missing: list[str] | None,
) -> None:
    row = by_case(evaluated([{"id": "c"} | given], contract="diagnosis"))["c"]
    assert (row["stage"], row["break_point"], row["missing"]) == (stage, break_point, missing)


def test_a_right_answer_without_its_evidence_is_lucky_and_no_pass() -> None:
    run = shipped("diagnosis")
    lucky = {name: row["lucky"] for name, row in by_case(run).items()}
    assert lucky == {
        "missing-context": False,
        "wrong-generation": False,
        "missing-answer-label": None,
        "lucky-answer-gap": True,
        "no-required-set": False,
    }
    assert run.report["run"]["n_pass"] == 0


# Per case at k = 3: recall, reciprocal rank, context precision, coverage, validity, diagnostics
CITATION: dict[str, tuple[Any, ...]] = {
    "question-1": (1.0, 1 / 2, 1 / 2, 1.0, 1.0, []),
    "question-2": (
        1 / 2,  # unique: a, d, b | c falls behind the cutoff
        1.0,
        1 / 3,
        1 / 2,
        1 / 2,  # doc-z was never retrieved
        ["citation-not-retrieved", "duplicate-retrieved"],
    ),
    "question-3": (0.0, 0.0, 0.0, 0.0, 0.0, ["empty-retrieval", "no-citations"]),
    "question-4": (None, 0.0, 0.0, None, 0.0, ["no-citations", "no-relevance-labels"]),
    "question-5": (1.0, 1.0, 1 / 2, 0.0, 0.0, ["no-citations"]),
}
CITATION_METRICS = (
    "recall_at_3",
    "reciprocal_rank",
    "context_precision_at_3",
    "citation_coverage",
    "citation_validity",
)
# Macro averages of the five rows above: mean, cases in the denominator
CITATION_SUMMARY = {
    ("recall", 3): (2.5 / 4, 4),
    ("reciprocal_rank", None): (2.5 / 5, 5),
    ("context_precision", 3): ((1 + 1 / 3) / 5, 5),
    ("citation_coverage", None): (1.5 / 4, 4),
    ("citation_validity", None): (1.5 / 5, 5),
}


@pytest.mark.parametrize("name", CITATION)
def test_citation_metrics_and_diagnostics(name: str) -> None:
    run = shipped("citation", 3)
    row = by_case(run)[name]
    *values, diagnostics = CITATION[name]
    assert [row[metric] for metric in CITATION_METRICS] == pytest.approx(values, abs=1e-12)
    assert row["findings"] == diagnostics


@pytest.mark.parametrize(("metric", "k"), CITATION_SUMMARY)
def test_citation_summary_is_a_macro_average(metric: str, k: int | None) -> None:
    run = shipped("citation", 3)
    row = summary_row(run.summary, metric, k)
    mean, scored = CITATION_SUMMARY[metric, k]
    assert row["mean"] == pytest.approx(mean, abs=1e-12)
    assert (row["n_scored"], row["n_undefined"], row["n_cases"]) == (scored, 5 - scored, 5)


def test_citation_diagnostics_are_counted() -> None:
    run = shipped("citation")
    counts = dict(run.findings.select("finding", "n").iter_rows())
    assert counts == {
        "no-citations": 3,
        "citation-not-retrieved": 1,
        "duplicate-retrieved": 1,
        "empty-retrieval": 1,
        "no-relevance-labels": 1,
    }


# Precision and recall of the three constructed rankings, as the document gives them
RANKINGS = {
    "trial-retention": (0.5, 0.5),
    "deletion-procedure": (0.5, 1.0),
    "data-residency": (0.0, None),
}


@pytest.mark.parametrize("name", RANKINGS)
def test_rankings_at_two(name: str) -> None:
    run = shipped("ranking", 2)
    row = by_case(run)[name]
    assert (row["precision_at_2"], row["recall_at_2"]) == RANKINGS[name]


def test_the_no_answer_ranking_is_reported_apart() -> None:
    run = shipped("ranking", 2)
    recall = summary_row(run.summary, "recall", 2)
    assert (recall["mean"], recall["n_scored"], recall["n_undefined"]) == (0.75, 2, 1)
    apart = summary_row(run.summary, "recall", 2, "answerable", "false")
    assert (apart["mean"], apart["n_scored"], apart["n_cases"]) == (None, 0, 1)
    assert summary_row(run.summary, "false_evidence")["sum"] == 1
    row = by_case(run)["data-residency"]
    assert row["false_evidence"] is True
    assert row["corpus_snapshot"] == "export-policy"


# retrieval, answer, citation_valid, source_correct, pass: the document's checked output,
# and the component to which it reads the failure
ANSWERS = {
    "d1": ((True, True, True, True, True), "pass", None),
    "d2": ((True, False, True, True, False), "generation", "wrong-answer"),
    "d3": ((None, True, True, True, True), "pass", None),
    "t1": ((True, True, False, False, False), "citation", "invalid-citation"),
    "t2": ((False, True, True, False, False), "retrieval", "retrieval"),
    "t3": ((None, False, True, False, False), "abstention", "answered-unsupported"),
}
BOOLEANS = ("hit_at_10", "answer_match", "citation_valid", "source_correct", "answer_passed")
ONE_FILE = (str(CONTRACTS / "answer.jsonl"),)
TWO_FILES = (
    "--cases",
    str(CONTRACTS / "answer-cases.jsonl"),
    "--trace",
    str(CONTRACTS / "answer-trace.jsonl"),
)


@pytest.mark.parametrize("files", [ONE_FILE, TWO_FILES], ids=["one-file", "two-files"])
def test_the_six_answer_records(cli: Command, files: tuple[str, ...]) -> None:
    shown = cli("evaluate", *files, "--contract", "answer", "--no-write", "--format", "json")
    assert shown.code == 0, shown.err
    rows = cases_in(shown.report())
    assert {name: tuple(row[b] for b in BOOLEANS) for name, row in rows.items()} == {
        name: booleans for name, (booleans, *_) in ANSWERS.items()
    }
    assert {name: (row["stage"], row["break_point"]) for name, row in rows.items()} == {
        name: (stage, break_point) for name, (_, stage, break_point) in ANSWERS.items()
    }


def test_one_file_and_two_say_the_same(cli: Command) -> None:
    options = ("--contract", "answer", "--no-write", "--format", "json", "--run-id", "r")
    one = cli("evaluate", *ONE_FILE, *options).report()
    two = cli("evaluate", *TWO_FILES, *options).report()
    for part in ("summary", "stages", "abstention", "findings", "not_observed"):
        assert one[part] == two[part]
    skipped = ("source_file", "line")
    assert [{k: v for k, v in c.items() if k not in skipped} for c in one["cases"]] == [
        {k: v for k, v in c.items() if k not in skipped} for c in two["cases"]
    ]


def test_splits_and_abstention_of_the_six() -> None:
    run = shipped("answer")
    passed = {
        split: summary_row(run.summary, "answer_passed", None, "split", split)["sum"]
        for split in ("development", "test")
    }
    assert passed == {"development": 2, "test": 0}
    table = {row["answerable"]: row for row in run.report["abstention"]}
    assert (table["unanswerable"]["answered"], table["unanswerable"]["abstained"]) == (1, 1)
    assert (table["answerable"]["answered"], table["answerable"]["abstained"]) == (4, 0)
    assert run.report["run"]["normalizer"] == "lower-whitespace"


def test_a_paraphrase_fails_the_narrow_match(evaluated: Evaluate) -> None:
    record = {
        "id": "d1",
        "split": "development",
        "question": "Where is the Saturday workshop?",
        "expected_answer": "Cedar Room",
        "source": "club-1",
        "retrieved": ["club-1"],
        "cited": "club-1",
    }
    answers = {"  cedar \t ROOM\n": True, "In the Cedar Room": False}
    for answer, match in answers.items():
        row = by_case(evaluated([record | {"answer": answer}], contract="answer"))["d1"]
        assert row["answer_match"] is match
