"""Where things were lost: the evidence funnel, the mix of stages, every break point."""

from __future__ import annotations

from ragtriage.publish import wording
from ragtriage.publish.document import FunnelRow, Report
from ragtriage.publish.funnel_words import unseen
from ragtriage.publish.page.first import Broken, Point
from ragtriage.publish.page.markup import NOTHING, Html, escaped, join, tag
from ragtriage.publish.page.parts import (
    aside,
    badge,
    bar,
    head,
    heads,
    hint,
    row_head,
    section,
    table,
    tone,
)
from ragtriage.publish.page.texts import attribute, line

_NAMES = {
    "required": "required",
    "corpus": "in corpus",
    "retrieved": "retrieved",
    "context": "in context",
    "cited": "cited",
    "answered": "answered right",
}
_HEADS = [
    head("Stage"),
    head("Cases", kind="num own"),
    head("Share of those run", kind="num own"),
    *heads("What happened", "#See"),
]
_LOST = {"uncited": "not cited", "wrong-answer": "answer wrong"}


def funnel(report: Report) -> Html:
    """Requirements left after each step, and what was lost between two."""
    rows = report["funnel"]
    if not rows:
        return NOTHING
    total = rows[0]["left"]
    k = report["run"]["cutoffs"][0]
    past = report["funnel_bypassed"]
    return section(
        "funnel",
        "Where required evidence was lost",
        hint(
            f"{wording.count(total, 'requirement')} of the cases run, each counted as lost once, "
            "at the first step that lost it."
        ),
        table(
            "Requirements left after each step",
            heads("Step", "Left", "Lost here"),
            [
                _step(row, total, k, seen=not hidden)
                for row, hidden in zip(rows, unseen(rows), strict=True)
            ],
            kind="funnel",
        ),
        hint(f"{wording.count(past, 'requirement')} reached the context past the first {k:,}.")
        if past
        else NOTHING,
    )


def _step(row: FunnelRow, total: int, k: int, *, seen: bool) -> Html:
    name = _NAMES.get(row["step"], f"in top {k:,}")
    if not seen:
        absent = tag("td", "not observed", class_="absent")
        return tag("tr", row_head(name), absent, tag("td", _unknown(row)), class_="unseen")
    share = row["left"] / total if total else None
    left = tag("td", tag("span", f"{row['left']:,}", bar(share), class_="left"))
    told = [_lost(row)] if row["lost"] else []
    told += [note for note in (_unknown(row), _unrecorded(row)) if note]
    return tag("tr", row_head(name), left, tag("td", join(told)))


def _lost(row: FunnelRow) -> Html:
    named = [
        (_LOST.get(name) or wording.BREAK_POINTS.get(name, name), n)
        for name, n in row["lost_by"].items()
    ]
    alone = len(named) == 1
    by = named[0][0] if alone else "; ".join(f"{words} {n:,}" for words, n in named)
    return tag("span", tag("b", f"{row['lost']:,} lost"), f": {by}", class_="lost")


def _unknown(row: FunnelRow) -> Html:
    return tag("small", f"{row['unknown']:,} not known") if row["unknown"] else NOTHING


def _unrecorded(row: FunnelRow) -> Html:
    if not row["unrecorded"]:
        return NOTHING
    return tag("small", f"{row['unrecorded']:,} of those left: not recorded")


def stage_mix(report: Report, stages: list[Broken]) -> Html:
    """The mix of stages as one bar, then every break point of each."""
    ordered = [stage for stage in stages if stage.stage == "pass"]
    ordered += [stage for stage in stages if stage.stage != "pass"]
    total = sum(stage.n for stage in ordered)
    return section(
        "stages",
        "Where the cases broke",
        aside(wording.set_aside(report["run"])),
        _bar(ordered, total) if total else NOTHING,
        table(
            "Stages and break points",
            _HEADS,
            [row for stage in ordered for row in _rows(stage)],
            kind="stages",
        ),
    )


def _bar(stages: list[Broken], total: int) -> Html:
    parts = [
        tag("span", class_=f"part {tone(stage.stage)}", style=f"flex-grow:{stage.n}")
        for stage in stages
    ]
    key = [
        tag(
            "li",
            tag("span", class_=f"key {tone(stage.stage)}", aria_hidden="true"),
            line(wording.stage_words(stage.stage), 40),
            " ",
            tag("b", f"{stage.n:,}"),
        )
        for stage in stages
    ]
    label = f"Of {wording.count(total, 'case')}"
    return join(
        [
            tag("div", *parts, class_="mix", aria_hidden="true"),
            tag("ul", *key, class_="keys", aria_label=label),
        ]
    )


def _rows(stage: Broken) -> list[Html]:
    """A row a break point; the stage's own cells span them."""
    height = len(stage.points)
    own = [
        tag("th", badge(stage.stage), scope="rowgroup" if height > 1 else "row", rowspan=height),
        tag("td", f"{stage.n:,}", class_="num own", rowspan=height),
        tag("td", wording.percent(stage.share), bar(stage.share), class_="num own", rowspan=height),
    ]
    rows = []
    for place, point in enumerate(stage.points):
        cells = [*(own if place == 0 else ()), *_point(stage, point)]
        rows.append(tag("tr", *cells, class_=None if place == 0 else "more-of-it"))
    return rows


def _point(stage: Broken, point: Point) -> list[Html]:
    name = tag("code", line(point.name, 60)) if point.name else NOTHING
    words = line(point.words, 200) if point.name else NOTHING
    return [
        tag("td", words, escaped(" ") if words else NOTHING, name, class_="what-happened"),
        tag("td", _see(stage, point), class_="num"),
    ]


def _see(stage: Broken, point: Point) -> Html:
    """How many, as a link to those that the page shows."""
    if not point.cases:
        return escaped(f"{point.n:,}")
    cases = wording.count(point.n, "case")
    return tag(
        "a",
        cases,
        href=f"#case-{point.cases[0]}",
        data_stage=stage.stage,
        data_point=point.name,
        aria_label=f"{cases}: {attribute(point.words, 200)}",
    )
