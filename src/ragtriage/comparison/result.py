"""All that a comparison came to: one object feeds every format, and the exit code."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from ragtriage.comparison.comparability import About, Difference
from ragtriage.comparison.coverage import Lost, sentence, together
from ragtriage.comparison.request import CompareRequest
from ragtriage.comparison.table import ChangedTable
from ragtriage.decision import Decision, failed_gates
from ragtriage.gates import Verdict
from ragtriage.metrics.registry import Column
from ragtriage.read.runs import StoredRun

NAMED = 10
# File systems take names of 255 bytes; what is written beside a folder needs a few more.
_LONGEST = 240


@dataclass
class Result:
    """A finished comparison, before it is written.

    `cases`: those that changed. `shown`: the first of them, for the reports; `details`: their
    questions and answers.
    `coverage`: metrics that lost scored cases. `changed`: how many cases of each kind.
    `resolution`: what the tests can resolve, None without `--test`.
    """

    request: CompareRequest
    base: StoredRun
    candidate: StoredRun
    columns: list[Column]
    differences: list[Difference]
    about: About
    notes: list[str]
    transitions: pl.DataFrame
    deltas: pl.DataFrame
    cases: ChangedTable
    shown: pl.DataFrame
    details: pl.DataFrame
    tests: pl.DataFrame | None
    intervals: pl.DataFrame | None
    resolution: str | None
    coverage: list[Lost]
    gates: list[Verdict]
    changed: dict[str, int]
    regressed: list[str]
    n_paired: int
    n_measured: int

    @property
    def run_id(self) -> str:
        """`compare-<base>-<candidate>`: the name of its folder."""
        return comparison_id(self.base.run_id, self.candidate.run_id)

    @cached_property
    def decision(self) -> Decision:
        """Passed where all gates hold, no metric lost scored cases and something was measured."""
        lines = failed_gates(self.gates)
        lines += [sentence(lost.metrics, lost.n, lost.case_ids) for lost in together(self.coverage)]
        if not self.n_measured:
            lines.append("no metric is scored in both runs: nothing measured never passes")
        if lines and self.changed["regressed"]:
            lines.append(f"regressed: {self._regressed()}")
        return Decision(tuple(lines))

    def _regressed(self) -> str:
        rest = self.changed["regressed"] - len(self.regressed)
        return ", ".join(self.regressed) + (f" and {rest:,} more" if rest > 0 else "")


def comparison_id(base: str, candidate: str) -> str:
    """The comparison's name; cut, and told apart by a digest, where no folder could bear it."""
    name = f"compare-{base}-{candidate}"
    if len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    return f"{name[: _LONGEST - len(digest) - 1]}-{digest}"
