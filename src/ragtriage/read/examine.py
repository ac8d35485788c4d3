"""The slow, exact look at one record: every fault it has, or its canonical form.

Only for records that the fast decoder did not take as they stand. A fault here is one of
structure (syntax, keys, types); rules about values are the models'.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import msgspec
import polars as pl

from ragtriage.read.aliases import Key, KeyResolver
from ragtriage.read.types import ITEM_MUST_HAVE, annotation
from ragtriage.schemas.fields import CLAIMS, GRADES, FieldInfo
from ragtriage.schemas.rules import message


class Fault(NamedTuple):
    """One broken rule of one record."""

    field: str
    rule: str
    message: str


@dataclass
class Examined:
    """What a record turned out to be.

    `case_id` is given whenever it could be read, even from a record with faults.
    `keys` maps each key the record has to the field it stands for.
    """

    faults: list[Fault] = field(default_factory=list)
    is_object: bool = False
    case_id: str | None = None
    keys: dict[str, Key] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    none_given: set[str] = field(default_factory=set)
    unknown: list[str] = field(default_factory=list)


# Deeper than anything we know; a fixed limit is the same on every thread.
DEEPEST = 100
_TOO_DEEP = "nested too deeply"
_MOST_DIGITS = 1000


class _Pairs(list[tuple[str, Any]]):
    """An object's members, repeats and all."""


class Examiner:
    """Examines records of one model under one resolver."""

    def __init__(
        self,
        resolver: KeyResolver,
        fields: dict[str, pl.DataType],
        infos: dict[str, FieldInfo],
        id_field: str,
        *,
        ignore_unknown: bool,
    ) -> None:
        self._resolver = resolver
        self._fields = fields
        self._infos = infos
        self._id_field = id_field
        self._ignore_unknown = ignore_unknown

    def examine(self, line: bytes) -> Examined:
        """Everything wrong with the record, and all of it that can be used."""
        seen = Examined()
        pairs = _parse(line, seen)
        if pairs is None:
            return seen
        repeated: list[str] = []
        try:
            given = _plain(pairs, repeated, 0)
        except RecursionError as error:
            seen.faults.append(_syntax_fault(str(error)))
            return seen
        seen.is_object = True
        seen.faults += [
            Fault(_at(key), "duplicate-key", message("duplicate-key")) for key in repeated
        ]
        joining: dict[str, list[str]] = {}
        for name, value in given.items():
            self._take(name, value, seen, joining)
        _join_tags(seen, joining)
        self._identify(seen)
        return seen

    def _take(self, name: str, value: Any, seen: Examined, joining: dict[str, list[str]]) -> None:
        if not _encodable(name):
            seen.faults.append(Fault(repr(name), "encoding", _SURROGATE))
            return
        key = self._resolver.resolve(name)
        if key is None:
            seen.unknown.append(name)
            if not self._ignore_unknown:
                why = self._resolver.why_unknown(name)
                seen.faults.append(Fault(_at(name), "unknown-field", why))
            return
        same = (k for k, v in seen.keys.items() if v.field == key.field and not v.joins)
        other = None if key.joins else next(same, None)
        seen.keys[name] = key
        if isinstance(value, str):
            seen.kinds[name] = "text"
        elif isinstance(value, list):
            seen.kinds[name] = "list"
        if other is not None:
            why = f"given twice, as `{other}` and as `{name}`; keep one of them"
            seen.faults.append(Fault(key.field, "duplicate-key", why))
            return
        if key.joins:
            self._join(key, value, seen, joining)
        else:
            self._convert(key, value, seen)

    def _convert(self, key: Key, value: Any, seen: Examined) -> None:
        if key.null_is_none and value is None:
            seen.none_given.add(key.field)
            value = []
        elif key.scalar and isinstance(value, str):
            value = [value]
        faults = faults_of(key.field, value, self._fields[key.field], self._infos[key.field])
        seen.faults += faults
        if not faults:
            is_int = isinstance(value, int) and self._fields[key.field] == pl.Float64
            seen.values[key.field] = float(value) if is_int else value

    def _join(self, key: Key, value: Any, seen: Examined, joining: dict[str, list[str]]) -> None:
        if value is None:
            return
        if isinstance(value, list):
            faults = faults_of(key.field, value, self._fields[key.field], self._infos[key.field])
            seen.faults += faults
            tags = [] if faults else value
        elif isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
            text = value if isinstance(value, str) else json.dumps(value)
            if not _encodable(text):
                seen.faults.append(Fault(key.name, "encoding", _SURROGATE))
                return
            tags = [f"{key.name}={text}"] if text.strip() else []
        else:
            seen.faults.append(
                Fault(key.name, "type", f"expected text, got {_shown(value)}{_CORRECT}")
            )
            return
        joining[key.name] = tags

    def _identify(self, seen: Examined) -> None:
        case_id = seen.values.get(self._id_field)
        if isinstance(case_id, str):
            seen.case_id = case_id
            return
        if not any(fault.field == self._id_field for fault in seen.faults):
            seen.faults.append(Fault(self._id_field, "missing-field", message("missing-field")))


def faults_of(name: str, value: Any, dtype: pl.DataType, info: FieldInfo) -> list[Fault]:
    """Every structural fault of one field's value, walking into lists and objects."""
    if value is None:
        return []
    if not _encodable_deep(value):
        return [Fault(name, "encoding", _SURROGATE)]
    if isinstance(dtype, pl.List):
        return _list_faults(name, value, dtype)
    if dtype == pl.Float64 and isinstance(value, float) and not math.isfinite(value):
        return [Fault(name, "weight", message("weight"))]
    try:
        msgspec.convert(value, annotation(dtype), strict=True)
    except (msgspec.ValidationError, OverflowError):
        return [_type_fault(name, value, dtype, label=info.label)]
    return []


