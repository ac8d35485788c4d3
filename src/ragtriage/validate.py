"""Frame + model → (accepted, faults). The only place that sees pandera's errors.

Nothing is raised for a bad row, and nothing is dropped: whoever asked decides what a fault means.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pandera.errors
import pandera.polars as pa
import polars as pl

from ragtriage.read.chunk import Chunk, Place, RowFault
from ragtriage.read.index import Duplicates, repeat_fault
from ragtriage.schemas.contracts import Contract
from ragtriage.schemas.fields import ids_in, is_unclean
from ragtriage.schemas.inputs import dtypes
from ragtriage.schemas.plain import none_breaks
from ragtriage.schemas.rules import message

_TRACE_FIELDS = ("retrieved_ids", "context_ids", "cited_ids", "answer", "claims")
_UNSET_WHEN_BLANK = ("ambiguity", "error")

# Field, rule, message and which rows break it.
Broken = tuple[str, str, str, pl.Series]


class Validator:
    """Holds chunks against one model, one contract and what the whole input told."""

    def __init__(
        self,
        model: type[pa.DataFrameModel],
        contract: Contract | None,
        duplicates: Duplicates,
        id_field: str = "case_id",
        waived: tuple[str, ...] = (),
    ) -> None:
        """`waived`: rules that do not hold in this run."""
        self._schema = model.to_schema()
        self._dtypes = dtypes(model)
        self._schemas: dict[frozenset[str], pa.DataFrameSchema] = {}
        self._contract = contract
        self._duplicates = duplicates
        self._repeated = pl.Series(list(duplicates), dtype=pl.String).implode()
        self._id_field = id_field
        self._waived = waived

    def check(self, chunk: Chunk) -> tuple[pl.DataFrame, list[RowFault]]:
        """Rows without a fault, and every fault of all others, in line order."""
        frame = chunk.frame
        broken = [*self._value_rules(frame), *self._contract_rules(chunk)]
        faults = [*chunk.faults, *self._repeats_among(chunk.faults)]
        for found in broken:
            faults += _row_faults(chunk, frame.filter(found[3]), found, self._id_field)
        repeated = frame[self._id_field].is_in(self._repeated)
        for row in frame.filter(repeated).iter_rows(named=True):
            faults.append(self._repeat(_place(row), row[self._id_field], chunk.raw(row["record"])))
        if not faults:
            return _settled(frame), []
        bad = repeated | _accused(frame, chunk.faults)
        for *_, failing in broken:
            bad |= failing
        if chunk.settle is not None:
            faults = chunk.settle(faults)
        faults.sort(key=lambda fault: (fault.source_file, fault.record))
        return _settled(frame.filter(~bad)), faults

    def _value_rules(self, frame: pl.DataFrame) -> list[Broken]:
        try:
            self._schema_for(frame).validate(frame, lazy=True)
        except pandera.errors.SchemaErrors as errors:
            found = [_broken_rule(error, frame.height) for error in errors.schema_errors]
            return [broken for broken in found if broken[1] not in self._waived]
        return []

    def _schema_for(self, frame: pl.DataFrame) -> pa.DataFrameSchema:
        """The schema of the columns in which something could break a rule.

        That is one with checks of its own and a value that is not beyond doubt, or with a null
        that is not allowed. Each column costs pandera a while even so; that all are there, and
        that every item of a list is plain, is cheaper to see.
        """
        if dict(frame.schema) != self._dtypes:
            odd = sorted(name for name, _ in frame.schema.items() ^ self._dtypes.items())
            raise AssertionError(f"rows could not be checked: not the model's columns: {odd}")
        filled = frozenset(
            name for name, column in self._schema.columns.items() if _may_break(column, frame[name])
        )
        if filled not in self._schemas:
            columns = {name: c for name, c in self._schema.columns.items() if name in filled}
            self._schemas[filled] = pa.DataFrameSchema(columns)
        return self._schemas[filled]

    def _contract_rules(self, chunk: Chunk) -> Iterator[Broken]:
        """Fields the contract asks for; of a case without a trace it asks for none of a trace's."""
        if self._contract is None:
            return
        for broken in self._lacking(chunk.frame, self._contract):
            field, rule, text, lacking = broken
            if chunk.untraced is not None and field in _TRACE_FIELDS:
                lacking &= ~chunk.untraced
            if lacking.any():
                yield field, rule, text, lacking

    @staticmethod
    def _lacking(frame: pl.DataFrame, contract: Contract) -> Iterator[Broken]:
        for field in contract.requires:
            if field not in contract.may_be_null:
                text = (
                    f"missing or null, which contract {contract.name} does not allow; "
                    "give the field"
                )
                yield field, "missing-field", text, frame[field].is_null()
        if "answer" in contract.may_be_null:
            text = f"missing; contract {contract.name} needs the field (null is allowed)"
            yield "answer", "missing-field", text, ~frame["answer_given"]
        if contract.any_of:
            choices = contract.any_of
            lacking = frame.select(pl.all_horizontal(pl.col(choices).is_null())).to_series()
            text = f"missing; contract {contract.name} needs one of {', '.join(choices)}"
            yield choices[0], "missing-field", text, lacking

    def _repeats_among(self, faults: list[RowFault]) -> list[RowFault]:
        """A record with another fault still repeats an ID."""
        repeats = []
        for place, same in groupby(faults, key=lambda f: (f.source_file, f.line, f.record)):
            fault = next(same)
            if fault.case_id is not None and fault.case_id in self._duplicates:
                repeats.append(self._repeat(place, fault.case_id, fault.raw))
        return repeats

    def _repeat(self, place: Place, case_id: str, raw: str | None) -> RowFault:
        return repeat_fault(place, case_id, raw, self._duplicates, field=self._id_field)


