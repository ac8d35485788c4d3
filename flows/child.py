"""The process that `limit` starts: one function, its answer on stdout. Does not import Prefect."""

from __future__ import annotations

import os
import pickle
import sys
import threading
from typing import Any, NamedTuple

from ragtriage.errors import InputError, RagtriageError, UsageError


class Answer(NamedTuple):
    """A result, or the name and text of one of our errors."""

    result: Any
    error: str | None = None
    text: str = ""


def main() -> None:
    """Read a function and its arguments, call it, write the answer."""
    watch = threading.Thread(target=_die_with_parent, args=(int(sys.argv[1]),), daemon=True)
    watch.start()
    # Whatever prints must not get between us and the answer.
    stdout = os.dup(1)
    os.dup2(2, 1)
    work, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by our own parent
    answer = _answer(work, arguments)
    with os.fdopen(stdout, "wb") as stream:
        pickle.dump(answer, stream)


def _die_with_parent(lifeline: int) -> None:
    """A flow that was killed publishes nothing any more: its end of the pipe is closed then."""
    os.read(lifeline, 1)
    os._exit(1)


def _answer(work: Any, arguments: Any) -> Answer:
    try:
        return Answer(work(*arguments))
    except RagtriageError as error:
        # Subclasses are built from more than their text.
        kinds = (UsageError, InputError, RagtriageError)
        kind = next(kind for kind in kinds if isinstance(error, kind))
        return Answer(None, kind.__name__, str(error))


if __name__ == "__main__":
    from ragtriage.flows import child  # the answer must not be pickled as one of `__main__`

    child.main()
