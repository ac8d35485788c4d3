"""Pieces of Markdown: tables, lists, lists of IDs. What they are given must be neutral already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragtriage.publish.escape import MARKDOWN_LIMIT, code


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a heading that ends in `>` marks a column of numbers. Cells must be neutral."""
    names = [name.removesuffix(">") for name in head]
    rule = ["---:" if name.endswith(">") else "---" for name in head]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (names, rule, *rows))


def bullets(lines: Iterable[str]) -> str:
    """A list. Lines must be neutral."""
    return "\n".join(f"- {line}" for line in lines)


def ids(items: Sequence[str], joint: str = ", ", limit: int = MARKDOWN_LIMIT) -> str:
    """IDs as code, as many as fit in `limit` characters, then how many are left."""
    shown: list[str] = []
    for item in items:
        if shown and limit < len(item):
            break
        shown.append(code(item))
        limit -= len(item)
    rest = len(items) - len(shown)
    return (joint.join(shown) or "none") + (f" and {rest:,} more" if rest else "")
