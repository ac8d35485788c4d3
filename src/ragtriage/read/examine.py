"""The slow, exact look at one record: every fault it has, or its canonical form.

Only for records that the fast decoder did not take as they stand. A fault here is one of
structure (syntax, keys, types); rules about values are the models'.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from ragtriage.read.aliases import Key, KeyResolver
from ragtriage.read.faults import (
    ALIKE,
    CORRECT,
    SURROGATE,
    Fault,
    a_few_alike,
    encodable,
    faults_of,
    kind_of,
    shown,
    shown_key,
)
from ragtriage.schemas.fields import FieldInfo
from ragtriage.schemas.rules import message


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
            Fault(shown_key(key), "duplicate-key", message("duplicate-key")) for key in repeated
        ]
        joining: dict[str, list[str]] = {}
        for name, value in given.items():
            self._take(name, value, seen, joining)
        _join_tags(seen, joining)
        self._identify(seen)
        seen.faults = a_few_alike(seen.faults)
        return seen

    def _take(self, name: str, value: Any, seen: Examined, joining: dict[str, list[str]]) -> None:
        if not encodable(name):
            seen.faults.append(Fault(shown_key(name), "encoding", SURROGATE))
            return
        key = self._resolver.resolve(name)
        if key is None:
            seen.unknown.append(name)
            if not self._ignore_unknown:
                told = len(seen.unknown) <= ALIKE
                why = self._resolver.why_unknown(name) if told else message("unknown-field")
                seen.faults.append(Fault(shown_key(name), "unknown-field", why))
            return
        same = (k for k, v in seen.keys.items() if v.field == key.field and not v.joins)
        other = None if key.joins else next(same, None)
        seen.keys[name] = key
        if isinstance(value, str):
            seen.kinds[name] = "text"
        elif isinstance(value, list):
            seen.kinds[name] = "list"
        if other is not None:
            why = (
                f"given twice, as `{shown_key(other)}` and as `{shown_key(name)}`; keep one of them"
            )
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
            if not encodable(text):
                seen.faults.append(Fault(key.name, "encoding", SURROGATE))
                return
            tags = [f"{key.name}={text}"] if text.strip() else []
        else:
            seen.faults.append(
                Fault(key.name, "type", f"expected text, got {shown(value)}{CORRECT}")
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
        why = f"{message('not-an-object')} (got {kind_of(parsed)})"
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