def _may_break(column: pa.Column, values: pl.Series) -> bool:
    nulls = values.null_count()
    if nulls > 0 and not column.nullable:
        return True
    if not column.checks or nulls == len(values):
        return False
    return not none_breaks({check.title for check in column.checks}, values)


def _accused(frame: pl.DataFrame, faults: list[RowFault]) -> pl.Series:
    """Rows that a reader already found at fault (records that did not decode are no rows)."""
    places = {(fault.source_file, fault.record) for fault in faults}
    rows = frame.select("source_file", "record").iter_rows() if places else ()
    accused = [place in places for place in rows] or [False] * frame.height
    return pl.Series(accused, dtype=pl.Boolean)


def _row_faults(chunk: Chunk, rows: pl.DataFrame, broken: Broken, id_field: str) -> list[RowFault]:
    field, rule, text, _ = broken
    unclean = _unclean_ids(rows, field) if rule == "id-whitespace" else {}
    return [
        RowFault(
            *_place(row),
            row[id_field],
            field,
            rule,
            text + unclean.get(row["record"], ""),
            chunk.raw(row["record"]),
        )
        for row in rows.select("source_file", "line", "record", id_field).iter_rows(named=True)
    ]


def _unclean_ids(rows: pl.DataFrame, field: str) -> dict[int, str]:
    """The first unclean ID of each record, its odd characters as escapes."""
    found = (
        rows.select("record", id=ids_in(field, rows.schema[field]))
        .explode("id")
        .filter(is_unclean(pl.col("id")))
        .group_by("record")
        .agg(pl.col("id").first())
    )
    return {record: f" (here {text[:80]!a})" for record, text in found.iter_rows()}


def _place(row: dict[str, Any]) -> Place:
    return row["source_file"], row["line"], row["record"]


def _broken_rule(error: pandera.errors.SchemaError, height: int) -> Broken:
    """Which rows broke which rule; anything else pandera may say is our own mistake."""
    output = error.check_output
    rule = getattr(error.check, "title", None)
    field = getattr(error.schema, "name", None)
    if output is None or rule is None or error.reason_code.name == "CHECK_ERROR":
        raise AssertionError(f"a rule could not be checked: {error}")
    passed = output if isinstance(output, pl.Series) else output.to_series()
    if passed.len() != height:
        raise AssertionError(f"rule {rule} gave {passed.len()} verdicts on {height} rows")
    return str(field), rule, message(rule), ~passed.fill_null(True)


def _settled(frame: pl.DataFrame) -> pl.DataFrame:
    """Blank text where only its presence counts is no text."""
    return frame.with_columns(
        pl.when(pl.col(name).str.contains(r"\S")).then(pl.col(name)).alias(name)
        for name in _UNSET_WHEN_BLANK
        if name in frame.columns
    )
