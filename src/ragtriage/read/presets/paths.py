"""Where a value lies in a nested record: `a.b`, `a[0].b`, and `a[].b` for every item of a list."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

_STEP = re.compile(r"([^\[\]]*)((?:\[\d{0,18}\])*)")
_INDEX = re.compile(r"\[(\d{0,18})\]")


def dig(record: Any, path: str) -> tuple[bool, Any]:
    """Is something there, and what. A key that is spelt like the whole path wins.

    `[]` gathers over the items of a list, in order; an item without the rest of the path gives
    null. Where nothing leads on, nothing is there.
    """
    if isinstance(record, dict) and path in record:
        return True, record[path]
    return _follow(record, path.split("."))


def _follow(value: Any, parts: list[str]) -> tuple[bool, Any]:
    if not parts:
        return True, value
    if not isinstance(value, dict):
        return False, None
    # Keys may hold dots themselves: the longest that is there is taken.
    for n in range(len(parts), 0, -1):
        key, indexes = _step(".".join(parts[:n]))
        if key in value:
            return _into(value[key], indexes, parts[n:])
    return False, None


def _into(value: Any, indexes: tuple[int | None, ...], rest: list[str]) -> tuple[bool, Any]:
    if not indexes:
        return _follow(value, rest)
    if value is None:
        return True, None
    if not isinstance(value, list):
        return False, None
    first, more = indexes[0], indexes[1:]
    if first is not None:
        return _into(value[first], more, rest) if first < len(value) else (False, None)
    return True, [_into(item, more, rest)[1] for item in value]


@cache
def _step(text: str) -> tuple[str, tuple[int | None, ...]]:
    match = _STEP.fullmatch(text)
    if match is None:
        return text, ()
    return match[1], tuple(int(n) if n else None for n in _INDEX.findall(match[2]))
