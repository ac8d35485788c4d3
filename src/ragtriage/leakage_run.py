"""From files of cases to a report on what their splits share. Every step is elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from ragtriage.errors import InputError, UsageError, nearest
from ragtriage.intake import Intake
from ragtriage.leakage_request import DEVELOPMENT, PREFIX, LeakageRequest, build_leakage_request
from ragtriage.publish.folder import RunFolder
from ragtriage.publish.identity import stamp
from ragtriage.publish.leakage import wording
from ragtriage.publish.leakage.document import LeakageReport
from ragtriage.publish.leakage.outcome import LeakageOutcome
from ragtriage.publish.opened import opened_run
from ragtriage.read.prompts import Prompts, read_prompts
from ragtriage.read.questions import open_questions
from ragtriage.request_parts import plain_values
from ragtriage.splits.assign import Proposal, propose
from ragtriage.splits.examine import Examined, can_be_looked_at, examine
from ragtriage.splits.families import families_of
from ragtriage.splits.intake import take_in
from ragtriage.splits.prompts import Haystack, PromptText
from ragtriage.tally import Tally
from ragtriage.without_text import nothing_quoted


@dataclass(repr=False)
class Leakage:
    """What `ragtriage.leakage` returns.

    `passed`: no more findings than allowed. `path`: the folder, None when nothing was written.
    The tables are frames as written; `assignment` and `sizes` None unless asked for.
    """

    run_id: str
    passed: bool
    path: Path | None
    report: LeakageReport
    findings: pl.DataFrame
    assignment: pl.DataFrame | None = None
    sizes: pl.DataFrame | None = None

    def __repr__(self) -> str:
        """One line: the run, what was found, and where it lies."""
        return f"<Leakage {self.run_id}: {wording.verdict(self.report)}; {self.path}>"


def leakage(cases: Any, **options: Any) -> Leakage:
    """What the splits of a set share with each other and with prompts.

    Args:
        cases: a file of cases, a folder or a glob, or several of them.
        options: what the command line has as flags, under the same names (`against="prompts/"`,
            `threshold=0.5`, `assign=True`, `write=False`, …); see `LeakageRequest`.

    Raises:
        UsageError: an option makes no sense.
        InputError: the cases or files are refused; the text is what the command line prints.
    """
    given = plain_values({"cases": cases, **options}, ("cases", "against", "held_out"))
    return run_leakage(build_leakage_request(given))


def run_leakage(request: LeakageRequest) -> Leakage:
    """Carry out a request; the folder appears whole, or not at all."""
    with opened_run(request, PREFIX) as opened, nothing_quoted(no_text=request.no_text):
        return _carried_out(request, *opened)


def _carried_out(
    request: LeakageRequest, run_id: str, started: datetime, folder: RunFolder | None
) -> Leakage:
    start = time.perf_counter()
    given = open_questions(request.cases, request, folder.spill if folder else None)
    intake = take_in(given)
    if request.no_text:
        intake = intake.without_text()
    tally = Tally.of(intake)
    prompts = read_prompts(request.against, request.cases) if request.against else None
    cases = _to_be_examined(request, intake, tally)
    held_out = _held_out(cases, request)
    read = time.perf_counter()
    examined = _examined(request, cases, prompts, held_out)
    if request.no_text:
        examined = examined.without_text()
    proposal = _proposal(request, cases, examined)
    outcome = LeakageOutcome(
        request=request,
        run_id=run_id,
        started=stamp(started),
        given=given,
        intake=intake,
        tally=tally,
        tables=_tables(examined, proposal),
        cases=cases,
        held_out=held_out,
        prompts=prompts,
        examined=examined,
        proposal=proposal,
    )
    timings = {"read": read - start, "compare": time.perf_counter() - read}
    outcome.conclude(folder, timings)
    path = folder.path if folder is not None else None
    return Leakage(run_id, outcome.passed, path, outcome.report, **outcome.tagged_tables())


def _to_be_examined(request: LeakageRequest, intake: Intake, tally: Tally) -> pl.DataFrame:
    """The accepted cases; none where the input is going to be refused."""
    if tally.n_refused and request.on_invalid == "fail":
        return intake.rows.clear()
    cases = intake.rows
    idle = not request.against and not request.assign
    if cases.height and idle and not can_be_looked_at(cases):
        raise InputError(
            "no two splits in the input: nothing to hold against each other; give cases a `split` "
            "(--map THEIRS=split), look into prompts with --against, or propose splits with "
            "--assign"
        )
    return cases


def _held_out(cases: pl.DataFrame, request: LeakageRequest) -> pl.Series:
    """Which cases should stand in no prompt: those of the named splits, or all but development."""
    split = cases["split"]
    known = split.drop_nulls().unique().sort().to_list()
    for name in request.held_out:
        if cases.height and name not in known:
            raise UsageError(f"--held-out: no case has split {name!r}{nearest(name, known)}")
    if request.held_out:
        held_out = split.is_in(pl.Series(request.held_out).implode()).fill_null(False)
    else:
        held_out = ~split.str.to_lowercase().is_in(pl.Series(DEVELOPMENT).implode())
        held_out = held_out.fill_null(True)
    if request.against and cases.height and not held_out.any():
        raise UsageError(
            "--against: every case is of a development split: nothing to look for; name the "
            "splits that are held out with --held-out"
        )
    return held_out


def _examined(
    request: LeakageRequest, cases: pl.DataFrame, prompts: Prompts | None, held_out: pl.Series
) -> Examined:
    haystack = None
    if prompts is not None:
        haystack = Haystack([PromptText(file.name, file.text) for file in prompts.files])
    return examine(
        cases,
        haystack,
        held_out,
        threshold=request.threshold,
        min_answer_length=request.min_answer_length,
        pair_up=request.assign,
    )


def _proposal(request: LeakageRequest, cases: pl.DataFrame, examined: Examined) -> Proposal | None:
    if not request.assign:
        return None
    return propose(
        cases,
        families_of(cases, examined.keys, examined.near),
        request.shares,
        seed=request.seed,
        by_tag=request.strata == "tag",
        reassign=request.reassign,
    )


def _tables(examined: Examined, proposal: Proposal | None) -> dict[str, pl.DataFrame]:
    tables = {"findings": examined.rows}
    if proposal is not None:
        tables |= {"assignment": proposal.assignment, "sizes": proposal.sizes}
    return tables
