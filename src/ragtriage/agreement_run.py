"""From reviews files to a report on agreement. Every step is elsewhere; this calls them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import polars as pl

from ragtriage.agreement.disagreements import human_disagreements, judge_disagreements
from ragtriage.agreement.items import item_states
from ragtriage.agreement.judges import judge_table
from ragtriage.agreement.pairs import pair_table, unlisted_pairs
from ragtriage.agreement_request import PREFIX, AgreementRequest, build_agreement_request
from ragtriage.errors import InputError, InvalidRowsError
from ragtriage.publish.agreement import wording
from ragtriage.publish.agreement.document import AgreementReport
from ragtriage.publish.agreement.outcome import AgreementOutcome, manifest, write_outcome
from ragtriage.publish.folder import RunFolder
from ragtriage.publish.identity import new_run_id, started_at
from ragtriage.publish.tables import reject_table
from ragtriage.read.reviews import ReviewsInput, open_reviews
from ragtriage.reviews.intake import Intake, take_in
from ragtriage.reviews.settle import settle
from ragtriage.schemas.texts import NO_TEXT
from ragtriage.tally import Tally
from ragtriage.without_text import (
    columns_without_text,
    fault_without_text,
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
    several = [reviews] if isinstance(reviews, str | PathLike) else reviews
    given = {name: fspath(v) if isinstance(v, PathLike) else v for name, v in options.items()}
    return run_agreement(
        build_agreement_request({"reviews": [fspath(name) for name in several], **given})
    )


def run_agreement(request: AgreementRequest) -> Agreement:
    """Carry out a request; the folder appears whole, or not at all."""
    started = started_at()
    configuration = repr(request.model_dump(exclude={"out", "run_id"}))
    run_id = PREFIX + (request.run_id or new_run_id(started, configuration))
    folder = RunFolder(request.out, run_id) if request.write else None
    if folder is not None:
        folder.open()
    try:
        with nothing_quoted(no_text=request.no_text):
            return _carried_out(request, run_id, f"{started:%Y-%m-%dT%H:%M:%SZ}", folder)
    finally:
        if folder is not None:
            folder.close()


def _carried_out(
    request: AgreementRequest, run_id: str, started: str, folder: RunFolder | None
) -> Agreement:
    start = time.perf_counter()
    given = open_reviews(request.reviews, request)
    intake = take_in(given)
    if request.no_text:
        intake = replace(intake, faults=[fault_without_text(fault) for fault in intake.faults])
    tally = _tallied(intake)
    read = time.perf_counter()
    outcome = _outcome(request, run_id, started, given, intake, tally)
    timings = {"read": read - start, "compare": time.perf_counter() - read}
    if folder is not None and intake.faults:
        folder.write_table("rejects/part-00000.parquet", reject_table(intake.faults))
    _refuse_if_invalid(outcome, folder, timings)
    if folder is not None:
        write_outcome(outcome, folder, timings)
    tables = {
        name: table.select(pl.lit(run_id).alias("run_id"), pl.all())
        for name, table in outcome.tables.items()
    }
    return Agreement(run_id, folder.path if folder else None, outcome.report, **tables)


def _tallied(intake: Intake) -> Tally:
    tally = Tally()
    for name, read, blank in intake.counts:
        tally.add_lines(name, read, blank)
    tally.add_faults(intake.faults)
    tally.check_lines(intake.rows.height)
    return tally


def _outcome(
    request: AgreementRequest,
    run_id: str,
    started: str,
    given: ReviewsInput,
    intake: Intake,
    tally: Tally,
) -> AgreementOutcome:
    rows = intake.rows
    settled = settle(rows)
    pairs = pair_table(rows)
    differing = human_disagreements(rows, settled)
    of_judges = judge_disagreements(rows, settled)
    if request.no_text:
        differing = voices_without_text(differing)
        of_judges = columns_without_text(voices_without_text(of_judges), "judge_note")
    return AgreementOutcome(
        request=request,
        run_id=run_id,
        started=started,
        files=given.files,
        tally=tally,
        rows=rows,
        states=item_states(settled),
        tables={
            "pairs": pairs,
            "judges": judge_table(rows, settled, request.min_validated),
            "disagreements": differing,
            "judge_disagreements": of_judges,
        },
        notes=[
            *([NO_TEXT] if request.no_text else []),
            *_notes(given, unlisted_pairs(pairs, rows)),
        ],
    )


def _notes(given: ReviewsInput, unlisted: int) -> list[str]:
    notes = []
    if unlisted:
        notes.append(f"{unlisted:,} pairs of people share no item and are not listed")
    if given.dropped:
        names = ", ".join(f"{name} ({n:,})" for name, n in list(given.dropped.items())[:10])
        notes.append(f"unknown fields set aside (--extra ignore): {names}")
    return notes


def _refuse_if_invalid(
    outcome: AgreementOutcome, folder: RunFolder | None, timings: dict[str, float]
) -> None:
    tally = outcome.tally
    refused = bool(tally.n_refused) and outcome.request.on_invalid == "fail"
    if not refused and outcome.rows.height:
        return
    if not tally.n_faults:
        names = ", ".join(str(file["path"]) for file in outcome.files[:3])
        raise InputError(f"{names}: no review in it; nothing to compare")
    where = None
    if folder is not None:
        folder.write_json("manifest.json", manifest(outcome, "refused", timings))
        folder.publish()
        where = str(folder.path / "rejects")
    total = tally.n_refused
    note = f"{total:,} {'error' if total == 1 else 'errors'}; nothing compared"
    if not refused:
        note = f"all {tally.totals.set_aside:,} records were set aside; no review left"
    raise InvalidRowsError(tally.messages, total, where, note)
