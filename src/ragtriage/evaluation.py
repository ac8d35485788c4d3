"""One run in progress: the steps folded over chunks. Every step is elsewhere; this calls them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime

import polars as pl

from ragtriage.admission import Admission, Admitted
from ragtriage.decision import decide
from ragtriage.errors import InputError, InvalidRowsError, UsageError
from ragtriage.gates import (
    THRESHOLDS,
    Gate,
    check_observed,
    judge,
    parse_gate,
    threshold_gates,
)
from ragtriage.mean_intervals import MeanIntervals
from ragtriage.metrics import Column, columns_for
from ragtriage.publish.folder import RunFolder
from ragtriage.publish.outcome import Outcome, manifest, write_outcome
from ragtriage.publish.tables import (
    case_table,
    claims_table,
    evidence_table,
    reject_table,
    rows_table,
)
from ragtriage.read.ahead import ahead
from ragtriage.read.chunk import RowFault
from ragtriage.read.input import Input
from ragtriage.read.once import Mistaken
from ragtriage.request import EvaluateRequest, load_about
from ragtriage.run import Run
from ragtriage.schemas import results
from ragtriage.scoring import Scored, score
from ragtriage.summary import STANDARD_SLICES, Summary
from ragtriage.tally import SHOWN_CASES, FileLines, Tally
from ragtriage.without_text import cases_without_text, columns_without_text

_TABLES = ("cases", "evidence", "claims", "rejects")
Progress = Callable[[str, int], None]


class Evaluation:
    """One run in progress."""

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
        self._kept: dict[str, list[pl.DataFrame]] = {name: [] for name in _TABLES}
        self._parts = dict.fromkeys(_TABLES, 0)
        self._timings: dict[str, float] = {}
        self._intervals: MeanIntervals | None = None
        self._admission = Admission(request, self._tally, self._reject)

    def run(
        self, frame: pl.DataFrame | None, started: datetime, digests: dict[str, str] | None = None
    ) -> Run:
        """All of it."""
        request, admission = self._request, self._admission
        with self._timed("index"):
            self._progress("indexing", 0)
            spill = self._folder.spill if self._folder else None
            admission.open(frame, spill, once=self._once and digests is None)
            given = admission.given
            self._check_gates(given)
            admission.check_digests(digests)
        columns = [c for c in columns_for(request.k) if c.metric.observed(given.fields)]
        summary = Summary(columns, request.slice, weighted="weight" in given.fields)
        if request.intervals:
            self._intervals = MeanIntervals(columns, request.slice, request.seed)
        self._fold(summary)
        self._refuse_if_invalid(given, summary, started)
        outcome = self._outcome(given, summary, started)
        if self._folder is not None:
            write_outcome(outcome, self._folder, self._timings)
        kept = self._kept if self._keep else None
        return Run.of(outcome, self._folder, kept, self._timings)

    def _check_gates(self, given: Input) -> None:
        try:
            for gate in self._gates if given.fields else ():
                check_observed(gate, given.fields, self._request.k)
        except UsageError:
            if self._admission.once:
                raise Mistaken from None  # a later record may yet have the field
            raise

    def check(self) -> FileLines:
        """The first half of it."""
        admission = self._admission
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
            raise InvalidRowsError(self._tally.messages, total, None, note)
        if not accepted:
            raise InputError(f"{admission.names()}: no case in it")
        return self._tally.totals

    def _fold(self, summary: Summary) -> None:
        """Second pass: three steps a chunk, each a chunk ahead of the next; order is kept.

        Reading and checking, scoring, and here summing and writing.
        """
        admission = self._admission
        full = columns_for(self._request.k)
        taken_in = self._tally.totals.accepted
        for admitted, scored in ahead(self._scored(full)):
            admission.count(admitted.chunk.counts, admitted.faults)
            taken_in += admitted.cases.height
            self._progress("evaluating", self._tally.totals.read)
            if scored is None:
                continue
            with self._timed("sum"):
                summary.add(scored.cases)
                if self._intervals is not None:
                    self._intervals.add(scored.cases)
                self._tally.add_cases(scored.cases, scored.ledger)
            with self._timed("write"):
                self._write("cases", case_table(self._told(scored.cases), full))
                self._write("evidence", evidence_table(scored.ledger))
                if "claims" in admission.given.fields:
                    self._tally.add_claims(scored.claims)
                    claims = claims_table(scored.claims)
                    hidden = ("text",) if self._request.no_text else ()
                    self._write("claims", columns_without_text(claims, *hidden))
            del admitted, scored
        taken_in -= admission.set_aside_reviews()
        if not self._request.cases:
            self._tally.check_lines(taken_in)

    def _scored(self, full: list[Column]) -> Iterator[tuple[Admitted, Scored | None]]:
        """Each chunk and, where it may be evaluated, its scored cases.

        Once a row is refused and none may be set aside, the rest is only checked: all errors
        are reported, nothing is evaluated.
        """
        admission = self._admission
        refused = self._tally.n_refused > 0
        for admitted in ahead(admission.chunks()):
            refused |= any(fault.refuses for fault in admitted.faults)
            stopped = refused and self._request.on_invalid == "fail"
            yield admitted, None if stopped else self._score(admitted, full)
            del admitted  # chunks are large: none is kept while the next is waited for

    def _score(self, admitted: Admitted, full: list[Column]) -> Scored | None:
        if admitted.cases.is_empty():
            return None
        admission = self._admission
        fields = admission.given.fields
        with self._timed("score"):
            return score(
                admitted.cases, self._request, full, fields, admission.corpus, admitted.reviews
            )

    def _told(self, cases: pl.DataFrame) -> pl.DataFrame:
        """Cases as far as they may be written."""
        return cases_without_text(cases) if self._request.no_text else cases

    def _reject(self, faults: list[RowFault]) -> None:
        self._write("rejects", reject_table(faults))

    def _write(self, table: str, frame: pl.DataFrame) -> None:
        if self._keep:
            self._kept[table].append(frame)
        if self._folder is not None:
            self._folder.write_table(f"{table}/part-{self._parts[table]:05d}.parquet", frame)
        self._parts[table] += 1

    def _refuse_if_invalid(self, given: Input, summary: Summary, started: datetime) -> None:
        refused = self._tally.n_refused and self._request.on_invalid == "fail"
        if not refused and summary.n_cases:
            return
        if not self._tally.n_faults:
            raise InputError(f"{self._admission.names()}: no case in it; nothing to evaluate")
        where = None
        if self._folder is not None:
            for name in ("cases", "evidence", "claims"):
                self._folder.discard(name)
            refused_run = self._outcome(given, summary, started)
            self._folder.write_json(
                "manifest.json", manifest(refused_run, "refused", self._timings)
            )
            self._folder.publish()
            where = str(self._folder.path / "rejects")
        total = self._tally.n_refused
        note = (
            ""
            if refused
            else f"all {self._tally.totals.set_aside:,} records were set aside; no case left"
        )
        raise InvalidRowsError(self._tally.messages, total, where, note)

    def _outcome(self, given: Input, summary: Summary, started: datetime) -> Outcome:
        table, stages = summary.table(), summary.stages()
        findings = rows_table(results.Findings, self._tally.findings())
        verdicts = judge(self._gates, table, stages, findings, summary.cases_run())
        return Outcome(
            request=self._request,
            run_id=self._run_id,
            started=f"{started:%Y-%m-%dT%H:%M:%SZ}",
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
            book=self._admission.book,
            intervals=self._interval_table(),
        )

    def _interval_table(self) -> pl.DataFrame | None:
        if self._intervals is None:
            return None
        return rows_table(results.Intervals, self._intervals.rows())

    @contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self._timings[step] = self._timings.get(step, 0.0) + time.perf_counter() - start


def _parsed_gates(request: EvaluateRequest) -> list[Gate]:
    slices = ("all", *STANDARD_SLICES, *request.slice)
    minima = {name: getattr(request, name) for name in THRESHOLDS}
    return [
        *threshold_gates(minima, request.ledger_k),
        *(parse_gate(text, slices) for text in request.gate),
    ]
