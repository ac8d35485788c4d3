"""What the text formats have in common: batches of records, each a JSON line with its place."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from ragtriage.errors import InputError
from ragtriage.read.files import InputFile

# Batches end at fixed places in the file, so that results do not depend on anything else.
BATCH_BYTES = 16 << 20
# A file of small records is cut by number, so that what is derived from a batch stays bounded.
BATCH_RECORDS = 100_000

_FOREIGN_BOMS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


@dataclass
class Batch:
    """Consecutive records of one file.

    `lines` hold one JSON text each, `numbers` the physical line where each starts; `raws` what
    stood in the file where that is not the JSON text itself. `broken` maps the place of a record
    that could not even be cut out to what is wrong with it.
    """

    lines: list[bytes]
    numbers: list[int]
    blank: int = 0
    raws: list[bytes] | None = None
    broken: dict[int, str] = field(default_factory=dict)
    end: int = 0

    def raw(self, index: int) -> bytes:
        """The record as it stood in the file."""
        return self.lines[index] if self.raws is None else self.raws[index]


Reader = Callable[[BinaryIO, InputFile], Iterator[Batch]]


def skip_bom(head: bytes, file: InputFile) -> bytes:
    """The first bytes without a UTF-8 mark.

    Raises:
        InputError: the file is in another encoding.
    """
    for bom, name in _FOREIGN_BOMS.items():
        if head.startswith(bom):
            raise InputError(f"{file.name}:1: encoding: the file is {name}; save it as UTF-8 [encoding]")
    return head.removeprefix(codecs.BOM_UTF8)


def is_blank(line: bytes) -> bool:
    """Nothing but JSON white space."""
    return not line.strip()
