"""Rows of other files, handed out with the cases they are of, as these come in file order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from ragtriage.read.case_ids import CaseIds
from ragtriage.read.chunk import RowFault
from ragtriage.read.spill import PLACE, Spill

_NOTICE = {"case_id": pl.String(), "where": pl.String()}


class ByCase:
    """Rows by the place of their case. A hash finds the place; the ID itself has the last word."""

    def __init__(
        self, ids: CaseIds, folder: Path | None, name: str, schema: Mapping[str, pl.DataType]
    ) -> None:
        self.ids = ids
        self._spill = Spill(folder, name, schema)
        self._odd = self._spill.rows(0, 0)

    def add(self, rows: pl.DataFrame) -> None:
        """Put rows aside until their case comes."""
        places = self.ids.places(rows["case_id"])
        placed = rows.with_columns(pl.Series(PLACE, places))
        odd = pl.Series(self.ids.odd(places, rows["case_id"]))
        if odd.any():
            self._odd = pl.concat([self._odd, placed.filter(odd).select(self._odd.columns)])
            placed = placed.filter(~odd)
        self._spill.add(placed)

    def pieces(self, start: int, stop: int, most: int | None = None) -> Iterator[tuple[int, int]]:
        """A range of places, cut up so that the rows of each piece fit in memory."""
        return self._spill.pieces(start, stop, most)

    def take(self, start: int, stop: int) -> pl.DataFrame:
        """The rows of a range of places, and the odd ones, which may be of any case.

        Ranges are asked for in ascending order; earlier places are given up.
        """
        self._spill.forget(start)
        rows = pl.concat([self._spill.rows(start, stop), self._odd])
        self._odd = self._odd.clear()
        return rows

    def look(self, start: int, stop: int) -> pl.DataFrame:
        """The same, with nothing given up; odd ones come where the range ends."""
        rows = self._spill.rows(start, stop)
        return pl.concat([rows, self._odd]) if stop == self.ids.end else rows

    def give_back(self, unmatched: pl.DataFrame) -> pl.DataFrame:
        """Of rows that met no case: keeps those whose case may yet come, returns the others."""
        odd = pl.Series(self.ids.odd(unmatched[PLACE].to_numpy(), unmatched["case_id"]))
        if not odd.any():
            return unmatched
        self._odd = pl.concat([self._odd, unmatched.filter(odd).select(self._odd.columns)])
        return unmatched.filter(~odd)


class Notices:
    """Records that were set aside, by case: what belongs to the case goes with them."""

    def __init__(self, ids: CaseIds, folder: Path | None, name: str) -> None:
        self._kept = ByCase(ids, folder, name, _NOTICE)
        self._empty = True

    def add(self, faults: list[RowFault]) -> None:
        """Take note of records at fault."""
        told = [(f.case_id, f"{f.source_file}:{f.line}") for f in faults if f.case_id is not None]
        if told:
            self._empty = False
            self._kept.add(pl.DataFrame(told, schema=_NOTICE, orient="row"))

    def among(self, start: int, stop: int) -> dict[str, str]:
        """Where the record at fault stands, by case ID, for a range of places; the first counts."""
        if self._empty:
            return {}
        found = self._kept.take(start, stop)
        self._kept.give_back(found)
        return dict(found.select("case_id", "where").reverse().iter_rows())
