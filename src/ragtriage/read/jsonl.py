"""JSON lines: one record a line, blank lines counted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from ragtriage.read import batches
from ragtriage.read.batches import Batch, JsonLines, Reader, skip_bom
from ragtriage.read.files import InputFile

# From here on it matters little that one of two workers has a batch more.
_MANY = 24


def read_jsonl(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
    """Batches of whole lines."""
    yield from _numbered(_blocks(stream, file), 1)


def block_bounds(stream: BinaryIO, file: InputFile) -> list[int]:
    """Where each block of a file that is not compressed begins, and where the last one ends."""
    head = stream.read(4)
    at = len(head) - len(skip_bom(head, file))
    size = stream.seek(0, os.SEEK_END)
    step = batch_bytes(size)
    bounds = [at]
    while at < size:
        stream.seek(at + step)
        stream.readline()
        at = min(stream.tell(), size)
        bounds.append(at)
    return bounds


def batch_bytes(size: int) -> int:
    """Bytes of a batch, but for what is left of its last line, of a file of this size.

    A few batches are an even number: two workers share them.
    """
    count = -(-size // batches.BATCH_BYTES)
    if count in range(3, _MANY, 2):
        return -(-size // (count + 1))
    return batches.BATCH_BYTES


def range_reader(start: int, stop: int, first: int, step: int) -> Reader:
    """Reads from one of `block_bounds` to another, in the batches of the whole file.

    `first`: the number of the range's first line. `step`: the file's `batch_bytes`.
    """

    def read(stream: BinaryIO, _file: InputFile) -> Iterator[Batch]:
        stream.seek(start)
        yield from _numbered(_until(stream, stop, step), first)

    return read


def _until(stream: BinaryIO, stop: int, step: int) -> Iterator[bytes]:
    while stream.tell() < stop and (block := _whole(stream, step)):
        yield block


def _numbered(blocks: Iterable[bytes], first: int) -> Iterator[Batch]:
    for block in blocks:
        for part, lines in _bounded(block):
            yield JsonLines(part, first, lines)
            first += lines


def _blocks(stream: BinaryIO, file: InputFile) -> Iterator[bytes]:
    """Blocks of one size and what is left of their last line."""
    start = skip_bom(stream.read(4), file)
    if file.compression is None:
        stream.seek(-len(start), os.SEEK_CUR)
        at = stream.tell()
        step = batch_bytes(stream.seek(0, os.SEEK_END))
        stream.seek(at)
        while block := _whole(stream, step):
            yield block
        return
    while block := start + stream.read(batches.BATCH_BYTES) + stream.readline():
        yield block
        start = b""


def _whole(stream: BinaryIO, step: int) -> bytes:
    """The next block in one piece: to put one together costs more than to read it."""
    start = stream.tell()
    stream.seek(step, os.SEEK_CUR)
    stream.readline()
    end = stream.tell()
    stream.seek(start)
    return stream.read(end - start)


def _bounded(block: bytes) -> Iterator[tuple[bytes, int]]:
    """The block itself, or pieces of at most `BATCH_RECORDS` lines; each with its lines."""
    count = batches.count_byte(block, b"\n") + (not block.endswith(b"\n"))
    if count <= batches.BATCH_RECORDS:
        yield block, count
        return
    lines = _cut(block)
    for start in range(0, len(lines), batches.BATCH_RECORDS):
        piece = lines[start : start + batches.BATCH_RECORDS]
        yield b"".join(piece), len(piece)


def _cut(block: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in block.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
