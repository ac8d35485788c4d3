"""Other people's values as ours: IDs as text, lists however they are written, labels, grades.

Every function takes the name of our field for its message, and raises `UnmappableError`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ragtriage.read.presets.base import UnmappableError
from ragtriage.read.presets.foreign import Written
from ragtriage.read.presets.literals import is_set, literal

_WHOLE = re.compile(r"[+-]?\d{1,18}(?:\.0+)?", re.ASCII)
# Not all that Python reads as a number: it takes `1_0` for ten, and digits of any script.
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_BAR = " | "
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")


def text_of(name: str, value: Any) -> str | None:
    """Text, or a number exactly as it was written; null stays null."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnmappableError(name, f"expected text, got {shown(value)}; correct the value")
    if isinstance(value, float) and not isinstance(value, Written):
        # From a typed table: an ID that went through a float may have lost digits already.
        raise UnmappableError(name, f"{value!r} is a float; store IDs as text or integers")
    return str(value)


def ids_of(name: str, value: Any, separator: str | None = None) -> list[str] | None:
    """A list of IDs: from a list, from one ID, or from a text that is a list."""
    return texts_of(name, between_bars(opened(name, value, separator)))


def between_bars(value: Any) -> Any:
    """`a | b` as a list, where nothing else opened it; `a|b` may be one ID."""
    if not isinstance(value, str) or _BAR not in value:
        return value
    return [part for part in map(str.strip, value.split(_BAR)) if part]


def texts_of(name: str, value: Any) -> list[str] | None:
    """Texts, one an item: a list as it stands, or one alone."""
    if value is None:
        return None
    if not isinstance(value, list):
        value = [value]
    texts = []
    for item in value:
        text = None if isinstance(item, list | dict) else text_of(name, item)
        if text is None:
            raise UnmappableError(name, f"the list holds {shown(item)}; give IDs, one an item")
        texts.append(text)
    return texts


def answers_of(name: str, value: Any) -> list[str] | None:
    """Expected answers; a text is a list only where it is one of texts: `(0, 1)` is an answer."""
    text = value.strip() if isinstance(value, str) else ""
    if text[:1] == "[" and text[-1:] == "]":
        read = literal(text)
        if isinstance(read, list) and all(isinstance(item, str) for item in read):
            value = read
    if isinstance(value, str) and not text:
        return None
    return texts_of(name, value)


def groups_of(name: str, value: Any, separator: str | None = None) -> list[list[str]] | None:
    """All of the outer, any of the inner; one flat list is one group, an empty group is none."""
    value = opened(name, value, separator)
    if value is None:
        return None
    if not isinstance(value, list):
        value = [value]
    if value and not any(isinstance(item, list) for item in value):
        value = [value]
    groups = [texts_of(name, group) for group in value if group is not None]
    return [group for group in groups if group]


def opened(name: str, value: Any, separator: str | None = None) -> Any:
    """A list that is written as text: JSON, a Python literal, or items between separators.

    A literal is parsed, never evaluated. Text that is none of these stays one item; blank text is
    null.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text:
        return None
    if text[0] in "[({" and text[-1] in "])}":
        read = literal(text)
        if read is not None:
            return read
        _refuse_half_read(name, text, separator)
    if separator is not None:
        return [part for part in map(str.strip, _bare(text).split(separator)) if part]
    return value


def _refuse_half_read(name: str, text: str, separator: str | None) -> None:
    """What looks like a list and cannot be read must not become one ID."""
    if text[0] == "{":
        if is_set(text):
            raise UnmappableError(name, f"{shown(text)} is a set, without an order; write a list")
    elif separator is None or text[1:].lstrip()[:1] in ("'", '"'):
        raise UnmappableError(
            name,
            f"{shown(text)} looks like a list and is neither JSON nor a Python literal; write it "
            "as JSON, items in quotes and commas between them",
        )


def _bare(text: str) -> str:
    """Without brackets around all of it, which belong to no item."""
    inner = text[1:-1]
    around = text[:1] + text[-1:] in ("[]", "()") and not set("[]()") & set(inner)
    return inner if around else text


def boolean_of(name: str, value: Any) -> bool | None:
    """A label: Boolean, or the words for it."""
    if value is None or isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    if isinstance(value, str) and not word:
        return None
    raise UnmappableError(name, f"{shown(value)} is no label; use true or false")


def score_of(name: str, value: Any) -> float:
    """A finite number, also where it is written as text."""
    if not isinstance(value, bool) and isinstance(value, int | float | str):
        try:
            spelt = not isinstance(value, str) or _NUMBER.fullmatch(value.strip())
            number = float(value) if spelt else float("nan")
        except OverflowError:
            number = float("nan")
        if abs(number) < float("inf"):
            return number
    raise UnmappableError(name, f"{shown(value)} is no finite score; correct it")


def grade_of(name: str, value: Any) -> int:
    """A whole number, also where it is written as text or as 2.0."""
    text = str(value).strip() if isinstance(value, int | float | str) else ""
    if isinstance(value, bool) or not _WHOLE.fullmatch(text):
        raise UnmappableError(name, f"{shown(value)} is no whole grade; use 0, 1, 2, …")
    return int(text.split(".")[0])


def shown(value: Any) -> str:
    """A value as a message shows it."""
    text = "null" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    # A literal may escape half a character, which nothing could write out.
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 60 else text[:59] + "…"  # noqa: PLR2004 - a line's worth
