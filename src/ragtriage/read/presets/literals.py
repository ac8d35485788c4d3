"""Lists that somebody printed into one text: JSON, or Python's own literals. No field is known.

A literal is parsed, never evaluated, and only what Python prints of lists is taken for one: what
it would compute from another spelling (`0x10`, `'a' 'b'`) is an ID that nobody has.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from ragtriage.read.presets.foreign import Written, parse

# What is longer than this is no list in a cell; the parser's cost grows with nesting.
_LONGEST = 1_000_000
# One quoted text. Two beside each other, as numpy prints arrays, would be taken together.
_QUOTED = re.compile(rb"""u?(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")""")


def literal(text: str) -> Any:
    """The value that is written, numbers as they are spelt; None where it is neither."""
    try:
        return parse(text)
    except ValueError:
        pass
    node = _parsed(text)
    return None if node is None else _Spelling(text).value(node)


def is_set(text: str) -> bool:
    """Is it a Python set of texts, or of several items? Braces around a name are part of an ID."""
    node = _parsed(text)
    if not isinstance(node, ast.Set) or not all(isinstance(e, ast.Constant) for e in node.elts):
        return False
    return len(node.elts) > 1 or isinstance(getattr(node.elts[0], "value", None), str)


def _parsed(text: str) -> ast.expr | None:
    if len(text) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Spelling:
    """A literal's nodes as values, beside the text they stand in."""

    def __init__(self, text: str) -> None:
        # Places are counted in bytes of a line; these are taken apart once, not for each item.
        self._lines = text.encode("utf-8", "surrogatepass").splitlines()

    def value(self, node: ast.AST) -> Any:
        """A node's value; what would compute, and what is spelt otherwise than printed, is None."""
        try:
            return self._of(node)
        except RecursionError:
            return None

    def _of(self, node: ast.AST) -> Any:
        if isinstance(node, ast.List | ast.Tuple):
            items = [self._of(item) for item in node.elts]
            absent = [i is None and not _is_null(n) for i, n in zip(items, node.elts, strict=True)]
            return None if any(absent) else items
        if isinstance(node, ast.Dict):
            return self._members(node)
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._negative(node.operand)
        return None  # a set among them: it has no order

    def _constant(self, node: ast.Constant) -> Any:
        value, spelt = node.value, self._spelt(node)
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            return value if _QUOTED.fullmatch(spelt) else None
        if isinstance(value, int):
            return value if spelt == str(value).encode() else None
        return Written(spelt.decode()) if isinstance(value, float) and b"_" not in spelt else None

    def _negative(self, operand: ast.AST) -> Any:
        number = self._of(operand) if isinstance(operand, ast.Constant) else None
        if isinstance(number, Written):
            return Written(f"-{number}")
        if not isinstance(number, int) or isinstance(number, bool):
            return None
        return -number if number else Written("-0")

    def _members(self, node: ast.Dict) -> dict[str, Any] | None:
        members: dict[str, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            name = self._of(key) if key is not None else None
            if not isinstance(name, str) or name in members:
                return None
            members[name] = self._of(item)
        return members

    def _spelt(self, node: ast.Constant) -> bytes:
        """As it stands in its line; over several lines it is no text that Python prints."""
        if node.lineno != node.end_lineno:
            return b""
        return self._lines[node.lineno - 1][node.col_offset : node.end_col_offset]


def _is_null(node: ast.AST) -> bool:
    """`None`, or a NaN that some tool wrote out."""
    if isinstance(node, ast.Constant):
        return node.value is None
    return isinstance(node, ast.Name) and node.id in ("nan", "NaN", "null")
