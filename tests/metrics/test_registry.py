"""Sweeps over the registry: whatever is declared holds for every metric, also the next one."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import ragtriage
from ragtriage.metrics import REGISTRY, columns_for
from ragtriage.metrics.registry import Metric, metric
from ragtriage.schemas.inputs import CASE_FIELDS, Cases, dtypes

METRICS = [pytest.param(declared, id=name) for name, declared in REGISTRY.items()]
CUTOFFS = (3, 1, 10)


def run(records: list[dict[str, Any]], **options: Any) -> pl.DataFrame:
    types = dtypes(Cases)
    names = {name for record in records for name in record}
    frame = pl.DataFrame(records, schema={name: types[name] for name in types if name in names})
    return ragtriage.evaluate(frame, write=False, k=list(CUTOFFS), **options).cases.drop("run_id")


FULL = {
    "case_id": "full",
    "required_ids": ["a", "b", "c"],
    "required_groups": [["d", "e"]],
    "allowed_ids": None,
    "forbidden_ids": ["z"],
    "retrieved_ids": ["x", "a", "a", "e", "z", "b"],
    "context_ids": ["a", "e", "z"],
    "cited_ids": ["a", "x"],
    "expected_answers": ["yes"],
    "answer": "Yes",
    "abstained": False,
    "answerable": True,
}
EMPTY = {
    name: ([] if name.endswith("_ids") or name == "required_groups" else None) for name in FULL
} | {"case_id": "empty", "allowed_ids": None, "forbidden_ids": []}
NULL = dict.fromkeys(FULL) | {"case_id": "null"}
FAILED = FULL | {"case_id": "failed", "error": "timeout"}
AMBIGUOUS = FULL | {"case_id": "ambiguous", "ambiguity": "which one?"}


@pytest.fixture(scope="module")
def cases() -> dict[str, dict[str, Any]]:
    rows = run([FULL, EMPTY, NULL, FAILED, AMBIGUOUS])
    return {row["case_id"]: row for row in rows.iter_rows(named=True)}


@pytest.mark.parametrize("declared", METRICS)
def test_docstring_says_what_and_when_undefined(declared: Metric) -> None:
    text = declared.formula.__doc__ or ""
    assert declared.about.rstrip().endswith((".", "?", ")"))
    assert len(declared.about) <= 100
    if declared.kind in ("ratio", "score"):
        assert "Range 0 to 1" in text
        assert "ndefined" in text or "0 when" in text
    assert declared.source


@pytest.mark.parametrize("declared", METRICS)
def test_needs_name_fields_of_the_model(declared: Metric) -> None:
    for group in (*declared.needs, *declared.file_needs):
        assert group
        assert set(group) <= set(CASE_FIELDS)
    assert declared.observed(set(CASE_FIELDS))
    assert not declared.observed({"case_id"})
    assert declared.missing({"case_id"})


@pytest.mark.parametrize("declared", METRICS)
def test_values_are_within_the_declared_range(
    declared: Metric, cases: dict[str, dict[str, Any]]
) -> None:
    low, high = declared.bounds
    for column in columns_for(CUTOFFS):
        if column.metric is not declared:
            continue
        for row in cases.values():
            value = row[column.name]
            if value is None:
                continue
            assert not math.isnan(value)
            assert low <= value
            assert high is None or value <= high


@pytest.mark.parametrize("declared", METRICS)
def test_nothing_observed_is_null_everywhere(
    declared: Metric, cases: dict[str, dict[str, Any]]
) -> None:
    for column in columns_for(CUTOFFS):
        if column.metric is declared:
            assert [cases["null"][name] for name in column.schema] == [None] * len(column.schema)


@pytest.mark.parametrize("declared", METRICS)
def test_cases_not_scored_are_null_but_for_leaks(
    declared: Metric, cases: dict[str, dict[str, Any]]
) -> None:
    for column in columns_for(CUTOFFS):
        if column.metric is not declared:
            continue
        for case_id in ("failed", "ambiguous"):
            value = cases[case_id][column.name]
            assert (value is not None) == declared.unscored


@pytest.mark.parametrize("declared", METRICS)
def test_a_ratio_is_its_parts(declared: Metric, cases: dict[str, dict[str, Any]]) -> None:
    for column in columns_for(CUTOFFS):
        if column.metric is not declared or declared.kind != "ratio":
            continue
        for row in cases.values():
            value, top, bottom = (row[name] for name in column.schema)
            if bottom:
                assert value == top / bottom
            elif bottom == 0:
                assert value == declared.empty


def test_order_of_rows_and_company_change_no_case() -> None:
    records = [FULL, EMPTY, NULL, FAILED, AMBIGUOUS]
    together = run(records).sort("case_id").drop("line")
    reverse = run(records[::-1]).sort("case_id").drop("line")
    assert together.equals(reverse)
    types = dtypes(Cases)
    for record in records:
        names = [name for name in types if any(name in other for other in records)]
        alone = run([{name: record.get(name) for name in names}])
        expected = together.filter(pl.col("case_id") == record["case_id"])
        assert alone.drop("line").equals(expected)


def test_repeats_of_retrieved_ids_change_nothing_but_the_finding() -> None:
    plain = FULL | {"retrieved_ids": ["x", "a", "e", "z", "b"]}
    once, twice = (run([record]).drop("retrieved_ids", "findings") for record in (plain, FULL))
    assert once.equals(twice)


def test_hand_derived_values_of_the_full_case(cases: dict[str, dict[str, Any]]) -> None:
    # R = x a e z b; requirements a, b, c, {d, e}: hit at ranks 2 (a), 3 (e) and 5 (b).
    row = cases["full"]
    expected = {
        "recall": 3 / 4,
        "recall_at_3": 2 / 4,
        "precision_at_3": 2 / 3,
        "precision_at_10": 3 / 10,
        "context_precision_at_10": 3 / 5,
        "redundant_at_10": 0,
        "hit_at_1": False,
        "all_required_at_10": False,
        "reciprocal_rank": 1 / 2,
        "reciprocal_rank_at_1": 0.0,
        # precision at each first hit: 1 of 2, 2 of 3, 3 of 5
        "average_precision_at_10": (1 / 2 + 2 / 3 + 3 / 5) / 4,
        "ndcg_at_3": (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3) + 1 / 2),
        "r_precision": 2 / 4,
        "context_recall": 2 / 4,
        "context_complete": False,
        "context_dropped": 0,
        "citation_coverage": 1 / 4,
        "citation_validity": 1.0,
        "citation_precision": 1 / 2,
        "citation_in_context": 1 / 2,
        "citation_valid": True,
        "source_correct": False,
        "answer_match": True,
        "answer_passed": False,
        "unauthorized_retrieved": 1,
        "unauthorized_context": 1,
        "unauthorized_cited": 0,
        "over_refusal": False,
        "refused_with_evidence": False,
    }
    for name, value in expected.items():
        assert row[name] == pytest.approx(value, abs=1e-12), name


def test_a_name_can_be_declared_once() -> None:
    with pytest.raises(ValueError, match="declared twice"):

        @metric(family="retrieval", kind="count", needs=(), source="test")
        def recall() -> pl.Expr:
            """Nothing."""
            return pl.lit(0)
