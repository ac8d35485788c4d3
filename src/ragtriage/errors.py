"""Every error the program raises on purpose, and the exit code each carries.

    RagtriageError          3   something we did not foresee
    ├── UsageError          2   what was asked for makes no sense
    ├── InputError          2   what was given cannot be used
    │   └── InvalidRowsError    rows broke rules and none may be set aside
    ├── NoRoomError         3   the system gives no further thread, process or memory
    ├── TimeLimitError      3   a step of a flow was ended at its time limit
    └── ShardError          3   a shard of the input could not be evaluated

A failed gate is no error: it is a verdict, and exit code 1.
"""

from __future__ import annotations

EXIT_PASSED = 0
EXIT_GATE_FAILED = 1
EXIT_REFUSED = 2
EXIT_INTERNAL = 3


class RagtriageError(Exception):
    """Base of them all; its text is what the command line prints."""

    exit_code = EXIT_INTERNAL


class UsageError(RagtriageError):
    """An option, a gate or a combination of them that cannot be carried out."""

    exit_code = EXIT_REFUSED


class InputError(RagtriageError):
    """A file that cannot be read, or does not hold what was said."""

    exit_code = EXIT_REFUSED


class InvalidRowsError(InputError):
    """Rows broke the rules: `messages` holds the first, `total` counts all; `advice` ends them."""

    def __init__(
        self,
        messages: list[str],
        total: int,
        where: str | None,
        note: str = "",
        advice: str = "",
    ) -> None:
        self.messages = messages
        self.total = total
        self.where = where
        lines = list(messages)
        if total > len(messages):
            lines.append(f"… and {total - len(messages):,} more")
        lines.append(note or f"{total:,} {'error' if total == 1 else 'errors'}; nothing evaluated")
        if where:
            lines.append(f"all of them: {where}")
        if advice:
            lines.append(advice)
        super().__init__("\n".join(lines))


class TimeLimitError(RagtriageError):
    """A step of a flow was still at work when its time was over, and was ended."""


class ShardError(RagtriageError):
    """A shard failed for a reason of its own, or its workers died; the text names it."""


class NoRoomError(RagtriageError):
    """The system gives the process no further thread, process or memory."""


def is_panic(error: BaseException) -> bool:
    """Did polars give up? Its panics are no `Exception`, and have no class before it is loaded."""
    return type(error).__name__ == "PanicException"


def no_room(error: BaseException) -> NoRoomError | None:
    """The same in a user's words, where it says that the system gives no more; else None."""
    text = str(error)
    # Polars puts the system's own words into errors of its own.
    if isinstance(error, MemoryError) or "Cannot allocate memory" in text:
        return NoRoomError("out of memory; give the process more; --workers 1 needs least")
    refused = "start new thread" in text or (is_panic(error) and "spawn" in text)
    if not refused:
        return None
    return NoRoomError(
        "no room for another thread; raise the limit of processes or memory (ulimit -u, -v; of a "
        "container its own), or ask for fewer: --workers 1, POLARS_MAX_THREADS=1"
    )


def nearest(name: str, known: list[str]) -> str:
    """` (did you mean …?)` for a misspelt name, or nothing."""
    from difflib import get_close_matches  # noqa: PLC0415 - only ever needed on a mistake

    close = get_close_matches(name.lower(), known, n=1, cutoff=0.7)
    return f" (did you mean `{close[0]}`?)" if close else ""
