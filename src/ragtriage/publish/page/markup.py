"""HTML elements as values: whatever is not `Html` already is text, and is escaped.

No element of any page belongs here, and no cutting: see `texts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from html import escape

from ragtriage.publish.escape import visible_block

Attribute = str | int | bool | None


class Html(str):  # noqa: SLOT000 - an empty __slots__ is no gain for a str
    """Mark-up, which goes into a page as it is. Jinja takes it for that, too."""

    def __html__(self) -> Html:
        """Itself."""
        return self


NOTHING = Html("")
_SHORT = 32


def escaped(text: str | int | None) -> Html:
    """Text as mark-up: hidden characters shown, nothing in it an element; None is nothing."""
    if type(text) is Html:
        return text
    if text is None:
        return NOTHING
    given = str(text)
    return _short(given) if len(given) <= _SHORT else _escaped(given)


def _escaped(text: str) -> Html:
    return Html(escape(visible_block(text)).replace("&#x27;", "&#39;"))


# Names, numbers and words of the page itself come over and over.
_short = lru_cache(maxsize=4096)(_escaped)


def join(children: Iterable[str | int | None], joint: str = "") -> Html:
    """One after the other."""
    parts = [escaped(child) for child in children]
    return Html(escaped(joint).join(parts)) if len(parts) != 1 else parts[0]


def tag(
    name: str,
    /,
    *children: str | int | None,
    of: Mapping[str, Attribute] | None = None,
    **attributes: Attribute,
) -> Html:
    """An element.

    `class_` stands for class, `aria_label` for aria-label; None and False are left out, True
    stands alone. `of`: attributes that are in a mapping already.
    """
    given: dict[str, Attribute] = {**attributes, **of} if of else attributes
    # Most children are mark-up already.
    inside = "".join([c if type(c) is Html else escaped(c) for c in children])
    return Html(f"<{name}{_attributes(given) if given else ''}>{inside}</{name}>")


def void(name: str, /, **attributes: Attribute) -> Html:
    """An element that holds nothing and is not closed: meta, input."""
    return Html(f"<{name}{_attributes(attributes)}>")


def _attributes(given: Mapping[str, Attribute]) -> str:
    parts = []
    for name, value in given.items():
        if value is None or value is False:
            continue
        shown = "" if value is True else f'="{escaped(value)}"'
        parts.append(f" {_name(name)}{shown}")
    return "".join(parts)


@cache
def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")
