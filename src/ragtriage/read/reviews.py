"""The reviews files: rows, where they stood, and each record's own text when it is asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from ragtriage.read.chunk import Chunk, Place
from ragtriage.read.index import FileIndex, Source
from ragtriage.read.input import dropped_by, entry_of, index_all
from ragtriage.read.sources import Reading, sources_for
from ragtriage.schemas.inputs import dtypes
from ragtriage.schemas.reviews import ReviewRows

PLACE = ("source_file", "line", "record")


@dataclass
class ReviewsInput:
    """Reviews as read, not yet held against their model. `files`: for the manifest."""

    files: list[dict[str, Any]]
    _pairs: list[tuple[Source, FileIndex]]

    @property
    def dropped(self) -> dict[str, int]:
        """Unknown fields that were set aside as asked, with the records that had them."""
        return dropped_by([index for _, index in self._pairs])

    def chunks(self) -> Iterator[Chunk]:
        """All rows, and the faults of records that are none."""
        for source, index in self._pairs:
            for chunk in source.chunks(index):
                chunk.frame = chunk.frame.select(list(dtypes(ReviewRows)))
                yield chunk

    def located(self, items: pl.DataFrame) -> pl.DataFrame:
        """The rows of some items, read again: `items` has the columns by which to know them."""
        rows = pl.DataFrame(schema=dtypes(ReviewRows))
        if items.is_empty():
            return rows
        return pl.concat(
            chunk.frame.join(
                items, on=items.columns, how="semi", nulls_equal=True, maintain_order="left"
            )
            for chunk in self.chunks()
        )

    def raws(self, places: Collection[Place]) -> dict[Place, str]:
        """The text of a few records, read again: to keep all of it would cost more."""
        found: dict[Place, str] = {}
        for chunk in self.chunks() if places else ():
            for place in chunk.frame.select(PLACE).iter_rows():
                if place in places:
                    found[place] = chunk.raw(place[2])
        return found


def open_reviews(names: tuple[str, ...], request: Reading) -> ReviewsInput:
    """Index the reviews files.

    Raises:
        InputError: a file cannot be read at all.
    """
    pairs = index_all(sources_for(names, "reviews", request, None))
    return ReviewsInput([entry_of(index) for _, index in pairs], pairs)
