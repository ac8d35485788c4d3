"""Cases and traces from separate files, joined by case ID into combined records.

The traces are put aside first, on disk where they are many; then the cases come in file order
and each chunk of them takes its own. So neither side is ever held as a whole, and the records
keep the order of the cases.

A trace without a case, a case without a trace and a field that the two give differently are
faults, each at its own file and line. A record whose partner is set aside goes with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl

from ragtriage.read.ahead import ahead
from ragtriage.read.case_ids import CaseIds, Places
from ragtriage.read.chunk import Chunk, RowFault
from ragtriage.read.faults import quoted
from ragtriage.read.input import Input, dropped_by, entries_of
from ragtriage.read.pairs import Pairs
from ragtriage.read.side import Side
from ragtriage.read.sources import sources_for
from ragtriage.read.tables import CHUNK_ROWS
from ragtriage.read.traces import Traces
from ragtriage.request import EvaluateRequest
from ragtriage.schemas.inputs import CaseRows, dtypes
from ragtriage.schemas.rules import message


def open_joined(request: EvaluateRequest, spill: Path | None) -> Input:
    """The request's `--cases` and `--trace`, joined.

    Raises:
        InputError: a file cannot be read at all.
    """
    # Each side is read by itself: the second while the first is.
    with ThreadPoolExecutor(max_workers=1) as aside:
        reading = aside.submit(lambda: Side(sources_for(request.trace, "trace", request, spill)))
        cases = Side(sources_for(request.cases, "cases", request, spill))
        traces = reading.result()
    ids = CaseIds.of(cases.pairs, cases.duplicates)
    untraced = CaseIds.of(traces.pairs, {}).lack(ids)
    made_up = {"error"} if request.missing_trace == "not-run" and untraced else set()
    indexes = [*cases.indexes, *traces.indexes]
    join = Join(cases, traces, ids, request, spill)
    return Input(
        fields=cases.fields | traces.fields | made_up,
        duplicates={},
        chunks=join.chunks,
        files=[entry for index in indexes for entry in entries_of(index)],
        keys={name for index in indexes for name in index.profile.keys},
        mapping={theirs: ours for index in indexes for theirs, ours in index.mapping.items()},
        dropped=dropped_by(indexes),
        notes=join.notes,
        record_lines={index.file.name: index.record_lines for index in indexes},
        ids=lambda: ids,
    )


class Join:
    """Pairs the records of two sides, once.

    `notes`: what was left out or taken as empty, complete after the last chunk.
    """

    def __init__(
        self,
        cases: Side,
        traces: Side,
        ids: CaseIds,
        request: EvaluateRequest,
        folder: Path | None,
    ) -> None:
        indexes = [*cases.indexes, *traces.indexes]
        self.notes = [note for index in indexes for note in index.notes]
        self._cases = cases
        self._ids = ids
        self._missing = request.missing_trace
        self._ignore = request.unknown_trace == "ignore"
        self._written = request.write
        self._traces = Traces(traces, ids, folder, ignore=self._ignore)
        self._untraced = 0
        self._next = 0

    def chunks(self) -> Iterator[Chunk]:
        """Traces that stand alone; then cases in file order, each with its trace.

        At the end the faults of traces that only their cases brought to light.
        """
        yield from self._traces.spread()
        with closing(ahead(self._cases.chunks())) as chunks:
            for chunk in chunks:
                yield from self._joined(chunk)
        self._traces.accuse_unknown(self._traces.rows.take(self._next, self._ids.end))
        for faults in self._traces.late.told():
            yield _without_rows(faults, [])
        self._note()

    def _joined(self, chunk: Chunk) -> Iterator[Chunk]:
        """One chunk of cases, in pieces that fit in memory with their traces."""
        rows, faults = self._cases.sorted_out(chunk)
        yield _without_rows(faults, chunk.counts)
        places = self._own_places(rows)
        stop = self._stop(places, faults)
        in_order = sorted(faults, key=lambda f: f.record, reverse=True)
        set_aside = {f.case_id: f"{f.source_file}:{f.line}" for f in in_order if f.case_id}
        for start, end in self._traces.rows.pieces(self._next, stop, CHUNK_ROWS):
            first, last = np.searchsorted(places, np.array([start, end], dtype=np.uint64))
            yield from self._piece(chunk, rows[int(first) : int(last)], (start, end), set_aside)
        self._next = stop

    def _own_places(self, rows: pl.DataFrame) -> Places:
        """Ascending places; a case whose hash an earlier one has keeps to its neighbours."""
        places = np.maximum(self._ids.places(rows["case_id"]), np.uint32(self._next))
        return np.maximum.accumulate(places)

    def _stop(self, places: Places, faults: list[RowFault]) -> int:
        """Behind the last record of a chunk."""
        accused = pl.Series([f.case_id for f in faults if f.case_id is not None], dtype=pl.String)
        known = self._ids.places(accused)
        last = [int(part.max()) for part in (places, known[known < len(self._ids)]) if part.size]
        # A chunk whose hashes all stand earlier moves on by one: its own place is at least that.
        return max(self._next, *last) + 1 if last else self._next

    def _piece(
        self, chunk: Chunk, rows: pl.DataFrame, piece: tuple[int, int], set_aside: dict[str, str]
    ) -> Iterator[Chunk]:
        met = self._traces.rows.take(*piece)
        pairs = Pairs(chunk, rows, self._traces, met, self._cases.fields)
        faults = self._without_trace(chunk, pairs, self._traces.gone.among(*piece))
        pairs.drop([fault.case_id for fault in faults if fault.case_id is not None])
        self._without_case(pairs.unmatched, set_aside)
        if faults:
            yield _without_rows(faults, [])
        if rows.height:
            yield from pairs.chunks(self._missing)

    def _without_trace(self, chunk: Chunk, pairs: Pairs, gone: dict[str, str]) -> list[RowFault]:
        """Cases whose trace was set aside, and those without one unless that is allowed."""
        faults = []
        for source_file, line, record, case_id in pairs.untraced.iter_rows():
            if case_id in gone:
                text = f"set aside with its trace ({gone[case_id]})"
            elif self._missing == "fail":
                text = f"{quoted(case_id)}: {message('missing-trace')}"
            else:
                self._untraced += 1
                continue
            told = ("case_id", "missing-trace", text, chunk.raw(record), case_id not in gone)
            faults.append(RowFault(source_file, line, record, case_id, *told))
        return faults

    def _without_case(self, unmatched: pl.DataFrame, set_aside: dict[str, str]) -> None:
        """Traces whose case was set aside, or is not there although its hash is."""
        if unmatched.is_empty():
            return
        told = []
        for trace in unmatched.select("chunk", "line", "record", "case_id").iter_rows(named=True):
            case_id = trace["case_id"]
            if where := self._ids.repeated_at(case_id) or set_aside.get(case_id):
                text = f"set aside with its case ({where})"
                told.append((trace, "case_id", "unknown-case", text, False))
        self._traces.accuse(told)
        partners = pl.Series([trace["case_id"] for trace, *_ in told], dtype=pl.String)
        others = unmatched.filter(~pl.col("case_id").is_in(partners.implode()))
        self._traces.accuse_unknown(self._traces.rows.give_back(others))

    def _note(self) -> None:
        unknown = self._traces.unknown
        if unknown and self._ignore:
            where = " (listed in rejects/)" if self._written else ""
            self.notes.append(f"traces of unknown cases left out: {unknown:,}{where}")
        if self._untraced:
            how = "taken as empty" if self._missing == "empty" else "not run"
            self.notes.append(f"cases without a trace: {self._untraced:,}, {how}")


def _without_rows(faults: list[RowFault], counts: list[tuple[str, int, int]]) -> Chunk:
    """What is to be told, and no row."""
    return Chunk(pl.DataFrame(schema=dtypes(CaseRows)), faults, counts, lambda _record: "")
