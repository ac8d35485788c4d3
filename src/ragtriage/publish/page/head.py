"""The top of the page: verdict, gates, what to know, and what to look at first."""

from __future__ import annotations

from ragtriage.publish import wording
from ragtriage.publish.document import CaseEntry, GateRow, Report
from ragtriage.publish.notices import notices as noticed
from ragtriage.publish.page.first import Broken, Point, check
from ragtriage.publish.page.markup import NOTHING, Html, join, tag
from ragtriage.publish.page.parts import (
    badge,
    commas,
    heads,
    hint,
    listed,
    number,
    pairs,
    row_head,
    section,
    table,
)
from ragtriage.publish.page.texts import attribute, line
from ragtriage.schemas.texts import NO_TEXT

_STAGES = 4
_POINTS = 3
_CASES = 3


def header(report: Report) -> Html:
    """Run, verdict, gates, notices, facts."""
    run = report["run"]
    said, gates = wording.gates(report["gates"])
    notices = [NO_TEXT] * run["no_text"] + noticed(report)
    brand = [tag("strong", "ragtriage"), " ", tag("span", "run ", line(run["run_id"], 200))]
    return tag(
        "header",
        tag("p", *brand, class_="brand"),
        tag("h1", wording.verdict(report)),
        _verdict(said, gates),
        _gates(gates),
        listed(notices, "notices") if notices else NOTHING,
        pairs(wording.facts(report)),
    )


def _verdict(said: str, gates: list[GateRow]) -> Html:
    if not gates:
        return tag("p", said, class_="gates none")
    failed = any(not gate["passed"] for gate in gates)
    return tag("p", "✗ " if failed else "✓ ", said, class_=f"gates {'bad' if failed else 'good'}")


def _gates(gates: list[GateRow]) -> Html:
    if not gates:
        return NOTHING
    return table(
        "Gates",
        heads("Gate", "Verdict", "#Value", "#Threshold", "Reason"),
        map(_gate, gates),
        kind="of-gates",
    )


def _gate(gate: GateRow) -> Html:
    holds = gate["passed"]
    return tag(
        "tr",
        row_head(tag("code", line(gate["gate"], 300))),
        tag("td", "✓ holds" if holds else "✗ failed", class_="good" if holds else "bad"),
        number(wording.exact(gate["value"])),
        number(wording.exact(gate["threshold"])),
        tag("td", line(gate["reason"], 600), class_="sentence"),
    )


def look_first(stages: list[Broken], cases: list[CaseEntry]) -> Html:
    """The stages that broke most, how, on which cases, and what to check."""
    broken = [stage for stage in stages if stage.stage != "pass"]
    if not broken:
        return NOTHING
    shown, rest = broken[:_STAGES], broken[_STAGES:]
    left = ", ".join(f"{stage.n:,} {wording.stage_words(stage.stage)}" for stage in rest)
    items = [tag("li", *_told(stage, cases), class_="first") for stage in shown]
    return section(
        "first",
        "Look first",
        tag("ol", *items, class_="firsts"),
        hint(f"Then: {left}. ", tag("a", "All of it by break point", href="#stages"), ".")
        if left
        else NOTHING,
    )


def _told(broken: Broken, cases: list[CaseEntry]) -> list[Html]:
    share = f" ({wording.percent(broken.share)})" if broken.share is not None else ""
    places = [place for point in broken.points for place in point.cases][:_CASES]
    more = broken.n - len(places)
    rest = tag(
        "a",
        f"all {broken.n:,}",
        href=f"#case-{places[0]}" if places else "#cases",
        data_stage=broken.stage,
        aria_label=f"all {broken.n:,} {attribute(wording.stage_words(broken.stage))} cases",
    )
    links = [case_link(place, cases[place - 1]) for place in places]
    told = check(broken)
    return [
        tag("p", badge(broken.stage), " ", tag("b", f"{broken.n:,}"), share, class_="count"),
        tag("p", join([_point(point) for point in broken.points[:_POINTS]], "; "), _rest(broken)),
        tag("p", commas([*links, rest] if more else links), class_="which"),
        tag("p", line(told, 600), class_="check") if told else NOTHING,
    ]


def _point(point: Point) -> Html:
    return join([line(point.words, 200), " ", tag("b", f"{point.n:,}")])


def _rest(broken: Broken) -> str:
    rest = sum(point.n for point in broken.points[_POINTS:])
    return f"; otherwise {rest:,}" if rest else ""


def case_link(place: int, case: CaseEntry) -> Html:
    """A shown case by its ID."""
    return tag("a", tag("code", line(case["case_id"], 60)), href=f"#case-{place}")
