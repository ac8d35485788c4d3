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

# Weights range wider than metrics: exact down to 2^-38 of their unit. Below it they have another.
_ONE_WEIGHT = 2**90
_EXACT = 2.0**-38
# Powers of two of which both they and their reciprocals are doubles.
_LEAST_POWER, _MOST_POWER = -1022, 1022
# How far apart units are where weights have several.
_APART = 32


def sums_of_alike(
    cases: pl.DataFrame, columns: Sequence[Column], slices: Sequence[pl.Expr], *, weighted: bool
) -> pl.DataFrame:
    """A row for cases that agree in `stage`, `break_point` and `slices`.

    Beside these `unit`, in fractions of which weights are counted, `n_cases`, `n_not_run` and for
    each metric `n`, `sum` (in steps), and what else its kind needs, followed by its name.
    """
    addends, wholes = _planned(tuple(columns))
    if weighted:
        unit = _weight_unit(cases["weight"])
        addends = [*addends, *(part for column in columns for part in _weighted(column, unit))]
        slices = [unit.alias("unit"), *slices]
    else:
        wholes = [*wholes, pl.lit(1.0).alias("unit")]
    prepared = cases.select(
        pl.lit(1, pl.Int64).alias("n_cases"),
        pl.col("error").is_not_null().cast(pl.Int64).alias("n_not_run"),
        *addends,
        "stage",
        "break_point",
        *slices,
    )
    alike = ["stage", "break_point", *(column.meta.output_name() for column in slices)]
    return summed(prepared, alike).with_columns(*wholes).drop(pl.selectors.starts_with("low "))


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


def _weight_unit(weights: pl.Series) -> pl.Expr:
    """For each weight a power of two: one for all of them, unless they lie very far apart."""
    given = weights.fill_null(1.0)
    least, largest = given.min(), given.max()
    if not isinstance(least, float) or not isinstance(largest, float):
        return pl.lit(1.0)
    unit = _power(largest, 1)
    if least >= unit * _EXACT:
        return pl.lit(unit)
    known = {weight: _power(weight, _APART) for weight in given.unique().to_list()}
    return pl.col("weight").fill_null(1.0).replace_strict(known, return_dtype=pl.Float64)


def _power(weight: float, step: int) -> float:
    """The least power of 2^step that is no less, within those that have a reciprocal."""
    power = math.ceil(math.log2(weight) / step) * step
    return 2.0 ** min(max(power, _LEAST_POWER), _MOST_POWER)


def _weighted(column: Column, unit: pl.Expr) -> list[pl.Expr]:
    """Weighted value, and the weight of what is scored.

    Fixed-point in fractions of the weight's unit; sums are kept by unit.
    """
    value = _counted(column)
    weight = pl.when(value.is_not_null()).then(pl.col("weight").fill_null(1.0)).otherwise(0.0)
    # A power of two: no digit is lost, and nothing grows out of range.
    weight = weight / unit
    return [
        _in_units(weight * value.cast(pl.Float64).fill_null(0.0)).alias(f"wsum {column.name}"),
        _in_units(weight).alias(f"weight {column.name}"),
    ]


def _in_units(value: pl.Expr) -> pl.Expr:
    return (value * float(_ONE_WEIGHT)).round().cast(pl.Int128)
