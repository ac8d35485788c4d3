"""From files of cases to a report on what their splits share. Every step is elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import polars as pl

from ragtriage.errors import InputError, InvalidRowsError, UsageError, nearest
from ragtriage.leakage_request import DEVELOPMENT, PREFIX, LeakageRequest, build_leakage_request
from ragtriage.publish.folder import RunFolder
from ragtriage.publish.identity import new_run_id, started_at
from ragtriage.publish.leakage import wording
from ragtriage.publish.leakage.document import LeakageReport
from ragtriage.publish.leakage.outcome import LeakageOutcome, manifest, write_outcome
from ragtriage.publish.tables import reject_table
from ragtriage.read.prompts import Prompts, read_prompts
from ragtriage.read.questions import open_questions
from ragtriage.splits.assign import Proposal, propose
from ragtriage.splits.examine import Examined, examine
from ragtriage.splits.families import families_of
from ragtriage.splits.intake import Intake, take_in
from ragtriage.splits.prompts import Haystack, PromptText
from ragtriage.tally import Tally
from ragtriage.without_text import fault_without_text, nothing_quoted


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
    given = {name: fspath(v) if isinstance(v, PathLike) else v for name, v in options.items()}
    for name in ("against", "held_out"):
        if name in given:
            given[name] = _several(given[name])
    return run_leakage(build_leakage_request({"cases": _several(cases), **given}))


def _several(names: Any) -> list[str]:
    return [fspath(name) for name in ([names] if isinstance(names, str | PathLike) else names)]


def run_leakage(request: LeakageRequest) -> Leakage:
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
    request: LeakageRequest, run_id: str, started: str, folder: RunFolder | None
) -> Leakage:
    start = time.perf_counter()
    given = open_questions(request.cases, request, folder.spill if folder else None)
    intake = take_in(given)
    if request.no_text:
        intake = replace(intake, faults=[fault_without_text(fault) for fault in intake.faults])
    tally = _tallied(intake)
    prompts = read_prompts(request.against, request.cases) if request.against else None
    cases = _to_be_examined(request, intake, tally)
    held_out = _held_out(cases, request)
    read = time.perf_counter()
    examined = _examined(request, cases, prompts, held_out)
    if request.no_text:
        examined = examined.without_text()
    outcome = LeakageOutcome(
        request=request,
        run_id=run_id,
        started=started,
        given=given,
        tally=tally,
        cases=cases,
        held_out=held_out,
        prompts=prompts,
        examined=examined,
        proposal=_proposal(request, cases, examined),
    )
    timings = {"read": read - start, "compare": time.perf_counter() - read}
    if folder is not None and intake.faults:
        folder.write_table("rejects/part-00000.parquet", reject_table(intake.faults))
    _refuse_if_invalid(outcome, folder, timings)
    if folder is not None:
        write_outcome(outcome, folder, timings)
    return _result(outcome, folder)


def _tallied(intake: Intake) -> Tally:
    tally = Tally()
    for name, read, blank in intake.counts:
        tally.add_lines(name, read, blank)
    tally.add_faults(intake.faults)
    tally.check_lines(intake.cases.height)
    return tally


def _to_be_examined(request: LeakageRequest, intake: Intake, tally: Tally) -> pl.DataFrame:
    """The accepted cases; none where the input is going to be refused."""
    if tally.n_refused and request.on_invalid == "fail":
        return intake.cases.clear()
    cases = intake.cases
    alone = cases["split"].drop_nulls().n_unique() < 2  # noqa: PLR2004 - it takes two
    if cases.height and alone and not request.against and not request.assign:
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


def _refuse_if_invalid(
    outcome: LeakageOutcome, folder: RunFolder | None, timings: dict[str, float]
) -> None:
    if outcome.cases.height:
        return
    tally = outcome.tally
    if not tally.n_faults:
        names = ", ".join(str(file["path"]) for file in outcome.given.files[:3])
        raise InputError(f"{names}: no case in it; nothing to compare")
    where = None
    if folder is not None:
        folder.write_json("manifest.json", manifest(outcome, "refused", timings))
        folder.publish()
        where = str(folder.path / "rejects")
    total = tally.n_refused
    note = f"{total:,} {'error' if total == 1 else 'errors'}; nothing compared"
    if outcome.request.on_invalid == "quarantine":
        note = f"all {tally.totals.set_aside:,} records were set aside; no case left"
    raise InvalidRowsError(tally.messages, total, where, note)


def _result(outcome: LeakageOutcome, folder: RunFolder | None) -> Leakage:
    tables = {
        name: table.select(pl.lit(outcome.run_id).alias("run_id"), pl.all())
        for name, table in outcome.tables.items()
    }
    path = folder.path if folder is not None else None
    return Leakage(outcome.run_id, outcome.passed, path, outcome.report, **tables)
