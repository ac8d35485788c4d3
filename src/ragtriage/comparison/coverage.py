"""Metrics that the candidate no longer scores on cases where the base run did."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from ragtriage.comparison.deltas import Scores
from ragtriage.comparison.pairing import Pairs
from ragtriage.metrics.registry import Column

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
    """Scored cases that the candidate lost, if any.

    `excused`: pairs whose metric is emptied by a right abstention: nothing to measure is left.
    """
    if found.column.metric.by_choice:
        return None
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
