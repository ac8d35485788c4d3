"""A step in a process of its own, which ends at a time limit, and when this process dies.

Nothing in this process can stop a polars query or a hung disk; the system can stop a process.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar, cast

from ragtriage import errors
from ragtriage.flows.child import Answer
from ragtriage.publish.folder import clear_dead

T = TypeVar("T")

_TAIL = 2_000


@dataclass(frozen=True)
class Deadline:
    """When the work of a flow must be over: `seconds` after it began, or never (None)."""

    seconds: float | None
    ends: float

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Counted from now."""
        return cls(seconds, time.monotonic() + (seconds or 0.0))

    def within(self, doing: str, out: str, work: Callable[..., T], *arguments: object) -> T:
        """What `work` gives, from a process that is killed at the deadline; without one, from here.

        Args:
            doing: what is being done, for the message.
            out: the folder of runs; what a killed process left unfinished there is removed.
            work: a function of a module that does not need Prefect.
            arguments: its arguments; they and the result must be small and picklable.

        Raises:
            TimeLimitError: the deadline passed.
            RagtriageError: what `work` raised, or its process died.
        """
        if self.seconds is None:
            return work(*arguments)
        left = self.ends - time.monotonic()
        try:
            output = _output(pickle.dumps((work, arguments)), left)
        except subprocess.TimeoutExpired:
            clear_dead(out)
            raise errors.TimeLimitError(
                f"time limit of {self.seconds:g} s: stopped while {doing}; nothing of this step "
                "was published"
            ) from None
        except subprocess.CalledProcessError as error:
            clear_dead(out)
            raise errors.RagtriageError(_death(doing, error)) from None
        return cast("T", _result(output))


def _output(given: bytes, seconds: float) -> bytes:
    """What the child prints; it is not there any more when this returns or raises."""
    lifeline, ours = os.pipe()
    # Its modules are found where ours are, and not in the folder we happen to be in.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-P", "-m", "ragtriage.flows.child", str(lifeline)]
    try:
        with subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            pass_fds=(lifeline,),
            start_new_session=True,
        ) as process:
            try:
                output, said = process.communicate(given, timeout=max(seconds, 0.0))
            finally:
                _end(process)
    finally:
        os.close(lifeline)
        os.close(ours)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output, said)
    return output


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill it and all that it started, unless it has ended by itself."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _result(output: bytes) -> object:
    """The work's result, or its error raised here."""
    answer: Answer = pickle.loads(output)  # noqa: S301 - written by our own child
    if answer.error is None:
        return answer.result
    raise getattr(errors, answer.error)(answer.text)


def _death(doing: str, error: subprocess.CalledProcessError) -> str:
    """Why a child gave no answer."""
    code = error.returncode
    how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    said = error.stderr.decode("utf-8", "replace").strip()[-_TAIL:]
    return f"the process {doing} died ({how}); nothing of this step was published\n{said}".strip()
