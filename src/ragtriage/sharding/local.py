"""Shards on this machine's cores: workers that are forked before polars has started a thread.

Polars shares one chunk's work among cores poorly; whole chunks share well. A fork costs nothing:
what is imported is there. It is safe while nobody else is at work in the process, since no lock is
copied then that somebody holds. Where that is not so, one process does all the work.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ragtriage.errors import InputError
from ragtriage.folding import Progress
from ragtriage.layout import presets_of
from ragtriage.read.files import InputFile, find_files
from ragtriage.request import EvaluateRequest

if TYPE_CHECKING:
    from ragtriage.sharding.workers import Workers

# Bytes of a shard for which another process is worth while; a smaller input is left to one.
_SHARD_BYTES = {"jsonl": 64 << 20, "parquet": 16 << 20}
_LEAST = 0.5
# JSON lines can be cut anywhere: each shard takes of what is left a worker's share by so many, so
# that the last ones, which others wait for, are small.
_SHARE = 2
# Whoever reads a part of a Parquet file unpacks more than that part: so few shards a worker, and
# one where the file is not so many times as large as is worth while.
_PARQUET_EACH = 6
_LARGE = 4
_WORKERS = 2
# Threads that hold nothing a worker needs: of the allocator, which looks after itself when the
# process forks, and one of polars that waits for temporary files to remove.
_HARMLESS = {"jemalloc_bg_thd", "polars-ooc-clea"}


@contextmanager
def local_workers(
    request: EvaluateRequest, wanted: int | None, *, progress: Progress | None = None
) -> Iterator[Workers | None]:
    """Workers for an evaluation; None where one process is as good, or must do.

    Args:
        request: what is evaluated.
        wanted: how many workers; by default two, where there are as many cores.
        progress: told how far they are.
    """
    count = min(_WORKERS, _cores()) if wanted is None else wanted
    files = _files(request) if count > 1 and _may_fork() else []
    size = sum(file.path.stat().st_size / _SHARD_BYTES[file.format] for file in files)
    if size < _LEAST:
        yield None
        return
    from ragtriage.sharding.workers import Workers  # noqa: PLC0415 - only where there are any

    tapered = all(file.format == "jsonl" for file in files)
    # What is there already is not looked through, and so not copied, by a worker's collector.
    gc.freeze()
    try:
        workers = Workers.forked(
            count,
            polars_threads=max(1, _cores() // count),
            shards=_SHARE * count if tapered else count * _each(size / count),
            tapered=tapered,
            told=None if progress is None else _Told(progress),
        )
    except OSError:
        # No room for another process.
        workers = None
    try:
        yield workers
    finally:
        if workers is not None:
            workers.close()


class _Told:
    """Tells how far workers are, from what their calls came to."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._lines = 0

    def __call__(self, outcome: object) -> None:
        sums = getattr(outcome, "sums", None)
        if sums is not None:
            self._lines += sums.tally.totals.read
        self._progress("evaluating" if self._lines else "indexing", self._lines)


def _files(request: EvaluateRequest) -> list[InputFile]:
    """The files of the input; none where it cannot be cut."""
    apart = request.cases or request.reviews or request.text_ids or presets_of(request)
    if apart or not request.inputs or not request.write or "-" in request.inputs:
        return []
    with suppress(InputError, OSError):
        files = find_files(request.inputs, "records", None)
        return files if all(_can_be_cut(file) for file in files) else []
    return []


def _each(size: float) -> int:
    """Shards a worker, of Parquet files `size` times as large as is worth while."""
    return max(1, min(int(size / _LARGE), _PARQUET_EACH))


def _can_be_cut(file: InputFile) -> bool:
    return file.format in _SHARD_BYTES and file.compression is None


def _may_fork() -> bool:
    """Is nobody but this thread at work?"""
    if sys.platform != "linux":
        return False
    with suppress(OSError):
        names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
        return len([name for name in names if name not in _HARMLESS]) == 1
    return False


def _cores() -> int:
    """How many this process may use, by the system and by what the user lets polars take."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    most = os.environ.get("POLARS_MAX_THREADS", "")
    return min(cores, int(most)) if re.fullmatch("0*[1-9][0-9]{0,3}", most) else cores
