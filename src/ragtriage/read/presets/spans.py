"""Spans of traces, whatever exported them, as one kind of span. No cases here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ragtriage.read.presets.base import UnmappableError
from ragtriage.read.presets.foreign import Foreign, parse
from ragtriage.read.presets.values import opened, shown

Members = dict[str, Any]
_DOCUMENTS = "retrieval.documents"
_NUMBERED = re.compile(r"retrieval\.documents\.(\d{1,18})\.document\.(\w+)")
_TRULENS = "ai.observability."
_KINDS = {"retrieval": "RETRIEVER", "record_root": "CHAIN", "generation": "LLM"}


@dataclass(frozen=True)
class Span:
    """One span. `documents`: what a retriever returned, in its order; None where not recorded."""

    kind: str
    trace: str | None
    span: str | None
    parent: str | None
    asked: str | None
    told: str | None
    documents: list[Any] | None
    line: int
    raw: bytes
    members: Members = field(repr=False)


def spans_in(foreign: Foreign) -> Iterator[Span]:
    """The spans of one record: itself, or those of a collection (`resourceSpans`, observations).

    Raises:
        UnmappableError: something in it is no span, or no attribute of one.
    """
    for members in _members(foreign.value):
        attributes = attributes_of(members)
        yield Span(
            kind=_kind(attributes),
            trace=_id(members, "trace_id", "traceId", "context.trace_id"),
            span=_id(members, "span_id", "spanId", "context.span_id", "id"),
            parent=_id(
                members,
                "parent_id",
                "parentId",
                "parentSpanId",
                "parent_span_id",
                "parentObservationId",
            ),
            asked=asked_in(attributes),
            told=told_in(attributes),
            documents=documents_in(attributes),
            line=foreign.line,
            raw=foreign.raw,
            members=members,
        )


def _members(value: Any) -> Iterator[Members]:
    if not isinstance(value, dict):
        return
    if isinstance(value.get("resourceSpans"), list):
        for resource in _objects(value, "resourceSpans"):
            for scope in _objects(resource, "scopeSpans"):
                yield from _objects(scope, "spans")
    elif isinstance(value.get("observations"), list):
        whole = value.get("trace")
        if isinstance(whole, dict):
            said = {"input.value": whole.get("input"), "output.value": whole.get("output")}
            yield {"trace_id": whole.get("id"), "attributes": said}
        yield from _objects(value, "observations")
    else:
        yield value


def _objects(members: Members, name: str) -> list[Members]:
    """A list of objects; null is none."""
    listed = members.get(name)
    listed = [] if listed is None else listed
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise UnmappableError("record", f"`{name}` is no list of objects: {shown(listed)}")
    return listed


def attributes_of(members: Members) -> Members:
    """A span's attributes under flat names, with TruLens' names as OpenInference's."""
    inner = members.get("attributes", members.get("record_attributes"))
    if inner is None and isinstance(members.get("metadata"), dict):
        inner = members["metadata"].get("attributes")
    inner = opened("question", inner)
    if isinstance(inner, list):
        inner = {
            each.get("key"): _value(each.get("value")) for each in inner if isinstance(each, dict)
        }
    if not isinstance(inner, dict):
        prefix = "attributes."
        inner = {name.removeprefix(prefix): value for name, value in members.items()}
    flat = dict(_flat(inner, ""))
    return flat | _from_trulens(flat)


def _flat(value: Members, before: str) -> Iterator[tuple[str, Any]]:
    for key, member in value.items():
        name = f"{before}{key}"
        yield name, member
        if isinstance(member, dict) and not name.endswith(".value"):
            yield from _flat(member, f"{name}.")


def _value(value: Any) -> Any:
    """OTLP's typed values."""
    if not isinstance(value, dict):
        return value
    if "arrayValue" in value:
        held = value["arrayValue"]
        values = held.get("values") if isinstance(held, dict) else None
        return [_value(each) for each in values] if isinstance(values, list) else []
    return next(iter(value.values()), None)


