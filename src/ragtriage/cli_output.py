"""What commands print: the report on stdout, all else on stderr. No command is defined here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from ragtriage.errors import EXIT_GATE_FAILED, EXIT_PASSED, UsageError


def say(text: str) -> None:
    """One message on stderr; where nobody can be told, the exit code still speaks."""
    with suppress(OSError):
        click.echo(text, err=True)


def print_report(text: str) -> None:
    """The report, on stdout."""
    try:
        click.echo(text, nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"standard output: cannot be written: {reason}") from None


def compared(report: Any, path: Any, shown: str) -> int:
    """Print a comparison; say where it lies and why it failed, if it did."""
    print_report(rendered_comparison(report, shown))
    return compared_verdict(report, path)


def compared_verdict(report: Any, path: Any) -> int:
    """The exit code of a comparison, and why on stderr where it is not 0."""
    say_where(path)
    for line in report["failures"]:
        say(line)
    return EXIT_GATE_FAILED if report["failures"] else EXIT_PASSED


def rendered_comparison(report: Any, shown: str) -> str:
    """A comparison in the format that was asked for."""
    from ragtriage.publish.formats import render_comparison  # noqa: PLC0415 - only for real work

    return render_comparison(report, shown, color=sys.stdout.isatty())


def rendered(report: Any, shown: str) -> str:
    """A run in the format that was asked for."""
    from ragtriage.publish.formats import render  # noqa: PLC0415 - only for real work

    return render(report, shown, color=sys.stdout.isatty())


def say_mapping(run: Any) -> None:
    """Which fields were read as which, and what must be noted."""
    if run["mapping"]:
        pairs = ", ".join(f"{theirs} = {ours}" for theirs, ours in run["mapping"].items())
        say(f"fields as read: {pairs}")
    for note in run["notes"]:
        say(note)


def say_where(path: Any) -> None:
    """The report to open, where one was written."""
    if path is not None:
        say(f"report: {path / 'report.html'}")


def verdict(report: Any) -> int:
    """The exit code of a run, and why on stderr where it is not 0."""
    from ragtriage.publish import wording  # noqa: PLC0415 - only for real work

    failures = wording.failures(report)
    for line in failures:
        say(line)
    return EXIT_GATE_FAILED if failures else EXIT_PASSED


def progress() -> Callable[[str, int], None] | None:
    """A line on stderr that keeps itself up to date, on a terminal only."""
    if not sys.stderr.isatty():
        return None
    from ragtriage.publish.progress import Progress  # noqa: PLC0415 - only for real work

    return Progress(sys.stderr)
