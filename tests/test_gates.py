"""The gate grammar and its verdicts, on tables built by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from ragtriage.errors import UsageError
from ragtriage.finding_needs import CORPUS, REVIEWS
from ragtriage.findings import MEANINGS
from ragtriage.gates import check_observed, counted, judge, parse_gate, threshold_gates
from ragtriage.schemas.inputs import CASE_FIELDS
from ragtriage.summary import STAGES_SCHEMA, SUMMARY_SCHEMA

SLICES = ("all", "split", "tag", "answerable", "group")


def summary_row(**changes: Any) -> dict[str, Any]:
    return {
        "slice": "all",
        "slice_value": "all",
        "metric": "recall",
        "k": 5,
        "mean": 0.8,
        "weighted_mean": 0.7,
        "pooled": 0.75,
        "sum": 8.0,
        "numerator": 9,
        "denominator": 12,
        "n_scored": 10,
        "n_undefined": 5,
        "n_not_run": 5,
        "n_cases": 20,
    } | changes


SUMMARY = pl.DataFrame(
    [
        summary_row(),
        summary_row(k=None, mean=0.9),
        summary_row(metric="ndcg", mean=None, weighted_mean=None, n_scored=0),
        summary_row(metric="unauthorized_context", k=None, sum=3.0, mean=0.3),
        summary_row(slice="split", slice_value="test", mean=0.6),
        summary_row(slice="tag", slice_value="a=b", mean=1.0),
    ],
    schema=SUMMARY_SCHEMA,
)
STAGES = pl.DataFrame(
    [
        {"slice": "all", "slice_value": "all", "stage": "generation", "n": 1, "share": 1 / 15},
        {"slice": "all", "slice_value": "all", "stage": "retrieval", "n": 2, "share": 2 / 15},
        {"slice": "all", "slice_value": "all", "stage": "not_run", "n": 5, "share": None},
    ],
    schema=STAGES_SCHEMA,
)
FINDINGS = pl.DataFrame({"finding": ["disjoint-ids"], "n": [7]})
RUN = {"all=all": 15, "split=test": 4}


def passed(text: str) -> bool:
    (verdict,) = judge([parse_gate(text, SLICES)], SUMMARY, STAGES, FINDINGS, RUN)
    return verdict.passed


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("recall@5 >= 0.8", True),
        ("recall@5>=0.8", True),
        ("recall@5 > 0.8", False),
        ("recall@5 >= 0.8000000005", True),  # within the tolerance of 1e-9
        ("recall@5 >= 0.80000001", False),
        ("recall@5 < 0.8", False),
        ("recall@5 <= 0.8", True),
        ("recall@5 <= 0.7999999995", True),
        ("recall@5 == 0.8", True),
        ("recall@5 != 0.8", False),
        ("recall >= 0.85", True),
        ("weighted.recall@5 >= 0.75", False),
        ("weighted.recall@5 >= 0.7", True),
        ("recall@5[split=test] >= 0.61", False),
        ("recall@5[split=test] >= 0.6", True),
        ("recall@5[tag=a=b] >= 1", True),  # a filter splits at its first =
        ("recall@5[split=unseen] >= 0", False),
        ("scored.recall@5 >= 0.5", True),  # 10 of 20 cases
        ("scored.recall@5 >= 0.51", False),
        ("n.recall@5 >= 10", True),
        ("n.recall@5 >= 11", False),
        ("ndcg@5 >= 0", False),  # nothing was scored
        ("ndcg@5 <= 1", False),
        ("n.ndcg@5 == 0", True),
        ("unauthorized_context <= 0.3", False),  # counts compare their sum
        ("unauthorized_context == 3", True),
        ("stage.generation <= 0.07", True),
        ("stage.generation <= 0.06", False),
        ("stage.citation == 0", True),
        ("stage.generation[split=unseen] <= 1", False),
        ("stage.not_run <= 0.25", True),  # 5 of 20
        ("finding.disjoint-ids == 0", False),
        ("finding.near-miss-id == 0", True),
    ],
)
def test_verdicts(text: str, holds: bool) -> None:
    assert passed(text) is holds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("recall@5", "not a gate"),
        ("recall@5 => 0.8", "not a gate"),
        ("recall@5 >= high", "not a number"),
        ("recall@5 >= nan", "finite"),
        ("recall@5 >= inf", "finite"),
        ("recall@5 >= 1_0", "not a number"),
        ("recall@5 >= 0.\u0668", "not a number"),
        ("recall@\u0665 >= 0.8", "not a gate"),
        pytest.param(f"recall@{'9' * 5000} >= 0.8", "not a gate", id="cutoff of 5000 digits"),
        ("recal@5 >= 0.8", "did you mean `recall`"),
        ("stage.generatoin <= 1", "did you mean `generation`"),
        ("finding.disjoint == 0", "no finding"),
        ("stage.generation@5 <= 1", "no cutoff"),
        ("finding.disjoint-ids[split=test] == 0", "over all cases"),
        ("recall@5[splt=test] >= 0", "did you mean `split`"),
        ("recall@5[test] >= 0", "[slice=value]"),
    ],
)
def test_refusals(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("[", r"\[")):
        parse_gate(text, SLICES)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("recall@5 >= 0", "cutoff 5 was not asked for"),
        ("ndcg >= 0", "needs a cutoff"),
        ("context_recall@10 >= 0", "has no cutoff"),
        ("citation_coverage >= 0", "no cited_ids"),
        ("finding.no-citations == 0", "no cited_ids"),
        ("finding.context-not-retrieved == 0", "no context_ids"),
        ("finding.dangling-required == 0", "no --corpus"),
        ("finding.required-not-allowed == 0", "no allowed_ids or forbidden_ids"),
        ("finding.disputed-label == 0", "no --reviews"),
        ("finding.unjudged == 0", "no grades"),
    ],
)
def test_what_the_input_cannot_answer(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        check_observed(parse_gate(text, SLICES), {"required_ids", "retrieved_ids"}, (10,))


@pytest.mark.parametrize("name", MEANINGS)
def test_every_finding_can_be_asked_for_where_all_is_observed(name: str) -> None:
    check_observed(parse_gate(f"finding.{name} == 0", SLICES), {*CASE_FIELDS, CORPUS, REVIEWS}, ())


def test_thresholds_use_the_first_cutoff_as_given() -> None:
    minima = {"min_recall": 0.5, "min_mrr": 0.4, "min_citation_validity": None}
    texts = [gate.text for gate in threshold_gates(minima, 7)]
    assert texts == ["recall@7 >= 0.5", "reciprocal_rank >= 0.4"]


def test_a_failed_gate_over_nothing_says_so() -> None:
    (verdict,) = judge([parse_gate("ndcg@5 >= 0", SLICES)], SUMMARY, STAGES, FINDINGS, RUN)
    assert verdict.value is None
    assert "nothing measured never passes" in verdict.reason


@pytest.mark.parametrize(
    ("n", "told"), [(0, "0 cases"), (1, "1 case"), (1_234_567, "1,234,567 cases")]
)
def test_cases_are_counted_to_the_last(n: int, told: str) -> None:
    assert counted(n) == told
    whole = pl.DataFrame([summary_row(n_cases=n, n_scored=n)], schema=SUMMARY_SCHEMA)
    (verdict,) = judge([parse_gate("n.recall@5 >= 0", SLICES)], whole, STAGES, FINDINGS, RUN)
    assert f"({n:,} of {told} scored)" in verdict.reason