def _from_trulens(flat: Members) -> Members:
    kind = flat.get(f"{_TRULENS}span_type")
    if not isinstance(kind, str):
        return {}
    found: Members = {"openinference.span.kind": _KINDS.get(kind, kind.upper())}
    query = flat.get(f"{_TRULENS}retrieval.query_text") or flat.get(f"{_TRULENS}record_root.input")
    if query is not None:
        found["input.value"] = query
    if (output := flat.get(f"{_TRULENS}record_root.output")) is not None:
        found["output.value"] = output
    contexts = flat.get(f"{_TRULENS}retrieval.retrieved_contexts")
    if isinstance(contexts, list):
        found[_DOCUMENTS] = [{"document.content": text} for text in contexts]
    return found


def _kind(attributes: Members) -> str:
    return str(
        attributes.get("openinference.span.kind") or attributes.get("span_kind") or ""
    ).upper()


def _id(members: Members, *names: str) -> str | None:
    inner = [
        members,
        opened("case_id", members.get("context")),
        opened("case_id", members.get("trace")),
    ]
    record = opened("case_id", members.get("record"))
    for place in [*inner, record]:
        for name in names if isinstance(place, dict) else ():
            found = place.get(name)
            if isinstance(found, str | int) and found != "":
                return str(found)
    return None


def documents_in(attributes: Members) -> list[Any] | None:
    """What a retriever returned: a list, or numbered names in the order of their numbers."""
    listed = opened("retrieved_ids", attributes.get(_DOCUMENTS))
    if isinstance(listed, list):
        return [_document(each) for each in listed]
    numbered: dict[int, Members] = {}
    for name, value in attributes.items():
        if (match := _NUMBERED.fullmatch(name)) is not None:
            numbered.setdefault(int(match[1]), {})[match[2]] = value
    return [numbered[place] for place in sorted(numbered)] if numbered else None


def _document(each: Any) -> Any:
    if not isinstance(each, dict):
        return each
    inner = each.get("document", each)
    inner = inner if isinstance(inner, dict) else each
    return {name.removeprefix("document."): value for name, value in inner.items()}


def asked_in(attributes: Members) -> str | None:
    """The question: text, or what JSON holds it in."""
    value = attributes.get("input.value", attributes.get("gen_ai.input.messages"))
    return _said(value, ("query", "question", "input", "query_str", "text"), ("user", "human"))


def told_in(attributes: Members) -> str | None:
    """The answer, likewise."""
    value = attributes.get("output.value", attributes.get("gen_ai.output.messages"))
    return _said(value, ("response", "answer", "output", "text", "content"), ("assistant", "ai"))


def _said(value: Any, keys: tuple[str, ...], roles: tuple[str, ...]) -> str | None:
    held = value
    if isinstance(value, str) and value[:1] in '{["':
        try:
            held = parse(value)
        except ValueError:
            return value
    if isinstance(held, str):
        return held
    if isinstance(held, list):
        return _last_turn(held, roles)
    if isinstance(held, dict):
        return _in_object(held, keys, roles)
    return None if held is None else str(held)


def _in_object(held: Members, keys: tuple[str, ...], roles: tuple[str, ...]) -> str | None:
    if isinstance(held.get("messages"), list):
        return _last_turn(held["messages"], roles)
    if isinstance(held.get("args"), list) and held["args"]:
        return _said(held["args"][0], keys, roles)
    for key in keys:
        if held.get(key) is not None:
            return _said(held[key], keys, roles)
    return None


def _last_turn(turns: list[Any], roles: tuple[str, ...]) -> str | None:
    """What one of these said last."""
    said: list[str] = []
    for turn in turns:
        if isinstance(turn, str):
            said.append(turn)
        elif isinstance(turn, dict) and turn.get("role", roles[0]) in roles:
            parts = turn.get("content", turn.get("parts"))
            said += ([parts] if isinstance(parts, str) else _parts(parts))[-1:]
    return said[-1] if said else None


def _parts(parts: Any) -> list[str]:
    listed = parts if isinstance(parts, list) else []
    found = [p.get("content", p.get("text")) for p in listed if isinstance(p, dict)]
    return [text for text in found if isinstance(text, str)]
