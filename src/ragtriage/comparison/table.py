"""The table of changed cases: both values of every metric, and what moved; block by block.

However many cases changed, only one block of them is in memory with all its columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from ragtriage.comparison.changes import STAGE_FIELDS, Changes
from ragtriage.comparison.ledger import moves
from ragtriage.metrics.registry import Column
from ragtriage.read.runs import StoredRun
from ragtriage.schemas.comparison import ChangedCases
from ragtriage.schemas.inputs import dtypes

# Rows of a block; what would be two blocks is one.
BLOCK = 100_000
_FIXED = {name: dtype for name, dtype in dtypes(ChangedCases).items() if name != "run_id"}


@dataclass
class ChangedTable:
    """A row per changed case, then per case of one run only."""

    changes: Changes
    columns: list[Column]

    @cached_property
    def _rows(self) -> pl.DataFrame:
        """Which pairs, and how each changed, in the order of the table."""
        return self.changes.ordered()

    @property
    def height(self) -> int:
        """Rows in all."""
        pairs = self.changes.pairs
        return self._rows.height + len(pairs.base_only) + len(pairs.candidate_only)

    def blocks(self) -> Iterator[pl.DataFrame]:
        """The table in order; one block at least, be it empty."""
        yield self._first
        del self._first  # made again should anybody ask; until then it need not take room
        for start in range(self._block, self._rows.height, self._block):
            yield self._changed(self._rows.slice(start, self._block))
        for alone in self._one_sided():
            yield self._laid_out(alone)

    def head(self, n: int) -> pl.DataFrame:
        """The first rows."""
        taken: list[pl.DataFrame] = []
        room = n
        for block in self.blocks():
            # A filter copies; a slice would keep the whole block in memory.
            taken.append(block.filter(pl.int_range(pl.len()) < room))
            room -= taken[-1].height
            if not room:
                break
        return pl.concat(taken)

    def frame(self) -> pl.DataFrame:
        """All of it."""
        return pl.concat(list(self.blocks()))

    @property
    def _block(self) -> int:
        """To read the evidence once more takes longer than to lay out twice as many rows."""
        return BLOCK if self._rows.height > 2 * BLOCK else max(self._rows.height, 1)

    @cached_property
    def _first(self) -> pl.DataFrame:
        return self._changed(self._rows.head(self._block))

    def _changed(self, rows: pl.DataFrame) -> pl.DataFrame:
        changes = self.changes
        ids = changes.pairs.ids.gather(rows["row"])
        frame = changes.stages[rows["row"]].with_columns(case_id=ids, change=rows["change"])
        with ThreadPoolExecutor(max_workers=1) as aside:
            told = aside.submit(moves, changes.base, changes.candidate, ids)
            metrics = self._metrics(rows["row"])
            frame = frame.hstack(metrics).hstack(_verdicts(metrics, self.columns))
            moved = told.result()
        return self._laid_out(frame.join(moved, on="case_id", how="left", maintain_order="left"))

    def _metrics(self, rows: pl.Series) -> pl.DataFrame:
        found = []
        for column in self.columns:
            one, other = self.changes.values[column.name].at(rows)
            found += [one.alias(f"{column.name}_base"), other.alias(f"{column.name}_candidate")]
        return pl.DataFrame(found)

    def _one_sided(self) -> list[pl.DataFrame]:
        changes = self.changes
        sides = (
            ("base", changes.base, changes.pairs.base_only),
            ("candidate", changes.candidate, changes.pairs.candidate_only),
        )
        return [_alone(side, run, ids, self.columns) for side, run, ids in sides if len(ids)]

    def _laid_out(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Every column in order; those of a run that lacks the case are null."""
        schema = _FIXED | both_values(self.columns)
        nothing = pl.lit([], dtype=pl.List(pl.String))
        lacking = [pl.lit(None, dtype).alias(n) for n, dtype in schema.items() if n not in frame]
        laid_out = frame.with_columns(lacking).select(
            pl.col(name).cast(dtype) for name, dtype in schema.items()
        )
        return laid_out.with_columns(pl.col("moved").fill_null(nothing))


def both_values(columns: list[Column]) -> dict[str, pl.DataType]:
    """The metric columns of the case table, in order."""
    return {
        f"{column.name}_{side}": column.schema[column.name]
        for column in columns
        for side in ("base", "candidate")
    }


def _alone(side: str, run: StoredRun, ids: pl.Series, columns: list[Column]) -> pl.DataFrame:
    """Cases of one run only, with that run's values."""
    names = {name: f"{side}_{name}" for name in STAGE_FIELDS}
    names |= {c.name: f"{c.name}_{side}" for c in columns if c.name in run.columns}
    wanted = pl.LazyFrame({"case_id": ids})
    rows = run.cases.select("case_id", *names).join(wanted, on="case_id", how="semi")
    alone = run.read(rows).rename(names).sort("case_id")
    return alone.with_columns(change=pl.lit(f"{side}-only"))


def _verdicts(frame: pl.DataFrame, columns: list[Column]) -> pl.DataFrame:
    """Lists of the metrics that got better, got worse, or are no longer scored, row by row."""
    masks: dict[str, dict[str, pl.Series]] = {"better": {}, "worse": {}, "lost": {}}
    for column in columns:
        one, other = (frame[f"{column.name}_{side}"] for side in ("base", "candidate"))
        masks["lost"][column.name] = one.is_not_null() & other.is_null()
        if column.metric.better != "neither":
            up, down = other > one, other < one
            higher = column.metric.better == "higher"
            masks["better"][column.name] = up if higher else down
            masks["worse"][column.name] = down if higher else up
    found = [
        _listed(holds, frame.height).alias(f"metrics_{verdict}") for verdict, holds in masks.items()
    ]
    return pl.DataFrame(found)


def _listed(masks: dict[str, pl.Series], height: int) -> pl.Series:
    """For each row the names whose mask holds, in their order.

    Rows that agree in all masks have one list: there are few of these, however many rows.
    """
    names = list(masks)
    words = [names[start : start + _BITS] for start in range(0, len(names), _BITS)]
    if not words:
        return pl.Series([[]] * height, dtype=pl.List(pl.String))
    packed = pl.DataFrame(
        {
            str(place): sum(
                masks[name].fill_null(value=False).cast(pl.UInt64) * (1 << bit)
                for bit, name in enumerate(word)
            )
            for place, word in enumerate(words)
        }
    )
    seen = packed.unique()
    lists = [
        [
            name
            for value, word in zip(row, words, strict=True)
            for bit, name in enumerate(word)
            if value >> bit & 1
        ]
        for row in seen.iter_rows()
    ]
    told = seen.with_columns(names=pl.Series(lists, dtype=pl.List(pl.String)))
    return packed.join(told, on=packed.columns, how="left", maintain_order="left")["names"]


# Masks that one number holds.
_BITS = 60
