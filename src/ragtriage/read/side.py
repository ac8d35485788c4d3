"""One role of a separate input: its files as one run of chunks, and what they repeat."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from ragtriage.read.chunk import Chunk, Place, RowFault
from ragtriage.read.index import Source, find_duplicates, repeat_fault
from ragtriage.read.input import index_all
from ragtriage.schemas.inputs import CaseRows, dtypes


class Side:
    """The cases, or the traces.

    `fields`: what its files supply. `duplicates`: IDs that several of its records have.
    """

    def __init__(self, sources: list[Source]) -> None:
        self.pairs = index_all(sources)
        self.indexes = [index for _, index in self.pairs]
        self.fields: set[str] = set().union(*(index.fields for index in self.indexes))
        self.duplicates = find_duplicates(self.pairs)
        self._repeated = pl.Series(list(self.duplicates), dtype=pl.String).implode()
        self._columns = list(dtypes(CaseRows))

    def chunks(self) -> Iterator[Chunk]:
        """All chunks, file by file; may be asked for again."""
        for source, index in self.pairs:
            yield from source.chunks(index)

    def sorted_out(self, chunk: Chunk) -> tuple[pl.DataFrame, list[RowFault]]:
        """The rows whose ID no other record has, and the faults of all other records."""
        rows = chunk.frame.select(self._columns)
        faults = list(chunk.faults)
        if not self.duplicates:
            return rows, faults
        first: dict[Place, RowFault] = {}
        for fault in chunk.faults:
            first.setdefault(fault[:3], fault)
        for place, fault in first.items():
            if fault.case_id in self.duplicates:
                faults.append(repeat_fault(place, fault.case_id, fault.raw, self.duplicates))
        repeated = rows["case_id"].is_in(self._repeated)
        again = rows.filter(repeated).select("source_file", "line", "record", "case_id")
        for *where, case_id in again.iter_rows():
            place = (where[0], where[1], where[2])
            faults.append(repeat_fault(place, case_id, chunk.raw(place[2]), self.duplicates))
        return rows.filter(~repeated), faults
