"""The funnel: what is left of required evidence after each step, and why the rest is not."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage.evidence import BREAKS
from ragtriage.funnel import STEPS, Funnel

_LEDGER = {
    "row": pl.Int64,
    "lost_at": pl.String,
    "delivered": pl.Boolean,
    "in_source": pl.Boolean,
    "in_index": pl.Boolean,
    "in_chunks": pl.Boolean,
    "retrieved_rank": pl.Int64,
    "in_top_k": pl.Boolean,
    "in_context": pl.Boolean,
    "cited": pl.Boolean,
}
_CASES = {"row": pl.Int64, "answer_label": pl.Boolean, "error": pl.String}
DELIVERED = {
    "row": 0,
    "lost_at": None,
    "delivered": True,
    "in_source": True,
    "in_index": True,
    "in_chunks": True,
    "retrieved_rank": 1,
    "in_top_k": True,
    "in_context": True,
    "cited": True,
}


def funnel(rows: list[dict[str, Any]], **case: Any) -> Funnel:
    """Requirements of one case, each delivered and cited but for its changes."""
    counted = Funnel()
    cases = pl.DataFrame([{"row": 0, "answer_label": True, "error": None} | case], schema=_CASES)
    counted.add(cases, pl.DataFrame([DELIVERED | row for row in rows], schema=_LEDGER))
    return counted


@pytest.mark.parametrize(
    ("row", "case", "step", "lost_by", "unknown"),
    [
        ({"lost_at": "source", "delivered": False}, {}, "corpus", {"source": 1}, 0),
        ({"lost_at": "index", "delivered": False}, {}, "corpus", {"index": 1}, 0),
        ({"lost_at": "chunk", "delivered": False}, {}, "corpus", {"chunk": 1}, 0),
        ({"lost_at": "scope", "delivered": False}, {}, "retrieved", {"scope": 1}, 0),
        ({"lost_at": "filter", "delivered": False}, {}, "retrieved", {"filter": 1}, 0),
        ({"lost_at": "retrieval", "delivered": False}, {}, "retrieved", {"retrieval": 1}, 0),
        # A candidate that was not returned never came as far as the first k.
        (
            {"lost_at": "ranking", "delivered": False, "retrieved_rank": None},
            {},
            "retrieved",
            {"ranking": 1},
            0,
        ),
        (
            {"lost_at": "ranking", "delivered": False, "retrieved_rank": 9, "in_top_k": False},
            {},
            "top_k",
            {"ranking": 1},
            0,
        ),
        ({"lost_at": "context", "delivered": False}, {}, "context", {"context": 1}, 0),
        ({"lost_at": "unobserved", "delivered": False}, {}, "context", {"unobserved": 1}, 0),
        ({"delivered": None, "in_top_k": None, "in_context": None}, {}, "context", {}, 1),
        ({"cited": False}, {}, "cited", {"uncited": 1}, 0),
        ({}, {"answer_label": False}, "answered", {"wrong-answer": 1}, 0),
        ({}, {"answer_label": None}, "answered", {}, 1),
    ],
)
def test_each_requirement_is_lost_once_where_the_ledger_says(
    row: dict[str, Any], case: dict[str, Any], step: str, lost_by: dict[str, int], unknown: int
) -> None:
    steps = {told.step: told for told in funnel([row, {}], **case).steps()}
    assert tuple(steps) == STEPS
    # Both requirements are of one case: its answer takes both with it.
    n = 2 if step == "answered" else 1
    for name, told in steps.items():
        here = name == step
        assert told.lost_by == (dict.fromkeys(lost_by, n) if here else {}), name
        assert told.unknown == (n * unknown if here else 0), name
    assert steps["answered"].left == 2 - n


def test_what_was_not_recorded_goes_on_and_is_counted() -> None:
    nothing = dict.fromkeys(("in_source", "in_index", "in_chunks", "retrieved_rank", "in_top_k"))
    steps = {told.step: told for told in funnel([nothing | {"cited": None}, {}]).steps()}
    assert [told.left for told in steps.values()] == [2] * 7
    assert [name for name, told in steps.items() if told.unrecorded] == [
        "corpus",
        "retrieved",
        "top_k",
        "cited",
    ]


def test_cases_that_were_not_run_are_not_in_it() -> None:
    assert funnel([{}], error="boom").steps() == []
    assert funnel([]).steps() == []


def test_what_reached_the_context_by_another_way_is_told() -> None:
    assert funnel([{"in_top_k": False, "retrieved_rank": None}, {}]).bypassed == 1


_ROWS = st.fixed_dictionaries(
    {
        "lost_at": st.sampled_from([None, *BREAKS]),
        "delivered": st.sampled_from([True, False, None]),
        "retrieved_rank": st.sampled_from([None, 1, 12]),
        "in_top_k": st.sampled_from([True, False, None]),
        "cited": st.sampled_from([True, False, None]),
    }
)


@settings(max_examples=30)
@given(st.lists(_ROWS, min_size=1, max_size=12), st.integers(0, 12), st.booleans())
def test_nothing_is_dropped_and_chunks_merge(
    rows: list[dict[str, Any]], cut: int, right: bool
) -> None:
    steps = funnel(rows, answer_label=right).steps()
    assert steps[0].left == len(rows)
    for before, after in pairwise(steps):
        assert before.left == after.left + after.lost + after.unknown
        assert after.lost == sum(after.lost_by.values())
    merged = Funnel()
    for part in (rows[:cut], rows[cut:]):
        cases = pl.DataFrame([{"row": 0, "answer_label": right, "error": None}], schema=_CASES)
        merged.add(cases, pl.DataFrame([DELIVERED | row for row in part], schema=_LEDGER))
    assert merged.steps() == steps
