"""Files of any preset to our own JSON lines."""

from __future__ import annotations

from collections.abc import Callable
from os import fspath
from os.path import exists, samefile
from typing import Any

from ragtriage.admission import Admission
from ragtriage.errors import InputError, InvalidRowsError, UsageError
from ragtriage.folding import Progress
from ragtriage.layout import check_one_system, settled
from ragtriage.pipeline import python_options
from ragtriage.publish.canonical import canonical_file, write_cases
from ragtriage.publish.input_notes import input_notes
from ragtriage.read.chunk import Chunk
from ragtriage.request import EvaluateRequest, build_request
from ragtriage.tally import FileLines, Tally


def convert(source: Any, out: Any, *, force: bool = False, **options: Any) -> FileLines:
    """Write an input's cases as our own JSON lines.

    Args:
        source: a path or several, as for `evaluate`; None with `cases` and `trace`.
        out: the file to write.
        force: it may be there already.
        options: how to read the input, as for `evaluate` (`preset=…`, `map={…}`, …).

    Returns:
        The lines that were read, written, set aside and blank.

    Raises:
        UsageError: an option makes no sense, or the file is there already.
        InputError: the input is refused; nothing is written then.
    """
    if source is not None:
        options["inputs"] = source
    request = build_request(python_options(options))
    return convert_request(request, fspath(out), force=force)


def convert_request(
    request: EvaluateRequest,
    out: str,
    *,
    force: bool,
    progress: Progress | None = None,
    tell: Callable[[dict[str, Any]], None] = lambda _run: None,
) -> FileLines:
    """Carry out a conversion; nothing is written where the input is refused.

    `tell`: told once the file is written, under `mapping` which fields were read as which, and
    under `notes` what was left behind.
    """
    request = settled(request)
    check_one_system(request)
    tally = Tally(shown=0)
    admission = Admission(request, tally, lambda _faults: None)
    admission.open(None, None)
    _keep_inputs(out, admission)
    written = 0
    with canonical_file(out, replace=force) as stream:
        for admitted in admission.chunks():
            admission.count(admitted.chunk.counts, admitted.faults)
            _keep_unknown(request, admission, admitted.chunk)
            write_cases(admitted.cases, admission.given.fields, stream)
            written += admitted.cases.height
            if progress is not None:
                progress("converting", tally.totals.read)
        _refuse(tally, admission, written, keep=request.on_invalid == "quarantine")
    tell({"mapping": admission.given.mapping, "notes": input_notes(admission.given, request)})
    return tally.totals


def _keep_inputs(out: str, admission: Admission) -> None:
    """Inputs are never changed, not even with --force."""
    read = [str(entry["path"]) for entry in admission.given.files]
    if exists(out) and any(samefile(out, path) for path in read if exists(path)):
        raise UsageError(f"--out: {out} is the input itself; choose another name")


def _keep_unknown(request: EvaluateRequest, admission: Admission, chunk: Chunk) -> None:
    """In our form an answer that is not there is a silence; without a trace it is not known."""
    alone = chunk.untraced is not None and bool(chunk.untraced.any())
    if alone and request.missing_trace == "empty" and "answer" in admission.given.fields:
        raise UsageError(
            "--missing-trace empty: written down, a case without a trace would be one that was "
            "answered with silence; pass --missing-trace not-run"
        )


def _refuse(tally: Tally, admission: Admission, written: int, *, keep: bool) -> None:
    if tally.n_refused and not (keep and written):
        total = tally.n_refused
        errors = f"{total:,} {'error' if total == 1 else 'errors'}"
        note = f"{errors}; nothing written (--on-invalid quarantine writes the rest)"
        raise InvalidRowsError(tally.messages, total, None, note)
    if not written:
        raise InputError(f"{admission.names()}: no case in it; nothing to convert")
