"""From scored cases to sums over those that are alike: exact, whatever the order of rows.

Cases that agree in stage, break point and every slice are summed once for all slices: they are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import polars as pl

from ragtriage.fixed_point import halves, whole
from ragtriage.metrics.registry import Column

# Weights range wider than metrics: they are counted in units of their own size, 2^32 apart, and
# exact down to 2^-38 of a unit. Ordinary weights, 2^-16 to 2^16, have one unit.
_ONE_WEIGHT = 2**90
_APART = 32
_LARGEST_UNIT = 1023


def sums_of_alike(
    cases: pl.DataFrame, columns: Sequence[Column], slices: Sequence[pl.Expr], *, weighted: bool
) -> pl.DataFrame:
    """A row for cases that agree in `stage`, `break_point` and `slices`.

    Of one `unit`, too, in fractions of which weights are counted. Beside these `n_cases`,
    `n_not_run` and for each metric `n`, `sum` (in steps), and what else its kind needs, followed by
    its name.
    """
    addends, wholes = _planned(tuple(columns))
    if weighted:
        addends = [*addends, *(part for column in columns for part in _weighted(column))]
    unit = _unit_of_weight() if weighted else pl.lit(1.0)
    cases = cases.with_columns(unit=unit)
    prepared = cases.select(
        pl.lit(1, pl.Int64).alias("n_cases"),
        pl.col("error").is_not_null().cast(pl.Int64).alias("n_not_run"),
        *addends,
        "stage",
        "break_point",
        "unit",
        *slices,
    )
    alike = ["stage", "break_point", "unit", *(column.meta.output_name() for column in slices)]
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


def _unit_of_weight() -> pl.Expr:
    """A power of two of each weight's size; null weighs 1."""
    size = pl.col("weight").fill_null(1.0).log(2.0)
    power = ((size - _APART / 2) / _APART).ceil() * _APART + _APART / 2
    return pl.lit(2.0).pow(power.clip(upper_bound=_LARGEST_UNIT))


def _weighted(column: Column) -> list[pl.Expr]:
    """Weighted value, and the weight of what is scored, in fractions of the row's unit."""
    value = _counted(column)
    weight = pl.when(value.is_not_null()).then(pl.col("weight").fill_null(1.0)).otherwise(0.0)
    # A power of two divides exactly; to multiply first could go beyond the largest number.
    share = weight / pl.col("unit")
    weighted = share * value.cast(pl.Float64).fill_null(0.0)
    return [
        _in_steps(weighted).alias(f"wsum {column.name}"),
        _in_steps(share).alias(f"weight {column.name}"),
    ]


def _in_steps(share: pl.Expr) -> pl.Expr:
    return (share * float(_ONE_WEIGHT)).round().cast(pl.Int128)
