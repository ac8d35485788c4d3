"""Hashes of IDs on disk, a file a shard, and which of them occur more than once over all files.

They are looked through a range of hashes at a time, so that memory does not grow with the input.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from ragtriage.read.index import repeated_among

# Looked through together: 64 MiB of hashes.
_TOGETHER = 1 << 23
_BITS = 64


def write_hashes(target: Path, hashes: list[pl.Series]) -> int:
    """Keep a shard's hashes, sorted, 8 bytes each; how many there are."""
    joined = pl.concat([pl.Series(dtype=pl.UInt64), *hashes]).sort()
    # By way of memory: numpy does not notice where the last of a file finds no room.
    stored = io.BytesIO()
    np.save(stored, joined.to_numpy())
    target.write_bytes(stored.getbuffer())
    return joined.len()


def repeated(files: list[Path]) -> pl.Series:
    """The hashes that occur more than once, over all files, in ascending order."""
    found = [pl.Series(dtype=pl.UInt64)]
    # One open file at a time: there may be more than a process may keep open.
    for low, high in _ranges(sum(_stored(file).size for file in files)):
        found.append(repeated_among([_within(_stored(file), low, high) for file in files]))
    return pl.concat(found)


def holders(files: list[Path], wanted: pl.Series) -> list[bool]:
    """Which of the files hold any of the wanted hashes."""
    if wanted.is_empty():
        return [False] * len(files)
    sought = wanted.to_numpy()
    return [_any_of(_stored(file), sought) for file in files]


def _ranges(total: int) -> Iterator[tuple[int, int]]:
    """Equal ranges of hashes, first and last included; hashes are spread evenly."""
    count = 1 << max(total // _TOGETHER, 0).bit_length()
    width = (1 << _BITS) // count
    for i in range(count):
        yield i * width, (i + 1) * width - 1


def _stored(file: Path) -> np.ndarray:
    hashes: np.ndarray = np.load(file, mmap_mode="r")
    return hashes


def _within(hashes: np.ndarray, low: int, high: int) -> np.ndarray:
    start = np.searchsorted(hashes, np.uint64(low), side="left")
    stop = np.searchsorted(hashes, np.uint64(high), side="right")
    # A copy: whoever keeps a view keeps the file open.
    return np.array(hashes[start:stop])


def _any_of(hashes: np.ndarray, sought: np.ndarray) -> bool:
    places = np.searchsorted(hashes, sought)
    inside = places < hashes.size
    return bool((hashes[places[inside]] == sought[inside]).any())
