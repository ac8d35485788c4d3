"""The evidence funnel in words, for every format that is lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragtriage.publish import wording
from ragtriage.publish.document import FunnelRow, Report

TITLE = "Where required evidence was lost"
_NAMES = {
    "required": "required",
    "corpus": "in corpus",
    "retrieved": "retrieved",
    "context": "in context",
    "cited": "cited",
    "answered": "answered right",
}
_LOST = {"uncited": "not cited", "wrong-answer": "answer wrong"}


class FunnelLine(NamedTuple):
    """One step: how many requirements are left, how many were lost before it, and how."""

    name: str
    left: str
    lost: str
    told: str


def lines(report: Report, *, short: bool = False) -> list[FunnelLine]:
    """A line a step; one on which nothing was recorded says so. `short`: losses by name alone."""
    k = report["run"]["cutoffs"][0]
    rows = report["funnel"]
    return [
        _line(row, k, short=short, seen=not hidden)
        for row, hidden in zip(rows, unseen(rows), strict=True)
    ]


def note(report: Report) -> str:
    """What the steps do not show; "" where there is nothing."""
    past = report["funnel_bypassed"]
    k = report["run"]["cutoffs"][0]
    return (
        f"{wording.count(past, 'requirement')} reached the context past the first {k:,}"
        if past
        else ""
    )


def unseen(rows: Sequence[FunnelRow]) -> list[bool]:
    """Of each step: is nothing known of all that came this far? A bare 0 would say that it failed.

    Nothing is known, either, of a step that nothing reached for want of knowing the one before.
    """
    found: list[bool] = []
    for row in rows:
        if row["left"] + row["unknown"] or row["lost"]:
            found.append(not row["lost"] and row["unrecorded"] == row["left"])
        else:
            found.append(bool(found) and found[-1])
    return found


def _line(row: FunnelRow, k: int, *, short: bool, seen: bool) -> FunnelLine:
    name = _NAMES.get(row["step"], f"in top {k:,}")
    unknown = [f"{row['unknown']:,} not known"] if row["unknown"] else []
    if not seen:
        return FunnelLine(name, "not observed", "", ", ".join(unknown))
    told = [
        f"{_LOST.get(by, by)} {n:,}" if short else f"{n:,} {_how(by)}"
        for by, n in row["lost_by"].items()
    ] + unknown
    if row["unrecorded"]:
        told.append(f"not recorded for {row['unrecorded']:,} of those left")
    lost = f"-{row['lost']:,}" if row["lost"] else ""
    # Words hold commas of their own, names do not.
    return FunnelLine(name, f"{row['left']:,}", lost, (", " if short else "; ").join(told))


def _how(by: str) -> str:
    return _LOST.get(by) or wording.BREAK_POINTS.get(by, by)
