"""Ways into a comparison: from Python, from a request, and as the second half of an evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast

import polars as pl

from ragtriage.comparison import comparability
from ragtriage.comparison.request import (
    CompareRequest,
    build_compare_request,
    idle_options,
    side_request,
)
from ragtriage.comparison.result import Result
from ragtriage.comparison.steps import compare_runs, parsed_gates
from ragtriage.comparison.table import ChangedTable
from ragtriage.errors import UsageError
from ragtriage.folding import Progress
from ragtriage.pipeline import plain_option, run_request
from ragtriage.publish.comparison import words
from ragtriage.publish.comparison.document import ComparisonReport
from ragtriage.publish.comparison.outcome import write_result
from ragtriage.publish.comparison.report import build_report
from ragtriage.publish.folder import RunFolder, tagged
from ragtriage.publish.identity import stamp, started_at
from ragtriage.publish.tables import rows_table
from ragtriage.read.compared import check_place, check_same_two
from ragtriage.read.run_manifest import run_within
from ragtriage.read.runs import StoredRun, looks_like_run, open_run
from ragtriage.read.sources import files_for
from ragtriage.request import EvaluateRequest
from ragtriage.request_parts import write_said
from ragtriage.run import Run
from ragtriage.schemas.results import Gates
from ragtriage.without_text import nothing_quoted

IN_MEMORY = "<in memory>"
Given = StoredRun | pl.DataFrame | None


@dataclass(repr=False)
class Comparison:
    """What `ragtriage.compare` returns.

    `passed`: all gates hold, no metric lost scored cases, something was measured; `failures` says
    why not. `transitions`, `deltas`, `cases` (changed ones, regressions first), `gates`, and
    with `test` and `intervals` also `tests` and `intervals`, are frames. `path`: the folder,
    None when nothing was written.
    """

    run_id: str
    passed: bool
    failures: list[str]
    path: Path | None
    report: ComparisonReport
    transitions: pl.DataFrame
    deltas: pl.DataFrame
    gates: pl.DataFrame
    tests: pl.DataFrame | None
    intervals: pl.DataFrame | None
    _table: ChangedTable | None

    @cached_property
    def cases(self) -> pl.DataFrame:
        """Cases that changed, regressions first; read from the folder where there is one."""
        if self._table is None:
            return pl.read_parquet(self.folder / "cases.parquet", glob=False)
        return tagged(self._table.frame(), self.run_id)

    def __repr__(self) -> str:
        """One line: the comparison, its verdict and where it lies."""
        verdict = "passed" if self.passed else "failed"
        return f"<Comparison {self.run_id}: {verdict}, {words.verdict(self.report)}; {self.path}>"

    @property
    def folder(self) -> Path:
        """The comparison's folder.

        Raises:
            ValueError: nothing was written.
        """
        if self.path is None:
            raise ValueError("the comparison was not written")
        return self.path


def stored_comparison(path: Path) -> ComparisonReport:
    """The report of a finished comparison, from its folder."""
    text = (path / "report.json").read_text(encoding="utf-8")
    return cast("ComparisonReport", json.loads(text))


def compare(base: Any, candidate: Any, **options: Any) -> Comparison:
    """Compare two runs of one system over the same cases.

    Args:
        base: a finished run's folder, a `Run`, or an input as `evaluate` takes it.
        candidate: the run held against it, likewise.
        options: what the command line has as flags, under the same names (`allow=["cases"]`,
            `gate=[…]`, `test=True`, `write=False`, …); inputs are evaluated with `evaluate`'s.

    Raises:
        UsageError: an option makes no sense.
        InputError: a run cannot be read, or the two cannot be compared.
    """
    given = [_given(side) for side in (base, candidate)]
    named = write_said({name: _plain(name, value) for name, value in options.items()})
    names = [
        IN_MEMORY if one is not None else _path(side)
        for one, side in zip(given, (base, candidate), strict=True)
    ]
    request = build_compare_request({"base": names[0], "candidate": names[1]} | named)
    return compare_request(request, given=(given[0], given[1]))


def compare_request(
    request: CompareRequest,
    *,
    given: tuple[Given, Given] = (None, None),
    progress: Progress | None = None,
) -> Comparison:
    """Carry out a comparison; inputs are evaluated first, and their runs written beside it.

    `given`: runs and frames that are in memory already.
    """
    base, candidate = opened_sides(request, given, progress)
    return compare_opened(base, candidate, request)


def opened_sides(
    request: CompareRequest,
    given: tuple[Given, Given] = (None, None),
    progress: Progress | None = None,
) -> tuple[StoredRun, StoredRun]:
    """Both sides as finished runs. All that can be refused early is, before a row is scored."""
    sources = (request.base, request.candidate)
    opened = [_stored(name, side) for name, side in zip(sources, given, strict=True)]
    _check_early(request, opened, given)
    evaluated: dict[str, StoredRun] = {}
    for place, run in enumerate(opened):
        if run is None:
            frame = given[place]
            key = f"{place}" if isinstance(frame, pl.DataFrame) else sources[place]
            # One input compared with itself is one run: under a pinned clock it has one name.
            if key not in evaluated:
                evaluated[key] = _evaluated(request, sources[place], frame, progress)
            opened[place] = evaluated[key]
    base, candidate = (run for run in opened if run is not None)
    return base, candidate


def finished_sides(request: CompareRequest) -> CompareRequest:
    """The same request over finished runs; inputs are evaluated, and their runs written."""
    base, candidate = opened_sides(request)
    folders = {
        name: source if looks_like_run(source) else str(Path(request.out) / run.run_id)
        for name, source, run in (
            ("base", request.base, base),
            ("candidate", request.candidate, candidate),
        )
    }
    return request.model_copy(update=folders | {"evaluate": EvaluateRequest(), "cases": ()})


def compare_opened(base: StoredRun, candidate: StoredRun, request: CompareRequest) -> Comparison:
    """Compare two opened runs, and write the comparison unless told not to."""
    started = stamp(started_at())
    with nothing_quoted(no_text=request.no_text):
        result = compare_runs(base, candidate, request)
        report = build_report(result, started)
    if not request.write:
        return _comparison(result, report, None)
    folder = RunFolder(request.out, result.run_id, replace=True)
    check_same_two(folder.path, (base.run_id, candidate.run_id))
    folder.open()
    try:
        write_result(result, report, folder)
    finally:
        folder.close()
    return _comparison(result, report, folder.path)


def evaluate_against(
    request: EvaluateRequest, comparison: CompareRequest, evaluated: Callable[[], Run]
) -> tuple[Run, Comparison]:
    """Evaluate, then compare with an earlier run; what can be refused early is, before scoring.

    `evaluated`: carries the request out, and keeps its frames where nothing is written.
    """
    base = _checked_baseline(request, comparison)
    run = evaluated()
    return run, compare_opened(base, of_run(run), comparison)


def check_baseline(request: EvaluateRequest, comparison: CompareRequest) -> None:
    """What `evaluate_against` refuses before it scores.

    Raises:
        UsageError: a gate makes no sense.
        InputError: the base run cannot be read, or was evaluated in another way.
    """
    _checked_baseline(request, comparison)


def of_run(run: Run) -> StoredRun:
    """A run that has just been evaluated, as one side of a comparison."""
    if run.path is not None:
        return open_run(str(run.path))
    return StoredRun.of(run.manifest, run.cases.lazy(), run.evidence.lazy())


def _check_early(
    request: CompareRequest, opened: list[StoredRun | None], given: tuple[Given, Given]
) -> None:
    runs = [run for run in opened if run is not None]
    if request.write:
        check_place(request.out, (request.base, request.candidate))
    parsed_gates(request, runs)
    idle = idle_options(request)
    if len(runs) == len(opened) and idle:
        option = "--" + idle[0].replace("_", "-")
        raise UsageError(f"{option}: both are finished runs, which are compared as they are")
    sources = zip((request.base, request.candidate), opened, given, strict=True)
    inputs = [name for name, run, frame in sources if run is None and frame is None]
    if inputs.count("-") > 1:
        raise UsageError("standard input can be read once only")
    for name in inputs:
        if name != "-":
            files_for((name,), "trace" if request.cases else "records", request.evaluate, None)
    if len(runs) == 1:
        _check_settings(runs[0], request.evaluate, request, stored_first=opened[0] is not None)


def _checked_baseline(request: EvaluateRequest, comparison: CompareRequest) -> StoredRun:
    base = open_run(comparison.base)
    if comparison.write:
        check_place(comparison.out, (comparison.base, comparison.candidate))
    _check_settings(base, request, comparison)
    return base


def _check_settings(
    stored: StoredRun,
    request: EvaluateRequest,
    comparison: CompareRequest,
    *,
    stored_first: bool = True,
) -> None:
    """Would the other side be evaluated as the stored run was? `stored_first`: that is the base."""
    parsed_gates(comparison, [stored])
    planned = {"cutoffs": list(request.k), "config": request.model_dump(by_alias=True)}
    one, other = (stored.manifest, planned) if stored_first else (planned, stored.manifest)
    found = comparability.settings(one, other, comparison.allow, no_text=comparison.no_text)
    comparability.refuse(found)


def _stored(name: str, side: Given) -> StoredRun | None:
    """A side that needs no evaluation; None for an input."""
    if isinstance(side, StoredRun):
        return side
    if side is None and (looks_like_run(name) or run_within(Path(name))):
        return open_run(name)
    return None


def _evaluated(
    request: CompareRequest, source: str, frame: Given, progress: Progress | None
) -> StoredRun:
    keep = not request.write
    if isinstance(frame, pl.DataFrame):
        asked = side_request(request, source).model_copy(update={"inputs": ()})
        return of_run(run_request(asked, frame=frame, keep_frames=keep, progress=progress))
    asked = side_request(request, source)
    return of_run(run_request(asked, keep_frames=keep, progress=progress))


def _given(side: Any) -> Given:
    if isinstance(side, Run):
        return of_run(side)
    if isinstance(side, pl.LazyFrame):
        return side.collect()
    return side if isinstance(side, pl.DataFrame) else None


def _path(side: Any) -> str:
    if isinstance(side, str | PathLike):
        return fspath(side)
    raise UsageError(f"{side!r}: give a run's folder, a Run, an input file or a polars frame")


_LISTS = ("allow", "test_metric")


def _plain(name: str, value: Any) -> Any:
    if name in _LISTS and isinstance(value, str):
        return [value]
    return plain_option(name, value)


def _comparison(result: Result, report: ComparisonReport, path: Path | None) -> Comparison:
    run_id = result.run_id
    gates = rows_table(Gates, [dict(row) for row in report["gates"]])
    return Comparison(
        run_id=run_id,
        passed=result.decision.passed,
        failures=list(result.decision.failures),
        path=path,
        report=report,
        transitions=tagged(result.transitions, run_id),
        deltas=tagged(result.deltas, run_id),
        gates=tagged(gates, run_id),
        tests=None if result.tests is None else tagged(result.tests, run_id),
        intervals=None if result.intervals is None else tagged(result.intervals, run_id),
        _table=None if path is not None else result.cases,
    )
