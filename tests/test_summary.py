"""Sums that merge: exact, whatever the order of chunks, with every denominator."""

from __future__ import annotations

import pickle
import sys
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragtriage
from ragtriage import summary as module
from ragtriage.metrics import columns_for
from ragtriage.read import batches
from ragtriage.summary import Summary

COLUMNS = [column for column in columns_for([2]) if column.name == "recall_at_2"]


def chunk(values: list[float | None], **columns: Any) -> pl.DataFrame:
    """Scored cases that have nothing but a recall."""
    n = len(values)
    given_columns = {
        "scored": [True] * n,
        "error": [None] * n,
        "stage": ["pass"] * n,
        "break_point": [None] * n,
        "split": [None] * n,
        "tags": [None] * n,
        "is_answerable": [None] * n,
        "weight": [None] * n,
        "recall_at_2": values,
        "recall_at_2_numerator": [None if v is None else 1 for v in values],
        "recall_at_2_denominator": [None if v is None else 2 for v in values],
    } | columns
    types = {
        "error": pl.String,
        "break_point": pl.String,
        "split": pl.String,
        "tags": pl.List(pl.String),
        "is_answerable": pl.Boolean,
        "weight": pl.Float64,
        "recall_at_2": pl.Float64,
        "recall_at_2_numerator": pl.Int64,
        "recall_at_2_denominator": pl.Int64,
    }
    return pl.DataFrame(given_columns, schema_overrides=types)


def table(chunks: list[pl.DataFrame], *, weighted: bool = False, **options: Any) -> pl.DataFrame:
    total = Summary(COLUMNS, weighted=weighted, **options)
    for part in chunks:
        total.add(part)
    return total.table()


UNIT = st.one_of(st.none(), st.integers(0, 7).map(lambda n: n / 7), st.floats(0, 1))


@given(st.lists(UNIT, min_size=1, max_size=30), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_means_are_exact_and_do_not_depend_on_chunks(values: list[float | None], n: int) -> None:
    whole = table([chunk(values)])
    parts = [chunk(values[i : i + n]) for i in range(0, len(values), n)]
    assert table(parts).equals(whole)
    assert table([chunk(values[::-1])]).equals(whole)
    scored = [Fraction(v) for v in values if v is not None]
    row = whole.row(0, named=True)
    assert row["n_scored"] == len(scored)
    assert row["n_undefined"] == len(values) - len(scored)
    if scored:
        assert row["mean"] == pytest.approx(float(sum(scored) / len(scored)), abs=1e-15)
    else:
        assert row["mean"] is None
        assert row["pooled"] is None


def test_three_of_three_is_exactly_one() -> None:
    assert table([chunk([1.0, 1.0, 1.0])])["mean"][0] == 1.0
    assert table([chunk([1 / 3])])["mean"][0] == 1 / 3
    assert table([chunk([0.1] * 10)])["sum"][0] == 1.0


def test_weights_count_one_where_null() -> None:
    # (2*1.0 + 1*0.5 + 1*0.0) / 4; the undefined case's weight of 100 counts nowhere.
    values = [1.0, 0.5, 0.0, None]
    weights = [2.0, None, 1.0, 100.0]
    whole = table([chunk(values, weight=weights)], weighted=True)
    assert whole["weighted_mean"][0] == 2.5 / 4
    assert whole["mean"][0] == 0.5
    apart = [chunk([v], weight=[w]) for v, w in zip(values, weights, strict=True)]
    assert table(apart, weighted=True)["weighted_mean"][0] == 2.5 / 4


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1e-9, 1.0, 1e9, 1e300, 5e307])
def test_weights_of_any_size(scale: float) -> None:
    whole = table([chunk([1.0, 0.0], weight=[3 * scale, scale])], weighted=True)
    assert whole["weighted_mean"][0] == pytest.approx(0.75, rel=1e-12)


@pytest.mark.parametrize("light", [5e-324, 1e-300, 2e-12, 1e-3])
@pytest.mark.parametrize("heavy", [1e3, 1e20, sys.float_info.max])
def test_a_slice_of_light_weights_keeps_its_mean_beside_heavy_ones(
    light: float, heavy: float
) -> None:
    # test: (3 * 1.0 + 1 * 0.0) / 4, whatever dev weighs; over all, dev's 0.0 outweighs it.
    whole = table(
        [chunk([1.0, 0.0, 0.0], weight=[3 * light, light, heavy], split=["test", "test", "dev"])],
        weighted=True,
    )
    of_test = whole.filter(slice="split", slice_value="test")
    assert of_test["weighted_mean"][0] == pytest.approx(0.75, rel=1e-12)
    share = 3 * light / heavy / (1 + 4 * light / heavy)
    assert whole.filter(slice="all")["weighted_mean"][0] == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize("other", [5e-324, 1e-300, 1e-9, 1e9, 1.7e308])
