"""What is wrong with a decoded value of a field: every structural fault, in words. No syntax."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import msgspec
import polars as pl

from ragtriage.read.types import ITEM_MUST_HAVE, annotation
from ragtriage.schemas.fields import CLAIMS, GRADES, FieldInfo
from ragtriage.schemas.rules import message


class Fault(NamedTuple):
    """One broken rule of one record."""

    field: str
    rule: str
    message: str


# Each fault is kept beside its whole record: of very many alike, a few, and how many more.
ALIKE = 10
# Rules about names, of which a record may have any number.
_OF_NAMES = ("unknown-field", "duplicate-key", "encoding")


def a_few_alike(faults: list[Fault]) -> list[Fault]:
    """At most ten faults of one rule in one field, then how many more there are."""
    if len(faults) <= ALIKE:
        return faults
    kept: list[Fault] = []
    count: Counter[tuple[str, str]] = Counter()
    for fault in faults:
        alike = "record" if fault.rule in _OF_NAMES else fault.field, fault.rule
        count[alike] += 1
        if count[alike] <= ALIKE:
            kept.append(fault)
    more = {alike: n - ALIKE for alike, n in count.items() if n > ALIKE}
    return kept + [
        Fault(*alike, f"{n:,} more like those before; correct them too")
        for alike, n in more.items()
    ]


def faults_of(name: str, value: Any, dtype: pl.DataType, info: FieldInfo) -> list[Fault]:
    """Every structural fault of one field's value, walking into lists and objects."""
    if value is None:
        return []
    if not encodable_deep(value):
        return [Fault(name, "encoding", SURROGATE)]
    if isinstance(dtype, pl.List):
        return _list_faults(name, value, dtype)
    if dtype == pl.Float64 and isinstance(value, float) and not math.isfinite(value):
        return [Fault(name, "weight", message("weight"))]
    try:
        msgspec.convert(value, annotation(dtype), strict=True)
    except (msgspec.ValidationError, OverflowError):
        return [_type_fault(name, value, dtype, label=info.label)]
    return []


# Characters of a text that a message names.
_QUOTED = 200
CORRECT = "; correct the value"
# How the names of fields end that hold IDs.
_IDS = ("id", "ids", "groups", "claims")


# What people put between the items of a list in one cell.
_SEPARATOR = re.compile(r"[,;|]")


SURROGATE = "holds an escaped lone surrogate, which no text can; correct the escape"


def _list_faults(name: str, value: Any, dtype: pl.List) -> list[Fault]:
    if not isinstance(value, list):
        hint = _as_list(value, dtype) if isinstance(value, str) else CORRECT
        return [Fault(name, "type", f"expected {_words(dtype)}, got {kind_of(value)}{hint}")]
    faults: list[Fault] = []
    for item in value:
        if item is None:
            faults.append(Fault(name, "null-item", message("null-item")))
        elif isinstance(dtype.inner, pl.List):
            faults += _list_faults(name, item, dtype.inner)
        elif isinstance(dtype.inner, pl.Struct):
            faults += _object_faults(name, item, dtype.inner)
        elif not isinstance(item, str):
            what = f"expected {_words(dtype)}, holds {shown(item)}{_as_text(name)}"
            faults.append(Fault(name, "type", what))
    return list(dict.fromkeys(faults))


def _as_list(text: str, dtype: pl.List) -> str:
    """How to write as a list what stands there as text."""
    if text.lstrip().startswith("["):
        return " that begins like a list; give the list itself, or correct brackets and quotes"
    if isinstance(dtype.inner, pl.List | pl.Struct):
        return CORRECT
    items = [part.strip() for part in _SEPARATOR.split(text[:80]) if part.strip()]
    how = "for one" if len(items) == 1 else "if these are several"
    return f"; write {json.dumps(items or [''], ensure_ascii=False)} {how}"


def _object_faults(name: str, item: Any, dtype: pl.Struct) -> list[Fault]:
    if not isinstance(item, dict):
        return [Fault(name, "type", f"expected objects, holds {shown(item)}{CORRECT}")]
    members = {member.name: member.dtype for member in dtype.fields}
    faults = [
        Fault(name, "unknown-field", f"an item has the unknown key {quoted(key)}; remove it")
        for key in item
        if key not in members
    ]
    for key, member in members.items():
        if key not in item and key in ITEM_MUST_HAVE:
            faults.append(Fault(name, "missing-field", f"an item lacks `{key}`; give it"))
        elif item.get(key) is None:
            if key in ITEM_MUST_HAVE and key in item:
                why = f"an item has a null `{key}`; give the value"
                faults.append(Fault(name, "null-item", why))
        else:
            info = FieldInfo("", label=key == "supported")
            found = faults_of(f"{name}.{key}", item[key], cast("pl.DataType", member), info)
            faults += [Fault(name, fault.rule, f"`{key}`: {fault.message}") for fault in found]
    return faults


def _as_text(name: str) -> str:
    return f"; write {'IDs as strings' if name.endswith(_IDS) else 'text as a string'}"


def _type_fault(name: str, value: Any, dtype: pl.DataType, *, label: bool) -> Fault:
    if label:
        return Fault(name, "answer-label", f"{message('answer-label')} (got {shown(value)})")
    hint = _as_text(name) if dtype == pl.String else CORRECT
    return Fault(name, "type", f"expected {_words(dtype)}, got {shown(value)}{hint}")


def encodable(text: str) -> bool:
    """Is it text, without a lone surrogate?"""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def encodable_deep(value: Any) -> bool:
    """The same for all text in a value."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return all(encodable_deep(item) for item in value)
    if isinstance(value, dict):
        return all(encodable_deep(item) for pair in value.items() for item in pair)
    return True


def kind_of(value: Any) -> str:
    """What a value is, in words."""
    names = {str: "a string", bool: "a Boolean", int: "a number", float: "a number"}
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    return names.get(type(value), "a list")


def shown(value: Any) -> str:
    """A value as a message shows it."""
    if isinstance(value, str | bool | int | float):
        text = json.dumps(value)
        return text if len(text) <= 60 else text[:59] + "…"  # noqa: PLR2004 - fits one line
    return kind_of(value)


def _words(dtype: Any) -> str:
    if dtype == GRADES:
        return "a list of {id, grade}"
    if dtype == CLAIMS:
        return "a list of {claim_id, supported, …}"
    if isinstance(dtype, pl.List):
        return (
            "a list of lists of strings"
            if isinstance(dtype.inner, pl.List)
            else "a list of strings"
        )
    return {
        pl.String: "a string",
        pl.Boolean: "true or false",
        pl.Int64: "a whole number of at most 64 bits",
        pl.Float64: "a finite number",
    }[type(dtype) if isinstance(dtype, pl.DataType) else dtype]


def first_repeated(names: Iterable[str]) -> str:
    """The first name that is there more than once; one is."""
    return next(name for name, n in Counter(names).items() if n > 1)


def quoted(text: str) -> str:
    """A text as a message names it: in quotes, on one line, cut where it is very long."""
    return repr(text if len(text) <= _QUOTED else text[:_QUOTED] + "…")


def shown_key(key: str) -> str:
    """A key as a message shows it: one line, at most 80 characters, no control character."""
    return key[:80] if key.isprintable() and key else repr(key[:80])
