"""Ways into a run: from Python, from a request, and the parts that flows call apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import polars as pl

from ragtriage.errors import UsageError
from ragtriage.evaluation import Evaluation
from ragtriage.folding import Progress
from ragtriage.publish.folder import RunFolder
from ragtriage.publish.identity import new_run_id, started_at
from ragtriage.read.files import find_files, fingerprint
from ragtriage.request import EvaluateRequest, build_request
from ragtriage.run import Run
from ragtriage.tally import FileLines


def evaluate(source: Any, **options: Any) -> Run:
    """Evaluate one input and return the run.

    Args:
        source: a path, several, or a polars frame (lazy or not) of combined records; None with
            `cases` and `trace`.
        options: what the command line has as flags, under the same names (`k=[5, 10]`,
            `gate=[…]`, `write=False`, …); see `ragtriage.request.EvaluateRequest`.

    Raises:
        UsageError: an option makes no sense.
        InputError: the input is refused; the text is what the command line prints.
    """
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    frame = source if isinstance(source, pl.DataFrame) else None
    if frame is None and source is not None:
        options["inputs"] = source
    request = build_request({name: plain_option(name, value) for name, value in options.items()})
    return run_request(request, frame=frame, keep_frames=not request.write)


_LISTS = ("inputs", "cases", "trace", "corpus", "reviews", "k", "gate", "slice", "abstain_text")


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
    if frame is None and not request.inputs and not request.cases:
        raise UsageError("no input; give a file, a folder, a glob or - (or --cases and --trace)")
    with opened_run(request) as (run_id, started, folder):
        evaluation = Evaluation(request, folder, run_id, keep_frames=keep_frames, progress=progress)
        return evaluation.run(frame, started, digests)


@contextmanager
def opened_run(request: EvaluateRequest) -> Iterator[tuple[str, datetime, RunFolder | None]]:
    """A run's ID, when it started, and its folder, of which nothing is left unless published."""
    started = started_at()
    configuration = repr(request.model_dump(exclude={"out", "run_id"}))
    run_id = request.run_id or new_run_id(started, configuration)
    folder = RunFolder(request.out, run_id) if request.write else None
    if folder is not None:
        folder.open()
    try:
        yield run_id, started, folder
    finally:
        if folder is not None:
            folder.close()


def run_folder(request: EvaluateRequest, digests: dict[str, str]) -> Path:
    """Carry out a request as `run_request` does; the folder it published."""
    return run_request(request, digests=digests).folder


def input_digests(request: EvaluateRequest) -> dict[str, str]:
    """SHA-256 of each input file, by name: what a later step holds its own reading against.

    Raises:
        InputError: a file is not there.
    """
    roles = {
        "records": request.inputs,
        "cases": request.cases,
        "trace": request.trace,
        "corpus": request.corpus,
        "reviews": request.reviews,
    }
    files = [file for role, names in roles.items() for file in find_files(names, role, None)]
    return {file.name: fingerprint(file).sha256 for file in files}


def check_request(request: EvaluateRequest, *, progress: Progress | None = None) -> FileLines:
    """Check an input and write nothing.

    Returns:
        The lines that were read, accepted, set aside and blank.

    Raises:
        InputError: the input is refused, or rows are and none may be set aside.
    """
    if not request.inputs and not request.cases:
        raise UsageError("no input; give a file, a folder, a glob or - (or --cases and --trace)")
    return Evaluation(request, None, "", keep_frames=False, progress=progress).check()
