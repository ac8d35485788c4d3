"""The fast look at many records: a decoder fitted to the keys a file uses.

A record that the gate lets through is one good JSON object with known keys of the right
types, each once, and every evidence list the file has. Polars' own reader, which checks none of
this, may then be given its bytes. Whatever the gate stops is examined field by field.
"""

from __future__ import annotations

import re
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from operator import attrgetter
from typing import Any

import msgspec
import polars as pl

from ragtriage.read.aliases import Key
from ragtriage.read.batches import count_byte
from ragtriage.read.examine import Examined, check_depth
from ragtriage.read.types import annotation

_KEY = re.compile(rb'"[ \t\r\n]*:')
# White space other than a blank is rare after a quote, and cheap to rule out.
_RARE_SPACE = (b"\t", b"\r", b"\n")
# Of a block of lines: a line break is never inside a record.
_IN_A_LINE = _RARE_SPACE[:2]
# Unknown keys that are set aside are decoded only so far; a file with more is examined.
_MOST_UNKNOWN = 64
# The decoder takes no such name for a key.
_NO_NAME = re.compile(r'[\\"\x00-\x1f]')


class Profile:
    """The keys a file has shown so far, and how its values come.

    A key is `steady`, and a field in `always`, while every good record had it. `kinds` tells
    text from list for keys that take either, by the first that came; `mixed` keys had both.
    `unknown` are keys that are set aside. `rivals`: further names of fields in `keys`, which stop
    a gate, and which are read all the same.
    """

    def __init__(self) -> None:
        self.keys: dict[str, Key] = {}
        self.rivals: dict[str, Key] = {}
        self.steady: set[str] = set()
        self.always: set[str] = set()
        self.kinds: dict[str, str] = {}
        self.mixed: set[str] = set()
        self.unknown: dict[str, None] = {}
        self.dropped: Counter[str] = Counter()
        self.records = 0

    def admit(self, seen: Examined) -> bool:
        """Learn from an examined record; True when the gate has to be fitted anew."""
        changed = False
        for name, key in seen.keys.items():
            if self._is_new(name, key):
                self.keys[name] = key
                if self.records == 0:
                    self.steady.add(name)
                changed = True
        missing = {name for name in self.steady if name not in seen.keys}
        if missing:
            self.steady -= missing
            changed = True
        for name, kind in seen.kinds.items():
            if not self._is_known(name):
                continue
            if name not in self.kinds:
                self.kinds[name] = kind
                changed |= name in self.keys and takes_text(self.keys[name])
            elif self.kinds[name] != kind:
                self.mixed.add(name)
        named = [name for name in seen.unknown if not _NO_NAME.search(name)]
        for name in named[: _MOST_UNKNOWN - len(self.unknown)]:
            changed |= name not in self.unknown
            self.unknown[name] = None
        self.dropped.update(seen.unknown)
        present = {key.field for key in seen.keys.values()}
        self.always = present if self.records == 0 else self.always & present
        self.records += 1
        return changed

    def take(self, gate: Gate) -> None:
        """Learn from records that a gate just let through."""
        self.always -= gate.absent
        self.dropped.update(gate.set_aside)

    def merge(self, later: Profile) -> None:
        """Learn what another has learnt of the records that come after; neither is settled yet."""
        if not later.keys:
            return
        if not self.records:
            vars(self).update(vars(deepcopy(later)))
            return
        for name, key in (later.keys | later.rivals).items():
            if self._is_new(name, key):
                self.keys[name] = key
        self.steady &= later.steady
        self.always &= later.always
        for name, kind in later.kinds.items():
            if self._is_known(name) and self.kinds.setdefault(name, kind) != kind:
                self.mixed.add(name)
        self.mixed |= {name for name in later.mixed if self._is_known(name)}
        more = [name for name in later.unknown if name not in self.unknown]
        self.unknown |= dict.fromkeys(more[: _MOST_UNKNOWN - len(self.unknown)])
        self.dropped.update(later.dropped)
        self.records += later.records

    def lets(self, part: Profile) -> bool:
        """Would a gate for these keys let through whatever one for a part of them lets through?"""
        return (
            part.keys.keys() <= self.keys.keys()
            and part.unknown.keys() <= self.unknown.keys()
            and all(self.kinds.get(name) == kind for name, kind in part.kinds.items())
        )

    def settle(self) -> None:
        """All is seen: a mapped key that only ever held text is scalar, so null means none."""
        for keys in (self.keys, self.rivals):
            for name, key in keys.items():
                if key.scalar and self.kinds.get(name) == "text" and name not in self.mixed:
                    keys[name] = replace(key, null_is_none=True)

    @property
    def named(self) -> dict[str, Key]:
        """Every name by which the records know a field."""
        return self.keys | self.rivals

    def mapping(self) -> dict[str, str]:
        """The names in the file that are not ours, and what each was read as."""
        return {name: key.field for name, key in self.named.items() if name != key.field}

    def fields(self) -> set[str]:
        """The fields that the file supplies."""
        return {key.field for key in self.keys.values()}

    def _is_known(self, name: str) -> bool:
        return name in self.keys or name in self.rivals

    def _is_new(self, name: str, key: Key) -> bool:
        if name in self.keys:
            return False
        if self._rival(key):
            self.rivals[name] = key
            return False
        return True

    def _rival(self, key: Key) -> bool:
        """A second name for a field leaves the gate shut: such records are examined."""
        return any(k.field == key.field and not (k.joins or key.joins) for k in self.keys.values())


