"""All that a look at splits came to, and its way onto disk: tables, reports, manifest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import polars as pl

from ragtriage.leakage_request import LeakageRequest
from ragtriage.publish.identity import pinned_seconds
from ragtriage.publish.input_notes import unknown_fields
from ragtriage.publish.leakage import document as doc
from ragtriage.publish.look import Look
from ragtriage.publish.outcome import input_entries, line_counts
from ragtriage.read.input import Input
from ragtriage.read.prompts import Prompts
from ragtriage.schemas.results import SCHEMA_VERSION
from ragtriage.schemas.texts import NO_TEXT
from ragtriage.splits.assign import Proposal
from ragtriage.splits.examine import Examined, n_short
from ragtriage.splits.leaks import answers_of
from ragtriage.version import __version__
from ragtriage.without_text import names_without_text


@dataclass
class LeakageOutcome(Look):
    """`cases`: those looked at. `held_out`: which of them should stand in no prompt."""

    RECORD = "case"
    FILES: ClassVar[dict[str, str]] = {"findings": "leaks"}
    request: LeakageRequest
    given: Input
    cases: pl.DataFrame
    held_out: pl.Series
    prompts: Prompts | None
    examined: Examined
    proposal: Proposal | None

    @property
    def passed(self) -> bool:
        """No more findings than are allowed."""
        return self.examined.n <= self.request.max

    @cached_property
    def report(self) -> doc.LeakageReport:
        """The document that every format shows."""
        findings, omitted = doc.shown_findings(self.examined)
        return doc.LeakageReport(
            run=self._run_entry(),
            splits=self._splits(),
            kinds=doc.kind_rows(self.examined),
            findings=findings,
            omitted=omitted,
            search=doc.search_entry(self.examined),
            prompts=self._prompts_entry(),
            assignment=self._assignment_entry(),
            rejects=dict(sorted(self.tally.rules.items())),
            limits=list(doc.LIMITS),
        )

    def _run_entry(self) -> doc.LeakageRun:
        request, cases = self.request, self.cases
        answers = answers_of(cases, 1)["answer_key"].str.len_chars()
        return doc.LeakageRun(
            run_id=self.run_id,
            kind="leakage",
            status="passed" if self.passed else "failed",
            version=__version__,
            schema_version=SCHEMA_VERSION,
            started=self.started,
            on_invalid=request.on_invalid,
            written=request.write,
            threshold=request.threshold,
            min_answer_length=request.min_answer_length,
            max=request.max,
            n_findings=self.examined.n,
            n_cases=cases.height,
            n_without_split=cases["split"].null_count(),
            n_without_question=cases["key"].null_count(),
            n_short_questions=n_short(cases),
            n_short_answers=int((answers < request.min_answer_length).sum()),
            lines=line_counts(self.tally.totals),
            inputs=input_entries(self.given.files, self.tally),
            mapping=self.given.mapping,
            notes=self._notes(),
        )

    def _notes(self) -> list[str]:
        no_text = self.request.no_text
        notes = [*([NO_TEXT] if no_text else []), *self.given.notes]
        dropped = self.given.dropped
        return notes + unknown_fields(names_without_text(dropped) if no_text else dropped)

    def _splits(self) -> list[doc.SplitRow]:
        lying = self.cases.select("split", held_out=self.held_out).group_by("split")
        counted = lying.agg(n=pl.len(), held_out=pl.col("held_out").any())
        ordered = counted.sort("n", "split", descending=[True, False], nulls_last=True)
        return [
            doc.SplitRow(split=split, n=n, held_out=held_out)
            for split, n, held_out in ordered.iter_rows()
        ]

    def _prompts_entry(self) -> doc.PromptsEntry | None:
        if self.prompts is None:
            return None
        return doc.PromptsEntry(
            files=[
                doc.FileEntry(path=file.name, bytes=file.size, sha256=file.sha256)
                for file in self.prompts.files
            ],
            unread=[doc.UnreadEntry(path=name, why=why) for name, why in self.prompts.unread],
            n_held_out=int(self.held_out.sum()),
        )

    def _assignment_entry(self) -> doc.AssignmentEntry | None:
        proposal, request = self.proposal, self.request
        if proposal is None:
            return None
        return doc.AssignmentEntry(
            seed=request.seed,
            reassign=request.reassign,
            strata=request.strata,
            n_families=proposal.n_families,
            largest=proposal.largest,
            n_moved=proposal.n_moved,
            sizes=doc.size_rows(proposal.sizes),
        )

    def pages(self) -> dict[str, str]:
        """The report for people, by file name."""
        from ragtriage.publish.leakage import html, markdown  # noqa: PLC0415 - not needed where nothing is written

        return {"report.md": markdown.render(self.report), "report.html": html.render(self.report)}

    def manifest(self, status: str, timings: dict[str, float]) -> dict[str, Any]:
        """What was read, and how long each step took (seconds; 0 when times are pinned)."""
        report, run = self.report, self.report["run"]
        return {
            "run_id": self.run_id,
            "kind": run["kind"],
            "status": status,
            "passed": self.passed if status == "complete" else None,
            "version": run["version"],
            "schema_version": run["schema_version"],
            "started": self.started,
            "config": self.request.model_dump(by_alias=True, exclude={"out", "run_id"}),
            "mapping": run["mapping"],
            "inputs": run["inputs"],
            "prompts": report["prompts"],
            "lines": run["lines"],
            "rejects": report["rejects"],
            "notes": run["notes"],
            "findings": {row["finding"]: row["n"] for row in report["kinds"]},
            "search": report["search"],
            "rows": {name: frame.height for name, frame in self.tables.items()},
            "timings": pinned_seconds(timings),
        }
