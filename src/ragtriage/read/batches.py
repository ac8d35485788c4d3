"""What the text formats have in common: batches of records, each a JSON line with its place."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import BinaryIO

import numpy as np

from ragtriage.errors import InputError
from ragtriage.read.faults import Fault
from ragtriage.read.files import InputFile

# Batches end at fixed places in the file, so that results do not depend on anything else.
BATCH_BYTES = 16 << 20
# A file of small records is cut by number, so that what is derived from a batch stays bounded.
BATCH_RECORDS = 100_000

_PIECE = 1 << 20

# What JSON calls white space; bytes.strip alone takes more.
WHITE = b" \t\r\n"
# How a line starts that may be blank.
_WHITE_STARTS = frozenset({b"", *(WHITE[i : i + 1] for i in range(len(WHITE)))})

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
    that could not even be cut out, or mapped to one of ours, to what is wrong with it; its line is
    then empty or holds its ID alone. `block` is the text that the lines were cut from, where they
    are all of it. `before`: records of the file that came before. `dropped`: keys that were left
    behind, and in how many records. `mapping`: the user's paths that led somewhere.
    """

    lines: list[bytes]
    numbers: Sequence[int]
    blank: int = 0
    raws: list[bytes] | None = None
    broken: dict[int, str | Fault] = field(default_factory=dict)
    block: bytes | None = None
    before: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    mapping: dict[str, str] = field(default_factory=dict)

    def raw(self, index: int) -> bytes:
        """The record as it stood in the file."""
        return self.lines[index] if self.raws is None else self.raws[index]


class JsonLines(Batch):
    """A batch of JSON lines that is cut up only when somebody looks."""

    def __init__(self, block: bytes, first: int, physical_lines: int) -> None:
        self.block: bytes = block
        self.physical_lines = physical_lines
        self.raws = None
        self.broken = {}
        self.dropped = Counter()
        self.mapping = {}
        self._first = first

    @property
    def first(self) -> int:
        """The number of the block's first line."""
        return self._first

    @cached_property
    def _cut(self) -> tuple[list[bytes], Sequence[int], int]:
        lines = self.block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        numbers = range(self._first, self._first + len(lines))
        if _WHITE_STARTS.isdisjoint({line[:1] for line in lines}):
            return lines, numbers, 0
        skip = {i for i, line in enumerate(lines) if is_blank(line)}
        if not skip:
            return lines, numbers, 0
        kept = [i for i in range(len(lines)) if i not in skip]
        return [lines[i] for i in kept], [numbers[i] for i in kept], len(skip)

    @property
    def lines(self) -> list[bytes]:  # type: ignore[override]
        """The records."""
        return self._cut[0]

    @property
    def numbers(self) -> Sequence[int]:  # type: ignore[override]
        """Where they start."""
        return self._cut[1]

    @property
    def blank(self) -> int:  # type: ignore[override]
        """Blank lines among them."""
        return self._cut[2]


class BatchBuilder:
    """Gathers records one by one until there are enough of them for a batch."""

    def __init__(self, *, with_raws: bool) -> None:
        self._with_raws = with_raws
        self._start()

    def add(self, line: bytes, number: int, raw: bytes, problem: str | Fault = "") -> None:
        """One record; `problem` where it could not be cut out or mapped."""
        if problem:
            self._broken[len(self._lines)] = problem
        self._lines.append(line)
        self._numbers.append(number)
        self._size += len(raw)
        if self._with_raws:
            self._raws.append(raw)

    def drop(self, names: Iterable[str]) -> None:
        """Keys that one record leaves behind."""
        self._dropped.update(names)

    def note(self, mapping: dict[str, str]) -> None:
        """The user's paths that led somewhere."""
        self._mapping |= mapping

    def add_blank(self, count: int) -> None:
        """Lines that hold nothing."""
        self._blank += count

    @property
    def full(self) -> bool:
        """Enough for a batch?"""
        return self._size >= BATCH_BYTES or len(self._lines) >= BATCH_RECORDS

    def take(self) -> Batch:
        """What was gathered, and begin anew."""
        raws = self._raws if self._with_raws else None
        batch = Batch(
            self._lines,
            self._numbers,
            self._blank,
            raws,
            self._broken,
            dropped=self._dropped,
            mapping=self._mapping,
        )
        self._start()
        return batch

    def _start(self) -> None:
        self._lines: list[bytes] = []
        self._numbers: list[int] = []
        self._raws: list[bytes] = []
        self._broken: dict[int, str | Fault] = {}
        self._dropped: Counter[str] = Counter()
        self._mapping: dict[str, str] = {}
        self._blank = 0
        self._size = 0


Reader = Callable[[BinaryIO, InputFile], Iterator[Batch]]


def skip_bom(head: bytes, file: InputFile) -> bytes:
    """The first bytes without a UTF-8 mark.

    Raises:
        InputError: the file is in another encoding.
    """
    for bom, name in _FOREIGN_BOMS.items():
        if head.startswith(bom):
            raise InputError(
                f"{file.name}:1: encoding: the file is {name}; save it as UTF-8 [encoding]"
            )
    return head.removeprefix(codecs.BOM_UTF8)


def is_blank(line: bytes) -> bool:
    """Nothing but JSON white space."""
    return not line.strip(WHITE)


def count_byte(text: bytes, byte: bytes) -> int:
    """How often a byte occurs; where it is frequent, much faster than `bytes.count`."""
    values = np.frombuffer(text, np.uint8)
    # Piece by piece: what is compared at once takes as much room as the text itself.
    starts = range(0, len(values), _PIECE)
    return sum(int(np.count_nonzero(values[at : at + _PIECE] == byte[0])) for at in starts)
