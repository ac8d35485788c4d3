"""Parts of an input that can be read apart, in the batches in which one process reads it.

A JSON lines file is cut between batches, a Parquet file between chunks of rows; a compressed file,
a JSON array, CSV and TSV are one shard each.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import polars as pl

from ragtriage.errors import InputError
from ragtriage.read import tables
from ragtriage.read.batches import Batch, JsonLines, Reader
from ragtriage.read.files import Fingerprint, InputFile, find_files, open_bytes, stands
from ragtriage.read.gate import Profile
from ragtriage.read.index import FileIndex, Source
from ragtriage.read.jsonl import batch_bytes, block_bounds, range_reader
from ragtriage.read.sources import Reading, lines_source, rows_source, source_for

# Batches or chunks a shard: some 256 MiB of text, and no more shards than are soon handed out.
_UNITS = 16
_MOST = 400


@dataclass(frozen=True)
class Shard:
    """One file, or bytes (of Parquet: rows) `start` up to `stop` of it.

    `number`: its place among the shards of the input, from 0; `nth`: that of its file among files.
    `step`: the bytes of each of its batches. `stood`: size and time of change of the file when it
    was cut.
    """

    number: int
    nth: int
    file: InputFile
    start: int = 0
    stop: int = 0
    step: int = 0
    whole: bool = True
    stood: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """How messages call it."""
        if self.whole:
            return f"shard {self.number + 1} ({self.file.name})"
        unit = "rows" if self.file.format == "parquet" else "bytes"
        return f"shard {self.number + 1} ({self.file.name}, {unit} {self.start:,}-{self.stop:,})"


@dataclass
class ShardIndex:
    """What the first pass learnt of one shard; nothing is concluded yet.

    `lines` and `records` are those of a range; of a whole file nothing comes after it.
    """

    shard: Shard
    index: FileIndex
    lines: int = 0
    records: int = 0


@dataclass(frozen=True)
class KnownShard:
    """A shard, and what the first pass over the whole input says of it.

    `index`: of its file, with the shard's own batches. `lines` and `records` come before it.
    """

    shard: Shard
    index: FileIndex
    lines: int = 0
    records: int = 0


def cut(
    arguments: tuple[str, ...], spill: Path | None, wanted: int | None, *, tapered: bool = False
) -> list[Shard]:
    """The shards of an input, in input order.

    Args:
        arguments: files, folders, globs, or `-`.
        spill: where standard input is kept.
        wanted: about how many; by default one for 256 MiB, at most some 400.
        tapered: each takes that part of what is left, so that the last are small, and whoever has
            no more to do waits for others only as long as the least shard takes.

    Raises:
        InputError: what is named is not there.
    """
    found = find_files(arguments, "records", spill)
    files = [replace(file, path=file.path.absolute()) for file in found]
    stood = [stands(file) for file in files]
    bounds = [_bounds(file) for file in files]
    units = sum(max(len(of_file) - 1, 1) for of_file in bounds)
    sizes = _tapered(units, wanted or 1) if tapered else _even(units, wanted)
    shards: list[Shard] = []
    for nth, (file, of_file) in enumerate(zip(files, bounds, strict=True)):
        ends = _ends(of_file, sizes)
        if len(ends) < 3:  # noqa: PLR2004 - a start, a cut and an end
            shards.append(Shard(len(shards), nth, file, stood=stood[nth]))
            continue
        step = batch_bytes(ends[-1])
        for start, stop in itertools.pairwise(ends):
            shards.append(
                Shard(len(shards), nth, file, start, stop, step, whole=False, stood=stood[nth])
            )
    return shards


def _even(units: int, wanted: int | None) -> Iterator[int]:
    """How many units each shard takes, one after another; of a file, no more than it has."""
    by_size = max(_UNITS, -(-units // _MOST))
    return itertools.repeat(by_size if wanted is None else max(1, -(-units // wanted)))


def _tapered(units: int, wanted: int) -> Iterator[int]:
    """The same, each that part of what is left, within the size of a shard by default."""
    while True:
        size = min(max(1, -(-units // wanted)), max(_UNITS, -(-units // _MOST)))
        yield size
        units = max(0, units - size)


def _ends(bounds: list[int], sizes: Iterator[int]) -> list[int]:
    """Where the shards of a file begin, and where the last one ends."""
    ends, at = bounds[:1], 0
    while at < len(bounds) - 1:
        at = min(at + next(sizes), len(bounds) - 1)
        ends.append(bounds[at])
    return ends


def learn(shard: Shard, request: Reading) -> ShardIndex:
    """First pass over a shard.

    Raises:
        InputError: it cannot be read at all.
    """
    seen = ShardIndex(shard, FileIndex(shard.file, Fingerprint("", 0, 0)))
    if shard.whole:
        seen.index = source_for(shard.file, "records", request).learn()
    elif shard.file.format == "parquet":
        seen.index = rows_source(shard.file, request, range(shard.start, shard.stop)).learn()
    else:
        reader = _counting(range_reader(shard.start, shard.stop, 1, shard.step), seen)
        seen.index = lines_source(shard.file, request, reader, 0).learn()
    return seen


def joined(parts: list[ShardIndex], seen: Fingerprint, request: Reading) -> list[KnownShard]:
    """The shards of one file, each knowing what all of them together told.

    Raises:
        InputError: the file is not any more what was cut.
    """
    file = parts[0].shard.file
    # Whoever learnt a part may have read it before the digest was taken, or after.
    if parts[0].shard.stood != (seen.size, seen.modified_ns):
        raise InputError(f"{file.name}: changed while it was read; run again")
    index = replace(parts[0].index, fingerprint=seen, hashes=[], profile=Profile())
    for part in parts:
        index.profile.merge(part.index.profile)
    source_for(file, "records", request).settle(index)
    known: list[KnownShard] = []
    lines = records = 0
    for part in parts:
        clean = part.index.clean
        if not index.profile.lets(part.index.profile):
            clean = [False] * len(clean)
        known.append(KnownShard(part.shard, replace(index, clean=clean), lines, records))
        lines += part.lines
        records += part.records
    return known


def reopened(known: KnownShard, request: Reading) -> Source:
    """A shard for its second pass."""
    shard = known.shard
    if shard.whole:
        return source_for(shard.file, "records", request)
    if shard.file.format == "parquet":
        return rows_source(shard.file, request, range(shard.start, shard.stop))
    reader = range_reader(shard.start, shard.stop, known.lines + 1, shard.step)
    return lines_source(shard.file, request, reader, known.records)


def positions(known: KnownShard, request: Reading, wanted: pl.Series) -> list[tuple[str, int]]:
    """IDs of a shard whose hash is wanted, with their lines, in file order."""
    # Any of its batches may have them: hashes are kept by shard.
    index = replace(known.index, hashes=[wanted] * len(known.index.clean))
    return list(reopened(known, request).positions(index, wanted))


def _bounds(file: InputFile) -> list[int]:
    """Where a file may be cut, its start and end included; fewer than two: nowhere.

    What cannot be read is one shard, whose first pass says what is wrong.
    """
    if file.format == "parquet":
        height = _height(file)
        return [*range(0, height, tables.chunk_rows(file.path.stat().st_size, height)), height]
    if file.format != "jsonl" or file.compression is not None:
        return []
    try:
        with open_bytes(file) as stream:
            return block_bounds(stream, file)
    except InputError:
        return []


def _height(file: InputFile) -> int:
    try:
        return tables.table_height(file.path)
    except (UnicodeEncodeError, *tables.DAMAGED):
        return 0


def _counting(reader: Reader, seen: ShardIndex) -> Reader:
    def read(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
        for batch in reader(stream, file):
            yield batch
            if isinstance(batch, JsonLines):
                seen.lines += batch.physical_lines
                seen.records += batch.physical_lines - batch.blank

    return read
