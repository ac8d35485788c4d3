"""From reviews files to a report on agreement. Every step is elsewhere; this calls them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from ragtriage.agreement.disagreements import human_disagreements, judge_disagreements
from ragtriage.agreement.items import item_states
from ragtriage.agreement.judges import judge_table
from ragtriage.agreement.pairs import pair_table, unlisted_pairs
from ragtriage.agreement_request import PREFIX, AgreementRequest, build_agreement_request
from ragtriage.publish.agreement import wording
from ragtriage.publish.agreement.document import AgreementReport
from ragtriage.publish.agreement.outcome import AgreementOutcome
from ragtriage.publish.folder import RunFolder
from ragtriage.publish.identity import stamp
from ragtriage.publish.input_notes import unknown_fields
from ragtriage.publish.opened import opened_run
from ragtriage.read.reviews import ReviewsInput, open_reviews
from ragtriage.request_parts import plain_values
from ragtriage.reviews.intake import take_in
from ragtriage.reviews.settle import settle
from ragtriage.schemas.texts import NO_TEXT
from ragtriage.tally import Tally
from ragtriage.without_text import (
    columns_without_text,
    names_without_text,
    nothing_quoted,
    voices_without_text,
)


@dataclass(repr=False)
class Agreement:
    """What `ragtriage.measure_agreement` returns.

    `path`: the folder, None when nothing was written. The tables are frames as written.
    """

    run_id: str
    path: Path | None
    report: AgreementReport
    pairs: pl.DataFrame
    judges: pl.DataFrame
    disagreements: pl.DataFrame
    judge_disagreements: pl.DataFrame

    def __repr__(self) -> str:
        """One line: the run, what is unsettled, and where it lies."""
        return f"<Agreement {self.run_id}: {wording.verdict(self.report)}; {self.path}>"


def measure_agreement(reviews: Any, **options: Any) -> Agreement:
    """How far reviewers agree, and judges with what reviewers settled.

    Args:
        reviews: a reviews file, a folder or a glob, or several of them.
        options: what the command line has as flags, under the same names (`min_validated=50`,
            `on_invalid="quarantine"`, `write=False`, …); see `AgreementRequest`.

    Raises:
        UsageError: an option makes no sense.
        InputError: the reviews are refused; the text is what the command line prints.
    """
    given = plain_values({"reviews": reviews, **options}, ("reviews",))
    return run_agreement(build_agreement_request(given))


def run_agreement(request: AgreementRequest) -> Agreement:
    """Carry out a request; the folder appears whole, or not at all."""
    with opened_run(request, PREFIX) as opened, nothing_quoted(no_text=request.no_text):
        return _carried_out(request, *opened)


def _carried_out(
    request: AgreementRequest, run_id: str, started: datetime, folder: RunFolder | None
) -> Agreement:
    start = time.perf_counter()
    given = open_reviews(request.reviews, request)
    intake = take_in(given)
    if request.no_text:
        intake = intake.without_text()
    tally = Tally.of(intake)
    read = time.perf_counter()
    settled = settle(intake.rows)
    tables = _tables(request, intake.rows, settled)
    outcome = AgreementOutcome(
        request=request,
        run_id=run_id,
        started=stamp(started),
        given=given,
        intake=intake,
        tally=tally,
        tables=tables,
        states=item_states(settled),
        notes=_notes(request, given, unlisted_pairs(tables["pairs"], intake.rows)),
    )
    timings = {"read": read - start, "compare": time.perf_counter() - read}
    outcome.conclude(folder, timings)
    path = folder.path if folder is not None else None
    return Agreement(run_id, path, outcome.report, **outcome.tagged_tables())


def _tables(
    request: AgreementRequest, rows: pl.DataFrame, settled: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    differing = human_disagreements(rows, settled)
    of_judges = judge_disagreements(rows, settled)
    if request.no_text:
        differing = voices_without_text(differing)
        of_judges = columns_without_text(voices_without_text(of_judges), "judge_note")
    return {
        "pairs": pair_table(rows),
        "judges": judge_table(rows, settled, request.min_validated),
        "disagreements": differing,
        "judge_disagreements": of_judges,
    }


def _notes(request: AgreementRequest, given: ReviewsInput, unlisted: int) -> list[str]:
    notes = [NO_TEXT] if request.no_text else []
    if unlisted:
        notes.append(f"{unlisted:,} pairs of people share no item and are not listed")
    dropped = given.dropped
    return notes + unknown_fields(names_without_text(dropped) if request.no_text else dropped)
