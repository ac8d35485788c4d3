"""JSON lines: one record a line, blank lines counted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

from ragtriage.read import batches
from ragtriage.read.batches import Batch, JsonLines, skip_bom
from ragtriage.read.files import InputFile


def read_jsonl(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
    """Batches of whole lines."""
    number = 1
    for block in _blocks(stream, file):
        for part, lines in _bounded(block):
            yield JsonLines(part, number, lines)
            number += lines


def _blocks(stream: BinaryIO, file: InputFile) -> Iterator[bytes]:
    """Blocks of `BATCH_BYTES` and what is left of their last line."""
    start = skip_bom(stream.read(4), file)
    if file.compression is None:
        stream.seek(-len(start), os.SEEK_CUR)
        while block := _whole(stream):
            yield block
        return
    while block := start + stream.read(batches.BATCH_BYTES) + stream.readline():
        yield block
        start = b""


def _whole(stream: BinaryIO) -> bytes:
    """The next block in one piece: to put one together costs more than to read it."""
    start = stream.tell()
    stream.seek(batches.BATCH_BYTES, os.SEEK_CUR)
    stream.readline()
    end = stream.tell()
    stream.seek(start)
    return stream.read(end - start)


def _bounded(block: bytes) -> Iterator[tuple[bytes, int]]:
    """The block itself, or pieces of at most `BATCH_RECORDS` lines; each with its lines."""
    count = block.count(b"\n") + (not block.endswith(b"\n"))
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
