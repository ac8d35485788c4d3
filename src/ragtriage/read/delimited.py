"""CSV and TSV: every cell is text; lists are JSON text. Cells become the JSON they stand for."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import BinaryIO

import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.aliases import Key, KeyResolver
from ragtriage.read.batches import Batch, BatchBuilder, Reader, skip_bom
from ragtriage.read.faults import first_repeated, quoted
from ragtriage.read.files import InputFile
from ragtriage.read.gate import takes_text

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_BOOLEANS = {"true": "true", "false": "false"}

csv.field_size_limit(sys.maxsize)


def delimited_reader(
    delimiter: str, resolver: KeyResolver | None, dtypes: dict[str, pl.DataType]
) -> Reader:
    """A reader of delimited text whose cells are taken by the type of their field.

    Without a resolver every cell is text.
    """

    def read(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
        source = _PhysicalLines(stream, file)
        rows = csv.reader(source, delimiter=delimiter, strict=True)
        header = _header(rows, file)
        keys = [resolver.resolve(name) if resolver else None for name in header]
        encoders = [_encoder(key, dtypes) for key in keys]
        prefixes = [json.dumps(name, ensure_ascii=False) + ":" for name in header]
        yield from _batches(rows, source, prefixes, encoders)

    return read


class _PhysicalLines:
    """Feeds the parser line by line and remembers what the current record took."""

    def __init__(self, stream: BinaryIO, file: InputFile) -> None:
        head = skip_bom(stream.read(4), file)
        if not head.endswith(b"\n"):
            head += stream.readline()
        self._first = iter(io.BytesIO(head))
        self._stream = stream
        self.number = 0
        self.taken: list[bytes] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._first, None) or self._stream.readline()
        if not line:
            raise StopIteration
        self.number += 1
        self.taken.append(line)
        return line.decode("utf-8", "surrogateescape")


def _header(rows: Iterator[list[str]], file: InputFile) -> list[str]:
    try:
        header = [name.strip() for name in next(rows)]
    except StopIteration:
        raise InputError(f"{file.name}:1: header: the file is empty; give a header line") from None
    except csv.Error as error:
        raise InputError(f"{file.name}:1: header: {_told(error)}") from None
    if "".join(header).encode("utf-8", "surrogateescape").decode("utf-8", "ignore") != "".join(
        header
    ):
        raise InputError(
            f"{file.name}:1: header: not valid UTF-8 text; save the file as UTF-8 [encoding]"
        )
    if not header:
        raise InputError(f"{file.name}:1: header: the first line is blank; give a header line")
    if len(header) == 1 and (other := next((c for c in ";\t,|" if c in header[0]), None)):
        raise InputError(
            f"{file.name}:1: header: one column, {header[0][:60]!r}; the file seems to be "
            f"separated by {other!r}: save it with commas (.csv) or tabs (.tsv)"
        )
    header = [name or f"column {place}" for place, name in enumerate(header, 1)]
    if len(set(header)) < len(header):
        twice = quoted(first_repeated(header))
        raise InputError(
            f"{file.name}:1: header: column {twice} is given twice; keep one [duplicate-key]"
        )
    return header


def _told(error: csv.Error) -> str:
    if "new-line character" in str(error):
        return "not valid CSV (a carriage return outside quotes ends no line); end lines in LF"
    return f"not valid CSV ({error}); correct the quoting"


def _batches(
    rows: Iterator[list[str]],
    source: _PhysicalLines,
    prefixes: list[str],
    encoders: list[Callable[[str], str]],
) -> Iterator[Batch]:
    builder = BatchBuilder(with_raws=True)
    source.taken.clear()
    while True:
        start = source.number + 1
        problem = ""
        cells: list[str] | None = None
        try:
            cells = next(rows, None)
        except csv.Error as error:
            problem = _told(error)
        raw = b"".join(source.taken)
        source.taken.clear()
        if cells is None and not problem:
            break
        if not problem and (not cells or _is_empty(cells, prefixes)):
            builder.add_blank(raw.count(b"\n") or 1)
            continue
        line, problem = _as_json(cells or [], problem, prefixes, encoders)
        builder.add(line, start, raw.rstrip(b"\r\n"), problem)
        if builder.full:
            yield builder.take()
    yield builder.take()


def _is_empty(cells: list[str], prefixes: list[str]) -> bool:
    """A row of empty cells, as spreadsheets leave them below their data."""
    return len(cells) == len(prefixes) and not any(cell.strip() for cell in cells)


def _as_json(
    cells: list[str], problem: str, prefixes: list[str], encoders: list[Callable[[str], str]]
) -> tuple[bytes, str]:
    if not problem and len(cells) != len(prefixes):
        problem = (
            f"{len(cells)} cells under {len(prefixes)} columns; correct the row or its quoting"
        )
    if problem:
        return b"", problem
    members = (
        prefix + encode(cell)
        for prefix, encode, cell in zip(prefixes, encoders, cells, strict=True)
    )
    return ("{" + ",".join(members) + "}").encode("utf-8", "surrogateescape"), ""


def _encoder(key: Key | None, dtypes: dict[str, pl.DataType]) -> Callable[[str], str]:
    """How a cell of this column becomes JSON; an empty cell is null."""
    if key is None:
        return _text
    dtype = dtypes[key.field]
    if dtype == pl.Boolean:
        return _boolean
    if dtype == pl.Float64:
        return _number
    if isinstance(dtype, pl.List):
        return _list_or_text if takes_text(key) else _list
    return _text


def _text(cell: str) -> str:
    return json.dumps(cell, ensure_ascii=False) if cell else "null"


def _boolean(cell: str) -> str:
    return _BOOLEANS.get(cell.strip().lower()) or _text(cell)


def _number(cell: str) -> str:
    return cell.strip() if _NUMBER.fullmatch(cell.strip()) else _text(cell)


def _list(cell: str) -> str:
    """JSON text as it stands, if it is JSON: repeated keys inside are still there to be found."""
    try:
        json.loads(cell)
    except (ValueError, RecursionError):
        return _text(cell)
    return cell.replace("\n", " ").replace("\r", " ")


def _list_or_text(cell: str) -> str:
    return _list(cell) if cell.lstrip().startswith("[") else _text(cell)
