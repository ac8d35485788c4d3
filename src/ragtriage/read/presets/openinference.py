"""`openinference`: spans of traces; a case is one question of one trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from ragtriage.read.batches import Batch, Reader
from ragtriage.read.faults import Fault
from ragtriage.read.files import InputFile
from ragtriage.read.presets.base import RECORDS, TRACE, Asked, Preset, Sample, UnmappableError
from ragtriage.read.presets.foreign import Foreign, foreign_records
from ragtriage.read.presets.rows import Record, Row, batches_of
from ragtriage.read.presets.spans import Span, attributes_of, spans_in
from ragtriage.read.presets.values import shown, text_of

_RETRIEVER = "RETRIEVER"
_MARKS = (
    "openinference.span.kind",
    "gen_ai.input.messages",
    "retrieval.documents",
    "ai.observability.",
    "resourceSpans",
)
_OUTER, _SPAN = "(outer)", "(span)"


def _map(row: Row) -> Record:
    span: Span = row.members[_SPAN]
    outer: Span | None = row.members[_OUTER]
    for name in (_SPAN, _OUTER, *span.members):
        row.use(name)
    question = span.asked or (outer.asked if outer else None)
    if question is None:
        raise UnmappableError("question", "the span holds no input.value to tell the case by")
    record: Record = {"question": question}
    if span.documents is not None or span.kind == _RETRIEVER:
        record["retrieved_ids"] = _ids(row, span.documents or [])
    told = outer.told if outer is not None else None
    if told is not None:
        record["answer"] = told
    return record


def _ids(row: Row, documents: list[Any]) -> list[str]:
    name = "retrieved_ids"
    ids = []
    for place, document in enumerate(documents):
        found = document.get("id") if isinstance(document, dict) else document
        text = text_of(name, found)
        if text is None and row.asked.texts is not None and isinstance(document, dict):
            resolved = row.asked.texts.resolve(name, [document.get("content")])
            text = resolved[0] if resolved else None
        if text is None:
            raise UnmappableError(
                name,
                f"document {place} has no document.id ({shown(document)}); record it, or pass "
                "--text-ids CORPUS",
            )
        ids.append(text)
    return ids


def _reader(asked: Asked) -> Reader:
    def read(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
        yield from batches_of(_cases(foreign_records(stream, file)), _map, asked)

    return read


def _cases(records: Iterator[Foreign]) -> Iterator[Foreign]:
    """One record a question of a trace. Spans of a trace may lie anywhere: all are gathered."""
    traces: dict[str, list[Span]] = {}
    for foreign in records:
        if foreign.problem or foreign.blank or not isinstance(foreign.value, dict):
            yield foreign
            continue
        try:
            found = list(spans_in(foreign))
        except UnmappableError as error:
            yield replace(foreign, problem=Fault(error.field, "unmapped", error.why))
            continue
        if not found:
            yield replace(foreign, other=True)
        for span in found:
            # Spans that name no trace have nothing to do with each other.
            key = span.trace or f"({foreign.line})"
            traces.setdefault(key, []).append(span)
    for spans in traces.values():
        yield from _of_trace(spans)


def _of_trace(spans: list[Span]) -> Iterator[Foreign]:
    by_id: dict[str | None, Span] = {span.span: span for span in spans if span.span is not None}
    root = next((s for s in spans if s.parent not in by_id and s.kind != _RETRIEVER), None)
    retrievers = [s for s in spans if s.kind == _RETRIEVER or s.documents is not None]
    chosen: dict[str | None, Span] = {}
    for span in retrievers:
        if not _within_another(span, by_id):
            # A trace that asks one thing twice is one case; the first answer to it counts.
            chosen.setdefault(span.asked, span)
    if not retrievers and root is not None:
        chosen[root.asked] = root
    whole = root if root is not None and len(chosen) == 1 else None
    for span in chosen.values():
        yield Foreign(span.line, span.raw, {**span.members, _SPAN: span, _OUTER: whole})
    for span in spans:
        if span not in chosen.values():
            yield replace(Foreign(span.line, span.raw), other=True)


def _within_another(span: Span, by_id: dict[str | None, Span]) -> bool:
    """Does it repeat what a retriever around it asks?"""
    seen = {span.span}
    parent = by_id.get(span.parent)
    while parent is not None and parent.span not in seen:
        is_retriever = parent.kind == _RETRIEVER or parent.documents is not None
        if is_retriever and parent.asked == span.asked:
            return True
        seen.add(parent.span)
        parent = by_id.get(parent.parent)
    return False


def _recognise(sample: Sample) -> str | None:
    names = " ".join(name for record in sample.records[:20] for name in _names(record))
    found = [mark for mark in _MARKS if mark.encode() in sample.head or mark in names]
    return f"holds {', '.join(found)}" if found else None


def _names(record: Record) -> list[str]:
    """A span's attributes by their flat names, also where these lie within one another."""
    try:
        return list(attributes_of(record))
    except UnmappableError:
        return []


PRESET = Preset(
    name="openinference",
    about="spans of OpenInference, OTLP, Langfuse and TruLens traces",
    layout="JSON lines, JSON, CSV or Parquet of spans: flat `retrieval.documents.N.document.id`, "
    "`attributes.retrieval.documents` as a list, OTLP `resourceSpans`, TruLens `record_attributes`",
    maps_to="question, retrieved_ids; answer from the outermost span",
    quirks=(
        "`documents.10` comes after `documents.9`: sorted as numbers",
        "`input.value` as text or JSON, messages among it",
        "IDs as text or integers; null instead of a list: nothing retrieved",
        "retriever spans within one another repeat a query: the outermost counts",
        "no case ID: it is made from the question (`--id-from question` gives cases the same)",
        "texts without IDs: `--text-ids CORPUS`",
    ),
    roles=(RECORDS, TRACE),
    reader=_reader,
    recognise=_recognise,
)
