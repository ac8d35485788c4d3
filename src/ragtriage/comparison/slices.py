"""Which slices each pair of cases is in, by the base run's labels.

Pairs that are in exactly the same slices form a cell. Sums are made once a cell, however many
slices there are, and added up to slice values from there.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from ragtriage.comparison.pairing import Pairs
from ragtriage.read.runs import StoredRun
from ragtriage.summary import MOST_VALUES, STANDARD_SLICES, THE_REST

_SOURCE = {"tag": "tags"}
KEYS = ("slice", "slice_value")


@dataclass(frozen=True)
class Cells:
    """`codes`: the cell of each pair. `members`: slice, slice_value, cell; in order.

    `overflowed`: slices with more values than are kept apart.
    """

    codes: pl.Series
    members: pl.DataFrame
    overflowed: list[str]

    def fold(self, sums: pl.DataFrame) -> pl.DataFrame:
        """Sums by `cell` added up to slice values, in the order of `members`."""
        order = self.members.select(KEYS).unique(maintain_order=True)
        folded = (
            self.members.join(sums, on="cell", how="inner")
            .drop("cell")
            .group_by(KEYS)
            .agg(pl.all().sum())
        )
        return order.join(folded, on=KEYS, how="inner", maintain_order="left")

    def of_slice(self, name: str) -> pl.DataFrame:
        """The cells of each value of a slice: `cell`, `slice_value`."""
        return self.members.filter(pl.col("slice") == name).select("cell", "slice_value")

    def values(self, names: tuple[str, ...]) -> list[tuple[str, str]]:
        """Slice values of these slices, in order."""
        wanted = self.members.filter(pl.col("slice").is_in(names))
        return wanted.select(KEYS).unique(maintain_order=True).rows()


def cells(base: StoredRun, pairs: Pairs, extra: tuple[str, ...]) -> Cells:
    """Sort the pairs into cells over the standard slices and further fields."""
    names = [name for name in dict.fromkeys((*STANDARD_SLICES, *extra)) if name != "all"]
    known = [name for name in names if _SOURCE.get(name, name) in base.columns]
    columns = {f"by {name}": pairs.of_base(base, _SOURCE.get(name, name)) for name in known}
    frame = pl.DataFrame(columns)
    if not known:
        frame = pl.DataFrame({"by nothing": pl.repeat(0, len(pairs.ids), eager=True)})
    codes, kinds = _coded(frame)
    if "tag" in known:
        # Tags are brought into one order once for each kind of case, not for each case.
        cell, kinds = _coded(kinds.with_columns(pl.col("by tag").list.unique().list.sort()))
        codes = cell.gather(codes)
    kinds = kinds.with_row_index("cell")
    parts, overflowed = [_everything(kinds)], []
    for name in known:
        members, cut = _members(kinds, name)
        parts.append(members)
        overflowed += [name] if cut else []
    return Cells(codes, pl.concat(parts), overflowed)


def _coded(frame: pl.DataFrame) -> tuple[pl.Series, pl.DataFrame]:
    """Each row's place among the distinct rows, and these."""
    kinds = frame.unique(maintain_order=True)
    keys, numbered = list(frame.columns), kinds.with_row_index("cell")
    placed = frame.join(numbered, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return placed["cell"], kinds


def _everything(kinds: pl.DataFrame) -> pl.DataFrame:
    return kinds.select(pl.lit("all").alias("slice"), pl.lit("all").alias("slice_value"), "cell")


def _members(kinds: pl.DataFrame, name: str) -> tuple[pl.DataFrame, bool]:
    """Cells of each value of a slice; values beyond the most that are kept apart go together."""
    source = f"by {name}"
    rows = kinds.select("cell", source)
    if name == "tag":
        rows = rows.filter(pl.col(source).list.len() > 0).explode(source)
    rows = rows.filter(pl.col(source).is_not_null())
    value = pl.col(source).cast(pl.String)
    kept = rows.select(value).to_series().unique().sort().head(MOST_VALUES + 1)
    cut = len(kept) > MOST_VALUES
    if cut:
        known = kept.head(MOST_VALUES).to_list()
        value = pl.when(value.is_in(known)).then(value).otherwise(pl.lit(THE_REST))
    members = rows.select(pl.lit(name).alias("slice"), value.alias("slice_value"), "cell")
    return members.unique().sort("slice_value", "cell"), cut
