"""The tables of a run that are written chunk by chunk: parts, numbered in input order."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import polars as pl

TABLES = ("cases", "evidence", "claims", "rejects")


class TableFolder(Protocol):
    """Where parts are written: a run's folder, or a shard's."""

    def write_table(self, name: str, frame: pl.DataFrame) -> None:
        """One Parquet file."""
        ...


class Parts:
    """Writes parts, keeps them in memory, or both. `counts`: parts of each table so far."""

    def __init__(self, folder: TableFolder | None, *, keep: bool = False) -> None:
        self._folder = folder
        self._keep = keep
        self.counts = dict.fromkeys(TABLES, 0)
        self.kept: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}

    def write(self, table: str, frame: pl.DataFrame) -> None:
        """The next part of a table."""
        if self._keep:
            self.kept[table].append(frame)
        if self._folder is not None:
            self._folder.write_table(part_name(table, self.counts[table]), frame)
        self.counts[table] += 1

    def number(self, table: str) -> int:
        """The number of a table's next part, which is written elsewhere."""
        self.counts[table] += 1
        return self.counts[table] - 1


def part_name(table: str, number: int) -> str:
    """Where a part stands in its folder."""
    return str(Path(table) / f"part-{number:05d}.parquet")
