"""Reviewed claims: the worked example, and everything a second time in plain Python."""

from __future__ import annotations

import random
from typing import Any

import pytest

import ragtriage
from tests.support import CONTRACTS, Command, Writer

Record = dict[str, Any]


def test_the_worked_example() -> None:
    run = ragtriage.evaluate(CONTRACTS / "claims.jsonl", contract="claims", write=False)
    rows = {row["case_id"]: row for row in run.cases.iter_rows(named=True)}
    bad = rows["renewal-and-laptop"]
    assert bad["valid_citation_claims"] == 2
    assert bad["supported_claim_fraction"] == 0.0
    assert bad["supported_claim_fraction_denominator"] == 2
    assert bad["required_claim_coverage"] == 0.0
    assert bad["required_claim_coverage_denominator"] == 1
    assert bad["unsupported_claims"] == ["renewal-condition", "invented-laptop"]
    empty = rows["empty-answer"]
    assert (empty["supported_claim_fraction"], empty["required_claim_coverage"]) == (None, 0.0)
    assert empty["omitted_claims"] == ["schedule", "return-location"]
    none = rows["no-aspects"]
    assert (none["supported_claim_fraction"], none["required_claim_coverage"]) == (1.0, None)


def claim(name: str, supported: bool, *cited: str) -> Record:
    return {"claim_id": name, "supported": supported, "cited_ids": list(cited)}


BASE: Record = {
    "case_id": "x",
    "required_ids": ["e"],
    "context_ids": ["e"],
    "cited_ids": ["e"],
    "required_claims": ["a", "b", "a"],
    "claims": [claim("a", True, "e"), claim("b", True)],
    "answer_correct": None,
}


@pytest.mark.parametrize(
    ("changes", "stage", "source"),
    [
        ({}, ("pass", None), "claims"),
        (
            {"claims": [claim("a", True), claim("b", False)]},
            ("generation", "unsupported-claim"),
            "claims",
        ),
        ({"claims": [claim("a", True)]}, ("generation", "omission"), "claims"),
        ({"claims": []}, ("generation", "omission"), "claims"),
        ({"claims": [], "required_claims": []}, ("unprepared", "answer-label"), None),
        ({"claims": None}, ("unprepared", "answer-label"), None),
        ({"claims": [claim("a", True)], "answer_correct": True}, ("pass", None), "staff"),
        ({"answer_correct": False}, ("generation", "wrong-answer"), "staff"),
        ({"claims": [claim("z", True)], "required_claims": None}, ("pass", None), "claims"),
    ],
)
def test_labels_and_stages(
    written: Writer, changes: Record, stage: tuple[str, str | None], source: str | None
) -> None:
    run = ragtriage.evaluate(written([{**BASE, **changes}]), write=False)
    row = run.cases.row(0, named=True)
    assert (row["stage"], row["break_point"]) == stage
    assert row["label_source"] == source


def test_under_diagnosis_only_staff_counts(written: Writer) -> None:
    run = ragtriage.evaluate(written([BASE]), contract="diagnosis", write=False)
    assert run.cases["break_point"].to_list() == ["answer-label"]


def test_staff_against_claims_is_a_finding(written: Writer) -> None:
    run = ragtriage.evaluate(written([{**BASE, "answer_correct": False}]), write=False)
    assert run.cases["findings"].to_list() == [["label-conflict"]]


def test_the_claims_table(written: Writer) -> None:
    record = {**BASE, "claims": [claim("b", False, "e", "x"), claim("c", True, "e")]}
    run = ragtriage.evaluate(written([record]), write=False)
    columns = ("claim_id", "proposed", "required", "supported", "citation_valid")
    assert run.claims.select(columns).rows() == [
        ("b", True, True, False, False),
        ("c", True, False, True, True),
        ("a", False, True, None, None),
    ]


def test_what_is_not_given_stays_unknown(written: Writer) -> None:
    bare = {"claim_id": "a", "supported": True}
    run = ragtriage.evaluate(
        written([{**BASE, "required_claims": None}, {**BASE, "case_id": "y", "claims": [bare]}]),
        write=False,
    )
    assert run.cases["omitted_claims"].to_list() == [None, ["b"]]
    assert run.claims.filter(case_id="y")["citation_valid"].to_list() == [None, None]


def test_a_ratio_over_no_required_claim_keeps_its_counts(written: Writer) -> None:
    (row,) = ragtriage.evaluate(
        written([{**BASE, "required_claims": []}]), write=False
    ).cases.iter_rows(named=True)
    for name in ("required_claim_coverage", "claim_recall", "context_utilization"):
        assert row[name] is None
        assert (row[f"{name}_numerator"], row[f"{name}_denominator"]) == (0, 0), name


def test_the_same_claim_id_in_two_cases_and_twice_in_one(cli: Command, written: Writer) -> None:
    assert cli("validate", written([BASE, {**BASE, "case_id": "y"}])).code == 0
    twice = {**BASE, "claims": [claim("a", True), claim("a", True)]}
    done = cli("validate", written([twice]))
    assert done.code == 2
    assert "[duplicate-claim-id]" in done.err


def second(record: Record) -> Record:
    """The claims metrics of one record, by the words of the contract."""
    claims, required = record["claims"], record["required_claims"]
    supplied = (
        record["context_ids"] if record["context_ids"] is not None else record["retrieved_ids"]
    )
    expected: Record = dict.fromkeys(
        ("supported_claim_fraction", "required_claim_coverage", "valid_citation_claims")
    )
    if claims is None:
        return expected
    good = {c["claim_id"] for c in claims if c["supported"]}
    if claims:
        expected["supported_claim_fraction"] = len(good) / len(claims)
    if required:
        expected["required_claim_coverage"] = len(good & set(required)) / len(set(required))
    if supplied is not None:
        expected["valid_citation_claims"] = sum(
            bool(c["cited_ids"]) and set(c["cited_ids"]) <= set(supplied) for c in claims
        )
    return expected


def test_against_a_second_computation(written: Writer) -> None:
    chance = random.Random(5)  # noqa: S311 - data, not secrets

    def some(names: str, most: int) -> list[str]:
        return [chance.choice(names) for _ in range(chance.randrange(most + 1))]

    def record(i: int) -> Record:
        names = chance.sample("abcd", k=chance.randrange(5))
        claims = [claim(name, chance.random() < 0.6, *some("xyz", 2)) for name in names]
        return {
            "case_id": str(i),
            "claims": chance.choice([claims, claims, claims, None]),
            "required_claims": chance.choice([some("abcd", 3), some("abcd", 3), None]),
            "context_ids": chance.choice([some("xyz", 3), some("xyz", 3), None]),
            "retrieved_ids": chance.choice([some("xyz", 3), None]),
        }

    records = [record(i) for i in range(600)]
    run = ragtriage.evaluate(written(records), write=False)
    for given, row in zip(records, run.cases.iter_rows(named=True), strict=True):
        expected = second(given)
        assert {name: row[name] for name in expected} == pytest.approx(expected), given
