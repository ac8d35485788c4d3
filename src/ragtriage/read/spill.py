"""Rows put aside on disk and asked for again by place, a range at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import polars.exceptions

from ragtriage.errors import InputError
from ragtriage.read.case_ids import Places

PLACE = "place"
# Rows gathered in memory before they are written: fewer, larger runs are read back faster.
RUN_BYTES = 48 << 20
# Rows of one range that are in memory together.
PIECE_BYTES = 32 << 20
# A run is read back in groups of so many bytes.
_GROUP_BYTES = 1 << 20


class Spill:
    """Rows by their column `place`.

    They are written in runs, each sorted by place: so a range is a slice of every run, and
    nothing has to be known of the rows beforehand. Little is not written at all.
    """

    def __init__(self, folder: Path | None, name: str, schema: Mapping[str, pl.DataType]) -> None:
        """`folder`: None keeps all in memory, where nothing may be written."""
        self._folder = folder
        self._name = name
        self._nothing = pl.DataFrame(schema={PLACE: pl.UInt32(), **schema})
        self._runs: list[_Run] = []
        self._written = 0
        self._gathered: list[pl.DataFrame] = []
        self._gathered_bytes = 0

    def add(self, rows: pl.DataFrame) -> None:
        """Put rows aside."""
        if rows.is_empty():
            return
        kept = rows.select(self._nothing.columns)
        self._gathered.append(kept)
        self._gathered_bytes += int(kept.estimated_size())
        if self._gathered_bytes >= RUN_BYTES:
            self._settle(write=self._folder is not None)

    def rows(self, start: int, stop: int) -> pl.DataFrame:
        """The rows of the places from `start` up to `stop`, in no order that means anything."""
        self._settle(write=False)
        slices = (run.between(start, stop) for run in self._runs)
        with _spilling(self._folder):
            parts = [run.rows(*found) for run, found in zip(self._runs, slices, strict=True)]
        return pl.concat([self._nothing, *(part for part in parts if part is not None)])

    def pieces(self, start: int, stop: int, most: int | None = None) -> Iterator[tuple[int, int]]:
        """The range cut up: at most `most` places, and rows that fit in memory, in each piece."""
        self._settle(write=False)
        width = stop - start
        size = sum(run.size(start, stop) for run in self._runs)
        count = max(-(-size // PIECE_BYTES), -(-width // (most or width or 1)))
        if count <= 1 or width <= 1:
            if width:
                yield start, stop
            return
        for one, next_ in pairwise(start + width * i // count for i in range(count + 1)):
            if next_ > one:
                # One place may hold much more than its neighbours.
                yield from self.pieces(one, next_, most)

    def forget(self, before: int) -> None:
        """Give up what lies before this place, as far as whole runs go."""
        for run in self._runs:
            if run.last < before and run.path is not None:
                run.path.unlink(missing_ok=True)
        self._runs = [run for run in self._runs if run.last >= before]

    def _settle(self, *, write: bool) -> None:
        """Make a run of what was gathered."""
        if not self._gathered:
            return
        frame = pl.concat(self._gathered).sort(PLACE, maintain_order=True)
        self._gathered, self._gathered_bytes = [], 0
        places = frame[PLACE].to_numpy().copy()
        row_bytes = int(frame.estimated_size()) // frame.height + 1
        if not write or self._folder is None:
            self._runs.append(_Run(places, row_bytes, frame, None))
            return
        path = self._folder / f"{self._name}-{self._written:05d}.arrow"
        self._written += 1
        with _spilling(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            group = max(1, _GROUP_BYTES // row_bytes)
            frame.write_ipc(path, compression="lz4", record_batch_size=group)
        self._runs.append(_Run(places, row_bytes, None, path))


@dataclass
class _Run:
    """Rows sorted by place, in memory or in a file."""

    places: Places
    row_bytes: int
    frame: pl.DataFrame | None
    path: Path | None

    @property
    def last(self) -> int:
        return int(self.places[-1])

    def between(self, start: int, stop: int) -> tuple[int, int]:
        """The first of its rows in a range of places, and how many there are."""
        first, end = np.searchsorted(self.places, np.array([start, stop], dtype=np.uint64))
        return int(first), int(end - first)

    def size(self, start: int, stop: int) -> int:
        return self.between(start, stop)[1] * self.row_bytes

    def rows(self, first: int, count: int) -> pl.DataFrame | None:
        if not count:
            return None
        if self.frame is not None:
            return self.frame.slice(first, count)
        if self.path is None:
            raise AssertionError("a run is in memory or in a file")
        return pl.scan_ipc(self.path, glob=False).slice(first, count).collect()


@contextmanager
def _spilling(folder: Path | None) -> Iterator[None]:
    try:
        yield
    except (polars.exceptions.PolarsError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error).split("\n", 1)[0]
        raise InputError(
            f"{folder}: rows cannot be put aside: {reason}; check --out, permissions and space; "
            "nothing was published"
        ) from None
