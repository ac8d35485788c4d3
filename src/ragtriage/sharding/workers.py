"""Processes that carry out calls, forked from this one; each lives until it is told to end."""

from __future__ import annotations

import json
import os
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, NoReturn

from ragtriage.errors import RagtriageError, ShardError
from ragtriage.sharding.run import Call

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


@dataclass(frozen=True)
class _Worker:
    """`line`: our end of the pipe to it."""

    pid: int
    line: Connection


class Workers:
    """Carries out calls, each by whichever worker is free: a `Pool`.

    `shards`: into about how many parts an input is best cut for them; `tapered`: each of them that
    part of what is left?
    """

    def __init__(
        self,
        workers: list[_Worker],
        shards: int,
        told: Callable[[object], None] | None,
        *,
        tapered: bool,
    ) -> None:
        self._workers = workers
        self._told = told
        self.shards = shards
        self.tapered = tapered

    @classmethod
    def forked(
        cls,
        count: int,
        *,
        polars_threads: int,
        shards: int,
        tapered: bool = False,
        told: Callable[[object], None] | None = None,
    ) -> Workers:
        """Start so many.

        Args:
            count: how many.
            polars_threads: of each, which is why polars may not have started any yet.
            shards: see the class.
            tapered: see the class.
            told: what each call came to, as it comes.

        Raises:
            OSError: there is no room for so many processes, or for a pipe to each; none is left.
        """
        made = cls([], shards, told, tapered=tapered)
        parent = os.getpid()
        # A worker must never meet Ctrl-C as the program that it was forked from would.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            for _ in range(count):
                made._fork(parent, polars_threads)
        except OSError:
            made.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return made

    def _fork(self, parent: int, polars_threads: int) -> None:
        """One more."""
        ours, theirs = Pipe()
        with theirs:
            with warnings.catch_warnings():
                # Of threads that whoever calls has looked at.
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
            if pid == 0:
                for line in (ours, *(worker.line for worker in self._workers)):
                    line.close()
                _serve(theirs, parent, polars_threads)
        self._workers.append(_Worker(pid, ours))

    def __call__(self, calls: Sequence[Call]) -> list[Any]:
        """What each call came to, in their order: a result, or our error."""
        try:
            return self._carried_out(calls)
        except BaseException:
            # Whoever is still at work must not write to what is cleared away now.
            self.close()
            raise

    def _carried_out(self, calls: Sequence[Call]) -> list[Any]:
        outcomes: list[Any] = [
            ShardError(f"{job.name} failed: no worker is left; nothing was published")
            for _, job in calls
        ]
        waiting = iter(enumerate(calls))
        at_work: dict[_Worker, int] = {}
        for worker in self._workers:
            _give(worker, waiting, at_work)
        while at_work:
            ready = wait([worker.line for worker in at_work])
            for worker in [worker for worker in at_work if worker.line in ready]:
                place = at_work.pop(worker)
                outcomes[place] = self._outcome(worker, calls[place][1].name)
                if worker in self._workers:
                    _give(worker, waiting, at_work)
        return outcomes

    def close(self) -> None:
        """End them, at work or not."""
        for worker in self._workers:
            worker.line.close()
            with suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(worker.pid, 0)
        self._workers = []

    def _outcome(self, worker: _Worker, name: str) -> Any:
        try:
            outcome = worker.line.recv()
        except (EOFError, OSError):
            # Gone before it answered, or in the midst of it.
            self._workers = [other for other in self._workers if other is not worker]
            worker.line.close()
            return ShardError(
                f"{name} failed: {_ending(worker.pid)}; nothing was published; where memory is "
                "short, --workers 1 needs least"
            )
        if self._told is not None:
            self._told(outcome)
        return outcome


def _give(
    worker: _Worker, waiting: Iterator[tuple[int, Call]], at_work: dict[_Worker, int]
) -> None:
    """The next call, where there is one."""
    for place, call in waiting:
        at_work[worker] = place
        with suppress(ConnectionError):
            # Whoever has gone is missed when its answer is waited for.
            worker.line.send(call)
        return


def _serve(line: Connection, parent: int, polars_threads: int) -> NoReturn:
    """A worker's life: one call after another, until nobody asks any more."""
    try:
        # Ctrl-C is for whoever started us, who ends us.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _die_with(parent)
        _limit_polars(polars_threads)
        while True:
            work, job = line.recv()
            try:
                outcome = work(job)
            except RagtriageError as error:
                outcome = error
            line.send(outcome)
    except (EOFError, OSError):
        os._exit(0)
    finally:
        # Never back into the program that was forked.
        os._exit(1)


def _limit_polars(threads: int) -> None:
    """Polars reads its environment when it is imported; this has it look once more.

    Two workers whose two threads each share two cores are a twentieth slower, and so are those that
    unpack several row groups of Parquet ahead, which take memory and are cold when they are due.
    """
    from polars import Config  # noqa: PLC0415 - whoever is forked has it loaded

    ahead = os.environ.get("POLARS_ROW_GROUP_PREFETCH_SIZE", "1")
    limits = {"POLARS_MAX_THREADS": str(threads), "POLARS_ROW_GROUP_PREFETCH_SIZE": ahead}
    Config.load(json.dumps({"environment": limits}))


def _die_with(parent: int) -> None:
    """However the parent ends, and be it killed, so do we."""
    import ctypes  # noqa: PLC0415 - nobody but a worker needs it

    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _ending(pid: int) -> str:
    """What became of a worker that gave no answer."""
    try:
        _, status = os.waitpid(pid, 0)
    except ChildProcessError:
        # Whoever started us wants to hear of no child.
        return "its process ended"
    if os.WIFSIGNALED(status):
        return f"its process was ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"its process ended with code {os.waitstatus_to_exitcode(status)}"
