"""What a reader hands on: consecutive rows of one file, and the records that are not rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl


class RowFault(NamedTuple):
    """One broken rule of one record, with all that a message and `rejects/` need."""

    source_file: str
    line: int
    case_id: str | None
    field: str
    rule: str
    message: str
    raw: str


@dataclass
class Chunk:
    """Rows that decode, as the model has them, and the faults of records that do not.

    `raw` gives a line's own text, for the rules that come later. `places`, in joined input,
    are the file and line of each row's trace, and `trace_fields` the fields that came from it.
    """

    frame: pl.DataFrame
    faults: list[RowFault]
    read: int
    blank: int
    raw: Callable[[int], str]
    places: pl.DataFrame | None = None
    trace_fields: frozenset[str] = field(default_factory=frozenset)


def readable(raw: bytes) -> str:
    r"""Bytes as text; what is not UTF-8 shows as `\xNN`."""
    return raw.decode("utf-8", "backslashreplace")