def test_weights_of_any_size_side_by_side(other: float) -> None:
    # Each slice has the mean of its own weights, however small these are beside the others.
    values, weights = [0.0, 1.0, 0.0, 1.0, 0.5], [other, other, 1.0, 3.0, None]
    summary = Summary(COLUMNS, weighted=True)
    summary.add(chunk(values, weight=weights, split=["dev", "dev", "test", "test", "test"]))
    told = summary.table().select("slice", "slice_value", "weighted_mean").rows()
    exact = [Fraction(1 if weight is None else weight) for weight in weights]
    total = sum(w * Fraction(v) for w, v in zip(exact, values, strict=True)) / sum(exact)
    assert dict(zip([row[:2] for row in told], [row[2] for row in told], strict=True)) == {
        ("all", "all"): pytest.approx(float(total), rel=1e-15),
        ("split", "dev"): 0.5,
        ("split", "test"): 3.5 / 5,
    }


@pytest.mark.parametrize("huge", [2.0**39, 1e30, 1e300, 1.7976931348623157e308])
def test_a_weight_counts_beside_one_that_is_very_much_larger(huge: float) -> None:
    # The huge one belongs to a case whose value is undefined: 1 and 3 are what is left.
    weights = [huge, None, 3.0, 5e-324]
    whole = table([chunk([None, 1.0, 0.0, 1.0], weight=weights)], weighted=True)
    assert whole["weighted_mean"][0] == 0.25
    alone = table([chunk([None, 0.5], weight=[huge, 5e-324])], weighted=True)
    assert alone["weighted_mean"][0] == 0.5


def test_a_case_counts_in_each_of_its_tags_once() -> None:
    parts = chunk([1.0, 0.0, 0.5], tags=[["a", "b", "a"], ["b"], None])
    rows = table([parts]).filter(slice="tag")
    counts = dict(zip(rows["slice_value"], rows["n_cases"], strict=True))
    assert counts == {"a": 1, "b": 2}


def test_values_beyond_the_limit_are_summed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_VALUES", 2)
    total = Summary(COLUMNS)
    for split in ("a", "b", "c", "a", "d"):
        total.add(chunk([1.0], split=[split]))
    rows = total.table().filter(slice="split")
    assert dict(zip(rows["slice_value"], rows["n_cases"], strict=True)) == {"a": 2, "b": 1, "…": 2}
    assert total.overflowed == ["split"]
    assert rows["n_cases"].sum() == 5


def test_sums_that_wait_to_be_added_up_keep_no_text_of_the_cases() -> None:
    names = [f"a split with a long name: {i}" for i in range(5_000)]
    every = chunk([1.0] * 5_000, split=names, tags=[[name] for name in names])
    total = Summary(COLUMNS)
    total.add(every[[7, 8]])
    (kept,) = total._gathered
    assert kept["by tag"].to_list() == [[names[7]], [names[8]]]
    assert len(pickle.dumps(kept)) < 10_000


def test_failed_cases_enter_no_mean_but_their_leaks_are_summed() -> None:
    frame = pl.DataFrame(
        {
            "case_id": ["a", "b"],
            "forbidden_ids": [["x"], ["x"]],
            "retrieved_ids": [["x", "y"], ["y"]],
            "error": ["timeout", None],
        }
    )
    run = ragtriage.evaluate(frame, write=False)
    row = run.summary.filter(slice="all", metric="unauthorized_retrieved").row(0, named=True)
    assert (row["sum"], row["n_scored"], row["n_not_run"], row["mean"]) == (1.0, 1, 1, 0.0)


def test_chunked_runs_sum_to_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    lines = [
        f'{{"case_id":"c{i}","required_ids":["a","b","c"],"retrieved_ids":["a","x{i}","b"],'
        f'"split":"s{i % 3}","weight":{1 + i % 4}}}'
        for i in range(50)
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(lines))
    one = ragtriage.evaluate(path, write=False, k=[1, 2])
    monkeypatch.setattr(batches, "BATCH_RECORDS", 7)
    many = ragtriage.evaluate(path, write=False, k=[1, 2])
    for name in ("summary", "stages", "cases", "evidence"):
        mine, theirs = (getattr(run, name).drop("run_id") for run in (one, many))
        assert mine.equals(theirs), name
