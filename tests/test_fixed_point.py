from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.fixed_point import fixed_sum, fixed_sum_of_alike, unfixed
from ragtriage.metrics import Column, columns_for

STEP = 2**60
COLUMNS = {column.name: column for column in columns_for((10,))}
FRACTION, COUNT, ANSWER = (
    COLUMNS[name] for name in ("ndcg_at_10", "context_dropped", "answer_passed")
)


def _sum(values: list[float | None], column: Column, dtype: pl.DataType) -> int:
    frame = pl.DataFrame({"value": pl.Series(values, dtype=dtype)})
    return int(frame.select(fixed_sum(pl.col("value"), column)).item())


@given(st.lists(st.none() | st.floats(0, 1, allow_subnormal=True), max_size=50))
def test_a_sum_is_that_of_each_value_rounded_to_a_step(values: list[float | None]) -> None:
    expected = sum(round(Fraction(value) * STEP) for value in values if value is not None)
    assert _sum(values, FRACTION, pl.Float64()) == expected


@given(st.lists(st.tuples(st.none() | st.floats(0, 1), st.integers(1, 10**6)), max_size=8))
def test_values_that_stand_for_several_add_as_often(pairs: list[tuple[float | None, int]]) -> None:
    frame = pl.DataFrame(pairs, schema={"value": pl.Float64, "n": pl.UInt32}, orient="row")
    total = frame.select(fixed_sum_of_alike(pl.col("value"), pl.col("n"), FRACTION)).item()
    assert total == sum(n * _sum([value], FRACTION, pl.Float64()) for value, n in pairs)


@pytest.mark.parametrize("value", [2**-8, 1.0, 0.1, 1 / 3, 1 - 2**-53])
def test_from_a_256th_up_every_double_is_held_exactly(value: float) -> None:
    assert Fraction(_sum([value], FRACTION, pl.Float64()), STEP) == Fraction(value)


def test_halfway_between_two_steps_the_even_one_is_taken_in_the_lower_half_too() -> None:
    halfway = [(2 * n + 1) * 2.0**-61 for n in range(4)]
    assert [_sum([value], FRACTION, pl.Float64()) for value in halfway] == [0, 2, 2, 4]


def test_counts_and_answers_are_summed_as_they_are() -> None:
    assert _sum([3, None, 2**40], COUNT, pl.Int64()) == 2**40 + 3
    assert _sum([True, None, False, True], ANSWER, pl.Boolean()) == 2


def test_nothing_adds_nothing() -> None:
    assert _sum([], FRACTION, pl.Float64()) == 0
    assert _sum([None, None], FRACTION, pl.Float64()) == 0


def test_a_sum_in_steps_is_told_as_the_number_it_stands_for() -> None:
    assert unfixed(STEP + STEP // 2, FRACTION) == 1.5
    assert unfixed(7, COUNT) == 7.0
