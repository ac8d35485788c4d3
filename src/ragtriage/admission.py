"""What is let into a run: every input opened, held against its schema, and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.chunk import Chunk, RowFault
from ragtriage.read.corpus import joined_rows, open_corpus
from ragtriage.read.input import Input, check_mapping, open_input
from ragtriage.read.join import open_joined
from ragtriage.read.reviews import open_reviews
from ragtriage.relevance import Corpus
from ragtriage.request import EvaluateRequest
from ragtriage.reviews.book import ReviewBook
from ragtriage.schemas.contracts import CONTRACTS
from ragtriage.schemas.inputs import CaseRows, CorpusRows
from ragtriage.tally import Tally
from ragtriage.validate import Validator


class Admitted(NamedTuple):
    """A chunk, its faults, the cases without one, and what reviewers said of these."""

    chunk: Chunk
    faults: list[RowFault]
    cases: pl.DataFrame
    reviews: pl.DataFrame | None


class Admission:
    """The inputs of a run. `reject`: told of every record that is set aside."""

    def __init__(
        self,
        request: EvaluateRequest,
        tally: Tally,
        reject: Callable[[list[RowFault]], None],
    ) -> None:
        self._request = request
        self._tally = tally
        self._reject = reject
        self.given: Input
        self.corpus: Corpus | None = None
        self.book: ReviewBook | None = None

    def open(self, frame: pl.DataFrame | None, spill: Path | None) -> None:
        """First pass: index the cases, take in corpus and reviews."""
        request = self._request
        joined = bool(request.cases)
        self.given = open_joined(request, spill) if joined else open_input(request, frame, spill)
        check_mapping(request.mapping, self.given)
        self.corpus = self._opened_corpus()
        self.book = self._opened_book(spill)

    def check_digests(self, digests: dict[str, str] | None) -> None:
        """Are the files still what an earlier step saw?

        Raises:
            InputError: one is not.
        """
        for entry in self.given.files if digests is not None else ():
            if digests is not None and digests.get(entry["path"]) != entry["sha256"]:
                raise InputError(f"{entry['path']}: changed since it was looked at; run again")

    def chunks(self) -> Iterator[Admitted]:
        """Second pass: the cases, checked, each chunk once; nothing is counted yet."""
        contract = CONTRACTS[self._request.contract]
        waived = ("missing-claim-label",) if self.book is not None else ()
        validator = Validator(CaseRows, contract, self.given.duplicates, waived=waived)
        for chunk in self.given.chunks():
            cases, faults = validator.check(chunk)
            book, ids = self.book, chunk.frame["case_id"]
            reviews = book.take(ids, cases, faults) if book is not None else None
            chunk.settle = None  # it holds the rows of both sides, and is done
            yield Admitted(chunk, faults, cases, reviews)

    def count(self, counts: list[tuple[str, int, int]], faults: list[RowFault]) -> None:
        """Lines that were read, and records that are set aside."""
        for name, read, blank in counts:
            self._tally.add_lines(name, read, blank)
        if faults:
            self._tally.add_faults(faults)
            self._reject(faults)

    def set_aside_reviews(self) -> int:
        """Reviews without a case or claim, once all cases are known; how many records."""
        if self.book is None:
            return 0
        records = 0
        for faults in self.book.leftovers():
            self.count([], faults)
            records += len({(fault.source_file, fault.record) for fault in faults})
        left = self.book.n_left
        if self._request.unknown_review == "ignore" and left:
            self.given.notes.append(f"reviews without a case or claim left out: {left:,}")
        return records

    def names(self) -> str:
        """The first files, for messages."""
        return ", ".join(str(entry["path"]) for entry in self.given.files[:3]) or "the input"

    def _opened_corpus(self) -> Corpus | None:
        rows = open_corpus(self._request)
        if rows is None:
            return None
        validator = Validator(CorpusRows, None, rows.duplicates, "evidence_id")
        accepted = []
        for chunk in rows.chunks:
            good, faults = validator.check(chunk)
            self.count(chunk.counts, faults)
            accepted.append(good)
        self.given.files += rows.files
        return Corpus.from_rows(joined_rows(accepted))

    def _opened_book(self, spill: Path | None) -> ReviewBook | None:
        request = self._request
        if not request.reviews:
            return None
        given = open_reviews(request.reviews, request)
        ignore = request.unknown_review == "ignore"
        book = ReviewBook(given, self.given.ids(), spill, request.judge, ignore=ignore)
        for counts, faults in book.take_in():
            self.count(counts, faults)
        self.given.files += book.files
        for name, n in book.dropped.items():
            self.given.dropped[name] = self.given.dropped.get(name, 0) + n
        if request.judge is not None:
            book.check_judge(request.min_validated)
        return book
