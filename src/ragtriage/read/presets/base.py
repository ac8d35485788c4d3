"""What a preset is: how files of one tool become records of ours. No preset is defined here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragtriage.read.batches import Reader
from ragtriage.read.files import InputFile, find_files
from ragtriage.read.index import Source

if TYPE_CHECKING:
    from ragtriage.read.presets.texts import TextIds

CASES, TRACE, RECORDS, CORPUS = "cases", "trace", "records", "corpus"


@dataclass(frozen=True)
class Asked:
    """What a preset is asked for.

    `role`: records (one file that holds everything), cases, trace or corpus. `system`: whose rows
    to read where a file holds several systems' (None: all). `mapping`: paths in their records to
    fields of ours, over what the preset itself takes. `separator`: between the items of a list in
    one text. `texts`: passages' texts to their IDs. `by_question`: make IDs from questions.
    `within`: what paths begin with where the records lie in a list of one document (`results[].`).
    `options`: all else that was asked.
    """

    role: str = RECORDS
    system: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    separator: str | None = None
    texts: TextIds | None = None
    within: str = ""
    by_question: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    """The start of a file, for `recognise`: its format by name, first bytes and first records.

    `problems`: why records, or all of the file, cannot be read.
    """

    file: InputFile
    head: bytes
    records: list[dict[str, Any]]
    problems: list[str] = field(default_factory=list)

    @property
    def keys(self) -> set[str]:
        """Every key that the first records have."""
        return {key for record in self.records for key in record}


FindFiles = Callable[[tuple[str, ...], str, Path | None], list[InputFile]]
ReaderFor = Callable[[Asked], Reader]
SourcesFor = Callable[[list[InputFile], Asked], list[Source]]
SystemsOf = Callable[[InputFile, Asked], Iterator[str]]


@dataclass(frozen=True)
class Preset:
    """One layout that people hold, and how it is read.

    `about`, `layout`, `maps_to`, `quirks`: for the documentation. `roles`: what its files can be
    given as. `reader`: batches of canonical JSON records from the bytes of one file; what cannot
    be mapped is `broken` in its batch, with the reason. `sources`: instead of `reader`, where
    one file is not one source. `files`: which files the arguments name. `systems`: the names of
    the systems in a file, in the order they are met; None where a file holds one. `recognise`:
    why a file seems to be of this layout, or None. `brings_corpus`: given as cases it also holds
    the corpus, if `corpus_in` says so of the file. `missing_trace`: what a case without a trace
    means, unless said.
    """

    name: str
    about: str
    layout: str
    maps_to: str
    quirks: tuple[str, ...] = ()
    roles: tuple[str, ...] = (RECORDS, CASES, TRACE)
    reader: ReaderFor | None = None
    sources: SourcesFor | None = None
    files: FindFiles = find_files
    systems: SystemsOf | None = None
    recognise: Callable[[Sample], str | None] = lambda _sample: None
    brings_corpus: bool = False
    corpus_in: Callable[[InputFile], bool] = lambda _file: True
    missing_trace: str | None = None


class UnmappableError(ValueError):
    """A record that cannot be mapped: which of our fields, why, and what to do."""

    def __init__(self, field_name: str, why: str) -> None:
        super().__init__(why)
        self.field = field_name
        self.why = why
