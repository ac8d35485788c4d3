"""`azure`: records of the document retrieval evaluator."""

from __future__ import annotations

from typing import Any

from ragtriage.read.presets.base import Preset, Sample, UnmappableError
from ragtriage.read.presets.rows import Record, Row, row_reader
from ragtriage.read.presets.values import grade_of, opened, score_of, shown, text_of

_KEYS = ("retrieval_ground_truth", "retrieved_documents")


def _map(row: Row) -> Record:
    return {
        "case_id": text_of("case_id", row.get("case_id", "id", "query_id", "qid")),
        "question": text_of("question", row.get("query", "question")),
        "answer": text_of("answer", row.get("response")),
        "grades": _grades(row.get("retrieval_ground_truth")),
        "retrieved_ids": _retrieved(row.get("retrieved_documents")),
    }


def _grades(value: Any) -> list[dict[str, Any]] | None:
    name = "grades"
    graded: list[dict[str, Any]] | None = _each(
        name,
        value,
        lambda item: {
            "id": text_of(name, _member(name, item, "document_id")),
            "grade": grade_of(name, _member(name, item, "query_relevance_label")),
        },
    )
    return graded


def _retrieved(value: Any) -> list[str] | None:
    name = "retrieved_ids"
    scored = _each(
        name,
        value,
        lambda item: (
            text_of(name, _member(name, item, "document_id")),
            score_of(name, _member(name, item, "relevance_score")),
        ),
    )
    # Equal scores keep the order of the file.
    return None if scored is None else [i for i, _ in sorted(scored, key=lambda pair: -pair[1])]


def _each(name: str, value: Any, take: Any) -> Any:
    items = opened(name, value)
    if items is None:
        return None
    if not isinstance(items, list):
        raise UnmappableError(name, f"expected a list of documents, got {shown(items)}")
    return [take(item) for item in items]


def _member(name: str, item: Any, key: str) -> Any:
    if not isinstance(item, dict) or item.get(key) is None:
        raise UnmappableError(name, f"{shown(item)} has no `{key}`; give it")
    return item[key]


def _recognise(sample: Sample) -> str | None:
    found = [key for key in _KEYS if key in sample.keys]
    return f"has {', '.join(found)}" if found else None


PRESET = Preset(
    name="azure",
    about="records of the Azure document retrieval evaluator",
    layout="JSON lines: `retrieval_ground_truth[{document_id, query_relevance_label}]`, "
    "`retrieved_documents[{document_id, relevance_score}]`",
    maps_to="grades; retrieved_ids by score",
    quirks=(
        "labels 0 to 4, unjudged documents: grades",
        "documents in any order, scores as text: best score first",
        "no ID and no question: the row's number is the ID",
        "an item without its ID, label or score is rejected",
    ),
    reader=row_reader(_map),
    recognise=_recognise,
)
