"""An input that is taken in at once: rows that hold their schema, and the faults of all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import polars as pl

from ragtriage.read.chunk import Chunk, RowFault
from ragtriage.validate import Validator
from ragtriage.without_text import fault_without_text


@dataclass
class Intake:
    """`rows`: accepted ones. `counts`: lines and blank ones, by file."""

    rows: pl.DataFrame
    faults: list[RowFault]
    counts: list[tuple[str, int, int]]

    def without_text(self) -> Intake:
        """The same, its faults quoting nothing."""
        return replace(self, faults=[fault_without_text(fault) for fault in self.faults])


def checked(
    chunks: Iterable[Chunk], validator: Validator, schema: Mapping[str, pl.DataType]
) -> Intake:
    """Hold every chunk against the model; keep these columns of the accepted rows."""
    frames = [pl.DataFrame(schema=schema)]
    faults: list[RowFault] = []
    counts: list[tuple[str, int, int]] = []
    for chunk in chunks:
        rows, found = validator.check(chunk)
        frames.append(rows.select(list(schema)))
        faults += found
        counts += chunk.counts
    return Intake(pl.concat(frames), faults, counts)
