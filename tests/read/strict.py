"""A second, plain reading of a JSON line by the contract alone: spec §2.1 and §2.2.

Nothing here comes from ragtriage: names, aliases and types are written out by hand.
"""

from __future__ import annotations

import json
import math
from typing import Any

ALIASES = {
    "case_id": ("id", "qid", "query_id", "question_id", "_id"),
    "question": ("query", "user_input"),
    "group": ("family",),
    "tags": ("slices",),
    "answerable": ("is_answerable",),
    "required_ids": (
        *("required", "relevant_document_ids", "relevant_ids", "relevant_doc_ids"),
        *("reference_context_ids", "expected_document_ids", "gold_chunk_ids"),
    ),
    "required_groups": ("retrieval_gt",),
    "required_claims": ("required_aspects",),
    "expected_answers": ("expected_answer", "reference", "ground_truth", "expected_output"),
    "retrieved_ids": (
        *("retrieved", "retrieved_document_ids", "retrieved_chunk_ids"),
        "retrieved_context_ids",
    ),
    "context_ids": ("packet_ids", "selected_ids", "context_document_ids"),
    "cited_ids": ("cited_document_ids", "citations"),
    "answer": ("response", "actual_output", "prediction"),
}
# Under --contract answer.
RESTRICTED = {"source": "required_ids", "cited": "cited_ids", "correct": "answer_correct"}
SCALAR = {*ALIASES["expected_answers"], "source", "cited"}
JOINING = ("category", "difficulty")
TYPES = {
    "text": (
        *("case_id", "question", "intended_meaning", "ambiguity", "split", "group"),
        *("context_text", "answer", "error", "corpus_snapshot", "filters"),
        *("retrieval_config", "query_rewrite"),
    ),
    "number": ("weight",),
    "label": ("answerable", "abstained", "answer_correct"),
    "ids": (
        *("tags", "required_ids", "allowed_ids", "forbidden_ids", "required_claims"),
        *("expected_answers", "candidate_ids", "filtered_ids", "retrieved_ids"),
        *("context_ids", "cited_ids"),
    ),
    "groups": ("required_groups",),
    "grades": ("grades",),
    "claims": ("claims",),
}
TYPE_OF = {name: kind for kind, names in TYPES.items() for name in names}
FIELD_OF = {
    **{name: name for name in TYPE_OF},
    **{alias: name for name, aliases in ALIASES.items() for alias in aliases},
    **dict.fromkeys(JOINING, "tags"),
}
EVIDENCE = {
    name
    for name in TYPE_OF
    if name in ("required_ids", "required_groups", "required_claims", "grades", "claims")
    or (name.endswith("_ids") and name != "case_id")
}


class Refused(Exception):  # noqa: N818 - a verdict, no error
    """The line is no good record."""


def record_of(line: bytes, contract: str = "auto") -> tuple[dict[str, Any], set[str]]:
    """The record's values by field, and the fields it gives; Refused where it is no good."""
    names = FIELD_OF | (RESTRICTED if contract == "answer" else {})
    try:
        parsed = json.loads(
            line.decode("utf-8"),
            object_pairs_hook=_no_repeats,
            parse_constant=_no_constant,
            parse_int=lambda digits: int(digits) if len(digits) < 4000 else math.inf,
        )
    except (ValueError, RecursionError) as error:
        raise Refused(str(error)) from None
    _need(isinstance(parsed, dict))
    given: dict[str, str] = {}
    values: dict[str, Any] = {}
    joined: dict[str, list[str]] = {}
    for key, value in parsed.items():
        _need(key in names)
        if key in JOINING:
            if value is not None:
                joined[key] = _joining(key, value)
            continue
        field = names[key]
        _need(field not in given)
        given[field] = key
        values[field] = _value(TYPE_OF[field], value, scalar=key in SCALAR)
    for key in sorted(joined):
        values["tags"] = [*(values.get("tags") or []), *joined[key]]
    _need(isinstance(values.get("case_id"), str))
    fields = set(given) | ({"tags"} if set(parsed) & set(JOINING) else set())
    return {name: value for name, value in values.items() if value is not None}, fields


def file_of(
    lines: list[bytes], contract: str = "auto"
) -> tuple[dict[int, dict[str, Any]], set[int], int]:
    """Accepted records by their line, the lines set aside, and how many are blank."""
    good: dict[int, tuple[dict[str, Any], set[str]]] = {}
    bad: set[int] = set()
    blank = 0
    for number, line in enumerate(lines, 1):
        if not line.strip(b" \t\r\n"):
            blank += 1
            continue
        try:
            good[number] = record_of(line, contract)
        except Refused:
            bad.add(number)
    in_file = set().union(*(fields for _, fields in good.values())) & EVIDENCE
    lacking = {number for number, (_, fields) in good.items() if in_file - fields}
    accepted = {number: values for number, (values, _) in good.items() if number not in lacking}
    return accepted, bad | lacking, blank


def _need(condition: object) -> None:
    if not condition:
        raise Refused


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    _need(len(members) == len(pairs))
    return members


def _no_constant(name: str) -> None:
    raise Refused(name)


def _text(value: Any) -> str:
    _need(isinstance(value, str))
    _need(not any("\ud800" <= char <= "\udfff" for char in value))
    return str(value)


def _joining(key: str, value: Any) -> list[str]:
    if isinstance(value, list):
        return [_text(item) for item in value]
    _need(isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)))
    text = _text(value) if isinstance(value, str) else json.dumps(value)
    return [f"{key}={text}"] if text.strip() else []


def _value(kind: str, value: Any, *, scalar: bool) -> Any:
    if scalar and not isinstance(value, list):
        return [] if value is None else [_text(value)]
    if value is None:
        return None
    if kind == "text":
        return _text(value)
    if kind == "label":
        _need(isinstance(value, bool))
        return value
    if kind == "number":
        _need(isinstance(value, int | float) and not isinstance(value, bool))
        try:
            number = float(value)
        except OverflowError:
            raise Refused from None
        _need(math.isfinite(number))
        return number
    _need(isinstance(value, list))
    if kind == "groups":
        return [_texts(group) for group in value]
    if kind == "ids":
        return _texts(value)
    return [_item(kind, item) for item in value]


def _texts(value: Any) -> list[str]:
    _need(isinstance(value, list))
    return [_text(item) for item in value]


def _item(kind: str, item: Any) -> dict[str, Any]:
    _need(isinstance(item, dict))
    if kind == "grades":
        _need(set(item) == {"id", "grade"})
        grade = item["grade"]
        _need(type(grade) is int and -(2**63) <= grade < 2**63)
        return {"id": _text(item["id"]), "grade": grade}
    _need({"claim_id"} <= set(item) <= {"claim_id", "supported", "cited_ids", "text"})
    supported, cited, text = (item.get(name) for name in ("supported", "cited_ids", "text"))
    _need(supported is None or isinstance(supported, bool))
    return {
        "claim_id": _text(item["claim_id"]),
        "supported": supported,
        "cited_ids": None if cited is None else _texts(cited),
        "text": None if text is None else _text(text),
    }
