"""Metrics that the candidate no longer scores on cases where the base run did."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from ragtriage.comparison.deltas import Scores
from ragtriage.comparison.pairing import Pairs
from ragtriage.metrics.registry import Column
from ragtriage.read.runs import StoredRun

_NAMED = 3


@dataclass(frozen=True)
class Lost:
    """One metric's loss. `which` tells the set of lost cases from any other."""

    column: Column
    n: int
    n_base: int
    n_candidate: int
    case_ids: list[str]
    which: bytes


@dataclass(frozen=True)
class LostTogether:
    """Metrics that lost the same cases, as a failed call takes them all at once."""

    metrics: list[str]
    n: int
    case_ids: list[str]


def coverage(found: Scores, excused: pl.Series, pairs: Pairs, examples: int) -> Lost | None:
    """Scored cases that the candidate lost, if any; `excused`: pairs whose loss is none."""
    lost = found.lost() & ~excused
    n = int(lost.sum())
    if not n:
        return None
    return Lost(
        column=found.column,
        n=n,
        n_base=int(found.base.is_not_null().sum()),
        n_candidate=int(found.candidate.is_not_null().sum()),
        case_ids=pairs.ids.filter(lost).sort().head(examples).to_list(),
        which=hashlib.sha256(lost.arg_true().to_numpy().tobytes()).digest(),
    )


@dataclass(frozen=True)
class Excuses:
    """When a score that is gone is no loss: nothing stopped being observed.

    `right`: pairs whose candidate rightly abstains.
    """

    base: StoredRun
    candidate: StoredRun
    pairs: Pairs
    right: pl.Series

    def of(self, found: Scores) -> pl.Series:
        """Pairs on which losing this metric's score is excused."""
        metric = found.column.metric
        if metric.by_choice:
            return self._all(value=True)
        if not found.lost().any():
            return self._all(value=False)
        if metric.parts:
            return self._undecided(metric.parts)
        if metric.kind == "ratio":
            return self._emptied(found)
        return self._all(value=False)

    def _emptied(self, found: Scores) -> pl.Series:
        """Right abstentions that left the metric nothing to divide by; observed all the same."""
        left = self.pairs.of_candidate(self.candidate, found.column.denominator)
        return self.right & (left == 0).fill_null(value=False)

    def _undecided(self, parts: list[str]) -> pl.Series:
        """A part that decided got better, and no part lost its own score: those tell of losses."""
        kept = self._all(value=True)
        for part in parts:
            one, other = self.pairs.both(self.base, self.candidate, part)
            kept &= ~(one.is_not_null() & other.is_null())
        return kept

    def _all(self, *, value: bool) -> pl.Series:
        return pl.repeat(value, len(self.pairs.ids), dtype=pl.Boolean, eager=True)


def together(losses: Sequence[Lost]) -> list[LostTogether]:
    """The losses by the cases they concern, in the order of their first metric."""
    groups: dict[bytes, list[Lost]] = {}
    for lost in losses:
        groups.setdefault(lost.which, []).append(lost)
    return [
        LostTogether([_label(lost.column) for lost in group], group[0].n, group[0].case_ids)
        for group in groups.values()
    ]


def sentence(metrics: Sequence[str], n: int, case_ids: Sequence[str]) -> str:
    """`coverage regression: recall, hit@5 no longer scored on 2 cases that were: q1, q2`."""
    more = len(metrics) - _NAMED
    named = ", ".join(metrics[:_NAMED]) + (f" and {more} more metrics" if more > 0 else "")
    first = ", ".join(case_ids) + (", …" if n > len(case_ids) else "")
    cases = "1 case that was" if n == 1 else f"{n:,} cases that were"
    return f"coverage regression: {named} no longer scored on {cases}: {first}"


def _label(column: Column) -> str:
    return column.metric.name if column.k is None else f"{column.metric.name}@{column.k}"
