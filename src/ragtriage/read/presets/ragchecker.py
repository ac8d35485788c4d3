"""`ragchecker`: questions, answers, retrieved passages, and claims with their labels."""

from __future__ import annotations

from typing import Any

from ragtriage.read.presets.base import Preset, Sample, UnmappableError
from ragtriage.read.presets.rows import Record, Row, row_reader
from ragtriage.read.presets.values import shown, text_of

_ENTAILED = "entailment"


def _map(row: Row) -> Record:
    get = row.get
    expected = text_of("expected_answers", get("gt_answer"))
    return {
        "case_id": text_of("case_id", get("query_id")),
        "question": text_of("question", get("query")),
        "expected_answers": None if expected is None else [expected],
        "answer": text_of("answer", get("response")),
        "retrieved_ids": _retrieved(row),
        "claims": _claims(get("response_claims"), get("retrieved2response")),
    }


def _retrieved(row: Row) -> list[str] | None:
    passages = row.get("retrieved_context")
    if passages is None:
        return None
    name = "retrieved_ids"
    if not isinstance(passages, list) or not all(isinstance(p, dict) for p in passages):
        raise UnmappableError(name, f"expected passages, got {shown(passages)}")
    if row.asked.texts is not None:
        return row.asked.texts.resolve(name, [passage.get("text") for passage in passages])
    ids = [text_of(name, passage.get("doc_id")) for passage in passages]
    if None in ids:
        raise UnmappableError(name, "a passage has no doc_id; give it, or pass --text-ids CORPUS")
    return [each for each in ids if each is not None]


def _claims(claims: Any, checked: Any) -> list[Record] | None:
    """Each claim, supported where some retrieved passage entails it."""
    if claims is None:
        return None
    if not isinstance(claims, list):
        raise UnmappableError("claims", f"expected a list of claims, got {shown(claims)}")
    if checked is not None and (not isinstance(checked, list) or len(checked) != len(claims)):
        raise UnmappableError("claims", "retrieved2response does not label every claim")
    return [
        {
            "claim_id": f"response-{place}",
            "supported": None if checked is None else _entailed(checked[place - 1]),
            "text": " ".join(str(part) for part in claim)
            if isinstance(claim, list)
            else str(claim),
        }
        for place, claim in enumerate(claims, 1)
    ]


def _entailed(labels: Any) -> bool:
    given = labels if isinstance(labels, list) else [labels]
    return any(str(label).lower() == _ENTAILED for label in given)


def _recognise(sample: Sample) -> str | None:
    found = sample.keys & {"gt_answer", "retrieved_context"}
    inside = b'"gt_answer"' in sample.head and b'"results"' in sample.head
    return "has gt_answer, retrieved_context" if found or inside else None


PRESET = Preset(
    name="ragchecker",
    about="inputs and results of RAGChecker",
    layout="JSON: `results[{query_id, query, gt_answer, response, retrieved_context[{doc_id, "
    "text}], response_claims, retrieved2response}]`",
    maps_to="question, expected_answers, answer, retrieved_ids, claims",
    quirks=(
        "no gold IDs",
        "`doc_id` may count within one query: with `--text-ids CORPUS` the texts decide",
        "a claim is supported where a retrieved passage entails it",
    ),
    reader=row_reader(_map, ("results",)),
    recognise=_recognise,
)
