"""What commands print: the report on stdout, all else on stderr. No command is defined here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from ragtriage.errors import UsageError
from ragtriage.options import Detail
from ragtriage.publish.escape import no_commands, visible_block


def is_github() -> bool:
    """Does this process run as a step of GitHub Actions, which reads commands in what it prints?"""
    return os.environ.get("GITHUB_ACTIONS", "").lower() not in ("", "false")


def shows_color(stream: Any) -> bool:
    """On a terminal that can, unless NO_COLOR is set."""
    dumb = os.environ.get("TERM") == "dumb"
    return bool(stream.isatty()) and not dumb and not os.environ.get("NO_COLOR")


def say(text: str) -> None:
    """One message on stderr; where nobody can be told, the exit code still speaks."""
    with suppress(OSError):
        click.echo(_harmless(visible_block(text)), err=True)


def say_command(line: str) -> None:
    """A command for GitHub's runner, on stderr: stdout is the report alone."""
    with suppress(OSError):
        click.echo(line, err=True)


def print_report(text: str) -> None:
    """The report, on stdout."""
    try:
        click.echo(_harmless(text), nl=False)
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"standard output: cannot be written: {reason}") from None


def _harmless(text: str) -> str:
    """Text from data must not be a command where a runner would obey it."""
    return no_commands(text) if is_github() else text


def rendered_comparison(report: Any, shown: str, detail: Detail = "normal", **limit: int) -> str:
    """A comparison in the format that was asked for; `limit`: of Markdown, where not its own."""
    from ragtriage.publish.formats import render_comparison

    color = shows_color(sys.stdout)
    return render_comparison(report, shown, color=color, detail=detail, **limit)


def rendered(
    report: Any,
    shown: str,
    detail: Detail = "normal",
    timings: dict[str, float] | None = None,
    **limit: int,
) -> str:
    """A run in the format that was asked for; `limit`: of Markdown, where not its own."""
    from ragtriage.publish.formats import render

    color = shows_color(sys.stdout)
    return render(report, shown, color=color, detail=detail, timings=timings, **limit)


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


def progress() -> Callable[[str, int], None] | None:
    """A line on stderr that keeps itself up to date, on a terminal only."""
    if not sys.stderr.isatty():
        return None
    from ragtriage.publish.progress import Progress

    return Progress(sys.stderr)
