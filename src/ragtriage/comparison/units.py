"""What a test flips and a bootstrap draws: groups whole, and cases without a group one by one.

Units that hold the same numbers are counted, not kept apart: a million cases come to a few
kinds, and everything drawn over kinds is drawn over units.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragtriage.comparison.deltas import Scores

# Differences in steps of 2^-36: sums over ten million cases fit 64 bits.
ONE = 2**36
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Units:
    """Kinds of units: each one's summed difference (in steps), its cases, and how many there are.

    Kinds are in a fixed order, so that a seed gives the same draw whatever order cases have.
    """

    sums: Whole
    cases: Whole
    counts: Whole

    @classmethod
    def none(cls) -> Units:
        """Of no case."""
        return cls(*(np.zeros(0, dtype=np.int64) for _ in range(3)))

    @property
    def n_cases(self) -> int:
        """Cases scored in both runs."""
        return int((self.cases * self.counts).sum())

    @property
    def n_units(self) -> int:
        """Groups, and cases without one."""
        return int(self.counts.sum())

    @cached_property
    def differing(self) -> tuple[Whole, Whole]:
        """Sizes of the differences that are not 0, and how many units have each."""
        sizes = np.abs(self.sums)
        values, places = np.unique(sizes, return_inverse=True)
        counts = np.bincount(places, weights=self.counts).astype(np.int64)
        return values[values > 0], counts[values > 0]

    @property
    def n_differing(self) -> int:
        """Units whose difference is not 0."""
        return int(self.differing[1].sum())

    @property
    def slack(self) -> int:
        """Steps by which equal sums may differ: a value such as 1/3 is rounded to a step."""
        return int(2 * (self.cases * self.counts)[self.sums != 0].sum())

    @property
    def total(self) -> int:
        """The summed difference, in steps."""
        return int((self.sums * self.counts).sum())


def group_codes(groups: pl.Series) -> pl.Series:
    """A number for each case's unit: its group's, or one of its own."""
    frame = groups.alias("group").to_frame().with_row_index("row")
    named = pl.col("group").rank("dense").cast(pl.Int64)
    alone = -1 - pl.col("row").cast(pl.Int64)
    return frame.select(pl.coalesce(named, alone).alias("unit")).to_series()


def units(found: Scores, unit: pl.Series) -> Units:
    """The units of one metric over all pairs.

    Args:
        found: the metric on every pair.
        unit: each pair's unit, as `group_codes` numbers them.
    """
    return _counted(_differences(found, unit), [])[()]


def units_by_value(
    found: Scores, unit: pl.Series, codes: pl.Series, members: pl.DataFrame
) -> dict[str, Units]:
    """The same for each value of a slice; a value without a scored pair is absent.

    Args:
        found: the metric on every pair.
        unit: each pair's unit, as `group_codes` numbers them.
        codes: each pair's cell.
        members: `cell` and `slice_value`: the cells of each value.
    """
    rows = _differences(found, unit, cell=codes).join(members, on="cell", how="inner")
    return {str(value): kinds for (value,), kinds in _counted(rows, ["slice_value"]).items()}


def _differences(found: Scores, unit: pl.Series, **more: pl.Series) -> pl.DataFrame:
    """The pairs scored in both runs: `unit`, the difference in steps, and what else is given."""
    steps = ((pl.col("candidate") - pl.col("base")) * float(ONE)).round().cast(pl.Int64)
    scored = found.base.is_not_null() & found.candidate.is_not_null()
    base, candidate = (values.cast(pl.Float64) for values in (found.base, found.candidate))
    frame = pl.DataFrame({"unit": unit, "base": base, "candidate": candidate, **more})
    return frame.filter(scored).select("unit", *more, steps=steps)


def _counted(rows: pl.DataFrame, keys: list[str]) -> dict[tuple[Any, ...], Units]:
    """Kinds of units by `keys`; of no key one entry, be it empty."""
    kinds = (
        rows.group_by(*keys, "unit")
        .agg(sums=pl.col("steps").sum(), cases=pl.len().cast(pl.Int64))
        .with_columns(sums=_without_rounding())
        .group_by(*keys, "sums", "cases")
        .agg(counts=pl.len().cast(pl.Int64))
        .sort("sums", "cases")
    )
    parts = kinds.partition_by(keys, as_dict=True) if keys else {(): kinds}
    return {
        key: Units(*(part[name].to_numpy() for name in ("sums", "cases", "counts")))
        for key, part in parts.items()
    }


def _without_rounding() -> pl.Expr:
    """0 where rounding alone is left: 1/3 + 1/3 - 2/3 is a step, and no difference."""
    sums, cases = pl.col("sums"), pl.col("cases")
    return pl.when(sums.abs() > cases).then(sums).otherwise(0)
