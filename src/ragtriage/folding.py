"""The second pass: chunks in order, each scored, summed and written. Of a whole run, or of a shard.

What shards come to is taken in here too, in input order, as if this process had read them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragtriage.admission import Admission, Admitted
from ragtriage.metrics import Column, columns_for
from ragtriage.publish.parts import Parts
from ragtriage.publish.tables import case_table, claims_table, evidence_table
from ragtriage.read.ahead import ahead
from ragtriage.request import EvaluateRequest
from ragtriage.scoring import Scored, score
from ragtriage.summary import Summary
from ragtriage.tally import Tally
from ragtriage.without_text import cases_without_text, columns_without_text

if TYPE_CHECKING:
    from ragtriage.mean_intervals import MeanIntervals

Progress = Callable[[str, int], None]


@dataclass
class Timings:
    """Seconds by step, over all threads and shards."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def of(self, step: str) -> Iterator[None]:
        """Count what is done meanwhile to a step."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(step, time.perf_counter() - start)

    def add(self, step: str, seconds: float) -> None:
        """So much more of a step."""
        self.seconds[step] = self.seconds.get(step, 0.0) + seconds


@dataclass
class Sums:
    """What a fold came to, small whatever it read: no case but the few of the tally.

    `accepted`: records that were let in, by the fold's own count. `refused`: was a row, so that
    nothing more is evaluated?
    """

    summary: Summary
    tally: Tally
    intervals: MeanIntervals | None
    timings: Timings
    accepted: int = 0
    refused: bool = False


def _intervals(request: EvaluateRequest, columns: list[Column]) -> MeanIntervals | None:
    if not request.intervals:
        return None
    from ragtriage.mean_intervals import MeanIntervals  # noqa: PLC0415 - only with --intervals

    return MeanIntervals(columns, request.slice, request.seed)


class Fold:
    """The chunks of an admission, folded into sums and written as parts.

    Once a row is refused and none may be set aside, the rest is only checked: all errors are
    reported, nothing is evaluated.
    """

    def __init__(
        self,
        request: EvaluateRequest,
        admission: Admission,
        tally: Tally,
        parts: Parts,
        progress: Progress,
        *,
        overlap: bool = True,
    ) -> None:
        """`overlap`: work on three chunks at a time; what has one core to itself does not."""
        self._ahead: Callable[[Iterable[Any]], Iterator[Any]] = ahead if overlap else iter
        self._request = request
        self._admission = admission
        self._tally = tally
        self._parts = parts
        self._progress = progress
        self._full = columns_for(request.k)
        self.timings = Timings()
        self.sums: Sums

    def begin(self, *, refused: bool = False) -> None:
        """The admission is open. `refused`: was a row, somewhere before what is read here?"""
        request, fields = self._request, self._admission.given.fields
        columns = [c for c in self._full if c.metric.observed(fields)]
        self.sums = Sums(
            Summary(columns, request.slice, weighted="weight" in fields),
            self._tally,
            _intervals(request, columns),
            self.timings,
            accepted=self._tally.totals.accepted,
            refused=self._stops(refused=refused or self._tally.n_refused > 0),
        )

    def run(self) -> None:
        """Three steps a chunk, each a chunk ahead of the next; order is kept.

        Reading and checking, scoring, and here summing and writing.
        """
        sums, timed = self.sums, self.timings.of
        for admitted, scored in self._ahead(self._scored(sums.refused)):
            self._admission.count(admitted.chunk.counts, admitted.faults)
            sums.accepted += admitted.cases.height
            self._progress("evaluating", self._tally.totals.read)
            if scored is not None:
                with timed("sum"):
                    self._sum(scored)
                with timed("write"):
                    self._write(scored)
            del admitted, scored
        sums.refused = self._stops(refused=sums.refused or self._tally.n_refused > 0)

    def merge(self, later: Sums) -> bool:
        """Take in the sums of what comes after, but for cases to show.

        Returns:
            Whether its cases count: not so where a row was refused before them.
        """
        sums = self.sums
        sums.tally.merge_checks(later.tally)
        sums.accepted += later.accepted
        counts = not sums.refused
        if counts:
            for step, seconds in later.timings.seconds.items():
                self.timings.add(step, seconds)
            sums.summary.merge(later.summary)
            sums.tally.merge_cases(later.tally)
            if sums.intervals is not None and later.intervals is not None:
                sums.intervals.merge(later.intervals)
        sums.refused |= later.refused
        return counts

    def end(self) -> None:
        """All is read: set aside reviews that found no case, and hold the counts together."""
        self.sums.accepted -= self._admission.set_aside_reviews()
        if not self._request.cases:
            self._tally.check_lines(self.sums.accepted)

    def _stops(self, *, refused: bool) -> bool:
        return refused and self._request.on_invalid == "fail"

    def _scored(self, stopped: bool) -> Iterator[tuple[Admitted, Scored | None]]:  # noqa: FBT001 - of this class
        """Each chunk and, where it may be evaluated, its scored cases."""
        for admitted in self._ahead(self._admission.chunks()):
            stopped |= self._stops(refused=any(fault.refuses for fault in admitted.faults))
            yield admitted, None if stopped else self._score(admitted, self._full)
            del admitted  # chunks are large: none is kept while the next is waited for

    def _score(self, admitted: Admitted, full: list[Column]) -> Scored | None:
        if admitted.cases.is_empty():
            return None
        admission = self._admission
        fields = admission.given.fields
        with self.timings.of("score"):
            return score(
                admitted.cases, self._request, full, fields, admission.corpus, admitted.reviews
            )

    def _sum(self, scored: Scored) -> None:
        self.sums.summary.add(scored.cases)
        if self.sums.intervals is not None:
            self.sums.intervals.add(scored.cases)
        self._tally.add_cases(scored.cases, scored.ledger)

    def _write(self, scored: Scored) -> None:
        no_text = self._request.no_text
        told = cases_without_text(scored.cases) if no_text else scored.cases
        self._parts.write("cases", case_table(told, self._full))
        self._parts.write("evidence", evidence_table(scored.ledger))
        if "claims" in self._admission.given.fields:
            self._tally.add_claims(scored.claims)
            hidden = ("text",) if no_text else ()
            self._parts.write("claims", columns_without_text(claims_table(scored.claims), *hidden))
