"""The traces, put aside until their cases come."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from ragtriage.read.ahead import ahead
from ragtriage.read.by_case import ByCase, Notices
from ragtriage.read.case_ids import CaseIds
from ragtriage.read.chunk import Chunk, RowFault
from ragtriage.read.faults import quoted
from ragtriage.read.late import LATE, LateFaults
from ragtriage.read.side import Side
from ragtriage.schemas.inputs import CASE_FIELDS, CaseRows, dtypes
from ragtriage.schemas.rules import message

FLAGS = ("answer_given", "required_given", "none_given")


class Traces:
    """The rows of the trace files by case.

    `gone`: those that were set aside. `late`: faults found once a trace met its case. `unknown`:
    how many had none.
    """

    def __init__(self, side: Side, ids: CaseIds, folder: Path | None, *, ignore: bool) -> None:
        """`ignore`: traces of unknown cases are left out and do not refuse the input."""
        self.fields = side.fields
        types = dtypes(CaseRows)
        given = [name for name in CASE_FIELDS if name in side.fields and name != "case_id"]
        names = ("case_id", *given, *FLAGS, "line", "record")
        schema = {name: types[name] for name in names} | {"chunk": pl.UInt32()}
        self.rows = ByCase(ids, folder, "traces", schema)
        self.gone = Notices(ids, folder, "set-aside")
        self.late = LateFaults(side.chunks, folder, "faults")
        self.unknown = 0
        self._side = side
        self._ids = ids
        self._ignore = ignore
        self._files: list[str] = []

    def spread(self) -> Iterator[Chunk]:
        """Put all traces aside; gives what is wrong with them by themselves."""
        with closing(ahead(self._side.chunks())) as chunks:
            for number, chunk in enumerate(chunks):
                self._files.append(chunk.counts[0][0])
                yield self._spread(number, chunk)

    def file_of(self, trace: dict[str, Any]) -> str:
        """The file that a trace stands in."""
        number: int = trace["chunk"]
        return self._files[number]

    def accuse(self, faults: list[tuple[dict[str, Any], str, str, str, bool]]) -> None:
        """Faults of traces met later: the trace; field, rule, message; does it refuse the input?"""
        rows = [
            (t["chunk"], self.file_of(t), t["line"], t["record"], t["case_id"], *told)
            for t, *told in faults
        ]
        self.late.add(pl.DataFrame(rows, schema=LATE, orient="row"))

    def accuse_unknown(self, traces: pl.DataFrame) -> None:
        """Traces that met no case after all."""
        self.unknown += traces.height
        self.accuse(
            [
                (trace, "case_id", "unknown-case", _no_case(trace["case_id"]), not self._ignore)
                for trace in traces.select("chunk", "line", "record", "case_id").to_dicts()
            ]
        )

    def _spread(self, number: int, chunk: Chunk) -> Chunk:
        rows, faults = self._side.sorted_out(chunk)
        self.gone.add(faults)
        known = pl.Series(self._ids.places(rows["case_id"]) < len(self._ids), dtype=pl.Boolean)
        self.rows.add(rows.filter(known).with_columns(chunk=pl.lit(number, pl.UInt32)))
        strangers = rows.filter(~known).select("source_file", "line", "record", "case_id")
        self.unknown += strangers.height
        for source_file, line, record, case_id in strangers.iter_rows():
            raw, told = chunk.raw(record), ("case_id", "unknown-case", _no_case(case_id))
            place = (source_file, line, record)
            faults.append(RowFault(*place, case_id, *told, raw, not self._ignore))
        nothing = pl.DataFrame(schema=dtypes(CaseRows))
        return Chunk(nothing, faults, chunk.counts, lambda _record: "")


def _no_case(case_id: str) -> str:
    return f"{quoted(case_id)}: {message('unknown-case')}"
