"""`accepted.json`: which run of a folder is the accepted one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from ragtriage.errors import InputError

ACCEPTED = "accepted.json"


@dataclass(frozen=True)
class Accepted:
    """The accepted run of a folder.

    `passed`: did its gates hold when it was accepted? `previous`: the run accepted before it.
    """

    run_id: str
    accepted_at: str
    passed: bool
    previous: str | None
    path: Path


class _Stored(msgspec.Struct):
    run_id: str
    accepted_at: str
    passed: bool
    previous: str | None


def read_accepted(directory: Path) -> Accepted | None:
    """What was accepted last, None if nothing ever was. Does not look at the run itself.

    Raises:
        InputError: the file cannot be read, or does not hold what `ragtriage accept` writes.
    """
    file = directory / ACCEPTED
    try:
        stored = msgspec.json.decode(file.read_bytes(), type=_Stored)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"{file}: cannot be read: {reason}; remove it and accept a run again"
        ) from None
    return Accepted(
        run_id=stored.run_id,
        accepted_at=stored.accepted_at,
        passed=stored.passed,
        previous=stored.previous,
        path=directory / stored.run_id,
    )
