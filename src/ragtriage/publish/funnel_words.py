"""The evidence funnel in words, for every format that is lines of text."""

from __future__ import annotations

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
    return [_line(row, k, short=short) for row in report["funnel"]]


def note(report: Report) -> str:
    """What the steps do not show; "" where there is nothing."""
    past = report["funnel_bypassed"]
    k = report["run"]["cutoffs"][0]
    return (
        f"{wording.count(past, 'requirement')} reached the context past the first {k:,}"
        if past
        else ""
    )


def unseen(row: FunnelRow) -> bool:
    """Is nothing known of all that came this far? A bare 0 would say that it failed."""
    reached = row["left"] + row["unknown"]
    return reached > 0 and not row["lost"] and row["unrecorded"] == row["left"]


def _line(row: FunnelRow, k: int, *, short: bool) -> FunnelLine:
    name = _NAMES.get(row["step"], f"in top {k:,}")
    unknown = [f"{row['unknown']:,} not known"] if row["unknown"] else []
    if unseen(row):
        return FunnelLine(name, "not observed", "", ", ".join(unknown))
    told = [
        f"{by} {n:,}" if short else f"{n:,} {_how(by)}" for by, n in row["lost_by"].items()
    ] + unknown
    if row["unrecorded"]:
        told.append(f"not recorded for {row['unrecorded']:,} of those left")
    lost = f"-{row['lost']:,}" if row["lost"] else ""
    return FunnelLine(name, f"{row['left']:,}", lost, ", ".join(told))


def _how(by: str) -> str:
    return _LOST.get(by) or wording.BREAK_POINTS.get(by, by)
