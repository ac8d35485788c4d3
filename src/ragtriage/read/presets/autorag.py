"""`autorag`: question sets, corpora and retrieval results, in Parquet."""

from __future__ import annotations

from collections.abc import Iterator

from ragtriage.read.files import InputFile, open_bytes
from ragtriage.read.presets.base import (
    CASES,
    CORPUS,
    RECORDS,
    TRACE,
    Asked,
    Preset,
    Sample,
    UnmappableError,
)
from ragtriage.read.presets.foreign import foreign_records
from ragtriage.read.presets.rows import Record, Row, row_reader
from ragtriage.read.presets.values import answers_of, groups_of, ids_of, text_of

_RETRIEVED = "retrieved_ids"


def _map(row: Row) -> Record:
    if row.asked.role == CORPUS:
        return {
            "evidence_id": text_of("evidence_id", row.get("doc_id")),
            "text": text_of("text", row.get("contents")),
        }
    case_id = text_of("case_id", row.get("qid"))
    if case_id is None:
        raise UnmappableError(
            "case_id",
            "no qid: this file pairs with the questions by position alone; give the result file "
            "that has `qid`, or add the column",
        )
    for name in row.members:
        if name.startswith("retrieve_scores"):
            row.use(name)
    return {
        "case_id": case_id,
        "question": text_of("question", row.get("query")),
        "required_groups": groups_of("required_groups", row.get("retrieval_gt")),
        "expected_answers": answers_of("expected_answers", row.get("generation_gt")),
        "retrieved_ids": ids_of(_RETRIEVED, row.get(_column(row))),
        "answer": text_of("answer", row.get("generated_texts")),
    }


def _column(row: Row) -> str:
    """The column of the system that was asked for, or the only one."""
    if row.asked.system is not None and row.has(f"{_RETRIEVED}_{row.asked.system}"):
        return f"{_RETRIEVED}_{row.asked.system}"
    return next((name for name in row.members if _is_retrieved(name)), _RETRIEVED)


def _is_retrieved(name: str) -> bool:
    return name == _RETRIEVED or name.startswith(f"{_RETRIEVED}_")


def _systems(file: InputFile, _asked: Asked) -> Iterator[str]:
    """One a column of retrieved IDs: the part behind `retrieved_ids_`."""
    with open_bytes(file) as stream:
        first = next(foreign_records(stream, file), None)
    for name in first.value if first is not None and isinstance(first.value, dict) else ():
        if _is_retrieved(name):
            yield name.removeprefix(_RETRIEVED).removeprefix("_") or _RETRIEVED


def _recognise(sample: Sample) -> str | None:
    found = sample.keys & {"retrieval_gt", "generation_gt", "retrieve_scores"}
    found |= {key for key in sample.keys if key.startswith("retrieve_scores_")}
    if {"doc_id", "contents"} <= sample.keys:
        return "has doc_id and contents: a corpus"
    return f"has {', '.join(sorted(found))}" if found else None


PRESET = Preset(
    name="autorag",
    about="question sets and results of AutoRAG",
    layout="Parquet: `qid, query, retrieval_gt, generation_gt`; results also `retrieved_ids` or "
    "`retrieved_ids_lexical` and the like; corpus `doc_id, contents`",
    maps_to="question, required_groups, expected_answers, retrieved_ids, answer; corpus",
    quirks=(
        "`retrieval_gt`: all of the outer, any of the inner; a flat list is one group",
        "`[[]]`: no gold",
        "repeats among the retrieved",
        "several columns of retrieved IDs: one system each",
        "result files without `qid` pair by position alone: rejected",
    ),
    roles=(RECORDS, CASES, TRACE, CORPUS),
    reader=row_reader(_map),
    systems=_systems,
    recognise=_recognise,
)
