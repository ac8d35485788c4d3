"""How much of the required evidence is left after each step from source to answer.

Counts of requirements over all cases that were run, from the ledger: each undelivered one is lost
once, where the ledger says. Sums over chunks merge; no file, no wording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import polars as pl

STEPS = ("required", "corpus", "retrieved", "top_k", "context", "cited", "answered")

_KEYS = (
    "lost_at",
    "delivered",
    "in_source",
    "in_index",
    "in_chunks",
    "returned",
    "in_top_k",
    "in_context",
    "cited",
    "right",
)
# Where the ledger loses a requirement, and the step before which that is. A candidate that was
# not returned is lost before `retrieved`, one that was returned too low before `top_k`.
_BEFORE = {
    "source": "corpus",
    "index": "corpus",
    "chunk": "corpus",
    "scope": "retrieved",
    "filter": "retrieved",
    "retrieval": "retrieved",
    "context": "context",
    "unobserved": "context",
}


class FunnelStep(NamedTuple):
    """One step: how many requirements are left after it, and what became of the others.

    `left`: not lost up to here. `lost`: lost between the step before and this one, `lost_by`
    by what the ledger calls it. `unknown`: neither lost nor followed further, for the record
    does not say. `unrecorded`: of those left, for how many this step was not recorded.
    """

    step: str
    left: int
    lost: int
    lost_by: dict[str, int]
    unknown: int
    unrecorded: int


class _Way(NamedTuple):
    """What the ledger says of a requirement, and whether its case was answered right."""

    lost_at: str | None
    delivered: bool | None
    in_source: bool | None
    in_index: bool | None
    in_chunks: bool | None
    returned: bool
    in_top_k: bool | None
    in_context: bool | None
    cited: bool | None
    right: bool | None


class Funnel:
    """Running counts of the ways that requirements went."""

    def __init__(self) -> None:
        self._ways: Counter[_Way] = Counter()

    def add(self, cases: pl.DataFrame, ledger: pl.DataFrame) -> None:
        """A chunk: its cases (`error`, `answer_label`) and its ledger, whose `row` numbers them."""
        told = cases.select(right="answer_label", failed=pl.col("error").is_not_null())
        ways = (
            ledger.select(
                *(name for name in _KEYS if name not in ("returned", "right")),
                returned=pl.col("retrieved_rank").is_not_null(),
            )
            .hstack(told.select(pl.all().gather(ledger["row"])))
            .filter(~pl.col("failed"))
            .group_by(_KEYS)
            .len()
        )
        for *way, n in ways.select(*_KEYS, "len").iter_rows():
            self._ways[_Way(*way)] += n

    def merge(self, later: Funnel) -> None:
        """Take in the ways of what comes after."""
        self._ways.update(later._ways)

    def steps(self) -> list[FunnelStep]:
        """The seven steps in order; none where nothing is required of any case that was run."""
        left = self._ways
        if not left:
            return []
        shown = [FunnelStep("required", left.total(), 0, {}, 0, 0)]
        for step in STEPS[1:]:
            told, left = _taken(left, step)
            shown.append(told)
        return shown

    @property
    def bypassed(self) -> int:
        """Requirements that reached the context although not returned within the cutoff."""
        return sum(n for way, n in self._ways.items() if way.delivered and way.in_top_k is False)


def _taken(ways: Counter[_Way], step: str) -> tuple[FunnelStep, Counter[_Way]]:
    """One step, and the ways that are left after it."""
    lost: Counter[str] = Counter()
    kept: Counter[_Way] = Counter()
    unknown = 0
    for way, n in ways.items():
        why = _lost(way, step)
        if why is not None:
            lost[why] += n
        elif _is_unknown(way, step):
            unknown += n
        else:
            kept[way] += n
    unrecorded = sum(n for way, n in kept.items() if not _RECORDED[step](way))
    by = dict(sorted(lost.items(), key=lambda item: (-item[1], item[0])))
    return FunnelStep(step, kept.total(), lost.total(), by, unknown, unrecorded), kept


_RECORDED: dict[str, Callable[[_Way], bool]] = {
    "corpus": lambda way: (way.in_source, way.in_index, way.in_chunks) != (None, None, None),
    "retrieved": lambda way: way.in_top_k is not None,
    "top_k": lambda way: way.in_top_k is not None,
    "context": lambda way: way.in_context is not None,
    "cited": lambda way: way.cited is not None,
    "answered": lambda way: way.right is not None,
}


def _lost(way: _Way, step: str) -> str | None:
    """What loses a requirement between the step before and this one; None when nothing does."""
    if step == "cited":
        return "uncited" if way.cited is False else None
    if step == "answered":
        return "wrong-answer" if way.right is False else None
    if way.lost_at is None:
        return None
    if way.lost_at == "ranking":
        before = "top_k" if way.returned else "retrieved"
    else:
        before = _BEFORE[way.lost_at]
    return way.lost_at if before == step else None


def _is_unknown(way: _Way, step: str) -> bool:
    """Delivery, or the answer's label, is not known: followed no further."""
    if step == "context":
        return way.delivered is None
    return step == "answered" and way.right is None
