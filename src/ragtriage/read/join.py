"""Cases and traces from separate files, joined by case ID into combined records. In memory.

A trace without a case, a case without a trace and a field that the two give differently are
faults, each at its own file and line. A record whose partner is set aside goes with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from ragtriage.read.chunk import Chunk, Place, RowFault
from ragtriage.read.index import Source, find_duplicates, repeat_fault
from ragtriage.read.input import Input, dropped_by, entry_of, index_all
from ragtriage.read.sources import sources_for
from ragtriage.read.tables import CHUNK_ROWS
from ragtriage.request import EvaluateRequest
from ragtriage.schemas.inputs import CASE_FIELDS, CaseRows, dtypes
from ragtriage.schemas.rules import message

NOT_RUN = "no trace was recorded for this case"
# What a missing trace leaves empty; its answer stays unobserved, so it can never pass.
_TRACE_LISTS = ("candidate_ids", "filtered_ids", "retrieved_ids", "context_ids", "cited_ids")
_TRACE = "trace "
_PLACE = ("source_file", "line", "record")


def open_joined(request: EvaluateRequest, spill: Path | None) -> Input:
    """The request's `--cases` and `--trace`, joined.

    Raises:
        InputError: a file cannot be read at all.
    """
    cases = _Side(sources_for(request.cases, "cases", request, spill))
    traces = _Side(sources_for(request.trace, "trace", request, spill))
    both = (cases, traces)
    join = _Join(cases, traces, request)
    return Input(
        fields=cases.fields | traces.fields | join.made_up_fields,
        duplicates={},
        chunks=join.chunks,
        files=[entry_of(index) for side in both for index in side.indexes],
        keys={name for side in both for i in side.indexes for name in i.profile.keys},
        mapping={t: o for side in both for i in side.indexes for t, o in i.mapping.items()},
        dropped=dropped_by([index for side in both for index in side.indexes]),
        notes=join.notes,
    )


class _Side:
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
        repeated = rows["case_id"].is_in(list(duplicates))
        for row in rows.filter(repeated).iter_rows(named=True):
            raw = self.raw(row["chunk"], row["record"])
            self.faults.append(repeat_fault(_place(row), row["case_id"], raw, duplicates))
        self.rows = rows.filter(~repeated)
        # IDs that the role knows, whatever became of their records.
        self.set_aside = {
            fault.case_id: f"{fault.source_file}:{fault.line}"
            for fault in self.faults
            if fault.case_id is not None
        }

    def raw(self, chunk: int, record: int) -> str:
        """A record's own text."""
        return self._chunks[chunk].raw(record)

    def fault(self, row: dict[str, Any], rule: str, text: str, *, refuses: bool) -> RowFault:
        """A fault of a whole record of this side."""
        raw = self.raw(row["chunk"], row["record"])
        return RowFault(*_place(row), row["case_id"], "case_id", rule, text, raw, refuses)


class _Join:
    """Pairs the records of two sides."""

    def __init__(self, cases: _Side, traces: _Side, request: EvaluateRequest) -> None:
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
        paired = self._paired()
        for start in range(0, paired.height, CHUNK_ROWS):
            yield self._chunk(paired.slice(start, CHUNK_ROWS))

    def _drop_unknown_traces(self) -> None:
        """Traces for cases that are not there, or were set aside."""
        known = self._cases.rows["case_id"]
        stray = self._traces.rows.filter(~pl.col("case_id").is_in(known.implode()))
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
        self._traces.rows = self._traces.rows.join(stray, on="case_id", how="anti")

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
        rows = self._cases.rows
        self._cases.rows = rows.filter(~pl.col("case_id").is_in(dropped))
        if allowed and (left := self._untraced()):
            how = "taken as empty" if self._request.missing_trace == "empty" else "not run"
            self.notes.append(f"cases without a trace: {left:,}, {how}")

    def _untraced_rows(self) -> pl.DataFrame:
        return self._cases.rows.join(
            self._traces.rows.select("case_id"), on="case_id", how="anti", maintain_order="left"
        )

    def _untraced(self) -> int:
        return self._untraced_rows().height

    def _paired(self) -> pl.DataFrame:
        """Each case beside its trace, whose columns are prefixed."""
        right = self._traces.rows.rename(
            {name: _TRACE + name for name in self._traces.rows.columns}
        )
        right = right.with_columns(traced=pl.lit(True))
        return self._cases.rows.join(
            right, left_on="case_id", right_on=_TRACE + "case_id", how="left", maintain_order="left"
        ).with_columns(pl.col("traced").fill_null(False))

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
        names = ("case_id", *_PLACE, "chunk")
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
                    RowFault(*_place(row), row["case_id"], name, "field-conflict", text, raw)
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
        source_file, line, record = (row[_TRACE + name] for name in _PLACE)
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
                trace = {name: row[_TRACE + name] for name in (*_PLACE, "chunk")}
                if (trace["source_file"], trace["record"]) not in accused:
                    text = f"set aside with its case ({mine})"
                    trace["case_id"] = row["case_id"]
                    partners.append(self._traces.fault(trace, rule, text, refuses=False))
        return partners


def _place(row: dict[str, Any]) -> Place:
    source_file, line, record = (row[name] for name in _PLACE)
    return source_file, line, record
