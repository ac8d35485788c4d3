"""Rows gathered by topic, in the order in which topics are met; what they say is not known here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl


class Topics(NamedTuple):
    """A file's topics and their rows.

    `table`: a row a topic: `topic`, `n` (its rows), `lines` (of the file, that it takes), `line`
    (where it is met first). `rows`: the rows
    of each topic together, topics in the order of `table`, rows of a topic in file order.
    """

    table: pl.DataFrame
    rows: pl.DataFrame

    @property
    def places(self) -> np.ndarray:
        """For each row the 0-based place of its topic in the table."""
        return np.repeat(np.arange(self.table.height, dtype=np.uint32), self.table["n"].to_numpy())


class Gatherer:
    """Takes in blocks of rows; a topic's rows may lie anywhere in the file."""

    def __init__(self, columns: dict[str, pl.DataType]) -> None:
        self._columns = columns
        self._runs: list[pl.DataFrame] = []
        self._parts: list[pl.DataFrame] = []

    def add(self, frame: pl.DataFrame) -> None:
        """A block: `topic`, `line` and the columns to keep."""
        if frame.is_empty():
            return
        # Topics mostly lie together: what is kept of them is one entry a stretch.
        runs = frame["topic"].rle().struct.unnest()
        starts = runs["len"].cum_sum() - runs["len"]
        self._runs.append(
            runs.select(
                topic=pl.col("value"),
                n=pl.col("len").cast(pl.Int64),
                line=frame["line"].gather(starts),
            )
        )
        self._parts.append(frame.select(list(self._columns)))

    def gathered(self) -> Topics:
        """All that was taken in; the gatherer is empty afterwards."""
        nothing = {"topic": pl.String(), "n": pl.Int64(), "line": pl.Int64()}
        runs = pl.concat([pl.DataFrame(schema=nothing), *self._runs])
        parts, self._parts, self._runs = self._parts, [], []
        rows = pl.concat([pl.DataFrame(schema=self._columns), *parts], rechunk=True)
        del parts
        table = runs.group_by("topic", maintain_order=True).agg(
            pl.col("n").sum(), pl.col("n").sum().alias("lines"), pl.col("line").first()
        )
        stretches = runs.select((pl.col("topic") != pl.col("topic").shift()).sum()).item() + 1
        if stretches > table.height:
            rows = rows[_together(runs, table)]
        return Topics(table, rows)


def _together(runs: pl.DataFrame, table: pl.DataFrame) -> pl.Series:
    """Which rows, in which order, lie by topic; the order within a topic is kept."""
    numbered = table.select("topic").with_row_index("place")
    places = runs.join(numbered, on="topic", how="left", maintain_order="left")["place"]
    of_rows = np.repeat(places.to_numpy(), runs["n"].to_numpy())
    return pl.Series(np.argsort(of_rows, kind="stable").astype(np.uint32))


def as_lists(topics: Topics, items: dict[str, pl.Expr]) -> pl.DataFrame:
    """The table with a list a topic for each item, in row order."""
    # Sorted places make the groups slices: no row is moved.
    places = pl.Series("place", topics.places).set_sorted()
    grouped = topics.rows.with_columns(places).group_by("place", maintain_order=True).agg(**items)
    if grouped.height != topics.table.height:
        raise AssertionError(f"{topics.table.height} topics became {grouped.height} lists")
    return topics.table.hstack(grouped.drop("place"))
