"""Paired means per metric and slice, and which cases each metric moved on.

Both means are over the same cases, those scored in both runs. Sums are exact fixed-point
numbers, as in the summary: neither row order nor threads can move a digit. Which direction is
better stands in the metric's declaration.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ragtriage.comparison.pairing import Pairs
from ragtriage.comparison.slices import KEYS, Cells
from ragtriage.errors import InputError
from ragtriage.fixed_point import fixed_sum, fixed_sum_of_alike, unfixed
from ragtriage.metrics.registry import Column
from ragtriage.read.runs import StoredRun
from ragtriage.schemas.comparison import Deltas
from ragtriage.schemas.inputs import dtypes

# Larger than any sum's rounding, smaller than what one more passage could bring.
ROUNDING = 1e-12
# A Boolean and its lack, each by its number.
_STATES = (False, True, None)
DELTAS_SCHEMA = {name: dtype for name, dtype in dtypes(Deltas).items() if name != "run_id"}


@dataclass(frozen=True)
class Scores:
    """One metric on every pair: both values where the case is scored, null elsewhere.

    `raw_changed`: the values differ, counts on cases that failed included. `raw`: both values
    with these; None where the metric has none.
    """

    column: Column
    base: pl.Series
    candidate: pl.Series
    raw_changed: pl.Series
    raw: tuple[pl.Series, pl.Series] | None = None

    def better(self) -> pl.Series:
        """The candidate's value is the better one; false without a direction."""
        return self._beats(self.candidate, self.base)

    def better_at_all(self) -> pl.Series:
        """The same, cases that failed included: a leak is told of them too."""
        return self.better() if self.raw is None else self._beats(self.raw[1], self.raw[0])

    def worse_at_all(self) -> pl.Series:
        """The base's value is the better one, cases that failed included."""
        return self.worse() if self.raw is None else self._beats(*self.raw)

    def worse(self) -> pl.Series:
        """The base's value is the better one; false without a direction."""
        return self._beats(self.base, self.candidate)

    def differs(self) -> pl.Series:
        """The values differ, or only one is scored."""
        return self.raw_changed if self.raw is None else self.base.ne_missing(self.candidate)

    def lost(self) -> pl.Series:
        """Scored in the base run and not in the candidate."""
        return self.base.is_not_null() & self.candidate.is_null()

    def _beats(self, one: pl.Series, other: pl.Series) -> pl.Series:
        if self.column.metric.better == "neither":
            return pl.repeat(False, len(one), dtype=pl.Boolean, eager=True)
        first, second = (one, other) if self.column.metric.better == "higher" else (other, one)
        return (first > second).fill_null(False)


@dataclass(frozen=True)
class Values:
    """A metric on every pair: the base run's values, and the candidate's where they differ.

    To hold both columns of every metric would take twice the room; to read them again, time.
    """

    base: pl.Series
    differing: pl.Series
    candidate: pl.Series

    @classmethod
    def of(cls, found: Scores) -> Values:
        """The values with those of cases that failed."""
        one, other = found.raw or (found.base, found.candidate)
        differing = found.raw_changed.arg_true()
        return cls(one, differing, other.gather(differing))

    def at(self, rows: pl.Series) -> tuple[pl.Series, pl.Series]:
        """Both values of some pairs."""
        other = self.base.clone().scatter(self.differing, self.candidate)
        return self.base.gather(rows), other.gather(rows)


def scores(
    base: StoredRun,
    candidate: StoredRun,
    pairs: Pairs,
    columns: list[Column],
    scored: tuple[pl.Series, pl.Series],
) -> Iterator[Scores]:
    """Each metric of both runs in turn; a few columns are in memory at a time.

    `scored`: whether each pair's case was run and settled, in the base run and the candidate.

    Raises:
        InputError: a value is infinite, or not a number.
    """
    values = pairs.blocks(base, candidate, [column.name for column in columns])
    for column, (one, found) in zip(columns, values, strict=True):
        for run, of_run in ((base, one), (candidate, found)):
            _check_numbers(run, column, of_run)
        other = without_rounding(one, found)
        changed = one.ne_missing(other)
        if not column.metric.unscored:
            yield Scores(column, one, other, changed)
            continue
        masked = one.set(~scored[0], None), other.set(~scored[1], None)
        yield Scores(column, *masked, changed, (one, other))


def _check_numbers(run: StoredRun, column: Column, values: pl.Series) -> None:
    # One that is no number makes their sum one, which is seen at a third of the cost.
    if values.dtype.is_float() and not math.isfinite(values.sum()):
        raise InputError(
            f"run {run.run_id}: {column.name}: a value that is no number: not a run of ours; "
            "evaluate again"
        )


def without_rounding(one: pl.Series, other: pl.Series) -> pl.Series:
    """The candidate's values, with the base's in place of those that only rounding sets apart.

    Evidence at other ranks can come to the same fraction by another sum: 0.525 and
    0.5249999999999999 are no difference between systems.
    """
    if not one.dtype.is_float():
        return other
    rows = (one != other).arg_true()
    base, candidate = one.gather(rows), other.gather(rows)
    near = (candidate - base).abs() <= ROUNDING
    if not near.any():
        return other
    return other.clone().scatter(rows.filter(near), base.filter(near))


