"""Cases of two runs side by side, joined by case ID and never by position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.ahead import ahead
from ragtriage.read.runs import StoredRun

_AT_ONCE = 6


@dataclass(frozen=True)
class Pairs:
    """Which row of the base run goes with which row of the candidate.

    `ids`: the common cases, in the base run's order. `base_rows`, `candidate_rows`: where each
    stands; None where the rows stand as they are.
    """

    ids: pl.Series
    base_rows: pl.Series | None
    candidate_rows: pl.Series | None
    base_only: pl.Series
    candidate_only: pl.Series

    def both(self, base: StoredRun, candidate: StoredRun, name: str) -> tuple[pl.Series, pl.Series]:
        """One column of both runs, aligned; null where a run's table lacks it."""
        return self.of_base(base, name), self.of_candidate(candidate, name)

    def blocks(
        self,
        base: StoredRun,
        candidate: StoredRun,
        names: Sequence[str],
        at_once: int = _AT_ONCE,
    ) -> Iterator[tuple[pl.Series, pl.Series]]:
        """Several columns of both runs in turn, aligned; a few are read at once, the next ahead.

        To open a run's parts costs more than a column; to hold them all would cost the memory.
        """
        starts = range(0, len(names), at_once)
        blocks = (list(names[start : start + at_once]) for start in starts)
        runs = (base, candidate)
        for one, other in ahead([run.read(run.cases.select(b)) for run in runs] for b in blocks):
            for name in one.columns:
                yield _placed(one[name], self.base_rows), _placed(other[name], self.candidate_rows)

    def of_base(self, base: StoredRun, name: str) -> pl.Series:
        """One column of the base run, aligned."""
        return _placed(base.column(name), self.base_rows)

    def of_candidate(self, candidate: StoredRun, name: str) -> pl.Series:
        """One column of the candidate, aligned."""
        return _placed(candidate.column(name), self.candidate_rows)


def pair(base: StoredRun, candidate: StoredRun) -> Pairs:
    """Join the runs by case ID.

    Raises:
        InputError: a run has a case ID twice, or the two have no case in common.
    """
    one, other = (run.column("case_id") for run in (base, candidate))
    nothing = one.clear()
    _check_unique(one, base)
    if one.equals(other):
        return Pairs(one, None, None, nothing, nothing)
    _check_unique(other, candidate)
    left = pl.DataFrame({"case_id": one}).with_row_index("base_row")
    right = pl.DataFrame({"case_id": other}).with_row_index("candidate_row")
    joined = left.join(right, on="case_id", maintain_order="left")
    if joined.is_empty():
        raise InputError(
            f"{base.run_id} and {candidate.run_id} have no case in common: nothing to compare"
        )
    return Pairs(
        ids=joined["case_id"],
        base_rows=joined["base_row"],
        candidate_rows=joined["candidate_row"],
        base_only=left.join(right, on="case_id", how="anti")["case_id"],
        candidate_only=right.join(left, on="case_id", how="anti")["case_id"],
    )


def _check_unique(ids: pl.Series, run: StoredRun) -> None:
    # Numbers are quicker to tell apart than texts; only where two agree are the texts looked at.
    distinct = ids.hash().n_unique() == len(ids) or ids.n_unique() == len(ids)
    if not distinct or ids.null_count():
        raise InputError(f"run {run.run_id}: a case ID is there twice: not a run of ours")


def _placed(column: pl.Series, rows: pl.Series | None) -> pl.Series:
    # To gather from lists in many pieces costs ten times as much.
    return column if rows is None else column.rechunk().gather(rows)
