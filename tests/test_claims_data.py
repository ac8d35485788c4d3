"""The shipped claims and reviews: what was derived by hand, held against the program."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

import pytest

import ragtriage
from ragtriage import Run
from ragtriage.errors import InputError
from tests.support import ROOT, Record, by_case, summary_row

CLAIMS = ROOT / "data" / "claims"
EXPECTED: dict[str, Any] = json.loads((CLAIMS / "expected.json").read_text("utf-8"))
CASES, REVIEWS, CORPUS = (
    [json.loads(line) for line in (CLAIMS / f"{name}.jsonl").read_text("utf-8").splitlines()]
    for name in ("cases", "reviews", "corpus")
)
COLUMNS = {
    "unsupported": "unsupported_claims",
    "omitted": "omitted_claims",
    "disputed": "disputed_claims",
    "intrinsic": "intrinsic_hallucinations",
    "extrinsic": "extrinsic_hallucinations",
}


@cache
def reviewed(judge: str | None = None) -> Run:
    """The shipped cases with their reviews, and a judge if one is named."""
    return ragtriage.evaluate(
        CLAIMS / "cases.jsonl",
        contract="claims",
        reviews=[CLAIMS / "reviews.jsonl"],
        judge=judge,
        write=False,
    )


def told(row: Record) -> Record:
    """A case's row in the words of `expected.json`."""
    used = None
    if row["context_utilization"] is not None:
        used = [
            row["context_utilization_numerator"],
            row["context_utilization_denominator"],
        ]
    same = {name: row[name] for name in ("stage", "break_point", "label_source")}
    return same | {key: row[name] for key, name in COLUMNS.items()} | {"utilization": used}


def test_every_case_is_diagnosed_as_derived_by_hand() -> None:
    rows = by_case(reviewed())
    assert {case: told(row) for case, row in rows.items()} == EXPECTED["people"]


def test_a_judge_changes_the_cases_that_nobody_labelled_and_no_other() -> None:
    rows = by_case(reviewed("nli-v2"))
    expected = EXPECTED["people"] | EXPECTED["changed_by_nli-v2"]
    assert {case: told(row) for case, row in rows.items()} == expected


@pytest.mark.parametrize("judge", [None, "nli-v2"])
def test_where_the_labels_are_from(judge: str | None) -> None:
    entry = reviewed(judge).report["reviews"]
    assert entry is not None
    expected = dict(EXPECTED["claim_labels"])
    if judge:
        expected |= {"judge": 4, "none": 1}
    assert entry["claim_labels"] == expected
    assert [(row["case_id"], row["claim_id"]) for row in entry["disputed"]] == [
        ("shed-size", "ask-first"),
        ("dogs", None),
    ]


@pytest.mark.parametrize("judge", [None, "nli-v2"])
def test_sums_over_the_cases_whose_labels_are_known(judge: str | None) -> None:
    summary = reviewed(judge).summary
    for metric, (top, bottom, scored) in EXPECTED["sums"][judge or "people"].items():
        row = summary_row(summary, metric)
        assert (row["numerator"], row["denominator"], row["n_scored"]) == (top, bottom, scored)


def test_findings_are_where_labels_contradict_or_are_open() -> None:
    rows = by_case(reviewed())
    for finding, cases in (
        ("label-conflict", EXPECTED["label_conflict"]),
        ("disputed-label", ["shed-size", "dogs"]),
    ):
        assert [case for case, row in rows.items() if finding in row["findings"]] == cases


def test_right_without_its_evidence_is_lucky() -> None:
    assert [case for case, row in by_case(reviewed()).items() if row["lucky"]] == ["pear-tree"]


def test_overlap_v1_was_not_held_against_enough_labels() -> None:
    with pytest.raises(InputError, match="overlap-v1: not validated: 24 of"):
        reviewed("overlap-v1")


@pytest.mark.parametrize("judge", EXPECTED["judges"])
def test_judges_against_settled_labels(judge: str) -> None:
    """Settled once more, in plain Python: an adjudication, else people who agree."""
    votes: dict[tuple[str, str], dict[str, list[bool]]] = {}
    of_judge: dict[tuple[str, str], bool] = {}
    for row in REVIEWS:
        if row["claim_id"] is None or row["evidence_id"] is not None or row["label"] is None:
            continue
        item = (row["case_id"], row["claim_id"])
        if row["reviewer"] == judge:
            of_judge[item] = row["label"]
        votes.setdefault(item, {}).setdefault(row["kind"], []).append(row["label"])
    pairs: Counter[tuple[bool, bool]] = Counter()
    for item, kinds in votes.items():
        people = kinds.get("adjudication") or kinds.get("human") or []
        if len(set(people)) == 1 and item in of_judge:
            pairs[of_judge[item], people[0]] += 1
    assert EXPECTED["judges"][judge] == {
        "n": pairs.total(),
        "true_positives": pairs[True, True],
        "false_positives": pairs[True, False],
        "true_negatives": pairs[False, False],
        "false_negatives": pairs[False, True],
    }


def test_every_passage_named_can_be_read() -> None:
    texts = {passage["evidence_id"] for passage in CORPUS}
    named = {row["evidence_id"] for row in REVIEWS} - {None}
    for case in CASES:
        named |= {*case["required_ids"], *case["context_ids"]}
        named |= {name for claim in case["claims"] for name in claim["cited_ids"]}
    assert named == texts


def test_a_claim_id_is_of_its_case() -> None:
    counts = Counter(claim["claim_id"] for case in CASES for claim in case["claims"])
    assert [name for name, n in counts.items() if n > 1] == ["ask-first"]
    labels = {
        row["case_id"]: row
        for row in reviewed().claims.to_dicts()
        if row["claim_id"] == "ask-first"
    }
    assert (labels["shed-size"]["disputed"], labels["school-visit"]["supported"]) == (True, True)