def sums_of(found: Scores, codes: pl.Series) -> pl.DataFrame:
    """A metric's sums by cell.

    Most pairs have the same value twice: these are summed once, and what differs corrects that;
    and values are few, so that alike ones are counted first. The numbers are whole, so no digit
    depends on it.
    """
    alike = _alike(codes, found.base)
    base, times = pl.col("base"), pl.col("len")
    scored = alike.group_by("cell").agg(
        n_base=times.filter(base.is_not_null()).sum().cast(pl.Int64),
        sum_base=fixed_sum_of_alike(base, times, found.column),
    )
    corrections = _corrections(found, codes)
    return (
        scored.join(corrections, on="cell", how="left")
        .with_columns(pl.col(corrections.columns).exclude("cell").fill_null(0))
        .select(
            "cell",
            n_paired=pl.col("n_base") - pl.col("n_base_only"),
            base_sum=pl.col("sum_base") - pl.col("sum_base_only"),
            candidate_sum=pl.col("sum_base") - pl.col("sum_base_only") + pl.col("gained"),
            better=pl.col("better"),
            worse=pl.col("worse"),
            tied=pl.col("n_base") - pl.col("n_base_only") - pl.col("n_moved"),
            n_base_only=pl.col("n_base_only"),
            n_candidate_only=pl.col("n_candidate_only"),
        )
    )


def _alike(codes: pl.Series, values: pl.Series) -> pl.DataFrame:
    """How many pairs of a cell have the same value: `cell`, `base`, `len`.

    Booleans are counted by one small number each, in a quarter of the time that groups take.
    """
    cells = int(codes.to_numpy().max(initial=0)) + 1
    states = len(_STATES)
    if values.dtype != pl.Boolean or states * cells > len(codes):
        return pl.DataFrame({"cell": codes, "base": values}).group_by("cell", "base").len()
    kinds = codes * states + values.cast(codes.dtype).fill_null(_STATES.index(None))
    counts = np.bincount(kinds.to_numpy())
    met = np.flatnonzero(counts)
    cell, state = np.divmod(met, states)
    known = pl.Series(_STATES, dtype=pl.Boolean)
    return pl.DataFrame(
        {
            "cell": pl.Series(cell, dtype=codes.dtype),
            "base": known.gather(state),
            "len": counts[met],
        }
    )


def _corrections(found: Scores, codes: pl.Series) -> pl.DataFrame:
    """What the pairs with two different values, or with one, add to and take from a cell."""
    differ = found.differs()
    one, other = pl.col("base"), pl.col("candidate")
    both = one.is_not_null() & other.is_not_null()
    column = found.column
    frame = pl.DataFrame(
        {
            "cell": codes,
            "base": found.base,
            "candidate": found.candidate,
            "better": found.better(),
            "worse": found.worse(),
        }
    ).filter(differ)
    return frame.group_by("cell").agg(
        n_moved=both.sum().cast(pl.Int64),
        gained=fixed_sum(pl.when(both).then(other), column)
        - fixed_sum(pl.when(both).then(one), column),
        sum_base_only=fixed_sum(pl.when(other.is_null()).then(one), column),
        better=pl.col("better").sum().cast(pl.Int64),
        worse=pl.col("worse").sum().cast(pl.Int64),
        n_base_only=(one.is_not_null() & other.is_null()).sum().cast(pl.Int64),
        n_candidate_only=(one.is_null() & other.is_not_null()).sum().cast(pl.Int64),
    )


def delta_rows(column: Column, sums: pl.DataFrame, cells: Cells) -> list[dict[str, Any]]:
    """A metric's rows of the table, a slice value each."""
    return [_row(column, row) for row in cells.fold(sums).iter_rows(named=True)]


def _row(column: Column, sums: dict[str, Any]) -> dict[str, Any]:
    n = sums["n_paired"]
    base, candidate = int(sums["base_sum"]), int(sums["candidate_sum"])
    directed = column.metric.better != "neither"
    return {
        **{key: sums[key] for key in KEYS},
        "metric": column.metric.name,
        "k": column.k,
        "base_mean": unfixed(base, column) / n if n else None,
        "candidate_mean": unfixed(candidate, column) / n if n else None,
        "delta": unfixed(candidate - base, column) / n if n else None,
        "n_paired": n,
        "better": sums["better"] if directed else None,
        "worse": sums["worse"] if directed else None,
        "tied": sums["tied"],
        "n_base_only": sums["n_base_only"],
        "n_candidate_only": sums["n_candidate_only"],
    }


def in_order(rows: list[dict[str, Any]], cells: Cells) -> pl.DataFrame:
    """The table: by slice as declared, then by value, then by metric as registered."""
    order = cells.members.select(KEYS).unique(maintain_order=True).with_row_index("place")
    table = pl.DataFrame(rows, schema=DELTAS_SCHEMA)
    return (
        table.join(order, on=KEYS, how="left", maintain_order="left")
        .sort("place", maintain_order=True)
        .select(list(DELTAS_SCHEMA))
    )
