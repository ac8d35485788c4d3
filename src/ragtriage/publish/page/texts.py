"""Text from a fixture in a page: cut and marked, hidden characters shown, IDs as code.

For the report of a run and, as Jinja's filters, for every other page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ragtriage.publish import wording
from ragtriage.publish.escape import HTML_LIMIT, clip, visible, visible_block
from ragtriage.publish.page.markup import Html, escaped, join, tag

LIST_LIMIT = 600
_SHORT = 64


def cell(text: object, limit: int = HTML_LIMIT) -> Html:
    """Text as written, line breaks kept; cut and marked when huge."""
    head, mark = clip(str(text), limit)
    return _marked(visible_block(head), mark)


def line(text: object, limit: int = HTML_LIMIT) -> Html:
    """Text on one line; cut and marked when huge."""
    head, mark = clip(str(text), limit)
    return _marked(visible(head), mark)


def attribute(text: object, limit: int = 80) -> str:
    """Text for an attribute: one line, cut, no mark-up of our own."""
    return visible("".join(clip(str(text), limit)))


def ids(items: Sequence[str], joint: str = ", ", limit: int = HTML_LIMIT) -> Html:
    """A list of IDs as code, as many as fit in `limit` characters, then how many are left."""
    shown: list[Html] = []
    room = limit
    for item in items:
        if shown and room < len(item):
            break
        shown.append(_short_id(item) if len(item) <= _SHORT else _id(item))
        room -= len(item)
    rest = len(items) - len(shown)
    return join([join(shown, joint), f" and {rest:,} more" if rest else None])


def _id(item: str) -> Html:
    return tag("code", line(item, LIST_LIMIT))


# What was retrieved is often in the context, too.
_short_id = lru_cache(maxsize=8192)(_id)


def with_code(text: str, limit: int = HTML_LIMIT) -> Html:
    """A sentence of ours whose names in backticks are code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return line(text, limit)
    return join(
        tag("code", line(p, limit)) if n % 2 else line(p, limit) for n, p in enumerate(parts)
    )


def breakable(name: str) -> Html:
    """A name that may be broken after an underscore or an @."""
    return Html(escaped(name).replace("_", "_<wbr>").replace("@", "<wbr>@"))


def values(metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A case's defined metrics by name, with the parts of ratios over something."""
    shown = []
    for name, item in metrics.items():
        if item is None or name.endswith(("_numerator", "_denominator")):
            continue
        bottom = metrics.get(f"{name}_denominator")
        parts = f" ({metrics[f'{name}_numerator']}/{bottom})" if bottom else ""
        shown.append((name, _value(item) + parts))
    return shown


def _value(item: Any) -> str:
    """A case's value of a metric: yes, no, a count or a rate."""
    if isinstance(item, bool):
        return "yes" if item else "no"
    return f"{item:,}" if isinstance(item, int) else wording.number(item)


def _marked(shown: str, mark: str) -> Html:
    text = escaped(shown)
    return Html(text + tag("span", mark, class_="cut")) if mark else text
