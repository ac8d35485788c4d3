"""Other people's values as ours: IDs as text, lists however they are written, labels, grades.

Every function takes the name of our field for its message, and raises `UnmappableError`.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from ragtriage.read.presets.base import UnmappableError
from ragtriage.read.presets.foreign import Written, parse

_WHOLE = re.compile(r"[+-]?\d{1,18}(?:\.0+)?", re.ASCII)
# What is longer than this is no list in a cell; the parser's cost grows with nesting.
_LONGEST_LITERAL = 1_000_000
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
    return _texts(name, opened(name, value, separator))


def _texts(name: str, value: Any) -> list[str] | None:
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
        read = _literal(text)
        if isinstance(read, list) and all(isinstance(item, str) for item in read):
            value = read
    if isinstance(value, str) and not text:
        return None
    return _texts(name, value)


def groups_of(name: str, value: Any, separator: str | None = None) -> list[list[str]] | None:
    """All of the outer, any of the inner; one flat list is one group, an empty group is none."""
    value = opened(name, value, separator)
    if value is None:
        return None
    if not isinstance(value, list):
        value = [value]
    if value and not any(isinstance(item, list) for item in value):
        value = [value]
    groups = [_texts(name, group) for group in value if group is not None]
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
        read = _literal(text)
        if read is not None:
            return read
        if text[0] != "{" and separator is None:
            raise UnmappableError(
                name, f"{shown(value)} looks like a list and is neither JSON nor a Python literal"
            )
    if separator is not None:
        return [part.strip() for part in value.split(separator) if part.strip()]
    return value


def _literal(text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        pass
    if len(text) > _LONGEST_LITERAL:
        return None
    try:
        return _of_node(ast.parse(text, mode="eval").body, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _of_node(node: ast.AST, text: str) -> Any:
    """A literal's value; numbers as they are spelt, anything that would compute is None."""
    if isinstance(node, ast.List | ast.Tuple):
        items = [_of_node(item, text) for item in node.elts]
        absent = [
            item is None and not _is_null(n) for item, n in zip(items, node.elts, strict=True)
        ]
        return None if any(absent) else items
    if isinstance(node, ast.Set):
        return None  # without an order
    if isinstance(node, ast.Dict):
        return _of_dict(node, text)
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, str | bool | int):
            return value
        return Written(_spelt(node, text) or repr(value)) if isinstance(value, float) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _of_node(node.operand, text)
        plain = isinstance(number, int) and not isinstance(number, bool)
        return -number if plain else Written(f"-{number}") if isinstance(number, Written) else None
    return None


def _spelt(node: ast.Constant, text: str) -> str | None:
    if text.isascii() and "\n" not in text:
        # What the standard library does takes the whole text apart for each number.
        return text[node.col_offset : node.end_col_offset]
    return ast.get_source_segment(text, node)


def _of_dict(node: ast.Dict, text: str) -> dict[str, Any] | None:
    members: dict[str, Any] = {}
    for key, item in zip(node.keys, node.values, strict=True):
        name = _of_node(key, text) if key is not None else None
        if not isinstance(name, str) or name in members:
            return None
        members[name] = _of_node(item, text)
    return members


def _is_null(node: ast.AST) -> bool:
    """`None`, or a NaN that some tool wrote out."""
    if isinstance(node, ast.Constant):
        return node.value is None
    return isinstance(node, ast.Name) and node.id in ("nan", "NaN", "null")


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
            number = float(value)
        except (ValueError, OverflowError):
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
