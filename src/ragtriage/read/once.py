"""Clean JSON lines in one pass: rows are handed on while the rest of the input is still unseen.

What only the whole input can tell is guessed from the first batch: which fields there are, that
every record has them all, that no ID is repeated. Most inputs are so, and are read in half the
time. Where one is not, `Mistaken` is raised, at the latest after the last row; what was made of
the rows has to be thrown away then, and the input read in two passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ragtriage.errors import InputError
from ragtriage.read.batches import Batch, JsonLines
from ragtriage.read.chunk import Chunk
from ragtriage.read.files import Fingerprint, fingerprint, stands
from ragtriage.read.gate import Gate
from ragtriage.read.index import FileIndex, Source, find_duplicates, hash_ids
from ragtriage.read.input import Input, entry_of
from ragtriage.read.sources import sources_for
from ragtriage.read.text import TextSource
from ragtriage.request import EvaluateRequest

STDIN = "-"


class _ChangedError(InputError):
    """A file is not what it was when it was opened: no second reading makes that good."""


class Mistaken(Exception):  # noqa: N818 - no error: the input is to be read again, that is all
    """The input is not as its start promised."""


def open_once(request: EvaluateRequest, spill: Path | None) -> Input | None:
    """The request's combined records for one pass; None where the start speaks against it.

    `chunks` of the result raises `Mistaken`, and may be called once.

    Raises:
        InputError: a file is not there.
    """
    if STDIN in request.inputs:
        return None
    sources = sources_for(request.inputs, "records", request, spill)
    try:
        first = _begun(sources[0]) if sources else None
    except InputError:
        return None
    if first is None or not request.mapping.keys() <= first.index.profile.keys.keys():
        return None
    given = Input(
        fields=first.index.fields,
        duplicates={},
        chunks=lambda: _chunks(first, sources[1:], given),
        keys=set(first.index.profile.keys),
        mapping=dict(first.index.mapping),
    )
    return given


@dataclass
class _Begun:
    """A file whose first batch is clean."""

    source: TextSource
    index: FileIndex
    gate: Gate
    first: Batch
    rest: Iterator[Batch]
    stood: tuple[int, int] | None

    def chunks(self) -> Iterator[Chunk]:
        """All of it, each batch checked just before its rows are made."""
        made_by = self.source.settled_gate(self.index)
        with ThreadPoolExecutor(max_workers=1) as aside:
            taken: Future[Fingerprint] = aside.submit(fingerprint, self.source.file)
            batch, before = self.first, 0
            while True:
                batch.before = before
                chunk = self.source.chunk(batch, self.index, made_by, clean=True)
                before += sum(read for _, read, _ in chunk.counts)
                yield chunk
                following = next(self.rest, None)
                if following is None:
                    break
                batch = following
                if not _clean(batch, self.gate, self.index):
                    self.hold()
                    raise Mistaken
            self.index.fingerprint = taken.result()
        self.hold()

    def hold(self) -> None:
        """Is the file what it was when it was opened?

        Raises:
            InputError: it is not.
        """
        if stands(self.source.file) != self.stood:
            raise _ChangedError(f"{self.source.file.name}: changed while it was read; run again")


def _begun(source: Source) -> _Begun | None:
    """Look at the first batch; None unless its records are good and alike."""
    if not isinstance(source, TextSource):
        return None
    stood = stands(source.file)
    rest = source.batches()
    first = next(rest, None)
    if not isinstance(first, JsonLines):
        return None
    index = FileIndex(source.file, Fingerprint("", 0, 0))
    gate = source.fitted(first, index.profile)
    if gate is None or not _clean(first, gate, index):
        return None
    source.settle(index)
    return None if index.partial else _Begun(source, index, gate, first, rest, stood)


def _clean(batch: Batch, gate: Gate, index: FileIndex) -> bool:
    """Is every line a good record with all keys of the first? If so its IDs are noted."""
    ids = gate.ids(batch.lines, batch.block)
    if ids is None or batch.blank or gate.absent or gate.set_aside:
        return False
    index.hashes.append(hash_ids(ids))
    return True


def _chunks(first: _Begun, others: list[Source], given: Input) -> Iterator[Chunk]:
    pairs: list[tuple[Source, FileIndex]] = []
    try:
        for begun in _in_turn(first, others):
            yield from begun.chunks()
            pairs.append((begun.source, begun.index))
            # Corpus and reviews stand there already, and come after.
            given.files.insert(len(pairs) - 1, entry_of(begun.index))
    except _ChangedError:
        raise
    except InputError:
        # Two passes name every file that cannot be read, and read none of the others first.
        raise Mistaken from None
    if find_duplicates(pairs):
        raise Mistaken


def _in_turn(first: _Begun, others: list[Source]) -> Iterator[_Begun]:
    """Each file as it is reached; it must supply what the first does, under the same names."""
    yield first
    for source in others:
        begun = _begun(source)
        same = begun is not None and (begun.index.fields, begun.index.mapping) == (
            first.index.fields,
            first.index.mapping,
        )
        if begun is None or not same:
            raise Mistaken
        yield begun
