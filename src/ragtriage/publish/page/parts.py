"""Elements that several sections use: tables with a caption, pairs, badges, bars, notices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragtriage.publish import wording
from ragtriage.publish.page.markup import NOTHING, Attribute, Html, escaped, join, tag
from ragtriage.publish.page.texts import cell, line

ROWS = 100


def table(
    caption: str,
    head: Sequence[Html],
    rows: Iterable[Html],
    *,
    kind: str | None = None,
    shown: bool = False,
) -> Html:
    """A table that scrolls alone where it is too wide, reached by keyboard, with its caption.

    `shown`: the caption is seen; otherwise it is only read aloud.
    """
    inner = tag(
        "table",
        tag("caption", line(caption, 200), class_=None if shown else "aloud"),
        tag("thead", tag("tr", *head)),
        tag("tbody", *rows),
        class_=kind,
    )
    label = line(caption, 80)
    return tag("div", inner, class_="scroll", role="region", aria_label=label, tabindex=0)


def heads(*names: str) -> list[Html]:
    """Column heads; one that begins with # is a number's."""
    return [
        head(name.removeprefix("#"), kind="num" if name.startswith("#") else None) for name in names
    ]


def head(name: str, *, kind: str | None = None) -> Html:
    """One column head."""
    return tag("th", name, scope="col", class_=kind)


def row_head(*children: str, **attributes: Attribute) -> Html:
    """The head of a row."""
    return tag("th", *children, of={"scope": "row", **attributes})


def number(value: object) -> Html:
    """A cell with a number."""
    return tag("td", f"{value:,}" if isinstance(value, int) else str(value), class_="num")


def pairs(items: Iterable[tuple[str, str]], kind: str = "facts") -> Html:
    """Names and their values; a value that begins with its name is seen alone."""
    shown = [
        tag(
            "div",
            tag("dt", line(name, 200), class_="aloud" if text.startswith(f"{name} ") else None),
            tag("dd", cell(text, 600), dir="auto"),
        )
        for name, text in items
    ]
    return tag("dl", *shown, class_=kind)


def section(anchor: str, title: str, *children: str) -> Html:
    """A section that its heading names."""
    heading = tag("h2", title, id=f"h-{anchor}")
    return tag("section", heading, *children, id=anchor, aria_labelledby=f"h-{anchor}")


def hint(*children: str) -> Html:
    """A sentence in a softer tone."""
    return tag("p", *children, class_="hint")


def listed(items: Iterable[str | Html], kind: str | None = None) -> Html:
    """A list of sentences."""
    return tag("ul", *(tag("li", item) for item in items), class_=kind)


def badge(stage: str) -> Html:
    """A stage."""
    return tag("span", line(wording.stage_words(stage), 40), class_=f"badge {tone(stage)}")


def tone(stage: str) -> str:
    """The class of a stage: its name, as far as it can be one."""
    return stage if stage.replace("_", "").isalnum() else "other"


def bar(share: float | None, kind: str = "bar") -> Html:
    """A share of 1 as a bar; nothing to those who hear the page, which says it in words."""
    if share is None:
        return NOTHING
    width = f"width:{100 * share:.1f}%"
    return tag("span", tag("span", style=width), class_=kind, aria_hidden="true")


def aside(told: str) -> Html:
    """Said beside numbers that something is missing from."""
    return hint(tag("strong", "!"), f" {told}.") if told else NOTHING


def commas(items: Sequence[Html]) -> Html:
    """`a, b, c`."""
    return join(items, escaped(", "))
