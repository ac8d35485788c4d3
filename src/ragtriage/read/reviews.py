"""The reviews files: rows, where they stood, and each record's own text when it is asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from ragtriage.read.chunk import Chunk, Place
from ragtriage.read.index import FileIndex, Source
from ragtriage.read.input import dropped_by, entry_of, index_all
from ragtriage.read.sources import Reading, sources_for
from ragtriage.schemas.inputs import dtypes
from ragtriage.schemas.reviews import ReviewRows

PLACE = ("source_file", "line", "record")


@dataclass
class ReviewsInput:
    """Reviews as read, not yet held against their model.

    `files`: for the manifest. `dropped`: unknown fields set aside, and in how many records.
    """

    files: list[dict[str, Any]]
    dropped: dict[str, int]
    _pairs: list[tuple[Source, FileIndex]]

    def chunks(self) -> Iterator[Chunk]:
        """All rows, and the faults of records that are none."""
        for source, index in self._pairs:
            for chunk in source.chunks(index):
                chunk.frame = chunk.frame.select(list(dtypes(ReviewRows)))
                yield chunk

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
        InputError: a file cannot be read at all, or is named twice.
    """
    sources = sources_for(names, "reviews", request, None)
    pairs = index_all(sources)
    indexes = [index for _, index in pairs]
    return ReviewsInput([entry_of(index) for index in indexes], dropped_by(indexes), pairs)
