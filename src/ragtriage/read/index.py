"""The first pass: what only the whole input can tell, kept small.

For each file the keys it uses, which batches are clean, and a hash of each case ID; over all
of them, the IDs that are not unique.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragtriage.read.chunk import Chunk, Place, RowFault
from ragtriage.read.faults import quoted
from ragtriage.read.files import Fingerprint, InputFile
from ragtriage.read.gate import Profile


@dataclass
class FileIndex:
    """What the first pass learnt of one file.

    `hashes` hold the IDs of one batch each, of good and faulty records alike. `partial` are
    `must` fields that some records have and others lack: those whose absence from a record means
    something. `record_lines`: by a record's place the lines that it takes, where it is more than
    one. `notes`: how the file was read, where it could be read otherwise. `beside`: further files
    that its records are made of.
    """

    file: InputFile
    fingerprint: Fingerprint
    profile: Profile = field(default_factory=Profile)
    fields: set[str] = field(default_factory=set)
    must: set[str] = field(default_factory=set)
    partial: set[str] = field(default_factory=set)
    clean: list[bool] = field(default_factory=list)
    hashes: list[pl.Series] = field(default_factory=list)
    mapping: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    record_lines: dict[int, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    beside: list[FileIndex] = field(default_factory=list)


class Source(Protocol):
    """One file (or frame) that can be read twice."""

    file: InputFile

    def index(self) -> FileIndex:
        """First pass."""
        ...

    def chunks(self, index: FileIndex) -> Iterator[Chunk]:
        """Second pass."""
        ...

    def positions(self, index: FileIndex, wanted: pl.Series) -> Iterator[tuple[str, int]]:
        """IDs whose hash is wanted, with the line of each."""
        ...


Duplicates = dict[str, tuple[str, int]]


def hash_ids(ids: list[str] | pl.Series) -> pl.Series:
    """One 64-bit hash an ID."""
    series = ids if isinstance(ids, pl.Series) else pl.Series(ids, dtype=pl.String)
    return series.hash(seed=0)


def find_duplicates(sources: Iterable[tuple[Source, FileIndex]]) -> Duplicates:
    """Each ID that occurs more than once, with the file and line where it stands first.

    Hashes only nominate; the IDs themselves decide, so a collision accuses nobody.
    """
    pairs = list(sources)
    hashes = [part for _, index in pairs for part in index.hashes]
    if not hashes:
        return {}
    twice = repeated_among([part.to_numpy() for part in hashes])
    if twice.is_empty():
        return {}
    first: Duplicates = {}
    repeated: set[str] = set()
    for source, index in pairs:
        if not any(part.is_in(twice.implode()).any() for part in index.hashes):
            continue
        for case_id, line in source.positions(index, twice):
            if case_id in first:
                repeated.add(case_id)
            else:
                first[case_id] = (source.file.name, line)
    return {case_id: first[case_id] for case_id in repeated}


def repeated_among(hashes: list[NDArray[np.uint64]]) -> pl.Series:
    """Hashes that occur more than once, each once, in order; takes no more room than they."""
    ordered = np.concatenate([np.empty(0, np.uint64), *hashes])
    ordered.sort()
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    # Not np.unique, which loads a part of numpy that nothing else needs.
    once = np.diff(again, prepend=np.uint64(0)) != 0
    once[:1] = True
    return pl.Series(again[once], dtype=pl.UInt64)


def repeat_fault(
    place: Place,
    case_id: str,
    raw: str | None,
    duplicates: Duplicates,
    *,
    field: str = "case_id",
) -> RowFault:
    """The fault of a record whose ID another record has too; names the first of them."""
    first_file, first_line = duplicates[case_id]
    what = "passage" if field == "evidence_id" else "case"
    first = f"first at {first_file}:{first_line}"
    trials = "" if field == "evidence_id" else ", and keep one of repeated trials"
    text = f"{quoted(case_id)} is not unique, {first}; give each {what} its own ID{trials}"
    return RowFault(*place, case_id, field, "duplicate-case-id", text, raw)
