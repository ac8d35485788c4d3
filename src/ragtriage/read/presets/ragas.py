"""`ragas`: samples of single turns, as JSON lines or CSV."""

from __future__ import annotations

from ragtriage.read.presets.base import Preset, Sample
from ragtriage.read.presets.rows import Record, Row, row_reader
from ragtriage.read.presets.values import answers_of, ids_of, opened, text_of

_NEW = {"user_input", "retrieved_contexts", "reference_contexts", "retrieved_context_ids"}
_OLD = {"contexts", "ground_truth", "ground_truths"}


def _map(row: Row) -> Record:
    get, separator = row.get, row.asked.separator
    question = text_of("question", get("user_input", "question"))
    expected = get("reference", "ground_truth", "ground_truths", "expected_answer")
    record: Record = {
        "case_id": text_of("case_id", get("case_id", "id", "_id")),
        "question": question,
        "answer": text_of("answer", get("response", "answer")),
        "expected_answers": answers_of("expected_answers", expected),
        "retrieved_ids": ids_of("retrieved_ids", get("retrieved_context_ids"), separator),
        "required_ids": ids_of("required_ids", get("reference_context_ids"), separator),
    }
    _resolve_texts(row, record)
    return record


def _resolve_texts(row: Row, record: Record) -> None:
    """Texts where there are no IDs, if there is a corpus to look them up in."""
    if row.asked.texts is None:
        return
    pairs = {
        "retrieved_ids": ("retrieved_contexts", "contexts"),
        "required_ids": ("reference_contexts",),
    }
    for name, keys in pairs.items():
        if record[name] is None:
            record[name] = row.asked.texts.resolve(name, opened(name, row.get(*keys)))


def _recognise(sample: Sample) -> str | None:
    found = sample.keys & _NEW or ("question" in sample.keys and sample.keys & _OLD)
    return f"has {', '.join(sorted(found))}" if found else None


PRESET = Preset(
    name="ragas",
    about="samples of single turns",
    layout="JSON lines or CSV: `user_input`, `retrieved_context_ids`, `reference_context_ids`, "
    "`response`, `reference`; also the old names `question`, `answer`, `contexts`, `ground_truth`",
    maps_to="question, retrieved_ids, required_ids, answer, expected_answers",
    quirks=(
        "no case ID: it is made from the question",
        "IDs as integers",
        "null fields dropped",
        "lists in CSV as Python literals",
        "byte order mark and CRLF",
        "old names of the fields",
        "texts only: `--text-ids CORPUS` finds their IDs",
    ),
    reader=row_reader(_map),
    recognise=_recognise,
)
