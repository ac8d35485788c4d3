"""What broke, by stage: how many cases, how, which ones, what to look at first. No element."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ragtriage.publish import wording
from ragtriage.publish.document import CaseEntry, Report, StageRow

# What a requester may not see is never a matter of how often; what could not be judged comes last.
_BEFORE = ("authorization",)
_AFTER = ("unprepared", "unresolved", "not_run")


class Point(NamedTuple):
    """One break point of a stage, and the places of its shown cases in the report."""

    name: str | None
    words: str
    n: int
    share: float | None
    cases: list[int]
    next_check: str | None


class Broken(NamedTuple):
    """One stage, most frequent break point first."""

    stage: str
    n: int
    share: float | None
    points: list[Point]


def stages(report: Report) -> list[Broken]:
    """Every stage that occurs, what broke before what could not be judged; `pass` last."""
    found = _shown(report["cases"])
    rows: dict[str, list[StageRow]] = {}
    for row in report["stages"]:
        if row["slice"] == "all":
            rows.setdefault(row["stage"], []).append(row)
    told = [_stage(name, of_stage, found, report["cases"]) for name, of_stage in rows.items()]
    return sorted(told, key=_order)


def check(broken: Broken) -> str | None:
    """What to look at first in a stage: of its most frequent break point that says so."""
    return next((point.next_check for point in broken.points if point.next_check), None)


def advice(report: Report) -> str:
    """`retrieval, 12 cases: Check …`, of the stage to look at first; "" where nothing broke."""
    first = stages(report)[:1]
    for broken in first:
        told = None if broken.stage == "pass" else check(broken)
        if told:
            cases = wording.count(broken.n, "case")
            return f"{wording.stage_words(broken.stage)}, {cases}: {told}"
    return ""


def _shown(cases: Iterable[CaseEntry]) -> dict[tuple[str, str | None], list[int]]:
    """The places of shown cases, from 1, by stage and break point."""
    found: dict[tuple[str, str | None], list[int]] = {}
    for place, case in enumerate(cases, start=1):
        found.setdefault((case["stage"], case["break_point"]), []).append(place)
    return found


def _stage(
    name: str,
    rows: list[StageRow],
    found: dict[tuple[str, str | None], list[int]],
    cases: list[CaseEntry],
) -> Broken:
    points = []
    for row in sorted(rows, key=lambda row: -row["n"]):
        point = row["break_point"]
        places = found.get((name, point), [])
        check = _most_common(cases[place - 1]["next_check"] for place in places)
        words = wording.BREAK_POINTS.get(point, point) if point else wording.stage_words(name)
        points.append(Point(point, words, row["n"], row["share"], places, check))
    shares = [row["share"] for row in rows if row["share"] is not None]
    return Broken(name, sum(row["n"] for row in rows), sum(shares) if shares else None, points)


def _most_common(checks: Iterable[str | None]) -> str | None:
    """What to look at first in most cases; of equals, the one that comes first."""
    return next((check for check, _ in Counter(checks).most_common(1)), None)


def _order(broken: Broken) -> tuple[int, int, str]:
    rank = 1
    if broken.stage in _BEFORE:
        rank = 0
    if broken.stage in _AFTER:
        rank = 2
    return (3 if broken.stage == "pass" else rank, -broken.n, broken.stage)
