"""Comparisons held against the contract computed a second time, in `oracle_comparison.py`.

Each pair of runs is drawn from its own number; `RAGTRIAGE_ORACLE_FIXTURES=2000` runs longer. The
slices by `question` are small, so that one comparison holds hundreds of tests by enumeration.
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragtriage
from ragtriage.metrics import REGISTRY
from tests.oracle_comparison import Comparison, Place, Side, holm

Record = dict[str, Any]

PAIRS = max(2, int(os.environ.get("RAGTRIAGE_ORACLE_FIXTURES", "8")) // 9)
CASES = 36
SHOWN = 8
EVIDENCE, CLAIMS = ("a", "b", "c", "d", "e"), ("c1", "c2", "c3")
QUESTIONS = ("opening", "renewal", "fees", "rooms", "loans")
LABELS = ("question", "split", "group", "tags", "weight", "answerable", "required_ids")
SCOPE, CLAIMED = ("allowed_ids",), ("required_claims", "claims")
TRACE = ("retrieved_ids", "context_ids", "cited_ids", "candidate_ids")
ANSWER = ("answer", "answer_correct", "abstained")
DRIFTS = ("nothing", "retrieved_ids", "context_ids", "cited_ids", "answer", "label", "error", "all")


# --- Drawing -----------------------------------------------------------------------------------


class Drawn:
    """Two runs of one system over the same labelled cases."""

    def __init__(self, number: int) -> None:
        self.chance = random.Random(number)  # noqa: S311 - draws tests, guards nothing
        optional = (*SCOPE, *CLAIMED, *TRACE, *ANSWER, "expected_answers")
        self.fields = {*LABELS, *(name for name in optional if self.chance.random() < 0.75)}
        self.k = self.chance.choice(([2], [3, 1], [5]))
        self.drift = self.chance.choice((0.05, 0.15, 0.4))
        self.base = [self._case(f"q{i}") for i in range(CASES)]
        self.candidate = [self._drifted(record) for record in self.base]
        self.chance.shuffle(self.candidate)

    def runs(self, folder: Path) -> tuple[ragtriage.Run, ragtriage.Run]:
        base, candidate = (
            ragtriage.evaluate(_jsonl(folder / name, records), k=self.k, write=False)
            for name, records in (("a.jsonl", self.base), ("b.jsonl", self.candidate))
        )
        return base, candidate

    def _case(self, case_id: str) -> Record:
        record = {"case_id": case_id, **{name: self._value(name) for name in sorted(self.fields)}}
        if record["answerable"] is False:
            record["required_ids"] = []
        elif not record["required_ids"]:
            record["answerable"] = None
        return record | {"error": "timeout" if self.chance.random() < 0.05 else None}

    def _value(self, name: str) -> Any:
        chance = self.chance
        choices: dict[str, tuple[Any, ...]] = {
            "question": QUESTIONS,
            "split": (None, "dev", "test"),
            "group": (None, None, "g1", "g2", "g3", "q1", "q2"),  # also named as cases are
            "weight": (None, 0.5, 2.0),
            "answerable": (None, True, True, False),
            "answer": ("Cedar", "Oak", "cedar ", "", None),
            "answer_correct": (None, True, True, False),
            "abstained": (None, False, False, True),
            "expected_answers": (["cedar"], ["cedar"], None),
        }
        if name in choices:
            return chance.choice(choices[name])
        if name == "tags":
            return chance.choices(("x", "y"), k=chance.randint(0, 2))
        if name == "allowed_ids":
            return None if chance.random() < 0.7 else chance.sample(EVIDENCE, 4)
        if name == "required_claims":
            return chance.sample(CLAIMS, chance.randint(0, 2))
        if name == "claims":
            return [self._claim(one) for one in chance.sample(CLAIMS, chance.randint(0, 3))]
        return chance.choices(EVIDENCE, k=chance.randint(0, 2 if name == "required_ids" else 4))

    def _claim(self, claim_id: str) -> Record:
        cited = self.chance.sample(EVIDENCE, self.chance.randint(0, 2))
        supported = self.chance.random() < 0.6
        return {"claim_id": claim_id, "supported": supported, "cited_ids": cited}

    def _drifted(self, record: Record) -> Record:
        """The same case in the candidate: some of what the system did is another now."""
        if self.chance.random() >= self.drift:
            return dict(record)
        what = self.chance.choice(DRIFTS)
        if what == "error":
            return record | {"error": None if record["error"] else "timeout"}
        named = {"all": (*TRACE, *ANSWER, "claims"), "label": ("answer_correct", "claims")}
        changed = sorted(self.fields.intersection(named.get(what, (what,))))
        if self.chance.random() < 0.1:  # not recorded this time
            return record | dict.fromkeys(changed)
        return record | {name: self._value(name) for name in changed}


def _jsonl(path: Path, rows: list[Record]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


# --- Comparing ---------------------------------------------------------------------------------


def same(expected: Any, actual: Any) -> bool:
    if isinstance(expected, float) and isinstance(actual, float):
        return math.isclose(expected, actual, rel_tol=1e-12, abs_tol=1e-12)
    return type(expected) is type(actual) and bool(expected == actual)


def told(where: str, expected: Record, actual: Record) -> Iterator[str]:
    for name, value in expected.items():
        if not same(value, actual.get(name)):
            yield f"{where}: {name}: expected {value!r}, got {actual.get(name)!r}"


def by_place(rows: list[Record]) -> dict[Place, Record]:
    placed = {((r["slice"], r["slice_value"]), (r["metric"], r["k"])): r for r in rows}
    assert len(placed) == len(rows)
    return placed


def compare_tables(
    name: str, expected: dict[Any, Record], actual: dict[Any, Record]
) -> Iterator[str]:
    if missing := expected.keys() ^ actual.keys():
        yield f"{name}: in one only: {sorted(missing, key=str)[:SHOWN]}"
    for place in expected.keys() & actual.keys():
        yield from told(f"{name} {place}", expected[place], actual[place])


def compare_cases(oracle: Comparison, found: ragtriage.Comparison) -> Iterator[str]:
    expected, rows = oracle.changes(), found.cases.rows(named=True)
    yield from compare_tables("cases", expected, {row["case_id"]: row for row in rows})
    regressed = [row["change"] == "regressed" for row in rows]
    if regressed != sorted(regressed, reverse=True):
        yield "cases: a regression comes after another change"
    for row in rows:
        yield from compare_ledger(oracle, row)
        for side, cases in (("base", oracle.base.cases), ("candidate", oracle.candidate.cases)):
            case = cases[row["case_id"]]
            values = {f"{column}_{side}": case[column] for column in _columns(row, side)}
            stage = {f"{side}_{name}": case[name] for name in ("stage", "break_point")}
            yield from told(f"cases {row['case_id']}", values | stage, row)


def _columns(row: Record, side: str) -> list[str]:
    names = [name.removesuffix(f"_{side}") for name in row if name.endswith(f"_{side}")]
    assert names
    return names


def compare_ledger(oracle: Comparison, row: Record) -> Iterator[str]:
    """Each requirement that moved is told, with what became of it; no other is."""
    lines = [text.split(": ", 1) for text in row["moved"]]
    moved = oracle.moved(row["case_id"])
    if {name for name, _ in lines} != moved.keys():
        yield f"cases {row['case_id']}: moved: expected {list(moved)}, got {row['moved']}"
        return
    for name, text in lines:
        for part, line in zip(text.split(" → "), moved[name], strict=True):
            if not is_true(part, line):
                yield f"cases {row['case_id']}: {name}: {text!r} of {line}"


def is_true(part: str, line: Record) -> bool:
    """Does the ledger say what one side of a move does?"""
    known = {
        f"lost at {line['lost_at']}": line["delivered"] is False,
        f"rank {line['retrieved_rank']}": line["retrieved_rank"] is not None,
        f"below the cutoff (rank {line['retrieved_rank']})": line["in_top_k"] is False,
        "delivered": line["delivered"] is True,
        "not measured": line["delivered"] is None,
        "cited": line["cited"] is True,
        "not cited": line["cited"] is False,
        "not returned": line["retrieved_rank"] is None,
        "a candidate, not returned": line["retrieved_rank"] is None and line["in_candidates"],
    }
    return known.get(part, False)


def compare_tests(oracle: Comparison, found: ragtriage.Comparison) -> Iterator[str]:
    assert found.tests is not None
    actual = by_place(found.tests.rows(named=True))
    expected = oracle.tests()
    yield from compare_tables("tests", expected, actual)
    # Above what is enumerated here, the product's own p is corrected.
    ps = {place: row.get("p", actual[place]["p"]) for place, row in expected.items()}
    adjusted = {place: {"p_adjusted": p} for place, p in holm(ps).items()}
    yield from compare_tables("tests", adjusted, actual)
    for place, row in actual.items():
        n = expected[place]["n_differing"]
        method = "none" if ps[place] is None else "exact" if n <= 20 else "monte-carlo"
        yield from told(f"tests {place}", {"method": method}, row)


def disagreements(oracle: Comparison, found: ragtriage.Comparison) -> Iterator[str]:
    stages = {
        (r["base_stage"], r["candidate_stage"]): r for r in found.transitions.rows(named=True)
    }
    yield from compare_tables(
        "transitions", {pair: {"n": n} for pair, n in oracle.transitions().items()}, stages
    )
    yield from compare_cases(oracle, found)
    yield from compare_tables("deltas", oracle.deltas(), by_place(found.deltas.rows(named=True)))
    lost = {(row["metric"], row["k"]): row for row in found.report["coverage"]}
    coverage = {metric: {"n_lost": n} for metric, n in oracle.coverage().items()}
    yield from compare_tables("coverage", coverage, lost)
    yield from compare_tests(oracle, found)
    if found.passed is bool(coverage):
        yield f"passed: {found.passed} with {len(coverage)} coverage regressions"


# --- Tests -------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(PAIRS))
def test_every_difference_is_the_contracts(number: int, tmp_path: Path) -> None:
    drawn = Drawn(number)
    base, candidate = drawn.runs(tmp_path)
    found = ragtriage.compare(base, candidate, test=True, slice=["question"], write=False)
    better = {name: declared.better for name, declared in REGISTRY.items()}
    oracle = Comparison(Side.of(base), Side.of(candidate), better, ("question",))
    wrong = list(disagreements(oracle, found))
    if wrong:
        pytest.fail("\n".join([f"{len(wrong)} disagreements", *wrong[:SHOWN]]))
