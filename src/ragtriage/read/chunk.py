"""What a reader hands on: consecutive rows of one file, and the records that are not rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

# A value that many rows share is stored once, and read for each: so many bytes of rows at once.
READ_BYTES = 64 << 20
# File, line, and place among the file's records from 1: records of an array may share a line.
Place = tuple[str, int, int]


class RowFault(NamedTuple):
    """One broken rule of one record, with all that a message and `rejects/` need.

    `refuses`: does it make the input invalid, or is the record merely left out as asked?
    """

    source_file: str
    line: int
    record: int
    case_id: str | None
    field: str
    rule: str
    message: str
    raw: str | None
    refuses: bool = True


@dataclass
class Chunk:
    """Rows that decode, as the model has them, and the faults of records.

    `counts`: lines read and blank lines, by file. `raw` gives a record's own text, for the rules
    that come later. `untraced`: rows that stand without a trace, as was allowed. A joined chunk's
    faults may be of its rows; `settle` then puts every fault at the record that is to blame, and
    sets that record's partner aside with it.
    """

    frame: pl.DataFrame
    faults: list[RowFault]
    counts: list[tuple[str, int, int]]
    raw: Callable[[int], str]
    untraced: pl.Series | None = None
    settle: Callable[[list[RowFault]], list[RowFault]] | None = None


def readable(raw: bytes) -> str:
    r"""Bytes as text; what is not UTF-8 shows as `\xNN`."""
    return raw.decode("utf-8", "backslashreplace")


def bounded(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The rows in equal parts of about `READ_BYTES` where they are larger."""
    parts = -(-int(rows.estimated_size()) // READ_BYTES)
    return rows.iter_slices(-(-rows.height // max(parts, 1)) or 1)


def by_itself(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows in one piece of their own: work on a slice of a row group costs that of much more."""
    if rows.n_chunks() > 1:
        return rows.rechunk()
    # Put together anew, which copies what is here, and nothing beside it.
    return pl.concat([rows.head(1), rows.slice(1)], rechunk=True)
