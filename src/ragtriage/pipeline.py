"""Ways into a run: from Python, from a request, and the parts that flows call apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import polars as pl

from ragtriage.errors import UsageError
from ragtriage.evaluation import Evaluation
from ragtriage.folding import Progress
from ragtriage.layout import check_one_system, for_each_system, settled
from ragtriage.publish.identity import started_at
from ragtriage.publish.opened import opened_run, run_id_of
from ragtriage.read.files import fingerprint
from ragtriage.read.once import Mistaken
from ragtriage.read.sources import files_for
from ragtriage.request import EvaluateRequest, build_request
from ragtriage.request_parts import write_said
from ragtriage.run import Run
from ragtriage.tally import FileLines
from ragtriage.without_text import nothing_quoted


def evaluate(source: Any, **options: Any) -> Run:
    """Evaluate one input and return the run.

    Args:
        source: a path, several, or a polars frame (lazy or not) of combined records; None with
            `cases` and `trace`.
        options: what the command line has as flags, under the same names (`k=[5, 10]`,
            `gate=[…]`, `no_write=True`, …); see `ragtriage.request.EvaluateRequest`.

    Raises:
        UsageError: an option makes no sense.
        InputError: the input is refused; the text is what the command line prints.
    """
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    frame = source if isinstance(source, pl.DataFrame) else None
    if frame is None and source is not None:
        options["inputs"] = _paths(source)
    request = build_request(python_options(options))
    return run_request(request, frame=frame, keep_frames=not request.write)


def _paths(source: Any) -> list[Any]:
    """One path or several.

    Raises:
        UsageError: it is something else, which is not shown, for it may hold anything.
    """
    several = isinstance(source, Iterable) and not isinstance(source, str | PathLike | Mapping)
    given = list(source) if several else [source]
    other = next((item for item in given if not isinstance(item, str | PathLike)), None)
    if hasattr(source, "__dataframe__"):
        hint = "polars.from_dataframe makes one of it"
    elif other is None:
        return given
    else:
        hint = "polars.DataFrame(records) makes one of records"
    kind = type(source).__name__ + (
        "" if other in (None, source) else f" of {type(other).__name__}"
    )
    raise UsageError(f"source: expected a path, several, or a polars frame, got {kind}; {hint}")


_LISTS = (
    "inputs",
    "cases",
    "trace",
    "corpus",
    "reviews",
    "text_ids",
    "k",
    "gate",
    "slice",
    "abstain_text",
)


def python_options(options: dict[str, Any]) -> dict[str, Any]:
    """Keywords as a request takes them; `preset` is what the command line calls --from."""
    plain = write_said({name: plain_option(name, value) for name, value in options.items()})
    if "preset" in plain:
        plain["from"] = plain.pop("preset")
    return plain


def plain_option(name: str, value: Any) -> Any:
    """An option as the request takes it: one value for a list, a path for its name."""
    if isinstance(value, PathLike):
        value = fspath(value)
    if name not in _LISTS or value is None:
        return value
    single = isinstance(value, str | int | float)
    return [fspath(v) if isinstance(v, PathLike) else v for v in ([value] if single else value)]


def run_request(
    request: EvaluateRequest,
    *,
    frame: pl.DataFrame | None = None,
    keep_frames: bool = False,
    progress: Progress | None = None,
    digests: dict[str, str] | None = None,
) -> Run:
    """Carry out a request; the folder appears whole, or not at all.

    `digests`: what the input files must be, by name, where an earlier step has seen them.
    """
    if frame is None:
        _require_input(request)
    request = settled(request)
    if frame is None:
        check_one_system(request)
    with opened_run(request) as (run_id, started, folder), nothing_quoted(no_text=request.no_text):
        for once in (True, False):
            evaluation = Evaluation(
                request, folder, run_id, keep_frames=keep_frames, progress=progress, once=once
            )
            try:
                return evaluation.run(frame, started, digests)
            except Mistaken:
                if folder is not None:
                    folder.clear()
        raise AssertionError("two passes are never mistaken")


def evaluate_systems(source: Any, **options: Any) -> dict[str, Run]:
    """Evaluate each system that one input holds; a run each, by the system's name.

    Args:
        source: as for `evaluate`.
        options: as for `evaluate`; a run's folder is named after `run_id` and the system.

    Raises:
        UsageError: an option makes no sense.
        InputError: the input is refused.
    """
    if source is not None:
        options["inputs"] = _paths(source)
    request = build_request(python_options(options))
    runs = run_systems(request, keep_frames=not request.write)
    return {run.system or "": run for run in runs}


def run_systems(
    request: EvaluateRequest, *, keep_frames: bool = False, progress: Progress | None = None
) -> list[Run]:
    """Carry out a request for each system in the input, one after another."""
    return [
        run_request(each, keep_frames=keep_frames, progress=progress)
        for each in system_requests(request)
    ]


def system_requests(request: EvaluateRequest) -> list[EvaluateRequest]:
    """The request itself, or one for each of the systems its input holds."""
    _require_input(request)
    request = settled(request)
    return list(for_each_system(request, run_id_of(request, started_at())).values())


def _require_input(request: EvaluateRequest) -> None:
    if not request.inputs and not request.cases:
        raise UsageError("no input; give a file, a folder, a glob or - (or --cases and --trace)")


def run_folder(request: EvaluateRequest, digests: dict[str, str]) -> Path:
    """Carry out a request as `run_request` does; the folder it published."""
    return run_request(request, digests=digests).folder


def input_digests(request: EvaluateRequest) -> dict[str, str]:
    """SHA-256 of each input file, by name: what a later step holds its own reading against.

    Raises:
        InputError: a file is not there.
    """
    request = settled(request)
    roles = {
        "records": request.inputs,
        "cases": request.cases,
        "trace": request.trace,
        "corpus": request.corpus,
        "reviews": request.reviews,
    }
    files = [
        file for role, names in roles.items() for file in files_for(names, role, request, None)
    ]
    return {file.name: fingerprint(file).sha256 for file in files}


def check_request(request: EvaluateRequest, *, progress: Progress | None = None) -> FileLines:
    """Check an input and write nothing.

    Returns:
        The lines that were read, accepted, set aside and blank.

    Raises:
        InputError: the input is refused, or rows are and none may be set aside.
    """
    _require_input(request)
    request = settled(request)
    check_one_system(request)
    with nothing_quoted(no_text=request.no_text):
        return Evaluation(request, None, "", keep_frames=False, progress=progress).check()