_CORRECT = "; correct the value"
# What people put between the items of a list in one cell.
_SEPARATOR = re.compile(r"[,;|]")
_SURROGATE = "holds an escaped lone surrogate, which no text can; correct the escape"


def _list_faults(name: str, value: Any, dtype: pl.List) -> list[Fault]:
    if not isinstance(value, list):
        hint = _CORRECT
        if isinstance(value, str) and not isinstance(dtype.inner, pl.List | pl.Struct):
            items = [part.strip() for part in _SEPARATOR.split(value[:80]) if part.strip()]
            how = "for one" if len(items) == 1 else "if these are several"
            hint = f"; write {json.dumps(items or [''], ensure_ascii=False)} {how}"
        return [Fault(name, "type", f"expected {_words(dtype)}, got {_kind(value)}{hint}")]
    faults: list[Fault] = []
    for item in value:
        if item is None:
            faults.append(Fault(name, "null-item", message("null-item")))
        elif isinstance(dtype.inner, pl.List):
            faults += _list_faults(name, item, dtype.inner)
        elif isinstance(dtype.inner, pl.Struct):
            faults += _object_faults(name, item, dtype.inner)
        elif not isinstance(item, str):
            what = f"expected {_words(dtype)}, holds {_shown(item)}; write IDs as strings"
            faults.append(Fault(name, "type", what))
    return list(dict.fromkeys(faults))


def _object_faults(name: str, item: Any, dtype: pl.Struct) -> list[Fault]:
    if not isinstance(item, dict):
        return [Fault(name, "type", f"expected objects, holds {_shown(item)}{_CORRECT}")]
    members = {member.name: member.dtype for member in dtype.fields}
    faults = [
        Fault(name, "unknown-field", f"an item has the unknown key {key!r}; remove it")
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


def _type_fault(name: str, value: Any, dtype: pl.DataType, *, label: bool) -> Fault:
    if label:
        return Fault(name, "answer-label", f"{message('answer-label')} (got {_shown(value)})")
    hint = "; write IDs as strings" if dtype == pl.String else _CORRECT
    return Fault(name, "type", f"expected {_words(dtype)}, got {_shown(value)}{hint}")


def _parse(line: bytes, seen: Examined) -> _Pairs | None:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"byte {error.start + 1} of the record is {line[error.start]:#04x}"
        seen.faults.append(Fault("record", "encoding", f"{message('encoding')} ({where})"))
        return None
    try:
        parsed = json.loads(
            text, object_pairs_hook=_Pairs, parse_constant=_no_constant, parse_int=_integer
        )
    except json.JSONDecodeError as error:
        seen.faults.append(_syntax_fault(f"{error.msg}, at character {error.pos + 1}"))
        return None
    except (RecursionError, ValueError) as error:
        why = _TOO_DEEP if isinstance(error, RecursionError) else str(error)
        seen.faults.append(_syntax_fault(why))
        return None
    if not isinstance(parsed, _Pairs):
        why = f"{message('not-an-object')} (got {_kind(parsed)})"
        seen.faults.append(Fault("record", "not-an-object", why))
        return None
    return parsed


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON; use null")


def _integer(digits: str) -> int | float:
    # Python reads no more than 4,300 digits; what is no 64-bit integer may still be a float.
    return int(digits) if len(digits) < _MOST_DIGITS else float(digits)


def _syntax_fault(why: str) -> Fault:
    return Fault("record", "json-syntax", f"{message('json-syntax')} ({why})")


def _join_tags(seen: Examined, joining: dict[str, list[str]]) -> None:
    """Put the scalars that join a list behind it, in the order of their names."""
    for name in sorted(joining):
        field_name = seen.keys[name].field
        seen.values[field_name] = [*(seen.values.get(field_name) or []), *joining[name]]


def check_depth(depth: int) -> None:
    """Raise RecursionError for what is nested deeper than `DEEPEST`."""
    if depth > DEEPEST:
        raise RecursionError(_TOO_DEEP)


def _plain(value: Any, repeated: list[str], depth: int) -> Any:
    """The value with its objects as dictionaries; repeated keys are noted, the first kept."""
    check_depth(depth)
    if isinstance(value, _Pairs):
        plain: dict[str, Any] = {}
        for key, member in value:
            if key in plain:
                repeated.append(key)
            else:
                plain[key] = _plain(member, repeated, depth + 1)
        return plain
    if isinstance(value, list):
        return [_plain(item, repeated, depth + 1) for item in value]
    return value


def _encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _encodable_deep(value: Any) -> bool:
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, list):
        return all(_encodable_deep(item) for item in value)
    if isinstance(value, dict):
        return all(_encodable_deep(item) for pair in value.items() for item in pair)
    return True


def _at(key: str) -> str:
    """A key as a message shows it: one line, at most 80 characters, no control character."""
    return key[:80] if key.isprintable() and key else repr(key[:80])


def _kind(value: Any) -> str:
    names = {str: "a string", bool: "a Boolean", int: "a number", float: "a number"}
    if value is None:
        return "null"
    if isinstance(value, dict | _Pairs):
        return "an object"
    return names.get(type(value), "a list")


def _shown(value: Any) -> str:
    if isinstance(value, str | bool | int | float):
        text = json.dumps(value)
        return text if len(text) <= 60 else text[:59] + "…"  # noqa: PLR2004 - fits one line
    return _kind(value)


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
