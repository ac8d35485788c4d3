"""One of two roles whose records are to be joined: its rows, its faults, each record's own text."""

from __future__ import annotations

from typing import Any

import polars as pl

from ragtriage.read.chunk import Place, RowFault
from ragtriage.read.index import Duplicates, Source, find_duplicates, repeat_fault
from ragtriage.read.input import index_all
from ragtriage.schemas.inputs import CaseRows, dtypes

PLACE = ("source_file", "line", "record")
KEY = ("case_id", *PLACE)


class Side:
    """All records of one role: sound rows, faults, and each record's own text."""

    def __init__(self, sources: list[Source]) -> None:
        pairs = index_all(sources)
        self.indexes = [index for _, index in pairs]
        self.fields: set[str] = set().union(*(index.fields for index in self.indexes))
        self._chunks = [chunk for source, index in pairs for chunk in source.chunks(index)]
        self.counts = [count for chunk in self._chunks for count in chunk.counts]
        self.faults = [fault for chunk in self._chunks for fault in chunk.faults]
        numbered = [
            chunk.frame.with_columns(chunk=pl.lit(i, pl.Int64))
            for i, chunk in enumerate(self._chunks)
        ]
        schema = dtypes(CaseRows) | {"chunk": pl.Int64()}
        nothing = pl.DataFrame(schema=schema)
        rows = pl.concat([nothing, *(frame.select(list(schema)) for frame in numbered)])
        duplicates = find_duplicates(pairs)
        faulty = {(f.source_file, f.line, f.record): f for f in reversed(self.faults)}
        for place, fault in reversed(faulty.items()):
            if fault.case_id in duplicates:
                self.faults.append(repeat_fault(place, fault.case_id, fault.raw, duplicates))
        self.rows = self._unique(rows, duplicates) if duplicates else rows
        # IDs that the role knows, whatever became of their records.
        self.set_aside = {
            fault.case_id: f"{fault.source_file}:{fault.line}"
            for fault in self.faults
            if fault.case_id is not None
        }

    def _unique(self, rows: pl.DataFrame, duplicates: Duplicates) -> pl.DataFrame:
        """Rows whose ID no other record has; the others are faults."""
        repeated = rows["case_id"].is_in(list(duplicates))
        for row in rows.filter(repeated).select(*KEY, "chunk").iter_rows(named=True):
            raw = self.raw(row["chunk"], row["record"])
            self.faults.append(repeat_fault(place_of(row), row["case_id"], raw, duplicates))
        return rows.filter(~repeated)

    def without(self, case_ids: pl.Series) -> None:
        """Drop the rows of some cases. Rows may be long: they are touched only if there is need."""
        if case_ids.len():
            self.rows = self.rows.filter(~pl.col("case_id").is_in(case_ids.implode()))

    def raw(self, chunk: int, record: int) -> str:
        """A record's own text."""
        return self._chunks[chunk].raw(record)

    def fault(self, row: dict[str, Any], rule: str, text: str, *, refuses: bool) -> RowFault:
        """A fault of a whole record of this side."""
        raw = self.raw(row["chunk"], row["record"])
        return RowFault(*place_of(row), row["case_id"], "case_id", rule, text, raw, refuses)


def place_of(row: dict[str, Any]) -> Place:
    """Where a row's record stands."""
    source_file, line, record = (row[name] for name in PLACE)
    return source_file, line, record
