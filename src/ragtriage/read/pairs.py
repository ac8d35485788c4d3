"""Cases beside their traces: combined rows, and each fault at the record that is to blame."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import polars as pl

from ragtriage.read.chunk import Chunk, RowFault
from ragtriage.read.traces import FLAGS, Traces
from ragtriage.schemas.inputs import CASE_FIELDS
from ragtriage.schemas.rules import message

NOT_RUN = "no trace was recorded for this case"
# What a missing trace leaves empty; its answer stays unobserved, so it can never pass.
_TRACE_LISTS = ("candidate_ids", "filtered_ids", "retrieved_ids", "context_ids", "cited_ids")
_TRACE = "trace "
# Lists that can be long; a chunk holds about so many items of theirs.
_LONG = ("grades", "required_ids", "retrieved_ids", "candidate_ids")
CHUNK_ITEMS = 500_000
_WHERE = ("line", "record", "chunk")


class Pairs:
    """Some cases of one chunk, each beside its trace or, where that is allowed, without one.

    `untraced`: cases that no trace met. `unmatched`: traces that met none of these cases.
    """

    def __init__(
        self, cases: Chunk, rows: pl.DataFrame, traces: Traces, met: pl.DataFrame, fields: set[str]
    ) -> None:
        """`rows`: of the chunk `cases`. `met`: traces that may be theirs. `fields`: of cases."""
        self._cases = cases
        self._traces = traces
        self._shared = sorted((fields & traces.fields) - {"case_id"})
        right = met.rename({name: _TRACE + name for name in met.columns if name != "case_id"})
        self._rows = rows.join(
            right.with_columns(traced=pl.lit(True)), on="case_id", how="left", maintain_order="left"
        ).with_columns(pl.col("traced").fill_null(False))
        self.unmatched = met.join(rows, on="case_id", how="anti", maintain_order="left")

    @property
    def untraced(self) -> pl.DataFrame:
        """`source_file`, `line`, `record` and `case_id` of the cases without a trace."""
        names = ("source_file", "line", "record", "case_id")
        return self._rows.filter(~pl.col("traced")).select(names)

    def drop(self, case_ids: list[str]) -> None:
        """Leave out these cases."""
        gone = pl.Series(case_ids, dtype=pl.String).implode()
        self._rows = self._rows.filter(~pl.col("case_id").is_in(gone))

    def chunks(self, missing: str) -> Iterator[Chunk]:
        """The combined rows, few at once where lists are long.

        `missing`: what a case without a trace is taken for.
        """
        for start, height in _slices(self._rows):
            yield self._chunk(self._rows.slice(start, height), missing)

    def _chunk(self, paired: pl.DataFrame, missing: str) -> Chunk:
        frame = paired.select(
            *(self._combined(name, missing).alias(name) for name in CASE_FIELDS),
            "source_file",
            "line",
            "record",
            *(
                (pl.col(flag) | pl.col(_TRACE + flag).fill_null(False)).alias(flag)
                for flag in FLAGS
            ),
        )
        return Chunk(
            frame=frame,
            faults=self._conflicts(paired),
            counts=[],
            raw=lambda _record: "",
            untraced=~paired["traced"],
            settle=self._settled,
        )

    def _combined(self, name: str, missing: str) -> pl.Expr:
        """A field's value from the side that gives it."""
        ours = pl.col(name)
        if name in self._traces.fields and name != "case_id":
            ours = pl.coalesce(ours, pl.col(_TRACE + name))
            if missing == "empty" and name in _TRACE_LISTS:
                return pl.when(~pl.col("traced")).then(ours.fill_null([])).otherwise(ours)
        if missing == "not-run" and name == "error":
            told = pl.coalesce(ours, pl.lit(NOT_RUN))
            return pl.when(pl.col("traced")).then(ours).otherwise(told)
        return ours

    def _conflicts(self, paired: pl.DataFrame) -> list[RowFault]:
        """Fields that both sides give, with different values."""
        faults = []
        for name in self._shared:
            ours, theirs = pl.col(name), pl.col(_TRACE + name)
            differ = ours.is_not_null() & theirs.is_not_null() & ours.ne_missing(theirs)
            for row in self._places(paired.filter(differ)):
                where = f"{self._traces.file_of(_trace_of(row))}:{row[_TRACE + 'line']}"
                text = f"differs from its trace ({where}); {message('field-conflict')}"
                faults.append(self._fault(row, name, "field-conflict", text, refuses=True))
        return faults

    def _settled(self, faults: list[RowFault]) -> list[RowFault]:
        """Faults at the record that gave the field, and each faulty record's partner with it.

        Those of traces are told later, where their text is at hand.
        """
        records = pl.Series([fault.record for fault in faults], dtype=pl.Int64).implode()
        accused = self._rows.filter(pl.col("record").is_in(records))
        by_record = {row["record"]: row for row in self._places(accused)}
        settled: list[RowFault] = []
        of_traces: list[tuple[dict[str, Any], str, str, str, bool]] = []
        rules: dict[int, str] = {}
        blamed: set[tuple[bool, int]] = set()
        for fault in faults:
            row = by_record.get(fault.record)
            if row is None:
                settled.append(fault)
                continue
            rules.setdefault(fault.record, fault.rule)
            given_there = fault.field in self._traces.fields and fault.field not in row["given"]
            of_trace = bool(row["traced"] and given_there)
            blamed.add((of_trace, fault.record))
            if of_trace:
                told = (fault.field, fault.rule, fault.message, fault.refuses)
                of_traces.append((_trace_of(row), *told))
            else:
                settled.append(fault._replace(raw=self._cases.raw(fault.record)))
        for record, rule in rules.items():
            row = by_record[record]
            if (False, record) not in blamed:
                where = f"{self._traces.file_of(_trace_of(row))}:{row[_TRACE + 'line']}"
                text = f"set aside with its trace ({where})"
                settled.append(self._fault(row, "case_id", rule, text, refuses=False))
            if row["traced"] and (True, record) not in blamed:
                text = f"set aside with its case ({row['source_file']}:{row['line']})"
                of_traces.append((_trace_of(row), "case_id", rule, text, False))
        self._traces.accuse(of_traces)
        return settled

    def _places(self, rows: pl.DataFrame) -> list[dict[str, Any]]:
        """Where rows and their traces stand, and which shared fields the case itself gives."""
        given = pl.concat_list(
            pl.when(pl.col(name).is_not_null()).then(pl.lit(name)).otherwise(pl.lit(""))
            for name in (*self._shared, "case_id")
        )
        names = ("source_file", "line", "record", "case_id", "traced")
        return rows.select(*names, *(_TRACE + name for name in _WHERE), given=given).to_dicts()

    def _fault(
        self, row: dict[str, Any], field: str, rule: str, text: str, *, refuses: bool
    ) -> RowFault:
        """A fault of a case."""
        place = (row["source_file"], row["line"], row["record"])
        raw = self._cases.raw(row["record"])
        return RowFault(*place, row["case_id"], field, rule, text, raw, refuses)


def _slices(paired: pl.DataFrame) -> Iterator[tuple[int, int]]:
    """Where chunks begin and how many rows they have."""
    lengths = [
        pl.col(name).list.len().fill_null(0).cast(pl.Int64)
        for name in paired.columns
        if name.removeprefix(_TRACE) in _LONG
    ]
    items = paired.select(pl.sum_horizontal(lengths)).to_series()
    # Whole multiples, so that a boundary depends on nothing but the rows before it.
    before = (items.cum_sum() - items) // CHUNK_ITEMS
    starts = [0, *(before.diff().fill_null(0) != 0).arg_true(), items.len()]
    yield from ((start, stop - start) for start, stop in pairwise(starts) if stop > start)


def _trace_of(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[_TRACE + name] for name in _WHERE} | {"case_id": row["case_id"]}
