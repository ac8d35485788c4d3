"""Values as whole numbers of steps, whose sums no order of rows and no thread can move.

A step is 2^-60: exact for every double from 2^-8 up, and far below a double's own error under it.
"""

from __future__ import annotations

import polars as pl

from ragtriage.metrics.registry import Column

_ONE = 2**60
# Steps are summed as two halves in 64 bits each, several times as fast as 128 bits are grouped;
# 2^33 cases fit.
_HALF = 2**30


def halves(value: pl.Expr, column: Column) -> tuple[pl.Expr, pl.Expr]:
    """A metric's value (0 to 1 where it is a fraction) as upper and lower half; null adds nothing.

    Both are Int64. Sum each, then `whole` puts them together. A count has no lower half: 0.
    """
    if not _fractional(column):
        count = value.cast(pl.Int64).fill_null(0)
        return count, pl.lit(0, pl.Int64)
    scaled = value.fill_null(0.0) * float(_HALF)
    high = scaled.floor()
    # A product with a power of two and this difference are exact, so the round is the only one.
    low = ((scaled - high) * float(_HALF)).round()
    return high.cast(pl.Int64), low.cast(pl.Int64)


def whole(high: pl.Expr, low: pl.Expr, column: Column) -> pl.Expr:
    """Summed halves as one number of steps, Int128; a count as it is."""
    if not _fractional(column):
        return high.cast(pl.Int128)
    return high.cast(pl.Int128) * _HALF + low.cast(pl.Int128)


def fixed_sum(value: pl.Expr, column: Column) -> pl.Expr:
    """The exact sum of a metric's values, in steps: an aggregation, Int128."""
    high, low = halves(value, column)
    return whole(high.sum(), low.sum(), column)


def fixed_sum_of_alike(value: pl.Expr, times: pl.Expr, column: Column) -> pl.Expr:
    """The same where each value stands for as many cases: an aggregation, Int128."""
    return (whole(*halves(value, column), column) * times.cast(pl.Int128)).sum()


def unfixed(total: int, column: Column) -> float:
    """A sum of such steps as the number it stands for."""
    return int(total) / _ONE if _fractional(column) else float(total)


def _fractional(column: Column) -> bool:
    return column.metric.kind in ("ratio", "score")
