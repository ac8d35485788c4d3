"""A whole input, whatever its files: indexed once, then handed on chunk by chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ragtriage.errors import InputError, UsageError, nearest
from ragtriage.read.case_ids import CaseIds
from ragtriage.read.chunk import Chunk
from ragtriage.read.index import Duplicates, FileIndex, Source, find_duplicates
from ragtriage.read.sources import frame_source, sources_for
from ragtriage.request import EvaluateRequest

Chunks = Callable[[], Iterator[Chunk]]


@dataclass
class Input:
    """What is to be evaluated.

    `fields`: what the files supply, over all of them, under the names in `keys`. `files`: what
    was read, for the manifest. `record_lines`: by file, the lines that a record takes, where it
    is more than one (see `FileIndex`). `ids`: the place of each case, for what is joined to them;
    asked for once.
    """

    fields: set[str]
    duplicates: Duplicates
    chunks: Chunks
    files: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    mapping: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    record_lines: dict[str, dict[int, int]] = field(default_factory=dict)
    ids: Callable[[], CaseIds] = lambda: CaseIds([])


def open_input(request: EvaluateRequest, frame: pl.DataFrame | None, spill: Path | None) -> Input:
    """Index the request's combined records.

    Raises:
        InputError: a file cannot be read at all.
    """
    if frame is not None:
        sources = [frame_source(frame, request)]
    else:
        sources = sources_for(request.inputs, "records", request, spill)
    return indexed(sources)


def indexed(sources: list[Source]) -> Input:
    """First pass over sources that make up one input."""
    pairs = index_all(sources)
    indexes = [index for _, index in pairs]
    duplicates = find_duplicates(pairs)
    given = input_of(indexes, duplicates, lambda: _chunks(pairs))
    given.ids = lambda: CaseIds.of(pairs, duplicates)
    return given


def input_of(indexes: list[FileIndex], duplicates: Duplicates, chunks: Chunks) -> Input:
    """The input whose files these are."""
    return Input(
        fields=set().union(*(index.fields for index in indexes)),
        duplicates=duplicates,
        chunks=chunks,
        files=[entry for index in indexes for entry in entries_of(index)],
        keys={name for index in indexes for name in index.profile.keys},
        mapping={theirs: ours for index in indexes for theirs, ours in index.mapping.items()},
        dropped=dropped_by(indexes),
        notes=[note for index in indexes for note in index.notes],
        record_lines={index.file.name: index.record_lines for index in indexes},
    )


def index_all(sources: list[Source]) -> list[tuple[Source, FileIndex]]:
    """Index each source.

    Raises:
        InputError: some cannot be read; the text names every one of them.
    """
    pairs, problems = [], []
    for source in sources:
        try:
            pairs.append((source, source.index()))
        except InputError as error:
            problems.append(str(error))
    if problems:
        # A file may have been named twice.
        raise InputError("\n".join(dict.fromkeys(problems)))
    return pairs


def dropped_by(indexes: list[FileIndex]) -> dict[str, int]:
    """Unknown fields that were set aside, and in how many records, over all files."""
    total: Counter[str] = Counter()
    for index in indexes:
        total.update(index.dropped)
    return dict(sorted(total.items()))


def check_mapping(mapping: dict[str, str], given: Input) -> None:
    """Is every mapped name in some file?

    Raises:
        UsageError: a name is in none: most likely it is misspelt.
    """
    for theirs, ours in mapping.items():
        if given.fields and theirs not in {*given.keys, *given.mapping}:
            near = nearest(theirs, sorted({*given.keys, *given.dropped}))
            raise UsageError(f"--map {theirs}={ours}: no record has a field {theirs!r}{near}")


def _chunks(pairs: list[tuple[Source, FileIndex]]) -> Iterator[Chunk]:
    for source, index in pairs:
        yield from source.chunks(index)


def entries_of(index: FileIndex) -> list[dict[str, Any]]:
    """What the manifest says of a file, and of those beside it."""
    return [entry_of(each) for each in (index, *index.beside)]


def entry_of(index: FileIndex) -> dict[str, Any]:
    """What the manifest says of a file."""
    return {
        "role": index.file.role,
        "path": index.file.name,
        "sha256": index.fingerprint.sha256,
        "bytes": index.fingerprint.size,
    }
