"""What tests of the readers share: a file's content in, frames, faults and counts out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from hypothesis import HealthCheck, settings

from ragtriage.read import sources
from ragtriage.read.chunk import Chunk, RowFault
from ragtriage.read.files import InputFile
from ragtriage.read.index import Source, find_duplicates
from ragtriage.request import build_request

Record = dict[str, Any]
Place = tuple[int, str, str]

# RAGTRIAGE_EXAMPLES=30 runs thirty times as many examples.
_FACTOR = int(os.environ.get("RAGTRIAGE_EXAMPLES", "1"))
FLAGS = ("source_file", "line", "record", "answer_given", "required_given", "none_given")


def examples(number: int) -> settings:
    """Hypothesis settings for so many examples of a normal run."""
    return settings(
        max_examples=number * _FACTOR,
        derandomize=_FACTOR == 1,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


class Read(NamedTuple):
    """A file as read: rows, faults, and its lines."""

    frame: pl.DataFrame
    faults: list[RowFault]
    read: int
    blank: int
    chunks: list[Chunk]

    @property
    def rows(self) -> list[Record]:
        """Rows without what travels beside them; fields that hold nothing are left out."""
        return [
            {name: value for name, value in row.items() if name not in FLAGS and value is not None}
            for row in self.frame.iter_rows(named=True)
        ]

    @property
    def lines(self) -> list[int]:
        """Lines of the rows."""
        return self.frame["line"].to_list()

    @property
    def places(self) -> list[Place]:
        """Line, field and rule of every fault."""
        return [(fault.line, fault.field, fault.rule) for fault in self.faults]

    @property
    def set_aside(self) -> set[int]:
        """Records with a fault."""
        return {fault.record for fault in self.faults}


def source_of(
    content: bytes, name: str = "in.jsonl", role: str = "records", **options: Any
) -> Source:
    """A source over bytes in memory, its format by the name."""
    file = InputFile(name, Path(name), Path(name).suffix[1:], None, role, content)
    return sources.source_for(file, role, build_request(options))


def gathered(source: Source) -> Read:
    """Both passes over a source."""
    chunks = list(source.chunks(source.index()))
    counts = [count for chunk in chunks for count in chunk.counts]
    frames = [chunk.frame for chunk in chunks]
    return Read(
        pl.concat(frames) if frames else pl.DataFrame(schema={"line": pl.Int64}),
        [fault for chunk in chunks for fault in chunk.faults],
        sum(read for _, read, _ in counts),
        sum(blank for *_, blank in counts),
        chunks,
    )


def read(content: bytes, name: str = "in.jsonl", role: str = "records", **options: Any) -> Read:
    """The content as read; its lines must add up and each row's own text must be at hand."""
    found = gathered(source_of(content, name, role, **options))
    assert found.read == found.frame.height + len(found.set_aside) + found.blank
    for chunk in found.chunks:
        records = chunk.frame["record"].to_list()
        assert records == sorted(set(records))
        assert all(isinstance(chunk.raw(record), str) for record in records)
    return found


def read_frame(frame: pl.DataFrame, **options: Any) -> Read:
    """A polars frame as read."""
    return gathered(sources.frame_source(frame, build_request(options)))


def duplicates(*found: Source) -> dict[str, tuple[str, int]]:
    """What is not unique over these sources."""
    return find_duplicates([(source, source.index()) for source in found])
