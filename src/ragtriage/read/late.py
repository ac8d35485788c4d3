"""Faults found when a record's own text is no longer at hand: told at the end, in file order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import polars as pl

from ragtriage.compact import compact
from ragtriage.read.ahead import ahead
from ragtriage.read.chunk import Chunk, RowFault
from ragtriage.read.spill import PLACE, Spill

LATE = {
    "chunk": pl.UInt32(),
    "source_file": pl.String(),
    "line": pl.Int64(),
    "record": pl.Int64(),
    "case_id": pl.String(),
    "field": pl.String(),
    "rule": pl.String(),
    "message": pl.String(),
    "refuses": pl.Boolean(),
}
_TOLD = tuple(name for name in LATE if name not in {"chunk", "refuses"})


class LateFaults:
    """Faults without the text of their records; the files are read once more for that."""

    def __init__(
        self, chunks: Callable[[], Iterator[Chunk]], folder: Path | None, name: str
    ) -> None:
        """`chunks`: those of the files, in order; a fault names the number of its chunk."""
        self._chunks = chunks
        self._spill = Spill(folder, name, LATE)
        self._end = 0

    def add(self, faults: pl.DataFrame) -> None:
        """Faults to tell, with the columns of `LATE`."""
        if faults.height:
            self._end = max(self._end, *(number + 1 for number in faults["chunk"].unique()))
            # Few, of chunks that are many: no more of each may stay than is told.
            placed = compact(faults).with_columns(pl.col("chunk").cast(pl.UInt32).alias(PLACE))
            self._spill.add(placed)

    def told(self) -> Iterator[list[RowFault]]:
        """All of them, those of one record together, with its text."""
        if not self._end:
            return
        with closing(ahead(self._chunks())) as chunks:
            for number, chunk in enumerate(chunks):
                rows = self._spill.rows(number, number + 1).sort("record", maintain_order=True)
                if rows.height:
                    yield [
                        RowFault._make((*told, chunk.raw(told[2]), refuses))
                        for *told, refuses in rows.select(*_TOLD, "refuses").iter_rows()
                    ]
                if number + 1 >= self._end:
                    return
