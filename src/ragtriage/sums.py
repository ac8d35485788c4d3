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

# Weights range wider than metrics: exact down to 2^-38 of a chunk's largest.
_ONE_WEIGHT = 2**90


def sums_of_alike(
    cases: pl.DataFrame, columns: Sequence[Column], slices: Sequence[pl.Expr], *, weighted: bool
) -> pl.DataFrame:
    """A row for cases that agree in `stage`, `break_point` and `slices`.

    Beside these `unit`, in fractions of which weights are counted, `n_cases`, `n_not_run` and for
    each metric `n`, `sum` (in steps), and what else its kind needs, followed by its name.
    """
    unit = _weight_unit(cases) if weighted else 1.0
    addends, wholes = _planned(tuple(columns))
    if weighted:
        addends = [*addends, *(part for column in columns for part in _weighted(column, unit))]
    prepared = cases.select(
        pl.lit(1, pl.Int64).alias("n_cases"),
        pl.col("error").is_not_null().cast(pl.Int64).alias("n_not_run"),
        *addends,
        "stage",
        "break_point",
        *slices,
    )
    alike = ["stage", "break_point", *(column.meta.output_name() for column in slices)]
    return (
        summed(prepared, alike)
        .with_columns(*wholes, unit=pl.lit(unit))
        .drop(pl.selectors.starts_with("low "))
    )


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


def _weight_unit(cases: pl.DataFrame) -> float:
    """A power of two no weight of the chunk exceeds; null weighs 1."""
    largest = cases["weight"].fill_null(1.0).max()
    return 2.0 ** math.ceil(math.log2(largest)) if isinstance(largest, float) else 1.0


def _weighted(column: Column, unit: float) -> list[pl.Expr]:
    """Weighted value, and the weight of what is scored.

    Fixed-point in fractions of a unit no weight of the chunk exceeds; sums are kept by unit.
    """
    value = _counted(column)
    weight = pl.when(value.is_not_null()).then(pl.col("weight").fill_null(1.0)).otherwise(0.0)
    weighted = weight * value.cast(pl.Float64).fill_null(0.0)
    return [
        _in_units(weighted, unit).alias(f"wsum {column.name}"),
        _in_units(weight, unit).alias(f"weight {column.name}"),
    ]


def _in_units(value: pl.Expr, unit: float) -> pl.Expr:
    return (value / unit * float(_ONE_WEIGHT)).round().cast(pl.Int128)
