"""From scored cases to sums over those that are alike: exact, whatever the order of rows.

Cases that agree in stage, break point and every slice are summed once for all slices: they are few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import polars as pl

from ragtriage.fixed_point import halves, whole
from ragtriage.metrics.registry import Column

# Weights range wider than metrics: exact down to 2^-37 of their unit.
_ONE_WEIGHT = 2**90
# A chunk whose weights span no more than this has one unit; others have one for every 2^32.
_NARROW = 2.0**32
_SPAN = 32
# Beyond these a power of two, or its reciprocal, is no double.
_EXPONENTS = (-1023, 1023)


def sums_of_alike(
    cases: pl.DataFrame, columns: Sequence[Column], slices: Sequence[pl.Expr], *, weighted: bool
) -> pl.DataFrame:
    """A row for cases that agree in `stage`, `break_point` and `slices`.

    Beside these `unit`, in fractions of which weights are counted, `n_cases`, `n_not_run` and for
    each metric `n`, `sum` (in steps), and what else its kind needs, followed by its name.
    """
    addends, wholes = _planned(tuple(columns))
    unit: float | pl.Expr = 1.0
    if weighted:
        weight = pl.col("weight").fill_null(1.0)
        unit = _weight_unit(cases["weight"].fill_null(1.0))
        cases = cases.with_columns(share=weight / unit)
        addends = [*addends, *(part for column in columns for part in _weighted(column))]
    prepared = cases.select(
        pl.lit(1, pl.Int64).alias("n_cases"),
        pl.col("error").is_not_null().cast(pl.Int64).alias("n_not_run"),
        *addends,
        "stage",
        "break_point",
        *slices,
    )
    alike = ["stage", "break_point", *(column.meta.output_name() for column in slices)]
    if isinstance(unit, float):
        sums = summed(prepared, alike).with_columns(unit=pl.lit(unit))
    else:
        by_unit = prepared.with_columns(cases.select(unit=unit))
        sums = summed(by_unit, [*alike, "unit"]).select(pl.exclude("unit"), "unit")
    return sums.with_columns(*wholes).drop(pl.selectors.starts_with("low "))


@cache
def _planned(columns: tuple[Column, ...]) -> tuple[list[pl.Expr], list[pl.Expr]]:
    """What is summed, and how the sums' halves are put together; the same for every chunk."""
    return [part for column in columns for part in _addends(column)], [*map(_whole, columns)]


def summed(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Sums of all other columns, in order of first appearance."""
    return rows.group_by(keys, maintain_order=True).agg(pl.all().sum())


def merged(sums: pl.DataFrame | None, more: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Sums so far plus those of what comes after."""
    return more if sums is None else summed(pl.concat([sums, more]), keys)


def _addends(column: Column) -> list[pl.Expr]:
    name, value, counted = column.name, pl.col(column.name), _counted(column)
    high, low = halves(counted, column)
    addends = [
        counted.is_not_null().cast(pl.Int64).alias(f"n {name}"),
        high.alias(f"sum {name}"),
        low.alias(f"low {name}"),
    ]
    if column.metric.unscored:
        addends.append(value.fill_null(0).cast(pl.Int64).alias(f"kept {name}"))
        addends.append(value.is_not_null().cast(pl.Int64).alias(f"seen {name}"))
    if column.metric.kind == "ratio":
        addends.append(pl.col(column.numerator).fill_null(0).alias(f"num {name}"))
        addends.append(pl.col(column.denominator).fill_null(0).alias(f"den {name}"))
    return addends


def _counted(column: Column) -> pl.Expr:
    """A metric's values as far as means count them: those of cases that were run and settled."""
    value = pl.col(column.name)
    return value if not column.metric.unscored else pl.when("scored").then(value)


def _whole(column: Column) -> pl.Expr:
    """A metric's summed halves as one number."""
    total, low = pl.col(f"sum {column.name}"), pl.col(f"low {column.name}")
    return whole(total, low, column).alias(f"sum {column.name}")


def _weight_unit(weights: pl.Series) -> float | pl.Expr:
    """The unit that each case's weight is counted in: a power of two above half of the weight.

    One for all where the weights lie together. A sum in units far above a weight would lose it, and
    with it every slice that holds nothing heavier.
    """
    lightest, heaviest = weights.min(), weights.max()
    if not (isinstance(lightest, float) and isinstance(heaviest, float)):
        return 1.0
    if heaviest / lightest <= _NARROW:
        return math.ldexp(1.0, max(math.frexp(heaviest)[1] - 1, _EXPONENTS[0]))
    span = (pl.col("weight").fill_null(1.0).log(2) / _SPAN).floor()
    # The logarithm of the greatest weights is rounded to 1024, which no double has as exponent.
    return pl.lit(2.0).pow((span * _SPAN + (_SPAN - 1)).clip(*_EXPONENTS))


def _weighted(column: Column) -> list[pl.Expr]:
    """Weighted value, and the weight of what is scored.

    Fixed-point in fractions of a unit, of which `share` is the weight; sums are kept by unit.
    """
    value = _counted(column)
    weight = pl.when(value.is_not_null()).then("share").otherwise(0.0)
    weighted = weight * value.cast(pl.Float64).fill_null(0.0)
    return [
        _in_steps(weighted).alias(f"wsum {column.name}"),
        _in_steps(weight).alias(f"weight {column.name}"),
    ]


def _in_steps(value: pl.Expr) -> pl.Expr:
    return (value * float(_ONE_WEIGHT)).round().cast(pl.Int128)
