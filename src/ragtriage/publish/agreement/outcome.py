"""All that a look at agreement came to, and its way onto disk: tables, reports, manifest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from ragtriage.agreement_request import AgreementRequest
from ragtriage.publish.agreement.document import AgreementReport, AgreementRun, build_document
from ragtriage.publish.identity import pinned_seconds
from ragtriage.publish.look import Look
from ragtriage.publish.outcome import input_entries, line_counts
from ragtriage.schemas.results import SCHEMA_VERSION
from ragtriage.schemas.reviews import HUMAN, JUDGE
from ragtriage.version import __version__


@dataclass
class AgreementOutcome(Look):
    """`states`: of items."""

    RECORD = "review"
    request: AgreementRequest
    states: dict[str, dict[str, int]]
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
            written=self.request.write,
            min_validated=self.request.min_validated,
            n_reviews=self.intake.rows.height,
            n_people=self._names(HUMAN),
            n_judges=self._names(JUDGE),
            lines=line_counts(self.tally.totals),
            inputs=input_entries(self.given.files, self.tally),
            notes=self.notes,
        )

    def _names(self, kind: str) -> int:
        return self.intake.rows.filter(pl.col("kind") == kind)["reviewer"].n_unique()

    def pages(self) -> dict[str, str]:
        """The report for people, by file name."""
        from ragtriage.publish.agreement import html, markdown  # noqa: PLC0415 - not needed where nothing is written

        return {"report.md": markdown.render(self.report), "report.html": html.render(self.report)}

    def manifest(self, status: str, timings: dict[str, float]) -> dict[str, Any]:
        """What was read, and how long each step took (seconds; 0 when times are pinned)."""
        run = self.report["run"]
        return {
            "run_id": self.run_id,
            "kind": run["kind"],
            "status": status,
            "version": run["version"],
            "schema_version": run["schema_version"],
            "started": self.started,
            "config": self.request.model_dump(exclude={"out", "run_id"}),
            "inputs": run["inputs"],
            "lines": run["lines"],
            "rejects": self.report["rejects"],
            "notes": run["notes"],
            "rows": {
                "reviews": run["n_reviews"],
                **{name: frame.height for name, frame in self.tables.items()},
            },
            "timings": pinned_seconds(timings),
        }
