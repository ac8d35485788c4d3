"""One run in progress: the steps folded over chunks. Every step is elsewhere; this calls them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import polars as pl

from ragtriage.admission import Admission
from ragtriage.advice import advice
from ragtriage.decision import decide
from ragtriage.errors import InputError, InvalidRowsError, UsageError
from ragtriage.finding_needs import CORPUS, REVIEWS
from ragtriage.folding import Fold, Progress
from ragtriage.gates import (
    THRESHOLDS,
    Gate,
    check_observed,
    judge,
    parse_gate,
    threshold_gates,
)
from ragtriage.publish.folder import RunFolder
from ragtriage.publish.identity import stamp
from ragtriage.publish.outcome import Outcome, manifest, write_outcome
from ragtriage.publish.parts import Parts
from ragtriage.publish.tables import reject_table, rows_table
from ragtriage.read.chunk import RowFault
from ragtriage.read.input import Input
from ragtriage.read.once import Mistaken
from ragtriage.request import EvaluateRequest, load_about
from ragtriage.run import Run
from ragtriage.schemas import results
from ragtriage.summary import STANDARD_SLICES, Summary
from ragtriage.tally import SHOWN_CASES, FileLines, Tally


class Evaluation:
    """One run in progress.

    `run` does all of it; `take`, `fold` and `conclude` are its parts, for cases that are read
    elsewhere.
    """

    def __init__(
        self,
        request: EvaluateRequest,
        folder: RunFolder | None,
        run_id: str,
        *,
        keep_frames: bool,
        progress: Progress | None,
        once: bool = False,
    ) -> None:
        """`once`: try to do with one pass; `run` raises `Mistaken` where that was not enough."""
        self._once = once
        self._request = request
        self._folder = folder
        self._run_id = run_id
        self._keep = keep_frames
        self._progress = progress or (lambda _step, _lines: None)
        self._gates = _parsed_gates(request)
        self._about = load_about(request.about) if request.about else {}
        shown = None if request.all_cases else SHOWN_CASES
        self._tally = Tally(shown=shown, texts=not request.no_text)
        self.parts = Parts(folder, keep=keep_frames)
        self.admission = Admission(request, self._tally, self._reject)
        self.fold = Fold(request, self.admission, self._tally, self.parts, self._progress)

    def run(
        self, frame: pl.DataFrame | None, started: datetime, digests: dict[str, str] | None = None
    ) -> Run:
        """All of it."""
        with self.fold.timings.of("index"):
            self._progress("indexing", 0)
            spill = self._folder.spill if self._folder else None
            self.admission.open(frame, spill, once=self._once and digests is None)
            self._check_given(digests)
        self.fold.begin()
        self.fold.run()
        return self.conclude(started)

    def take(self, given: Input, digests: dict[str, str] | None) -> None:
        """Cases that were indexed elsewhere; `fold` then waits for what they come to."""
        self.admission.take(given)
        self._check_given(digests)
        self.fold.begin()

    def conclude(self, started: datetime) -> Run:
        """All cases are summed and written: refuse the run, or publish it."""
        self.fold.end()
        given, summary = self.admission.given, self.fold.sums.summary
        self._refuse_if_invalid(given, summary, started)
        outcome = self._outcome(given, summary, started)
        if self._folder is not None:
            write_outcome(outcome, self._folder, self.fold.timings.seconds)
        kept = self.parts.kept if self._keep else None
        return Run.of(outcome, self._folder, kept, self.fold.timings.seconds)

    def _check_given(self, digests: dict[str, str] | None) -> None:
        fields = self.admission.given.fields
        try:
            for gate in self._gates if fields else ():
                check_observed(gate, fields | self._files, self._request.k)
        except UsageError:
            if self.admission.once:
                raise Mistaken from None  # a later record may yet have the field
            raise
        self.admission.check_digests(digests)

    @property
    def _files(self) -> set[str]:
        """Files beside the cases, which some findings need."""
        given = {CORPUS: self._request.corpus, REVIEWS: self._request.reviews}
        return {name for name, files in given.items() if files}

    def check(self) -> FileLines:
        """The first half of it."""
        admission = self.admission
        admission.open(None, None)
        accepted = 0
        for chunk, faults, cases, _ in admission.chunks():
            admission.count(chunk.counts, faults)
            accepted += cases.height
            self._progress("checking", self._tally.totals.read)
        admission.set_aside_reviews()
        if self._tally.n_refused:
            total = self._tally.n_refused
            note = f"{total:,} {'error' if total == 1 else 'errors'}"
            if total > len(self._tally.messages):
                note += "; evaluate writes every one to rejects/"
            raise self._invalid(None, note)
        if not accepted:
            raise InputError(f"{admission.names()}: no case in it")
        return self._tally.totals

    def _reject(self, faults: list[RowFault]) -> None:
        self.parts.write("rejects", reject_table(faults))

    def _refuse_if_invalid(self, given: Input, summary: Summary, started: datetime) -> None:
        refused = self._tally.n_refused and self._request.on_invalid == "fail"
        if not refused and summary.n_cases:
            return
        if not self._tally.n_faults:
            raise InputError(f"{self.admission.names()}: no case in it; nothing to evaluate")
        where = None
        if self._folder is not None:
            for name in ("cases", "evidence", "claims"):
                self._folder.discard(name)
            refused_run = self._outcome(given, summary, started)
            self._folder.write_json(
                "manifest.json", manifest(refused_run, "refused", self.fold.timings.seconds)
            )
            self._folder.publish()
            where = str(self._folder.path / "rejects")
        note = (
            ""
            if refused
            else f"every record was set aside ({self._tally.totals.set_aside:,}); no case left"
        )
        raise self._invalid(where, note)

    def _invalid(self, where: str | None, note: str) -> InvalidRowsError:
        next_step = advice(self._request, self._tally.rules, self._tally.totals.accepted)
        return InvalidRowsError(self._tally.messages, self._tally.n_refused, where, note, next_step)

    def _outcome(self, given: Input, summary: Summary, started: datetime) -> Outcome:
        table, stages = summary.table(), summary.stages()
        findings = rows_table(results.Findings, self._tally.findings())
        verdicts = judge(self._gates, table, stages, findings, summary.cases_run())
        return Outcome(
            request=self._request,
            run_id=self._run_id,
            started=stamp(started),
            given=given,
            about=self._about,
            summary=table,
            stages=stages,
            findings=findings,
            gates=rows_table(results.Gates, [asdict(verdict) for verdict in verdicts]),
            tally=self._tally,
            decision=decide(verdicts, summary.n_cases - summary.n_not_run),
            n_cases=summary.n_cases,
            n_not_run=summary.n_not_run,
            overflowed=summary.overflowed,
            columns=summary.columns,
            book=self.admission.book,
            intervals=self._interval_table(),
        )

    def _interval_table(self) -> pl.DataFrame | None:
        intervals = self.fold.sums.intervals
        return None if intervals is None else rows_table(results.Intervals, intervals.rows())


def _parsed_gates(request: EvaluateRequest) -> list[Gate]:
    slices = ("all", *STANDARD_SLICES, *request.slice)
    minima = {name: getattr(request, name) for name in THRESHOLDS}
    return [
        *threshold_gates(minima, request.ledger_k),
        *(parse_gate(text, slices) for text in request.gate),
    ]
