"""Other people's records as they stand: parsed exactly, each with its line and its own text.

JSON lines, JSON arrays, one JSON document that holds a list, CSV, TSV and Parquet. Numbers
keep their spelling, `NaN` is null, nothing is named or judged here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Self

import polars as pl

from ragtriage.errors import InputError, no_room
from ragtriage.read.batches import WHITE, Batch, Reader, skip_bom
from ragtriage.read.delimited import delimited_reader
from ragtriage.read.faults import SURROGATE, Fault, first_repeated, quoted
from ragtriage.read.files import InputFile
from ragtriage.read.json_array import read_json_array
from ragtriage.read.jsonl import read_jsonl
from ragtriage.read.presets.nested import read_nested

_ROWS = 5_000
_UTF8 = "not valid UTF-8 text; save the file as UTF-8"


class Written(float):
    """A number that remembers how it was written: IDs become text without going through it."""

    text: str

    def __new__(cls, text: str) -> Self:
        """From the number's own text."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __str__(self) -> str:
        return self.text


class BrokenRuleError(ValueError):
    """JSON that can be parsed and breaks a rule of its own."""

    def __init__(self, rule: str, why: str) -> None:
        super().__init__(why)
        self.rule = rule


@dataclass(frozen=True, slots=True)
class Foreign:
    """One record of a file.

    `problem`: why it could not be parsed. `blank`: no record, but so many blank lines. `other`:
    another system's, left out.
    """

    line: int
    raw: bytes
    value: Any = None
    problem: str | Fault = ""
    blank: int = 0
    other: bool = False


def parse(text: bytes | str) -> Any:
    """JSON with numbers as written, `NaN` and infinities as null.

    Raises:
        ValueError: not JSON, or nested too deeply.
        BrokenRuleError: it escapes half a character, or gives a key twice.
    """
    try:
        value = json.loads(
            text,
            parse_float=Written,
            parse_int=_integer,
            parse_constant=lambda _name: None,
            object_pairs_hook=_members,
        )
        if (b"\\u" if isinstance(text, bytes) else "\\u") in text:  # type: ignore[operator]
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BrokenRuleError("encoding", SURROGATE) from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def _integer(digits: str) -> int | Written:
    # Python reads no more than 4,300 digits, and writes -0 as 0.
    return Written(digits) if digits == "-0" or len(digits) > 1000 else int(digits)  # noqa: PLR2004


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = first_repeated(name for name, _ in pairs)
        why = f"the key {quoted(twice)} is given more than once; keep one"
        raise BrokenRuleError("duplicate-key", why)
    return members


def foreign_records(
    stream: BinaryIO, file: InputFile, where: tuple[str, ...] = ()
) -> Iterator[Foreign]:
    """The records of a file, whatever its format.

    Args:
        stream: its bytes, decompressed.
        file: its name and format.
        where: in a JSON document, where the list that holds the records may lie
            (`results.results`); empty for an array, or for a document that is one record.

    Raises:
        InputError: the file is not what its name says.
    """
    if file.format == "parquet":
        yield from _of_parquet(stream, file)
    elif file.format in ("csv", "tsv"):
        yield from _of_batches(_cells(file)(stream, file))
    elif file.format == "json":
        yield from _of_json(stream, file, where)
    else:
        yield from _of_batches(read_jsonl(stream, file))


def document(stream: BinaryIO, file: InputFile) -> Any:
    """A whole JSON file, held in memory.

    Raises:
        InputError: it is not JSON.
    """
    data = stream.read()
    try:
        return parse(skip_bom(data[:4], file) + data[4:])
    except BrokenRuleError as error:
        raise InputError(f"{file.name}: record: {error} [{error.rule}]") from None
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise InputError(f"{file.name}:{line}: record: {_UTF8} [encoding]") from None
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise InputError(
            f"{file.name}:{line}: record: not valid JSON ({error}); correct the syntax "
            "[json-syntax]"
        ) from None


def _of_json(stream: BinaryIO, file: InputFile, where: tuple[str, ...]) -> Iterator[Foreign]:
    if where:
        yield from _of_batches(read_nested(stream, file, where))
    elif first_byte(stream) == b"[":
        yield from _of_batches(read_json_array(stream, file))
    else:
        value = document(stream, file)
        yield Foreign(1, _text(value), value)


def as_foreign(number: int, value: Any) -> Foreign:
    """A record that was cut out of a parsed document: its place is counted, not its line."""
    return Foreign(number, _text(value), value)


def first_byte(stream: Any) -> bytes:
    """The first byte that is not white space; the stream is left where it was."""
    peeked = stream.peek(4096) if hasattr(stream, "peek") else stream.read(4096)
    if not hasattr(stream, "peek"):
        stream.seek(0)
    return bytes(peeked).removeprefix(b"\xef\xbb\xbf").lstrip(WHITE)[:1]


def _of_batches(batches: Iterator[Batch]) -> Iterator[Foreign]:
    for batch in batches:
        if batch.blank:
            yield Foreign(0, b"", blank=batch.blank)
        for i, line in enumerate(batch.lines):
            number, raw = batch.numbers[i], batch.raw(i)
            if i in batch.broken:
                yield Foreign(number, raw, problem=str(batch.broken[i]))
                continue
            try:
                yield Foreign(number, raw, parse(line))
            except BrokenRuleError as error:
                yield Foreign(number, raw, problem=Fault("record", error.rule, str(error)))
            except UnicodeDecodeError:
                yield Foreign(number, raw, problem=Fault("record", "encoding", _UTF8))
            except ValueError as error:
                yield Foreign(number, raw, problem=f"not valid JSON ({error}); correct it")


def _cells(file: InputFile) -> Reader:
    """Every cell as text, an empty one as null."""
    return delimited_reader("\t" if file.format == "tsv" else ",", None, {})


def _of_parquet(stream: BinaryIO, file: InputFile) -> Iterator[Foreign]:
    try:
        frame = pl.scan_parquet(
            stream if file.content is not None else file.path, hive_partitioning=False, glob=False
        )
        height = frame.select(pl.len()).collect().item()
        for start in range(0, height, _ROWS):
            part = frame.slice(start, _ROWS).collect()
            for i, row in enumerate(part.iter_rows(named=True), start + 1):
                yield Foreign(i, _text(row), row)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        what = str(error).strip().split("\n", 1)[0][:200]
        unreadable = InputError(f"{file.name}: not a readable Parquet file ({what})")
        raise no_room(error) or unreadable from None


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace")
