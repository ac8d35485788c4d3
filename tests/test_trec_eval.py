"""Where trec_eval has the metric, ours is trec_eval's; and by hand, where it has not."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

import ragtriage
from ragtriage.metrics import columns_for

Record = dict[str, Any]

QUERIES = 400
# As a user may give them: not sorted, some larger than any ranking.
CUTOFFS = (5, 1, 100, 10, 3, 2)
POOL = tuple(f"{letter}{number}" for number in range(20) for letter in ("d", "D"))
# Every name that a metric's declaration, and so the reference page, says trec_eval has for it.
TREC = {
    column.name: name.format(k=column.k)
    for column in columns_for(CUTOFFS)
    if (name := column.metric.trec_eval[column.k is not None]) is not None
}


def evaluated(path: Path, records: list[Record], **options: Any) -> list[Record]:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return ragtriage.evaluate(path, write=False, **options).cases.rows(named=True)


def trec_eval(qrels: dict[str, dict[str, int]], records: list[Record]) -> dict[str, Record]:
    """By pytrec_eval; a query that returned nothing, which it leaves out, has 0 throughout."""
    run = {}
    for record in records:
        ranked = list(dict.fromkeys(record["retrieved_ids"]))
        run[record["case_id"]] = {one: float(-rank) for rank, one in enumerate(ranked)}
    measures = {name.replace("_cut_", "_cut.") for name in TREC.values() if "_cut_" in name}
    measures |= {f"{name}.{k}" for name in ("recall", "P", "success") for k in CUTOFFS}
    measures |= {"set_recall", "recip_rank", "Rprec"}
    found = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    nothing = dict.fromkeys(TREC.values(), 0.0)
    return {record["case_id"]: found.get(record["case_id"], nothing) for record in records}


def query(draw: random.Random, number: int) -> Record:
    """A ranking with repeats; short, empty, or long; relevant IDs more than k now and then."""
    length = draw.choice((0, 1, 2, 4, 9, 30))
    relevant = draw.sample(POOL, draw.choice((1, 1, 2, 3, 7, 15)))
    likely = (*POOL, *relevant * draw.randrange(12))
    return {
        "case_id": f"q{number}",
        "required_ids": relevant,
        "retrieved_ids": [draw.choice(likely) for _ in range(length)],
    }


def grade(draw: random.Random, record: Record) -> Record:
    """The same with grades; some judged IDs are worth nothing."""
    relevant = record.pop("required_ids")
    others = [one for one in POOL if one not in relevant]
    grades = {one: draw.randint(1, 4) for one in relevant} | dict.fromkeys(
        draw.sample(others, draw.randrange(6)), 0
    )
    return record | {"grades": [{"id": one, "grade": worth} for one, worth in grades.items()]}


@pytest.mark.parametrize("graded", [False, True], ids=["binary", "graded"])
def test_equals_trec_eval(tmp_path: Path, *, graded: bool) -> None:
    draw = random.Random(20_260_101)  # noqa: S311 - the same queries every time
    records = [query(draw, number) for number in range(QUERIES)]
    if graded:
        records = [grade(draw, record) for record in records]
        qrels = {r["case_id"]: {g["id"]: g["grade"] for g in r["grades"]} for r in records}
    else:
        qrels = {r["case_id"]: dict.fromkeys(r["required_ids"], 1) for r in records}
    expected = trec_eval(qrels, records)
    rows = evaluated(tmp_path / "cases.jsonl", records, k=list(CUTOFFS))
    for row in rows:
        theirs = expected[row["case_id"]]
        ours = {name: row[name] for name in TREC}
        assert ours == pytest.approx({name: theirs[of] for name, of in TREC.items()}, abs=1e-9)


def test_the_names_are_those_that_were_always_held_equal() -> None:
    plain = {"recall": "set_recall", "reciprocal_rank": "recip_rank", "r_precision": "Rprec"}
    cut = {"recall": "recall", "precision": "P", "average_precision": "map_cut"}
    cut |= {"ndcg": "ndcg_cut", "hit": "success"}
    assert plain | {f"{m}_at_{k}": f"{n}_{k}" for m, n in cut.items() for k in CUTOFFS} == TREC


def test_the_queries_reach_the_corners() -> None:
    draw = random.Random(20_260_101)  # noqa: S311 - as above
    records = [query(draw, number) for number in range(QUERIES)]
    corners: dict[str, Callable[[list[str], set[str]], bool]] = {
        "nothing returned": lambda ranked, _: not ranked,
        "repeats": lambda ranked, _: len(set(ranked)) < len(ranked),
        "a repeated relevant ID": lambda ranked, want: any(ranked.count(i) > 1 for i in want),
        "shorter than k": lambda ranked, _: 0 < len(ranked) < max(CUTOFFS),
        "more relevant than k": lambda _, want: len(want) > sorted(CUTOFFS)[-2],
        "all found": lambda ranked, want: want <= set(ranked),
        "none found": lambda ranked, want: bool(ranked) and want.isdisjoint(ranked),
    }
    for corner, reached in corners.items():
        n = sum(reached(r["retrieved_ids"], set(r["required_ids"])) for r in records)
        assert n >= 20, corner


# Three are required; the distinct ranking is x, a, y, b, z: hits at ranks 2 and 4, c is missing.
BY_HAND = {"case_id": "hand", "retrieved_ids": ["x", "a", "a", "y", "b", "z", "x"]}
WANTED = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("recall", 2 / 3),
        ("recall_at_3", 1 / 3),
        ("recall_at_10", 2 / 3),
        ("precision_at_3", 1 / 3),
        ("precision_at_10", 2 / 10),
        ("context_precision_at_3", 1 / 3),
        ("context_precision_at_10", 2 / 5),
        ("hit_at_3", True),
        ("all_required_at_10", False),
        ("reciprocal_rank", 1 / 2),
        ("reciprocal_rank_at_3", 1 / 2),
        ("average_precision_at_3", (1 / 2) / 3),
        ("average_precision_at_10", (1 / 2 + 2 / 4) / 3),
        ("ndcg_at_3", (1 / log2(3)) / (1 + 1 / log2(3) + 1 / 2)),
        ("ndcg_at_10", (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3) + 1 / 2)),
        ("r_precision", 1 / 3),
    ],
)
def test_binary_by_hand(metric: str, value: float, tmp_path: Path) -> None:
    record = BY_HAND | {"required_ids": WANTED}
    [row] = evaluated(tmp_path / "cases.jsonl", [record], k=[10, 3])
    assert row[metric] == pytest.approx(value, abs=1e-12)


def test_graded_by_hand(tmp_path: Path) -> None:
    grades = {"a": 1, "b": 3, "c": 2, "x": 0}
    record = BY_HAND | {"grades": [{"id": one, "grade": worth} for one, worth in grades.items()]}
    [row] = evaluated(tmp_path / "cases.jsonl", [record], k=[10, 3, 1])
    # Best first: b, c, a. The cutoff cuts the ideal too.
    ideal = 3 + 2 / log2(3) + 1 / 2
    assert row["ndcg_at_10"] == pytest.approx((1 / log2(3) + 3 / log2(5)) / ideal, abs=1e-12)
    assert row["ndcg_at_3"] == pytest.approx((1 / log2(3)) / ideal, abs=1e-12)
    assert row["ndcg_at_1"] == 0
    # No other metric looks at how much an ID is worth.
    assert row["recall_at_10"] == pytest.approx(2 / 3)
    assert row["average_precision_at_10"] == pytest.approx(1 / 3)


def test_a_requirement_keeps_its_own_grade_after_one_that_is_given_twice(tmp_path: Path) -> None:
    twice = {"case_id": "1", "required_ids": ["a", "a"], "grades": [{"id": "a", "grade": 2}]}
    other = {"case_id": "2", "required_ids": ["b", "c"]}
    other["grades"] = [{"id": "b", "grade": 1}, {"id": "c", "grade": 3}]
    records = [twice | {"retrieved_ids": ["x", "a"]}, other | {"retrieved_ids": ["b", "c"]}]
    first, second = evaluated(tmp_path / "cases.jsonl", records, k=[10])
    assert first["ndcg_at_10"] == pytest.approx((2 / log2(3)) / 2, abs=1e-12)
    expected = (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    assert second["ndcg_at_10"] == pytest.approx(expected, abs=1e-12)
