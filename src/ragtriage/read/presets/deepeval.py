"""`deepeval`: goldens and test runs, which hold texts and no IDs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from ragtriage.read.batches import Batch, Reader
from ragtriage.read.files import InputFile
from ragtriage.read.presets.base import Asked, Preset, Sample
from ragtriage.read.presets.foreign import first_byte, foreign_records
from ragtriage.read.presets.rows import Record, Row, batches_of
from ragtriage.read.presets.values import opened, text_of

_LISTS = ("testCases", "testRunData.testCases", "test_cases", "goldens")
_BETWEEN = "|"


def _map(row: Row) -> Record:
    get = row.get
    expected = text_of("expected_answers", get("expected_output", "expectedOutput"))
    record: Record = {
        "question": text_of("question", get("input")),
        "answer": text_of("answer", get("actual_output", "actualOutput")),
        "expected_answers": None if expected is None else [expected],
    }
    texts = row.asked.texts
    if texts is not None:
        retrieved = _texts(row, get("retrieval_context", "retrievalContext"))
        record["retrieved_ids"] = texts.resolve("retrieved_ids", retrieved)
        record["required_ids"] = texts.resolve("required_ids", _texts(row, get("context")))
    return record


def _texts(row: Row, value: Any) -> Any:
    """A list of texts; in a cell, between bars."""
    return opened("retrieved_ids", value, row.asked.separator or _BETWEEN)


def _reader(asked: Asked) -> Reader:
    def read(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
        inside = file.format == "json" and first_byte(stream) == b"{"
        records = foreign_records(stream, file, _LISTS if inside else ())
        yield from batches_of(records, _map, asked)

    return read


def _recognise(sample: Sample) -> str | None:
    snake = {"input", "actual_output"} <= sample.keys or {"input", "expected_output"} <= sample.keys
    camel = "actualOutput" in sample.keys or b'"testCases"' in sample.head
    return "has input with actual_output, or testCases" if snake or camel else None


PRESET = Preset(
    name="deepeval",
    about="goldens and test runs of DeepEval",
    layout="goldens as a JSON array or CSV (`input`, `actual_output`, `expected_output`, "
    "`retrieval_context`, `context`); test runs in camelCase under `testCases`",
    maps_to="question, answer, expected_answers; with `--text-ids` retrieved_ids, required_ids",
    quirks=(
        "no IDs at all: case IDs are made from the question, texts need `--text-ids CORPUS`",
        "lists in CSV between bars",
        "snake_case in goldens, camelCase in test runs",
    ),
    reader=_reader,
    recognise=_recognise,
)
