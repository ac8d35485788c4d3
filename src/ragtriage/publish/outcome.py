"""All that a run came to, and its way onto disk: small tables, reports, manifest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import polars as pl

from ragtriage.decision import Decision
from ragtriage.metrics import Column
from ragtriage.publish.document import (
    InputEntry,
    LineCounts,
    Report,
    ReviewsEntry,
    RunEntry,
)
from ragtriage.publish.folder import RunFolder, to_json
from ragtriage.publish.identity import pinned_seconds
from ragtriage.publish.input_notes import input_notes, presets_by_role, told_dropped
from ragtriage.publish.report import build_report
from ragtriage.read.input import Input
from ragtriage.request import EvaluateRequest
from ragtriage.reviews.book import ReviewBook
from ragtriage.reviews.settle import DISPUTED
from ragtriage.schemas.results import SCHEMA_VERSION
from ragtriage.schemas.texts import NO_TEXT
from ragtriage.tally import SHOWN_CASES, FileLines, Tally
from ragtriage.version import __version__
from ragtriage.without_text import config_without_text


@dataclass
class Outcome:
    """A finished run, before it is written."""

    request: EvaluateRequest
    run_id: str
    started: str
    given: Input
    about: dict[str, Any]
    summary: pl.DataFrame
    stages: pl.DataFrame
    findings: pl.DataFrame
    gates: pl.DataFrame
    tally: Tally
    decision: Decision
    n_cases: int
    n_not_run: int
    overflowed: list[str]
    columns: list[Column]
    book: ReviewBook | None
    intervals: pl.DataFrame | None = None

    @cached_property
    def report(self) -> Report:
        """The document that every format shows."""
        return build_report(
            run=self._run_entry(),
            failures=list(self.decision.failures),
            about=self.about,
            summary=self.summary,
            stages=self.stages,
            gates=self.gates,
            tally=self.tally,
            columns=self.columns,
            fields=self.given.fields,
            reviews=self._reviews_entry(),
            intervals=self.intervals,
        )

    def _reviews_entry(self) -> ReviewsEntry | None:
        book, tally = self.book, self.tally
        if book is None:
            return None
        return ReviewsEntry(
            states=dict(sorted(book.met.items())),
            claim_labels=dict(sorted(tally.claim_labels.items())),
            conflicts=tally.n_conflicts,
            judge=self.request.judge,
            disputed=cast("Any", book.disputed),
            disputed_omitted=book.met[DISPUTED] - len(book.disputed),
        )

    def _run_entry(self) -> RunEntry:
        tally, request = self.tally, self.request
        return RunEntry(
            run_id=self.run_id,
            status=self.decision.status,
            version=__version__,
            schema_version=SCHEMA_VERSION,
            started=self.started,
            contract=request.contract,
            cutoffs=list(request.k),
            normalizer=request.normalizer,
            on_invalid=request.on_invalid,
            no_text=request.no_text,
            written=request.write,
            n_cases=self.n_cases,
            n_not_run=self.n_not_run,
            n_pass=tally.n_pass,
            n_lucky=tally.n_lucky,
            n_unlabelled=tally.n_unlabelled,
            n_disputed=tally.n_disputed,
            context_observed=tally.n_context_observed,
            lines=line_counts(tally.totals),
            inputs=input_entries(self.given.files, self.tally),
            mapping=self.given.mapping,
            notes=self._notes(),
        )

    @property
    def presets(self) -> dict[str, str]:
        """The preset that read each role's files."""
        return presets_by_role(self.given, self.request)

    @property
    def dropped(self) -> dict[str, int]:
        """Keys that were set aside, and in how many records."""
        return told_dropped(self.given, self.request)

    def _notes(self) -> list[str]:
        notes = [
            f"slice {name}: more values than are kept apart; the rest is summed under `…`"
            for name in self.overflowed
        ]
        if self.request.no_text:
            notes.append(NO_TEXT)
        return notes + input_notes(self.given, self.request)


def input_entries(files: list[dict[str, Any]], tally: Tally) -> list[InputEntry]:
    """Each input file with what became of its lines."""
    entries = []
    for file in files:
        counts = line_counts(tally.lines.get(file["path"], FileLines()))
        entries.append(
            InputEntry(
                role=file["role"],
                path=file["path"],
                sha256=file["sha256"],
                bytes=file["bytes"],
                lines=counts["read"],
                accepted=counts["accepted"],
                set_aside=counts["set_aside"],
                blank=counts["blank"],
            )
        )
    return entries


def line_counts(lines: FileLines) -> LineCounts:
    """Read = accepted + set aside + blank."""
    if lines.accepted < 0:
        raise AssertionError("more lines set aside than were read")
    return LineCounts(
        read=lines.read, accepted=lines.accepted, set_aside=lines.set_aside, blank=lines.blank
    )


def manifest(outcome: Outcome, status: str, timings: dict[str, float]) -> dict[str, Any]:
    """What was run, on what, and how long each step took (seconds; 0 when times are pinned)."""
    request = outcome.request
    run = outcome.report["run"]
    config = request.model_dump(by_alias=True, exclude={"out", "run_id"})
    return {
        "run_id": outcome.run_id,
        "status": status,
        "passed": outcome.decision.passed if status == "complete" else None,
        "version": run["version"],
        "schema_version": run["schema_version"],
        "started": outcome.started,
        "contract": request.contract,
        "cutoffs": run["cutoffs"],
        "normalizer": request.normalizer,
        "config": config_without_text(config) if request.no_text else config,
        "mapping": run["mapping"],
        "presets": outcome.presets,
        "system": request.system,
        "fields": sorted(outcome.given.fields),
        "dropped": outcome.dropped,
        "about": outcome.about,
        "inputs": run["inputs"],
        "lines": run["lines"],
        "rejects": outcome.report["rejects"],
        "reviews": _without_list(outcome.report["reviews"]),
        "rows": {"cases": outcome.n_cases, "not_run": outcome.n_not_run},
        "timings": pinned_seconds(timings),
    }


def _without_list(reviews: ReviewsEntry | None) -> dict[str, Any] | None:
    """Counts only: what is disputed stands in the report."""
    if reviews is None:
        return None
    return {name: entry for name, entry in reviews.items() if not name.startswith("disputed")}


def _first_cases(report: Report) -> Report:
    """The report as far as a browser can hold it, however many cases were asked for."""
    cases = report["cases"][:SHOWN_CASES]
    omitted = report["cases_omitted"] + len(report["cases"]) - len(cases)
    return cast("Report", {**report, "cases": cases, "cases_omitted": omitted})


def write_outcome(outcome: Outcome, folder: RunFolder, timings: dict[str, float]) -> None:
    """Write what is left to write and let the folder appear."""
    from ragtriage.publish import markdown  # noqa: PLC0415 - not needed where nothing is written
    from ragtriage.publish.page import render as page  # noqa: PLC0415 - the same

    for name in ("summary", "stages", "findings", "gates"):
        folder.write_table(f"{name}.parquet", getattr(outcome, name))
    if outcome.intervals is not None:
        folder.write_table("intervals.parquet", outcome.intervals)
    report = outcome.report
    folder.write_text("report.json", to_json(report))
    folder.write_text("report.md", markdown.render(report))
    folder.write_text("report.html", page.render(_first_cases(report)))
    folder.write_json("manifest.json", manifest(outcome, "complete", timings))
    folder.publish()
