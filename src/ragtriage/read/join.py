"""Cases and traces from separate files, joined by case ID into combined records. In memory.

A trace without a case, a case without a trace and a field that the two give differently are
faults, each at its own file and line. A record whose partner is set aside goes with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from ragtriage.read.chunk import Chunk, RowFault
from ragtriage.read.input import Input, dropped_by, entries_of
from ragtriage.read.side import KEY, PLACE, Side, place_of
from ragtriage.read.sources import sources_for
from ragtriage.read.tables import CHUNK_ROWS
from ragtriage.request import EvaluateRequest
from ragtriage.schemas.inputs import CASE_FIELDS, CaseRows, dtypes
from ragtriage.schemas.rules import message

NOT_RUN = "no trace was recorded for this case"
# What a missing trace leaves empty; its answer stays unobserved, so it can never pass.
_TRACE_LISTS = ("candidate_ids", "filtered_ids", "retrieved_ids", "context_ids", "cited_ids")
_TRACE = "trace "
# Lists that can be long; a chunk holds about so many items of theirs.
_LONG = ("grades", "required_ids", "retrieved_ids", "candidate_ids")
CHUNK_ITEMS = 500_000


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
    both = (cases, traces)
    join = _Join(cases, traces, request)
    return Input(
        fields=cases.fields | traces.fields | join.made_up_fields,
        duplicates={},
        chunks=join.chunks,
        files=[entry for side in both for i in side.indexes for entry in entries_of(i)],
        keys={name for side in both for i in side.indexes for name in i.profile.keys},
        mapping={t: o for side in both for i in side.indexes for t, o in i.mapping.items()},
        dropped=dropped_by([index for side in both for index in side.indexes]),
        notes=[note for side in both for i in side.indexes for note in i.notes] + join.notes,
        record_lines={i.file.name: i.record_lines for side in both for i in side.indexes},
    )


class _Join:
    """Pairs the records of two sides."""

    def __init__(self, cases: Side, traces: Side, request: EvaluateRequest) -> None:
        self._cases = cases
        self._traces = traces
        self._request = request
        self._faults = [*cases.faults, *traces.faults]
        self.notes: list[str] = []
        self._drop_unknown_traces()
        self._drop_untraced_cases()
        fills = request.missing_trace == "not-run"
        self.made_up_fields = {"error"} if fills and self._untraced() else set()

    def chunks(self) -> Iterator[Chunk]:
        """First what could not be paired, then the pairs."""
        nothing = pl.DataFrame(schema=dtypes(CaseRows))
        counts = [*self._cases.counts, *self._traces.counts]
        yield Chunk(nothing, self._faults, counts, lambda _line: "")
        for paired in self._paired():
            yield self._chunk(paired)

    def _drop_unknown_traces(self) -> None:
        """Traces for cases that are not there, or were set aside."""
        known = self._cases.rows["case_id"]
        narrow = self._traces.rows.select(*KEY, "chunk")
        stray = narrow.filter(~pl.col("case_id").is_in(known.implode()))
        ignore = self._request.unknown_trace == "ignore"
        unknown = 0
        for row in stray.iter_rows(named=True):
            place = self._cases.set_aside.get(row["case_id"])
            if place is not None:
                text = f"set aside with its case ({place})"
                fault = self._traces.fault(row, "unknown-case", text, refuses=False)
            else:
                unknown += 1
                text = f"{row['case_id']!r}: {message('unknown-case')}"
                fault = self._traces.fault(row, "unknown-case", text, refuses=not ignore)
            self._faults.append(fault)
        if unknown and ignore:
            self.notes.append(f"traces of unknown cases left out: {unknown:,} (listed in rejects/)")
        self._traces.without(stray["case_id"])

    def _drop_untraced_cases(self) -> None:
        """Cases whose trace was set aside, and those without one unless that is allowed."""
        untraced = self._untraced_rows()
        allowed = self._request.missing_trace != "fail"
        dropped = []
        for row in untraced.iter_rows(named=True):
            place = self._traces.set_aside.get(row["case_id"])
            if place is not None:
                text = f"set aside with its trace ({place})"
                fault = self._cases.fault(row, "missing-trace", text, refuses=False)
            elif not allowed:
                text = f"{row['case_id']!r}: {message('missing-trace')}"
                fault = self._cases.fault(row, "missing-trace", text, refuses=True)
            else:
                continue
            dropped.append(row["case_id"])
            self._faults.append(fault)
        self._cases.without(pl.Series(dropped, dtype=pl.String))
        if allowed and (left := self._untraced()):
            how = "taken as empty" if self._request.missing_trace == "empty" else "not run"
            self.notes.append(f"cases without a trace: {left:,}, {how}")

    def _untraced_rows(self) -> pl.DataFrame:
        return self._cases.rows.select(*KEY, "chunk").join(
            self._traces.rows.select("case_id"), on="case_id", how="anti", maintain_order="left"
        )

    def _untraced(self) -> int:
        return self._untraced_rows().height

    def _paired(self) -> Iterator[pl.DataFrame]:
        """Each case beside its trace, whose columns are prefixed; a chunk at once."""
        traces = self._traces.rows.with_columns(traced=pl.lit(True))
        places = self._cases.rows.select("case_id").join(
            traces.select("case_id").with_row_index("place"),
            on="case_id",
            how="left",
            maintain_order="left",
        )["place"]
        for start, rows in _slices(self._cases.rows, traces, places):
            right = traces.select(pl.all().gather(places.slice(start, rows)))
            named = right.rename({n: _TRACE + n for n in right.columns if n != "traced"})
            yield (
                self._cases.rows.slice(start, rows)
                .hstack(named)
                .with_columns(pl.col("traced").fill_null(False))
            )

    def _chunk(self, paired: pl.DataFrame) -> Chunk:
        frame = paired.select(
            *(self._combined(name) for name in CASE_FIELDS),
            "source_file",
            "line",
            "record",
            *(
                (pl.col(flag) | pl.col(_TRACE + flag).fill_null(False)).alias(flag)
                for flag in ("answer_given", "required_given", "none_given")
            ),
        )
        names = ("case_id", *PLACE, "chunk")
        by_record = {
            (row["source_file"], row["record"]): row
            for row in paired.select(
                *names,
                *(_TRACE + name for name in names[1:]),
                "traced",
                given=self._given_by_case(),
            ).iter_rows(named=True)
        }
        return Chunk(
            frame=frame,
            faults=self._conflicts(paired),
            counts=[],
            raw=lambda _line: "",
            untraced=~paired["traced"],
            settle=lambda faults: self._settled(faults, by_record),
        )

    def _combined(self, name: str) -> pl.Expr:
        """A field's value from the side that gives it."""
        if name == "case_id":
            return pl.col(name)
        value = pl.coalesce(pl.col(name), pl.col(_TRACE + name))
        if self._request.missing_trace == "empty" and name in _TRACE_LISTS:
            if name in self._traces.fields:
                value = pl.when(~pl.col("traced")).then(value.fill_null([])).otherwise(value)
        elif self._request.missing_trace == "not-run" and name == "error":
            value = (
                pl.when(pl.col("traced")).then(value).otherwise(pl.coalesce(value, pl.lit(NOT_RUN)))
            )
        return value.alias(name)

    def _conflicts(self, paired: pl.DataFrame) -> list[RowFault]:
        """Fields that both sides give, with different values."""
        shared = sorted((self._cases.fields & self._traces.fields) - {"case_id"})
        faults = []
        for name in shared:
            ours, theirs = pl.col(name), pl.col(_TRACE + name)
            differ = ours.is_not_null() & theirs.is_not_null() & ours.ne_missing(theirs)
            for row in paired.filter(differ).iter_rows(named=True):
                where = f"{row[_TRACE + 'source_file']}:{row[_TRACE + 'line']}"
                text = f"differs from its trace ({where}); {message('field-conflict')}"
                raw = self._cases.raw(row["chunk"], row["record"])
                faults.append(
                    RowFault(*place_of(row), row["case_id"], name, "field-conflict", text, raw)
                )
        return faults

    def _given_by_case(self) -> pl.Expr:
        """Fields that both files have and the case's own record gives."""
        shared = sorted(self._cases.fields & self._traces.fields | {"case_id"})
        return pl.concat_list(
            pl.when(pl.col(name).is_not_null()).then(pl.lit(name)).otherwise(pl.lit(""))
            for name in shared
        )

    def _settled(
        self, faults: list[RowFault], by_record: dict[tuple[str, int], dict[str, Any]]
    ) -> list[RowFault]:
        """Faults at the record that gave the field, and each faulty record's partner with it."""
        settled: list[RowFault] = []
        for fault in faults:
            row = by_record[fault.source_file, fault.record]
            from_trace = fault.field in self._traces.fields and fault.field not in row["given"]
            if from_trace and row["traced"]:
                settled.append(self._moved(fault, row))
            else:
                raw = self._cases.raw(row["chunk"], row["record"])
                settled.append(fault._replace(raw=raw))
        return settled + self._partners(settled, faults, by_record)

    def _moved(self, fault: RowFault, row: dict[str, Any]) -> RowFault:
        source_file, line, record = (row[_TRACE + name] for name in PLACE)
        raw = self._traces.raw(row[_TRACE + "chunk"], record)
        return fault._replace(source_file=source_file, line=line, record=record, raw=raw)

    def _partners(
        self,
        settled: list[RowFault],
        faults: list[RowFault],
        by_record: dict[tuple[str, int], dict[str, Any]],
    ) -> list[RowFault]:
        accused = {(fault.source_file, fault.record) for fault in settled}
        partners = []
        rules = {(f.source_file, f.record): f.rule for f in reversed(faults)}
        for place in dict.fromkeys((fault.source_file, fault.record) for fault in faults):
            row = by_record[place]
            rule = rules[place]
            mine = f"{row['source_file']}:{row['line']}"
            if place not in accused:
                where = f"{row[_TRACE + 'source_file']}:{row[_TRACE + 'line']}"
                text = f"set aside with its trace ({where})"
                partners.append(self._cases.fault(row, rule, text, refuses=False))
            if row["traced"]:
                trace = {name: row[_TRACE + name] for name in (*PLACE, "chunk")}
                if (trace["source_file"], trace["record"]) not in accused:
                    text = f"set aside with its case ({mine})"
                    trace["case_id"] = row["case_id"]
                    partners.append(self._traces.fault(trace, rule, text, refuses=False))
        return partners


def _slices(
    cases: pl.DataFrame, traces: pl.DataFrame, places: pl.Series
) -> Iterator[tuple[int, int]]:
    """Where chunks begin and how many rows they have: few where lists are long."""
    items = _items(cases) + _items(traces).gather(places).fill_null(0)
    # Whole multiples, so that a boundary depends on nothing but the rows before it.
    before = (items.cum_sum() - items) // CHUNK_ITEMS + pl.int_range(
        0, items.len(), eager=True
    ) // CHUNK_ROWS
    starts = [0, *(before.diff().fill_null(0) != 0).arg_true(), items.len()]
    yield from ((start, stop - start) for start, stop in pairwise(starts) if stop > start)


def _items(rows: pl.DataFrame) -> pl.Series:
    """How many items a row's lists hold."""
    lengths = [pl.col(name).list.len().fill_null(0).cast(pl.Int64) for name in _LONG]
    return rows.select(pl.sum_horizontal(lengths)).to_series()
