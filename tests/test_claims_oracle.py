"""Claims and reviews held against the contract computed a second time, in `oracle_claims.py`.

Every fixture is drawn from its own number; `RAGTRIAGE_ORACLE_FIXTURES=2000` runs longer.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import ragtriage
from tests import oracle_claims

Record = dict[str, Any]

FIXTURES = int(os.environ.get("RAGTRIAGE_ORACLE_FIXTURES", "8"))
CASES = 160
SHOWN = 8
EVIDENCE, CLAIM_IDS = ("a", "b", "c", "d"), ("c1", "c2", "c3", "c4")
CONTRACTS = ("auto", "auto", "claims", "diagnosis")
NEEDED = {
    "auto": {"required_ids"},
    "claims": {"claims", "required_claims"},
    "diagnosis": {"required_ids", "context_ids"},
}
OPTIONAL = (
    *("claims", "required_claims", "required_ids", "retrieved_ids", "context_ids", "cited_ids"),
    *("answer", "expected_answers", "answer_correct", "abstained", "answerable"),
    *("error", "ambiguity", "allowed_ids"),
)
# How likely a file supplies a field, where it is not this.
SUPPLIED, RARE = 0.8, {"error": 0.4, "ambiguity": 0.4, "allowed_ids": 0.15, "answer_correct": 0.5}
PEOPLE = (("ana", "human"), ("ben", "human"), ("cy", "human"), ("lead", "adjudication"))
REVIEWERS = (*PEOPLE, ("chief", "adjudication"), ("bot", "judge"), ("other-bot", "judge"))
ALONE = 0.3  # how often judges have an item to themselves
ANCHOR = "anchor"  # the case on which each judge is held against a person


@dataclass
class Drawn:
    """Cases and reviews as both sides are given them."""

    records: list[Record]
    fields: set[str]
    reviews: list[Record]
    contract: str
    judge: str | None

    @classmethod
    def numbered(cls, number: int) -> Drawn:
        chance = random.Random(number)  # noqa: S311 - draws tests, guards nothing
        contract = CONTRACTS[number % len(CONTRACTS)]
        needed = NEEDED[contract]
        fields = {
            name
            for name in OPTIONAL
            if name in needed or chance.random() < RARE.get(name, SUPPLIED)
        }
        records = [_case(chance, f"q{i}", fields, needed) for i in range(CASES)]
        records.append({**_case(chance, ANCHOR, fields, {*fields}), "error": None})
        reviews = [row for record in records for row in _reviews(chance, record)]
        chance.shuffle(reviews)
        return cls(records, fields, reviews, contract, chance.choice((None, "bot", "bot")))

    def run(self, folder: Path) -> ragtriage.Run:
        return ragtriage.evaluate(
            _jsonl(folder / "cases.jsonl", self.records),
            reviews=[_jsonl(folder / "reviews.jsonl", self.reviews)],
            contract=self.contract,
            judge=self.judge,
            min_validated=1,
            unknown_review="ignore",
            write=False,
        )


def _jsonl(path: Path, rows: list[Record]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


# --- Drawing -----------------------------------------------------------------------------------


def _case(chance: random.Random, case_id: str, fields: set[str], given: set[str]) -> Record:
    def some(pool: tuple[str, ...], most: int) -> list[str]:
        return chance.choices(pool, k=chance.randint(0, most))

    def value(name: str) -> Any:
        if name not in given and chance.random() < 0.12:
            return None
        if name == "claims":
            made = chance.sample(CLAIM_IDS, chance.choice((0, 1, 2, 2, 3)))
            return [_claim(chance, one) for one in made]
        if name == "required_claims":
            return some(CLAIM_IDS, 2)
        if name in ("answer_correct", "abstained", "answerable"):
            pool = {"answer_correct": (None, True, False), "abstained": (False, False, True)}
            return chance.choice(pool.get(name, (None, True, True, True, False)))
        if name in ("error", "ambiguity"):
            return chance.choice((None,) * 9 + ("timeout",))
        if name == "answer":
            return chance.choice(("Cedar", "Oak", "Oak", ""))
        if name == "expected_answers":
            return ["cedar"]
        return chance.choices(EVIDENCE, k=1) if name == "required_ids" else some(EVIDENCE, 5)

    record = {"case_id": case_id, **{name: value(name) for name in sorted(fields)}}
    if record.get("answerable") is False:
        record["required_ids"] = [] if "required_ids" in fields else None
    if record.get("answerable") is True and not record.get("required_ids"):
        record["answerable"] = None
    if "required_ids" not in fields:
        record.pop("required_ids", None)
    return record


def _claim(chance: random.Random, claim_id: str) -> Record:
    claim: Record = {"claim_id": claim_id}
    label = chance.choice((None, None, True, True, False))
    if label is not None or chance.random() < 0.5:
        claim["supported"] = label
    if chance.random() < 0.9:
        claim["cited_ids"] = chance.choices(EVIDENCE, k=chance.randint(0, 2))
    return claim


def _reviews(chance: random.Random, record: Record) -> Iterator[Record]:
    """Labels of whole answers, claims and passages; some of claims and cases nobody knows."""
    case_id = record["case_id"]
    passages = [(c, e) for c in CLAIM_IDS for e in EVIDENCE]
    items: list[tuple[str | None, str | None]] = [(one, None) for one in CLAIM_IDS]
    items += [(None, None), (None, "a"), ("c9", None)]
    if chance.random() < 0.7:
        items += [one for one in passages if chance.random() < 0.7]
    for claim, passage in items:
        likely = chance.choice((True, False))
        crew = REVIEWERS[-2:] if chance.random() < ALONE and passage is None else REVIEWERS
        least = 0 if passage is None else 1
        many = chance.choice((least, least, 1, 1, 2, len(crew) // 2))
        for reviewer, kind in chance.sample(crew, many):
            label = chance.choice((likely,) * 5 + (not likely, None))
            about = {"case_id": case_id, "claim_id": claim, "evidence_id": passage}
            if chance.random() < 0.02:
                about["case_id"] = f"unknown-{case_id}"
            yield {**about, "reviewer": reviewer, "kind": kind, "label": label}
    if case_id == ANCHOR:
        for reviewer, kind in (("ana", "human"), ("bot", "judge")):
            about = {"case_id": case_id, "claim_id": "anchored"}
            yield {**about, "reviewer": reviewer, "kind": kind, "label": True}


# --- Comparing ---------------------------------------------------------------------------------


def told(place: str, expected: Record, actual: Record) -> Iterator[str]:
    for name, value in expected.items():
        got = actual.get(name, "no such")
        close = isinstance(got, float) and value == pytest.approx(got, rel=1e-12, abs=1e-12)
        if type(got) is not type(value) or not (got == value or close):
            yield f"{place}: {name}: expected {value!r}, got {got!r}"


def case_row(result: Record) -> Record:
    row = dict(result["columns"])
    for name, metric in result["metrics"].items():
        row[name] = oracle_claims.value_of(metric)
        if name in oracle_claims.RATIOS:
            row[f"{name}_numerator"], row[f"{name}_denominator"] = metric or (None, None)
    return row


def summary_of(name: str, records: list[Record], results: list[Record]) -> Record:
    metrics = [result["metrics"][name] for result in results]
    scored = [one for one in metrics if oracle_claims.value_of(one) is not None]
    exact = [Fraction(*one) if isinstance(one, tuple) else Fraction(one) for one in scored]
    failed = sum(bool(record.get("error")) for record in records)
    row: Record = {
        "mean": float(sum(exact) / len(exact)) if exact else None,
        "numerator": None,
        "denominator": None,
        "pooled": None,
        "n_scored": len(scored),
        "n_undefined": len(metrics) - failed - len(scored),
        "n_not_run": failed,
    }
    if name in oracle_claims.RATIOS and scored:
        row["numerator"] = sum(one[0] for one in scored)
        row["denominator"] = sum(one[1] for one in scored)
        row["pooled"] = float(Fraction(row["numerator"], row["denominator"]))
    return row


def disagreements(drawn: Drawn, run: ragtriage.Run) -> Iterator[str]:
    reviews = oracle_claims.Reviews(drawn.reviews, drawn.records, drawn.judge)
    results = [
        oracle_claims.evaluate_case(record, drawn.fields, reviews, drawn.contract)
        for record in drawn.records
    ]
    rows = run.cases.rows(named=True)
    for record, result, row in zip(drawn.records, results, rows, strict=True):
        yield from told(record["case_id"], case_row(result), row)
    expected = [row for result in results for row in result["claims"]]
    actual = run.claims.rows(named=True)
    places = [(row["case_id"], row["claim_id"]) for row in expected]
    got = [(row["case_id"], row["claim_id"]) for row in actual]
    yield from (f"{one[0]}: {one[1]}: only one side" for one in sorted({*places} ^ {*got}))
    if places == got:
        for place, row, other in zip(places, expected, actual, strict=True):
            yield from told(": ".join(place), row, other)
    elif {*places} == {*got}:
        yield "claims: another order"
    shown = {
        row["metric"]: row
        for row in run.summary.rows(named=True)
        if row["slice"] == "all" and row["metric"] in oracle_claims.NEEDS
    }
    for name, needs in oracle_claims.NEEDS.items():
        if all(not drawn.fields.isdisjoint(need) for need in needs):
            row = summary_of(name, drawn.records, results)
            yield from told(f"summary {name}", row, shown.get(name, {}))
        elif name in shown:
            yield f"summary {name}: a row although it is not observed"


# --- Tests -------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(FIXTURES // 3))
def test_every_claim_and_label_is_the_contracts(number: int, tmp_path: Path) -> None:
    check(Drawn.numbered(number), tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(2))
def test_chunks_make_no_difference(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragtriage.read.batches.BATCH_RECORDS", 47)
    check(Drawn.numbered(number), tmp_path)


def check(drawn: Drawn, tmp_path: Path) -> None:
    found = list(disagreements(drawn, drawn.run(tmp_path)))
    if found:
        blamed = {text.split(":")[0] for text in found[:SHOWN]}
        rows = [r for r in drawn.records + drawn.reviews if r["case_id"] in blamed]
        about = f"{drawn.contract} judge={drawn.judge} {sorted(drawn.fields)}"
        shown = [json.dumps(row) for row in rows]
        pytest.fail("\n".join([f"{len(found)} disagreements", *found[:SHOWN], about, *shown]))
