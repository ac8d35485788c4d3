"""Lines of columns to frames, block by block; rows that have not their columns are told apart.

A block is taken whole where it is sound, and halved where it is not, down to a few lines that are
looked at one by one: bad rows cost what they are, not what their file is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

import polars as pl
import polars.exceptions

from ragtriage.read.batches import skip_bom
from ragtriage.read.chunk import readable
from ragtriage.read.files import InputFile
from ragtriage.schemas.rules import message

BLOCK_BYTES = 1 << 24
# Blocks below this are looked at line by line when they are not sound.
_SMALL = 1 << 14
_OTHER_SPACE = b"\t\r\x0b\x0c"
_TO_BLANKS = bytes.maketrans(_OTHER_SPACE, b" " * len(_OTHER_SPACE))


@dataclass(frozen=True)
class Layout:
    """The columns of a file, in order. `tabbed`: one tab separates, else white space of any kind.

    `what` is how messages call such a file.
    """

    what: str
    columns: tuple[str, ...]
    tabbed: bool = False

    def split(self, line: bytes) -> list[bytes]:
        """A line's cells; none of a blank line."""
        if self.tabbed and line.strip():
            return line.rstrip(b"\r\n").split(b"\t")
        return line.split()


class BrokenRow(NamedTuple):
    """A row that cannot be used; `topic` is its first cell where that can be read."""

    line: int
    topic: str | None
    field: str
    rule: str
    message: str
    raw: str


class Block(NamedTuple):
    """Consecutive lines: `frame` has the columns as text and `line`; `read` lines in all.

    `text`: the lines themselves, which begin at line `first`.
    """

    frame: pl.DataFrame
    broken: list[BrokenRow]
    read: int
    blank: int
    text: bytes
    first: int

    def raw(self, lines: list[int]) -> list[str]:
        """The text of some of its lines."""
        every = self.text.split(b"\n")
        return [readable(every[line - self.first].rstrip(b"\r")) for line in lines]


def read_blocks(
    stream: BinaryIO, file: InputFile, layout: Layout, skip: int = 0
) -> Iterator[Block]:
    """The file's rows, in order; `skip` lines at its head do not count.

    Raises:
        InputError: the file is in another encoding than UTF-8.
    """
    first = 1
    for text in _whole_lines(stream, file):
        head = 0
        for _ in range(max(0, skip - first + 1)):
            head = text.index(b"\n", head) + 1 if b"\n" in text[head:] else len(text)
        first += text[:head].count(b"\n")
        rest = text[head:] if head else text
        for block in _parsed(rest, first, layout):
            first += block.read
            yield block


def _whole_lines(stream: BinaryIO, file: InputFile) -> Iterator[bytes]:
    """Blocks that end where a line does."""
    rest = skip_bom(stream.read(4), file)
    while block := stream.read(BLOCK_BYTES):
        block = rest + block
        end = block.rfind(b"\n") + 1
        rest = block[end:]
        if end:
            yield block[:end]
    if rest:
        yield rest if rest.endswith(b"\n") else rest + b"\n"


def _parsed(text: bytes, first: int, layout: Layout) -> Iterator[Block]:
    if not text:
        return
    lines = text.count(b"\n")
    frame = _sound(text, lines, layout)
    if frame is not None:
        numbers = pl.int_range(first, first + lines, eager=True, dtype=pl.Int64)
        yield Block(frame.with_columns(line=numbers), [], lines, 0, text, first)
        return
    middle = text.find(b"\n", len(text) // 2) + 1
    if len(text) <= _SMALL or middle in (0, len(text)):
        yield _one_by_one(text, first, layout)
        return
    before = text[:middle]
    yield from _parsed(before, first, layout)
    yield from _parsed(text[middle:], first + before.count(b"\n"), layout)


def _sound(text: bytes, lines: int, layout: Layout) -> pl.DataFrame | None:
    """The rows of a text in which every line has its columns, or None."""
    plain = text.replace(b"\r\n", b"\n") if b"\r" in text else text
    if layout.tabbed:
        return _cells(plain, lines, layout)
    if any(space in plain for space in (b"\t", b"\r", b"\x0b", b"\x0c")):
        plain = plain.translate(_TO_BLANKS)
    # Mostly one blank separates; looking for more costs as much as reading.
    frame = _cells(plain, lines, layout)
    return _cells(_single_spaced(plain), lines, layout) if frame is None else frame


def _cells(text: bytes, lines: int, layout: Layout) -> pl.DataFrame | None:
    try:
        frame = pl.read_csv(
            text,
            separator="\t" if layout.tabbed else " ",
            has_header=False,
            quote_char=None,
            schema=dict.fromkeys(layout.columns, pl.String),
        )
    except polars.exceptions.PolarsError:
        return None
    whole = frame.height == lines and not any(column.null_count() for column in frame)
    return frame if whole else None


def _single_spaced(text: bytes) -> bytes:
    """One blank between columns and none around them; line breaks are untouched."""
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    return text.replace(b" \n", b"\n").replace(b"\n ", b"\n").removeprefix(b" ")


def _one_by_one(text: bytes, first: int, layout: Layout) -> Block:
    rows: list[list[str]] = []
    numbers: list[int] = []
    broken: list[BrokenRow] = []
    lines = text.removesuffix(b"\n").split(b"\n")
    blank = 0
    for number, line in enumerate(lines, first):
        cells = layout.split(line)
        if not cells:
            blank += 1
            continue
        fault = _fault(line, number, cells, layout)
        if fault is not None:
            broken.append(fault)
        else:
            rows.append([cell.decode() for cell in cells])
            numbers.append(number)
    frame = pl.DataFrame(rows, schema=dict.fromkeys(layout.columns, pl.String), orient="row")
    placed = frame.with_columns(line=pl.Series(numbers, dtype=pl.Int64))
    return Block(placed, broken, len(lines), blank, text, first)


def _fault(line: bytes, number: int, cells: list[bytes], layout: Layout) -> BrokenRow | None:
    raw = readable(line.rstrip(b"\r"))
    try:
        line.decode()
    except UnicodeDecodeError as error:
        why = (
            f"{message('encoding')} (byte {error.start + 1} of the row is {line[error.start]:#04x})"
        )
        return BrokenRow(number, _text(cells[0]), "row", "encoding", why, raw)
    if len(cells) == len(layout.columns) and all(cells):
        return None
    names = ", ".join(layout.columns)
    why = f"{len(cells)} columns, a row of {layout.what} has {len(layout.columns)} ({names})"
    if len(cells) == len(layout.columns):
        why = f"an empty cell; a row of {layout.what} has {names}"
    return BrokenRow(number, _text(cells[0]), "row", "unmapped", f"{why}; correct the row", raw)


def _text(cell: bytes) -> str | None:
    try:
        return cell.decode() or None
    except UnicodeDecodeError:
        return None
