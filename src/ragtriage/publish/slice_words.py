"""Which values of a slice a report shows where it has no room for all. No layout."""

from __future__ import annotations

from collections.abc import Sequence

from ragtriage.publish.escape import first
from ragtriage.publish.wording import SliceLine


def counts(line: SliceLine) -> tuple[int, int]:
    """Cases that passed, of how many."""
    passed, _, of = line.passed.replace(",", "").partition(" of ")
    return int(passed), int(of)


def most_broken(lines: Sequence[SliceLine], limit: int) -> tuple[Sequence[SliceLine], str]:
    """All values in their order; of more than `limit` those with most cases that did not pass.

    With words for the rest ("" when there is none).
    """
    if len(lines) <= limit:
        return lines, ""
    shown, rest = first(sorted(lines, key=_broken, reverse=True), limit)
    return shown, f"{rest}, with no more cases that did not pass,"


def _broken(line: SliceLine) -> int:
    passed, of = counts(line)
    return of - passed
