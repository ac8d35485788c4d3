"""What the command line says when a command cannot go on, and its exit code."""

from __future__ import annotations

import traceback

import click

from ragtriage.cli_output import say
from ragtriage.errors import EXIT_INTERNAL, EXIT_REFUSED, RagtriageError, is_panic, no_room


def told(error: BaseException) -> int:
    """Say what went wrong and give the exit code that says so too.

    What only ends the process, as an exit does, is raised again.
    """
    if not (isinstance(error, Exception) or is_panic(error)):
        raise error
    if isinstance(error, click.ClickException):
        say(error.format_message())
        return EXIT_REFUSED
    known = error if isinstance(error, RagtriageError) else no_room(error)
    if known is not None:
        say(str(known))
        return known.exit_code
    say("ragtriage: internal error; please report it with what follows")
    say("".join(traceback.format_exception(error)))
    return EXIT_INTERNAL
