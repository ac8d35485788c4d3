"""Single files beside the runs, `index.html` and `accepted.json`: replaced whole or not at all."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ragtriage.errors import InputError, UsageError

_ENDING = ".part"


def replace_file(target: Path, text: str) -> None:
    """Write beside it, out of a dashboard's sight, then rename over it.

    Raises:
        InputError: it cannot be written; what stood there still stands.
    """
    work = target.with_name(f".{target.name}.{secrets.token_hex(4)}{_ENDING}")
    try:
        with _alone(target.parent) as alone:
            if alone:
                _remove_dead(target)
            with work.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            work.replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{target}: cannot be written: {reason}; check permissions and space"
        ) from None
    finally:
        with suppress(OSError):
            work.unlink(missing_ok=True)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """One writer at a time, where the file system can lock a folder; says whether it can."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def refuse_foreign(target: Path, mark: str) -> None:
    """Only what carries our mark is ever replaced.

    Raises:
        UsageError: there is something of that name, and it is none of ours.
    """
    if not os.path.lexists(target):
        return
    try:
        ours = not target.is_symlink() and target.is_file() and mark in _head(target)
    except OSError:
        ours = False
    if not ours:
        raise UsageError(f"{target}: exists already and was not written by ragtriage; move it away")


def _head(target: Path) -> str:
    with target.open("rb") as stream:
        return stream.read(4096).decode("utf-8", "replace")


def _remove_dead(target: Path) -> None:
    """What a killed process left half written: nobody else is writing now."""
    for left in target.parent.glob(f".{target.name}.*{_ENDING}"):
        with suppress(OSError):
            left.unlink()
