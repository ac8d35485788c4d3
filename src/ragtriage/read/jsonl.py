"""JSON lines: one record a line, blank lines counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from ragtriage.read import batches
from ragtriage.read.batches import Batch, is_blank, skip_bom
from ragtriage.read.files import InputFile


def read_jsonl(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
    """Batches of whole lines."""
    number = 1
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
        lines = data[:cut].split(b"\n")
        if not lines[-1]:
            lines.pop()
        for start in range(0, len(lines), batches.BATCH_RECORDS):
            yield _batch(lines[start : start + batches.BATCH_RECORDS], number + start)
        number += len(lines)
        if not block:
            return


def _batch(lines: list[bytes], first: int) -> Batch:
    end = first + len(lines) - 1
    numbers = list(range(first, end + 1))
    skip = {i for i, line in enumerate(lines) if not line[:1].strip() and is_blank(line)}
    if not skip:
        return Batch(lines, numbers, end=end)
    kept = [i for i in range(len(lines)) if i not in skip]
    return Batch([lines[i] for i in kept], [numbers[i] for i in kept], blank=len(skip), end=end)
