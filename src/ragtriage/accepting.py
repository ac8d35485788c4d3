"""Which run counts as accepted: what the next nightly run is held against."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from ragtriage.errors import InputError, UsageError
from ragtriage.publish.folder import to_json
from ragtriage.publish.identity import stamp, started_at
from ragtriage.publish.single_file import replace_file
from ragtriage.read.accepted import ACCEPTED, Accepted, read_accepted
from ragtriage.read.folders import StoredFolder, stored_folder


def accept_run(
    run: str | PathLike[str], *, out: str | PathLike[str] = "reports", force: bool = False
) -> Accepted:
    """Mark a finished run as the accepted one, in `accepted.json` beside its folder.

    Args:
        run: the run's folder, or its ID in `out`.
        out: the folder of runs; only looked at where `run` is an ID.
        force: also a run whose gates failed.

    Raises:
        InputError: there is no such run, or it is not a finished one of this schema version.
        UsageError: its gates failed, and `force` is not set.
    """
    folder = _found(Path(run), Path(out))
    stored = _finished(folder)
    passed = bool(stored.manifest["passed"])
    if not passed and not force:
        raise UsageError(
            f"{folder}: its gates failed; look at its report, or accept it all the same with "
            "--force"
        )
    before = read_accepted(folder.parent)
    if before is not None and (before.run_id, before.passed) == (folder.name, passed):
        return before
    accepted = Accepted(
        run_id=folder.name,
        accepted_at=stamp(started_at()),
        passed=passed,
        previous=None if before is None else before.run_id,
        path=folder,
    )
    fields = {name: value for name, value in vars(accepted).items() if name != "path"}
    replace_file(folder.parent / ACCEPTED, to_json(fields))
    return accepted


def accepted_run(directory: str | PathLike[str]) -> Accepted | None:
    """The accepted run of a folder of runs, None if none was ever accepted.

    Raises:
        InputError: `accepted.json` cannot be read, or names a run that is not there or not whole.
    """
    found = read_accepted(Path(fspath(directory)))
    if found is not None:
        try:
            _finished(found.path)
        except InputError as error:
            raise InputError(
                f"{found.path.parent / ACCEPTED}: {error}; accept another run"
            ) from None
    return found


def _found(run: Path, out: Path) -> Path:
    """The folder meant; a bare name that is no folder here is an ID in `out`."""
    folder = run if run.is_dir() or len(run.parts) != 1 else out / run
    if not folder.is_dir():
        raise InputError(f"{folder}: no such run; give its folder, or its ID with --out DIR")
    # The name and the parent must be the real ones, also for `.` or `run/..`.
    return folder.resolve() if folder.name in ("", "..") else folder


def _finished(folder: Path) -> StoredFolder:
    stored = stored_folder(folder)
    if stored.reason is not None:
        reason = stored.reason.removesuffix(": not a finished run")
        raise InputError(f"{folder}: not a finished run: {reason}")
    if stored.kind != "run":
        raise InputError(f"{folder}: not a run but the report of one {stored.kind}")
    return stored
