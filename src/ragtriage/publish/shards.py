"""Where shards are written: each attempt in a folder of its own, taken over once it is whole.

A worker that dies leaves an attempt that nobody asks for; it goes with the folder of attempts.
"""

from __future__ import annotations

import platform
import secrets
from functools import lru_cache
from pathlib import Path

import polars as pl

from ragtriage.errors import InputError
from ragtriage.publish.folder import RunFolder, write_table, writing
from ragtriage.publish.parts import Parts, part_name


class ShardFolder:
    """One attempt at a shard, as the worker that makes it sees it."""

    def __init__(self, attempts: Path, shard: str, run_id: str) -> None:
        """`attempts`: the folder of the run's attempts, which is there as long as the run is.

        Raises:
            InputError: it is not there, or nothing can be written to it.
        """
        self.path = attempts / f"{shard}-{secrets.token_hex(4)}"
        self._run_id = run_id
        if not attempts.is_dir():
            raise InputError(
                f"{attempts}: not there on worker {platform.node()}; inputs and --out must lie "
                "where all workers see them under the same path"
            )
        with writing(self.path):
            self.path.mkdir()

    def write_table(self, name: str, frame: pl.DataFrame) -> None:
        """One Parquet file, as it will stand in the run's folder."""
        write_table(self.path / name, frame, self._run_id)


def keep_frame(target: Path, frame: pl.DataFrame) -> Path:
    """Keep a frame for other processes, as it is in memory; where it is."""
    with writing(target):
        frame.write_ipc(target)
    return target


def kept_frame(path: Path) -> pl.DataFrame:
    """A frame that another process kept."""
    return pl.read_ipc(path.read_bytes())


# What every shard of a run needs is read once by each worker.
shared_frame = lru_cache(maxsize=2)(kept_frame)


def open_attempts(folder: RunFolder) -> Path:
    """Make the folder of the run's attempts."""
    attempts = folder.attempts.absolute()
    with writing(attempts):
        attempts.mkdir()
    return attempts


def take_over(folder: RunFolder, attempt: Path, table: str, count: int, parts: Parts) -> None:
    """Move an attempt's parts of a table to where they stand in the run's folder."""
    for i in range(count):
        folder.adopt(attempt / part_name(table, i), part_name(table, parts.number(table)))
