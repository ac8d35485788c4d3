"""What is let into a run: every input opened, held against its schema, and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.chunk import Chunk, RowFault
from ragtriage.read.corpus import joined_rows, open_corpus, text_id_files
from ragtriage.read.input import Input, check_mapping, open_input
from ragtriage.read.join import open_joined
from ragtriage.read.once import open_once
from ragtriage.read.reviews import open_reviews
from ragtriage.relevance import Corpus
from ragtriage.request import EvaluateRequest
from ragtriage.reviews.book import ReviewBook
from ragtriage.schemas.contracts import CONTRACTS
from ragtriage.schemas.corpus import CorpusRows
from ragtriage.schemas.inputs import CaseRows
from ragtriage.tally import Tally
from ragtriage.validate import Validator
from ragtriage.without_text import fault_without_text


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
        self.once = False
        self.corpus: Corpus | None = None
        self.book: ReviewBook | None = None

    def open(self, frame: pl.DataFrame | None, spill: Path | None, *, once: bool = False) -> None:
        """First pass: index the cases, take in corpus and reviews.

        `once`: where the input looks clean, do without; `chunks` may be `Mistaken` then.
        """
        request = self._request
        # Reviews are put beside cases by the index of these.
        once = once and frame is None and bool(request.inputs) and not request.reviews
        given = open_once(request, spill) if once else None
        self.once = given is not None
        if given is None and request.cases:
            given = open_joined(request, spill)
        self.take(given or open_input(request, frame, spill), spill)

    def take(self, given: Input, spill: Path | None = None) -> None:
        """The same with cases that were indexed elsewhere."""
        self.given = given
        self._tally.record_lines = given.record_lines
        check_mapping(self._request.mapping, given)
        self.corpus = self._opened_corpus()
        self.book = self._opened_book(spill)
        self.given.files += text_id_files(self._request)

    def take_part(self, given: Input, corpus: Corpus | None) -> None:
        """The same with a shard of the cases, and what was opened for the whole run."""
        self.given = given
        self.corpus = corpus

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
        if faults and self._request.no_text:
            faults = [fault_without_text(fault) for fault in faults]
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
