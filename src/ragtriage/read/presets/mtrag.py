"""`mtrag`: tasks of conversations, a task for each turn."""

from __future__ import annotations

from typing import Any

from ragtriage.read.presets.base import Preset, Sample, UnmappableError
from ragtriage.read.presets.rows import Record, Row, row_reader
from ragtriage.read.presets.values import opened, shown, text_of

# Task files join conversation and turn by one, query files and qrels by the other.
_TASK, _QUERY = "::", "<::>"
_SPEAKER = "|user|:"
_ANSWERABLE = {"answerable": True, "partial": True, "unanswerable": False}


def _map(row: Row) -> Record:
    get = row.get
    collection = text_of("tags", get("collection"))
    case_id = text_of("case_id", get("task_id", "_id"))
    return {
        "case_id": None if case_id is None else _one_spelling(case_id),
        "question": _question(row),
        "group": text_of("group", get("conversation_id")) or _conversation(case_id),
        "answerable": _answerable(opened("answerable", get("answerability", "Answerability"))),
        "context_ids": _contexts(get("contexts")),
        "expected_answers": _texts("expected_answers", get("targets")),
        "answer": next(iter(_texts("answer", get("predictions")) or ()), None),
        "tags": None if collection is None else [f"collection={collection}"],
    }


def _one_spelling(case_id: str) -> str:
    return case_id if _QUERY in case_id else case_id.replace(_TASK, _QUERY)


def _conversation(case_id: str | None) -> str | None:
    spelt = None if case_id is None else _one_spelling(case_id)
    return spelt.rpartition(_QUERY)[0] or None if spelt else None


def _question(row: Row) -> str | None:
    """The last turn of the user."""
    if (text := row.get("text")) is not None:
        return text_of("question", str(text).rpartition(_SPEAKER)[2].strip())
    turns = row.get("input")
    if isinstance(turns, str) or turns is None:
        return turns
    if not isinstance(turns, list):
        raise UnmappableError("question", f"expected turns, got {shown(turns)}")
    said = [t.get("text") for t in turns if isinstance(t, dict) and t.get("speaker") == "user"]
    return text_of("question", said[-1] if said else None)


def _answerable(labels: Any) -> bool | None:
    """What all annotators say; where they differ, or speak of conversation, it is not known."""
    given = labels if isinstance(labels, list) else [] if labels is None else [labels]
    known = {_ANSWERABLE.get(str(label).strip().lower()) for label in given}
    return known.pop() if len(known) == 1 else None


def _contexts(contexts: Any) -> list[str] | None:
    if contexts is None:
        return None
    name = "context_ids"
    ids = []
    for context in contexts if isinstance(contexts, list) else [contexts]:
        found = text_of(name, context.get("document_id")) if isinstance(context, dict) else None
        if found is None:
            raise UnmappableError(name, f"{shown(context)} has no `document_id`; give it")
        ids.append(found)
    return ids


def _texts(name: str, turns: Any) -> list[str] | None:
    if not isinstance(turns, list):
        return None
    said = [text_of(name, turn.get("text")) for turn in turns if isinstance(turn, dict)]
    return [text for text in said if text is not None] or None


def _recognise(sample: Sample) -> str | None:
    if {"task_id", "contexts"} <= sample.keys:
        return "has task_id, contexts"
    turns = any(_QUERY in str(record.get("_id", "")) for record in sample.records)
    return f"its IDs hold {_QUERY}" if turns else None


PRESET = Preset(
    name="mtrag",
    about="conversations of mtRAG, a task for each turn",
    layout="JSON lines: `task_id, conversation_id, input[{speaker, text}], "
    "contexts[{document_id}], answerability, targets, predictions`; queries `_id, text`",
    maps_to="question, group, answerable, context_ids, expected_answers, answer",
    quirks=(
        "`NaN` where there is nothing",
        "`::` in the IDs of tasks, `<::>` in those of queries: the latter is used",
        "several annotators: their common label, unknown where they differ",
        "a conversation is one group",
    ),
    reader=row_reader(_map),
    recognise=_recognise,
)
