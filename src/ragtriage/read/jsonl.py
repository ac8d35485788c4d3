"""JSON lines: one record a line, blank lines counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from ragtriage.read import batches
from ragtriage.read.batches import Batch, JsonLines, skip_bom
from ragtriage.read.files import InputFile


def read_jsonl(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
    """Batches of whole lines."""
    number = 1
    for block in _blocks(stream, file):
        for part in _bounded(block):
            batch = JsonLines(part, number)
            number += batch.physical_lines
            yield batch


def _blocks(stream: BinaryIO, file: InputFile) -> Iterator[bytes]:
    """Blocks of about `BATCH_BYTES` that end where a line ends."""
    rest = skip_bom(stream.read(4), file)
    while True:
        block = stream.read(batches.BATCH_BYTES)
        parts = [rest, block]
        while block and b"\n" not in block:
            block = stream.read(batches.BATCH_BYTES)
            parts.append(block)
        data = b"".join(parts)
        cut = data.rfind(b"\n") + 1 if block else len(data)
        rest = data[cut:]
        if cut:
            yield data[:cut]
        if not block:
            return


def _bounded(block: bytes) -> Iterator[bytes]:
    """The block itself, or pieces of at most `BATCH_RECORDS` lines."""
    if block.count(b"\n") < batches.BATCH_RECORDS:
        yield block
        return
    lines = _cut(block)
    for start in range(0, len(lines), batches.BATCH_RECORDS):
        yield b"".join(lines[start : start + batches.BATCH_RECORDS])


def _cut(block: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in block.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
