"""A finished run as Python sees it: its tables as frames, its verdict, its folder."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import polars as pl

from ragtriage.metrics import Column, columns_for
from ragtriage.publish import wording
from ragtriage.publish.document import Report
from ragtriage.publish.folder import RunFolder, tagged
from ragtriage.publish.outcome import Outcome, manifest
from ragtriage.publish.tables import case_schema
from ragtriage.schemas import results
from ragtriage.schemas.inputs import dtypes


def stored_report(path: Path) -> Report:
    """The report of a finished run, from its folder."""
    return cast("Report", json.loads((path / "report.json").read_text(encoding="utf-8")))


@dataclass(repr=False)
class Run:
    """What `ragtriage.evaluate` returns.

    `passed`: all gates hold and some case was run. `path`: the run's folder, None when nothing
    was written. `summary`, `stages`, `findings`, `gates`, `cases`, `evidence` and `rejects`
    are frames; the last three are read from the folder when first asked for. `manifest`: what was
    run and on what.
    """

    run_id: str
    passed: bool
    path: Path | None
    report: Report
    summary: pl.DataFrame
    stages: pl.DataFrame
    findings: pl.DataFrame
    gates: pl.DataFrame
    columns: list[Column] = field(default_factory=list)
    manifest: dict[str, Any] = field(default_factory=dict)
    _kept: dict[str, list[pl.DataFrame]] | None = field(default=None)

    def __repr__(self) -> str:
        """One line: the run, its verdict and where it lies."""
        verdict = "passed" if self.passed else "failed"
        where = f"; {self.path}" if self.path else ""
        return f"<Run {self.run_id}: {verdict}, {wording.verdict(self.report)}{where}>"

    @classmethod
    def of(
        cls,
        outcome: Outcome,
        folder: RunFolder | None,
        kept: dict[str, list[pl.DataFrame]] | None,
        timings: dict[str, float],
    ) -> Run:
        """From what a run came to."""
        return cls(
            run_id=outcome.run_id,
            passed=outcome.decision.passed,
            path=folder.path if folder is not None else None,
            report=outcome.report,
            summary=tagged(outcome.summary, outcome.run_id),
            stages=tagged(outcome.stages, outcome.run_id),
            findings=tagged(outcome.findings, outcome.run_id),
            gates=tagged(outcome.gates, outcome.run_id),
            columns=columns_for(outcome.request.k),
            manifest=manifest(outcome, "complete", timings),
            _kept=kept,
        )

    @property
    def system(self) -> str | None:
        """Whose run it is, where the input held several systems'."""
        name: str | None = self.manifest["config"]["system"]
        return name

    @property
    def folder(self) -> Path:
        """The run's folder.

        Raises:
            ValueError: nothing was written.
        """
        if self.path is None:
            raise ValueError("the run was not written")
        return self.path

    @cached_property
    def cases(self) -> pl.DataFrame:
        """A row per accepted case, in input order."""
        return self._table("cases")

    @cached_property
    def evidence(self) -> pl.DataFrame:
        """The ledger: a row per case and requirement."""
        return self._table("evidence")

    @cached_property
    def claims(self) -> pl.DataFrame:
        """A row per claim; empty where the input has none."""
        return self._table("claims")

    @cached_property
    def rejects(self) -> pl.DataFrame:
        """A row per broken rule of a record set aside; empty where there is none."""
        return self._table("rejects")

    def _table(self, name: str) -> pl.DataFrame:
        if self._kept is not None:
            parts = [tagged(part, self.run_id) for part in self._kept[name]]
        elif self.path is not None:
            files = sorted((self.path / name).glob("*.parquet"))
            parts = [pl.read_parquet(file, glob=False) for file in files]
        else:
            raise ValueError(f"{name} was neither written nor kept")
        return pl.concat(parts) if parts else pl.DataFrame(schema=self._schema(name))

    def _schema(self, name: str) -> dict[str, pl.DataType]:
        models = {
            "evidence": results.Evidence,
            "claims": results.Claims,
            "rejects": results.Rejects,
        }
        return dtypes(models[name]) if name in models else case_schema(self.columns)