class Gate:
    """Decodes records that have exactly a profile's keys."""

    def __init__(
        self,
        profile: Profile,
        dtypes: dict[str, pl.DataType],
        must: set[str],
        id_field: str,
    ) -> None:
        """`must`: fields without which a record is stopped, steady or not."""
        self.keys = list(profile.keys.values())
        self._kinds = profile.kinds
        self._required = [
            key for key in self.keys if key.name in profile.steady or key.field in {*must, id_field}
        ]
        self._optional = {
            f"f{i}": key.field for i, key in enumerate(self.keys) if key not in self._required
        }
        self._unknown = {f"u{i}": name for i, name in enumerate(profile.unknown)}
        self.absent: set[str] = set()
        self.set_aside: Counter[str] = Counter()
        self._nested = [f"f{i}" for i, key in enumerate(self.keys) if _is_nested(dtypes[key.field])]
        self.lists = {
            key.name
            for key in self.keys
            if takes_text(key) and profile.kinds.get(key.name) == "list"
        }
        self._attribute = next(
            (f"f{i}" for i, key in enumerate(self.keys) if key.field == id_field), None
        )
        if any(_NO_NAME.search(key.name) for key in self.keys):
            # Nothing is let through: all records are examined.
            self._attribute = None
        else:
            self._decode = msgspec.json.Decoder(self._struct(dtypes), strict=True).decode

    def ids(self, lines: list[bytes], block: bytes | None = None) -> list[str] | None:
        """The case IDs of records that are all good, or None when one is not.

        `block` is the text of all of them where that is at hand.

        Afterwards `absent` holds the fields that some of the records lack, and `set_aside`
        counts the unknown keys they have.
        """
        if self._attribute is None:
            return None
        try:
            ids, expected = self._decoded(lines, self._attribute)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        text = b"".join(lines) if block is None else block
        if None in ids:
            return None
        # A key has a colon, so that as few colons as keys leave none for a repeated key.
        if count_byte(text, b":") == expected:
            return ids
        spaces = _RARE_SPACE if block is None else _IN_A_LINE
        return ids if _count_keys(text, spaces) == expected else None

    def passes(self, line: bytes) -> bool:
        """Is this one record good?"""
        return self.ids([line]) is not None

    def _decoded(self, lines: list[bytes], attribute: str) -> tuple[list[str], int]:
        """IDs, and how many keys the records have. No record is kept: that is what costs."""
        decode = self._decode
        expected = len(self._required) * len(lines)
        self.absent = set()
        self.set_aside = Counter()
        if not (self._optional or self._nested or self._unknown):
            read_id = attrgetter(attribute)
            return list(map(read_id, map(decode, lines))), expected
        ids = []
        for line in lines:
            record = decode(line)
            ids.append(getattr(record, attribute))
            expected += self._further_keys(record)
        return ids, expected

    def _further_keys(self, record: Any) -> int:
        unset = msgspec.UNSET
        count = 0
        for name, field in self._optional.items():
            if getattr(record, name) is unset:
                self.absent.add(field)
            else:
                count += 1
        for name in self._nested:
            items = getattr(record, name)
            if items is not unset and items:
                count += sum(
                    sum(getattr(item, member) is not unset for member in item.__struct_fields__)
                    for item in items
                )
        for name in self._unknown:
            value = getattr(record, name)
            if value is not unset:
                self.set_aside[self._unknown[name]] += 1
                count += 1 + _keys_in(value, 1)
        return count

    def _struct(self, dtypes: dict[str, pl.DataType]) -> type[msgspec.Struct]:
        members: list[tuple[Any, ...]] = []
        for i, key in enumerate(self.keys):
            # Whether a key holds text or lists is learnt from the first value that is not null.
            known = not takes_text(key) or key.name in self._kinds
            kind = annotation(self.dtype(key, dtypes)) if known else None
            if key in self._required:
                members.append((f"f{i}", kind))
            else:
                members.append((f"f{i}", kind | msgspec.UnsetType, msgspec.UNSET))
        members += [(name, Any, msgspec.UNSET) for name in self._unknown]
        return msgspec.defstruct(
            "Record",
            members,
            rename={f"f{i}": key.name for i, key in enumerate(self.keys)} | self._unknown,
            forbid_unknown_fields=True,
            kw_only=True,
            gc=False,
        )

    def dtype(self, key: Key, dtypes: dict[str, pl.DataType]) -> pl.DataType:
        """The type of a key's values in this file."""
        if takes_text(key) and key.name not in self.lists:
            return pl.String()
        return dtypes[key.field]


def takes_text(key: Key) -> bool:
    """May the key hold a string although its field is a list?"""
    return key.scalar or key.joins


def _is_nested(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.Struct)


def _keys_in(value: Any, depth: int) -> int:
    check_depth(depth)
    if isinstance(value, dict):
        return len(value) + sum(_keys_in(member, depth + 1) for member in value.values())
    if isinstance(value, list):
        return sum(_keys_in(item, depth + 1) for item in value)
    return 0


def _count_keys(text: bytes, spaces: tuple[bytes, ...] = _RARE_SPACE) -> int:
    """At least the number of object keys: text that looks like a key counts too.

    A repeated key is always one more than the decoder saw, so an equal count means none.
    """
    if b'" ' in text or any(space in text and b'"' + space in text for space in spaces):
        return len(_KEY.findall(text))
    return text.count(b'":')
