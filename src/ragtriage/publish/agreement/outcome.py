"""All that a look at agreement came to, and its way onto disk: tables, reports, manifest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from ragtriage.agreement_request import AgreementRequest
from ragtriage.publish.agreement.document import AgreementReport, AgreementRun, build_document
from ragtriage.publish.folder import RunFolder, to_json
from ragtriage.publish.identity import is_pinned
from ragtriage.publish.outcome import input_entries, line_counts
from ragtriage.schemas.results import SCHEMA_VERSION
from ragtriage.schemas.reviews import HUMAN, JUDGE
from ragtriage.tally import Tally
from ragtriage.version import __version__


@dataclass
class AgreementOutcome:
    """Finished, before it is written. `tables`: by name, but for the run; `states`: of items."""

    request: AgreementRequest
    run_id: str
    started: str
    files: list[dict[str, Any]]
    tally: Tally
    rows: pl.DataFrame
    states: dict[str, dict[str, int]]
    tables: dict[str, pl.DataFrame]
    notes: list[str]

    @cached_property
    def report(self) -> AgreementReport:
        """The document that every format shows."""
        rejects = dict(sorted(self.tally.rules.items()))
        return build_document(self._run_entry(), self.states, self.tables, rejects)

    def _run_entry(self) -> AgreementRun:
        return AgreementRun(
            run_id=self.run_id,
            kind="agreement",
            status="complete",
            version=__version__,
            schema_version=SCHEMA_VERSION,
            started=self.started,
            on_invalid=self.request.on_invalid,
            min_validated=self.request.min_validated,
            n_reviews=self.rows.height,
            n_people=self._names(HUMAN),
            n_judges=self._names(JUDGE),
            lines=line_counts(self.tally.totals),
            inputs=input_entries(self.files, self.tally),
            notes=self.notes,
        )

    def _names(self, kind: str) -> int:
        return self.rows.filter(pl.col("kind") == kind)["reviewer"].n_unique()


def manifest(outcome: AgreementOutcome, status: str, timings: dict[str, float]) -> dict[str, Any]:
    """What was read, and how long each step took (seconds; 0 when times are pinned)."""
    run = outcome.report["run"]
    return {
        "run_id": outcome.run_id,
        "kind": run["kind"],
        "status": status,
        "version": run["version"],
        "schema_version": run["schema_version"],
        "started": outcome.started,
        "config": outcome.request.model_dump(exclude={"out", "run_id"}),
        "inputs": run["inputs"],
        "lines": run["lines"],
        "rejects": outcome.report["rejects"],
        "notes": run["notes"],
        "rows": {
            "reviews": run["n_reviews"],
            **{name: frame.height for name, frame in outcome.tables.items()},
        },
        "timings": {step: 0.0 if is_pinned() else round(s, 3) for step, s in timings.items()},
    }


def write_outcome(outcome: AgreementOutcome, folder: RunFolder, timings: dict[str, float]) -> None:
    """Write all of it and let the folder appear."""
    from ragtriage.publish.agreement import html, markdown  # noqa: PLC0415 - not needed where nothing is written

    for name, frame in outcome.tables.items():
        folder.write_table(f"{name.replace('_', '-')}.parquet", frame)
    report = outcome.report
    folder.write_text("report.json", to_json(report))
    folder.write_text("report.md", markdown.render(report))
    folder.write_text("report.html", html.render(report))
    folder.write_json("manifest.json", manifest(outcome, "complete", timings))
    folder.publish()
