"""What a test flips and a bootstrap draws: groups whole, and cases without a group one by one.

Units that hold the same numbers are counted, not kept apart: a million cases come to a few
kinds, and everything drawn over kinds is drawn over units.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragtriage.comparison.deltas import Scores
from ragtriage.comparison.slices import KEYS

Key = tuple[str, str]
_LENGTH = pl.len().cast(pl.Int64)
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


NO_UNITS = Units(*(np.zeros(0, dtype=np.int64) for _ in range(3)))


def group_codes(groups: pl.Series) -> pl.Series:
    """A number for each case's unit: its group's, or one of its own."""
    frame = groups.alias("group").to_frame().with_row_index("row")
    named = pl.col("group").rank("dense").cast(pl.Int64)
    alone = -1 - pl.col("row").cast(pl.Int64)
    return frame.select(pl.coalesce(named, alone).alias("unit")).to_series()


def units_by_value(
    found: Scores, unit: pl.Series, cells: pl.Series, members: pl.DataFrame
) -> dict[Key, Units]:
    """The units of one metric in each value of some slices, however many values there are.

    Args:
        found: the metric on every pair.
        unit: each pair's unit, as `group_codes` numbers them.
        cells: each pair's cell.
        members: slice, slice_value, cell.

    Returns:
        Units by slice and value; a value without a pair scored in both runs is left out.
    """
    difference = pl.col("candidate") - pl.col("base")
    scored = (
        pl.DataFrame(
            {"cell": cells, "unit": unit, "base": found.base, "candidate": found.candidate}
        )
        .with_columns(pl.col("base", "candidate").cast(pl.Float64))
        .filter(difference.is_not_null())
        .select("cell", "unit", sums=(difference * float(ONE)).round().cast(pl.Int64))
    )
    alone = pl.col("unit") < 0
    kinds = pl.concat(
        [_alone(scored.filter(alone), members), _groups(scored.filter(~alone), members)]
    )
    kinds = (
        kinds.with_columns(sums=_without_rounding())
        .group_by(*KEYS, "sums", "cases")
        .agg(pl.col("counts").sum())
        .sort("sums", "cases")
    )
    return {
        (name, value): Units(*(part[column].to_numpy() for column in ("sums", "cases", "counts")))
        for (name, value), part in kinds.partition_by(*KEYS, as_dict=True).items()
    }


def _alone(scored: pl.DataFrame, members: pl.DataFrame) -> pl.DataFrame:
    """Kinds of cases without a group: counted within a cell, before cells are added up."""
    kinds = scored.group_by("cell", "sums").agg(counts=_LENGTH)
    placed = members.join(kinds, on="cell").group_by(*KEYS, "sums").agg(pl.col("counts").sum())
    return placed.select(*KEYS, "sums", pl.lit(1, pl.Int64).alias("cases"), "counts")


def _groups(scored: pl.DataFrame, members: pl.DataFrame) -> pl.DataFrame:
    """Kinds of groups, each of its cases in the slice value."""
    parts = scored.group_by("cell", "unit").agg(pl.col("sums").sum(), cases=_LENGTH)
    whole = (
        members.join(parts, on="cell").group_by(*KEYS, "unit").agg(pl.col("sums", "cases").sum())
    )
    return whole.group_by(*KEYS, "sums", "cases").agg(counts=_LENGTH)


def _without_rounding() -> pl.Expr:
    """0 where rounding alone is left: 1/3 + 1/3 - 2/3 is a step, and no difference."""
    sums, cases = pl.col("sums"), pl.col("cases")
    return pl.when(sums.abs() > cases).then(sums).otherwise(0)
