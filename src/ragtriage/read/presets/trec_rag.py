"""`trec-rag`: answers in sentences that cite; nuggets, and which of them an answer holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragtriage.read.files import InputFile, open_bytes
from ragtriage.read.presets.base import (
    CASES,
    RECORDS,
    TRACE,
    Asked,
    Preset,
    Sample,
    UnmappableError,
)
from ragtriage.read.presets.foreign import foreign_records
from ragtriage.read.presets.rows import Record, Row, row_reader
from ragtriage.read.presets.values import shown, text_of

_TOPICS = ("topic_id", "narrative_id", "qid", "query_id")
_QUESTIONS = ("topic", "narrative", "query", "title")
_VITAL = "vital"
_SUPPORT = "support"
_PARTLY = "partial_support"
_LABELS = (_SUPPORT, _PARTLY, "not_support")
_LEFT = "(nuggets with partial support, counted as not supported)"


def _map(row: Row) -> Record:
    about = row.get("metadata")
    held = {**(about if isinstance(about, dict) else {}), **row.members}
    for name in (*_TOPICS, *_QUESTIONS, *_SYSTEMS):
        row.use(name)
    topic = text_of("case_id", _first(held, _TOPICS))
    if topic is None:
        names = ", ".join(_TOPICS)
        raise UnmappableError("case_id", f"no topic; give one of {names}")
    record: Record = {"case_id": topic, "question": text_of("question", _first(held, _QUESTIONS))}
    if row.has("answer"):
        record |= _answer(row)
    elif row.has("answer_text"):
        record["answer"] = text_of("answer", row.get("answer_text"))
    if row.has("nuggets"):
        record |= _nuggets(row)
    return record


def _first(held: Record, names: tuple[str, ...]) -> Any:
    return next((held[name] for name in names if held.get(name) is not None), None)


def _answer(row: Row) -> Record:
    """The sentences as one text, and what they cite, each document once."""
    references = row.get("references")
    sentences = row.get("answer")
    if isinstance(sentences, str):
        sentences = [{"text": sentences}]
    if not isinstance(sentences, list):
        raise UnmappableError("answer", f"expected sentences, got {shown(sentences)}")
    listed = _references(references)
    texts, cited = [], []
    for number, sentence in enumerate(sentences, 1):
        if not isinstance(sentence, dict) or not isinstance(sentence.get("text"), str):
            raise UnmappableError("answer", f"sentence {number} has no text; give `text`")
        texts.append(sentence["text"].strip())
        cited += [_cited(one, number, listed) for one in _citations(sentence, number)]
    return {"answer": " ".join(texts), "cited_ids": list(dict.fromkeys(cited))}


def _references(references: Any) -> list[str] | None:
    if references is None:
        return None
    if not isinstance(references, list):
        raise UnmappableError(
            "cited_ids", f"expected a list of references, got {shown(references)}"
        )
    listed = [
        None if isinstance(one, list | dict) else text_of("cited_ids", one) for one in references
    ]
    if None in listed:
        raise UnmappableError("cited_ids", "a reference is no document ID; give IDs")
    return [one for one in listed if one is not None]


def _citations(sentence: Record, number: int) -> list[Any]:
    citations = sentence.get("citations")
    if citations is None:
        return []
    if not isinstance(citations, list):
        why = f"sentence {number}: expected a list of citations, got {shown(citations)}"
        raise UnmappableError("cited_ids", why)
    return citations


def _cited(citation: Any, sentence: int, references: list[str] | None) -> str:
    """A document's ID, by its place among the references or by itself."""
    where = f"sentence {sentence} cites {shown(citation)}"
    if isinstance(citation, int) and not isinstance(citation, bool):
        if references is None or not 0 <= citation < len(references):
            n = len(references or ())
            raise UnmappableError(
                "cited_ids", f"{where}, places among its {n} references count from 0; correct it"
            )
        return references[citation]
    if not isinstance(citation, str):
        raise UnmappableError("cited_ids", f"{where}: neither a place nor a document ID")
    if references is not None and citation not in references:
        raise UnmappableError("cited_ids", f"{where}, which is not among its references")
    return citation


def _nuggets(row: Row) -> Record:
    """Vital nuggets as required claims; with assignments, the supported ones as claims."""
    nuggets = row.get("nuggets")
    if not isinstance(nuggets, list):
        raise UnmappableError("required_claims", f"expected nuggets, got {shown(nuggets)}")
    required, claims, assigned = [], [], False
    for number, nugget in enumerate(nuggets, 1):
        if not isinstance(nugget, dict) or not isinstance(nugget.get("text"), str):
            raise UnmappableError("required_claims", f"nugget {number} has no text; give `text`")
        name = f"nugget-{number}"
        if nugget.get("importance") in (None, _VITAL):
            required.append(name)
        if "assignment" in nugget:
            assigned = True
            if nugget["assignment"] == _PARTLY:
                row.leave(_LEFT)
            if _supported(nugget["assignment"], number):
                claims.append({"claim_id": name, "supported": True, "text": nugget["text"]})
    found: Record = {"required_claims": required}
    if assigned:
        found["claims"] = claims
    return found


def _supported(label: Any, number: int) -> bool:
    if label not in _LABELS:
        known = ", ".join(_LABELS)
        raise UnmappableError("claims", f"nugget {number}: {shown(label)} is none of {known}")
    return bool(label == _SUPPORT)


_SYSTEMS = ("run_id", "team_id")


def _system(record: Record) -> str | None:
    about = record.get("metadata")
    name = record.get("run_id") or (about.get("run_id") if isinstance(about, dict) else None)
    return None if name is None else str(name)


def _is_of(record: Record, system: str) -> bool:
    """Nuggets without a run are anybody's."""
    return _system(record) in (None, system)


def _systems(file: InputFile, _asked: Asked) -> Iterator[str]:
    with open_bytes(file) as stream:
        for foreign in foreign_records(stream, file):
            name = _system(foreign.value) if isinstance(foreign.value, dict) else None
            if name is not None:
                yield name


def _recognise(sample: Sample) -> str | None:
    if {"answer", "references"} <= sample.keys and sample.keys & {*_TOPICS, "metadata"}:
        return "has `answer` and `references`"
    return "has `nuggets`" if "nuggets" in sample.keys and sample.keys & {*_TOPICS} else None


PRESET = Preset(
    name="trec-rag",
    about="TREC RAG's answers, nuggets and assignments",
    layout="JSON lines: answers `topic_id` or `narrative_id`, `references`, `answer` as a list of "
    "`text` and `citations`; nuggets `qid`, `nuggets` as a list of `text`, `importance` and, once "
    "assigned, `assignment`",
    maps_to="question, answer, cited_ids; required_claims, claims",
    quirks=(
        "citations are places among the references, from 0, or document IDs",
        "IDs of topics as integers; topic and run under `metadata`",
        "references that no sentence cites, sentences that cite nothing",
        "vital nuggets (all, without an importance) are required claims, named by their place",
        "only `support` makes a nugget a claim of the answer: TREC's strict score",
    ),
    roles=(RECORDS, CASES, TRACE),
    reader=row_reader(_map, is_of=_is_of),
    systems=_systems,
    recognise=_recognise,
)
