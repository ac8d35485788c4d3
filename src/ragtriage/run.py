"""A finished run as Python sees it: its tables as frames, its verdict, its folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl

from ragtriage.publish.document import Report
from ragtriage.publish.folder import RunFolder
from ragtriage.publish.outcome import Outcome


@dataclass
class Run:
    """What `ragtriage.evaluate` returns.

    `passed`: all gates hold and some case was run. `path`: the run's folder, None when nothing
    was written. `summary`, `stages`, `findings`, `gates`, `cases`, `evidence` and `rejects`
    are frames; the last three are read from the folder when first asked for.
    """

    run_id: str
    passed: bool
    path: Path | None
    report: Report
    summary: pl.DataFrame
    stages: pl.DataFrame
    findings: pl.DataFrame
    gates: pl.DataFrame
    _kept: dict[str, list[pl.DataFrame]] | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        outcome: Outcome,
        folder: RunFolder | None,
        kept: dict[str, list[pl.DataFrame]] | None,
    ) -> Run:
        """From what a run came to."""
        return cls(
            run_id=outcome.run_id,
            passed=outcome.passed,
            path=folder.path if folder is not None else None,
            report=outcome.report,
            summary=outcome.summary,
            stages=outcome.stages,
            findings=outcome.findings,
            gates=outcome.gates,
            _kept=kept,
        )

    @cached_property
    def cases(self) -> pl.DataFrame:
        """A row per accepted case, in input order."""
        return self._table("cases")

    @cached_property
    def evidence(self) -> pl.DataFrame:
        """The ledger: a row per case and requirement."""
        return self._table("evidence")

    @cached_property
    def rejects(self) -> pl.DataFrame:
        """A row per broken rule of a record set aside; empty where there is none."""
        return self._table("rejects")

    def _table(self, name: str) -> pl.DataFrame:
        if self._kept is not None:
            parts = self._kept[name]
        elif self.path is not None:
            parts = [pl.read_parquet(part) for part in sorted((self.path / name).glob("*.parquet"))]
        else:
            raise ValueError(f"{name} was neither written nor kept")
        return pl.concat(parts) if parts else pl.DataFrame()
