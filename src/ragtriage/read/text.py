"""One text file, read twice: indexed, then decoded batch by batch into canonical frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pandera.polars as pa
import polars as pl
import polars.exceptions

from ragtriage.errors import InputError
from ragtriage.read.aliases import Key, KeyResolver
from ragtriage.read.batches import Batch, JsonLines, Reader
from ragtriage.read.chunk import Chunk, RowFault, readable
from ragtriage.read.examine import Examined, Examiner
from ragtriage.read.faults import Fault
from ragtriage.read.files import Fingerprint, InputFile, fingerprint, open_bytes, unchanged
from ragtriage.read.frame import canonical_frame, direct_frame, whole_frame
from ragtriage.read.gate import Gate, Profile
from ragtriage.read.index import FileIndex, hash_ids
from ragtriage.schemas.inputs import dtypes, infos
from ragtriage.schemas.rules import message

# Records looked at together while a file's keys are still being learnt.
_RUN = 500


class TextSource:
    """A JSON lines, JSON or delimited file under one model."""

    def __init__(  # noqa: PLR0913 - how one file is read, by name
        self,
        file: InputFile,
        reader: Reader,
        model: type[pa.DataFrameModel],
        resolver: KeyResolver,
        *,
        ignore_unknown: bool,
        sparse: bool = False,
        before: int = 0,
    ) -> None:
        """`sparse`: a record that lacks an evidence list has not observed it.

        `before`: records of the file that come before what the reader reads.
        """
        self.file = file
        self._before = before
        self._reader = reader
        self._resolver = resolver
        self._dtypes = dtypes(model)
        self._infos = infos(model)
        self._id_field = next(iter(self._dtypes))
        evidence = {name for name, info in self._infos.items() if info.evidence}
        self._evidence = set() if sparse else evidence
        self._examiner = Examiner(
            resolver, self._dtypes, self._infos, self._id_field, ignore_unknown=ignore_unknown
        )

    def index(self) -> FileIndex:
        """Learn the file's keys, find its clean batches, hash its IDs."""
        # The digest needs no look at the records: it is taken on the other core meanwhile.
        with ThreadPoolExecutor(max_workers=1) as aside:
            taken = aside.submit(fingerprint, self.file)
            index = self.learn()
            self.settle(index)
            index.fingerprint = taken.result()
        return index

    def learn(self) -> FileIndex:
        """What the records tell one by one; nothing is concluded, no digest taken."""
        index = FileIndex(self.file, Fingerprint("", 0, 0))
        profile = index.profile
        gate: Gate | None = None
        dropped: Counter[str] = Counter()
        led: dict[str, str] = {}
        for batch in self.batches():
            dropped.update(batch.dropped)
            led |= batch.mapping
            gate = gate or self.fitted(batch, profile)
            ids = gate.ids(batch.lines, batch.block) if gate else None
            if ids is not None and gate is not None:
                profile.take(gate)
            index.clean.append(ids is not None and batch.blank == 0)
            if ids is None:
                gate, ids = self._learn(batch, profile, gate)
            index.hashes.append(hash_ids(ids))
        profile.dropped.update(dropped)
        index.mapping = {theirs: ours for theirs, ours in led.items() if theirs != ours}
        return index

    def settle(self, index: FileIndex) -> None:
        """Conclude from what all records of the file told."""
        profile = index.profile
        profile.settle()
        index.fields = profile.fields()
        # Where null means none, a record without the key is told apart from one with null.
        settled = {key.field for key in profile.named.values() if key.null_is_none}
        index.must = (self._evidence & index.fields) | settled
        index.partial = index.must - profile.always
        index.mapping = profile.mapping() | index.mapping
        index.dropped = dict(sorted(profile.dropped.items()))

    def chunks(self, index: FileIndex) -> Iterator[Chunk]:
        """The file's rows in the model's columns.

        Raises:
            InputError: the file is not what the first pass saw.
        """
        gate = self.settled_gate(index)
        before = self._before
        for number, batch in enumerate(self.batches()):
            if number >= len(index.clean):
                break
            clean = index.clean[number] and not index.partial
            batch.before = before
            chunk = self.chunk(batch, index, gate, clean=clean)
            for _, read, blank in chunk.counts:
                before += read - blank
            yield chunk
        if not unchanged(self.file, index.fingerprint):
            raise InputError(f"{self.file.name}: changed while it was read; run again")

    def positions(self, index: FileIndex, wanted: pl.Series) -> Iterator[tuple[str, int]]:
        """IDs whose hash is wanted, with their lines, in file order."""
        gate = self._gate(index.profile, must=set())
        for batch, known in zip(self.batches(), index.hashes, strict=False):
            if not known.is_in(wanted.implode()).any():
                continue
            ids: list[str | None] = [*(gate.ids(batch.lines) or ())]
            for line in batch.lines if not ids else ():
                found = gate.ids([line])
                ids.append(found[0] if found else self._examiner.examine(line).case_id)
            series = pl.Series(ids, dtype=pl.String)
            sought = hash_ids(series).is_in(wanted.implode()) & series.is_not_null()
            for i in sought.arg_true():
                yield series[i], batch.numbers[i]

    def batches(self) -> Iterator[Batch]:
        """The file's records, a batch at a time."""
        with open_bytes(self.file) as stream:
            yield from self._reader(stream, self.file)

    def settled_gate(self, index: FileIndex) -> Gate:
        """The gate of the second pass: every key is known, and what a record may not lack."""
        self._resolver.settle(index.profile)
        return self._gate(index.profile, must=index.must)

    def _gate(self, profile: Profile, must: set[str]) -> Gate:
        return Gate(profile, self._dtypes, must, self._id_field)

    def fitted(self, batch: Batch, profile: Profile) -> Gate | None:
        """A gate for records like the first, where that is good: mostly all others are."""
        first = self._examine(batch, 0) if batch.lines else None
        if first is None or first.faults:
            return None
        profile.admit(first)
        # The gate meets the record again, and counts then what is set aside of it.
        profile.dropped.clear()
        return self._gate(profile, must=set())

    def _learn(
        self, batch: Batch, profile: Profile, gate: Gate | None
    ) -> tuple[Gate | None, list[str]]:
        """Go through a batch in short runs, fitting the gate to what is good in it."""
        ids: list[str] = []
        for start in range(0, len(batch.lines), _RUN):
            run = range(start, min(start + _RUN, len(batch.lines)))
            found = None
            if gate and batch.broken.keys().isdisjoint(run):
                found = gate.ids(batch.lines[start : run.stop])
            if found is not None and gate is not None:
                profile.take(gate)
                ids += found
                continue
            gate, found = self._learn_run(batch, run, profile, gate)
            ids += found
        return gate, ids

    def _learn_run(
        self, batch: Batch, run: range, profile: Profile, gate: Gate | None
    ) -> tuple[Gate | None, list[str]]:
        ids: list[str] = []
        for i in run:
            found = gate.ids([batch.lines[i]]) if gate and i not in batch.broken else None
            if found is not None and gate is not None:
                profile.take(gate)
                ids += found
                continue
            seen = self._examine(batch, i)
            if seen.case_id is not None:
                ids.append(seen.case_id)
            if not seen.faults and (profile.admit(seen) or gate is None):
                gate = self._gate(profile, must=set())
        return gate, ids

    def _examine(self, batch: Batch, i: int) -> Examined:
        if i not in batch.broken:
            return self._examiner.examine(batch.lines[i])
        problem = batch.broken[i]
        known = self._examiner.examine(batch.lines[i]).case_id if batch.lines[i] else None
        fault = Fault("record", "json-syntax", problem) if isinstance(problem, str) else problem
        return Examined(faults=[fault], case_id=known)

    def chunk(self, batch: Batch, index: FileIndex, gate: Gate, *, clean: bool) -> Chunk:
        """A batch as rows, with the faults of what is none."""
        try:
            if clean and isinstance(batch, JsonLines):
                frame = whole_frame(batch, gate, self._dtypes, index.fields)
                lines = pl.int_range(batch.first, batch.first + frame.height, eager=True)
                return self._as_chunk(batch, _placed(frame, lines), [], (frame.height, 0))
            frame, faults = self._decoded(batch, index, gate, clean=clean)
        except polars.exceptions.ComputeError:
            # Numbers that JSON allows and polars does not take: the records are rewritten.
            frame, faults = self._decoded(batch, index, gate, rewrite=True)
        return self._as_chunk(batch, frame, faults, (len(batch.lines), batch.blank))

    def _as_chunk(
        self, batch: Batch, frame: pl.DataFrame, faults: list[RowFault], counts: tuple[int, int]
    ) -> Chunk:
        records, blank = counts
        return Chunk(
            frame=frame.select(
                pl.exclude("place"),
                record=pl.col("place") + (batch.before + 1),
                source_file=pl.lit(self.file.name, pl.String),
            ),
            faults=faults,
            counts=[(self.file.name, records + blank, blank)],
            raw=lambda record: readable(batch.raw(record - batch.before - 1)),
        )

    def _decoded(
        self,
        batch: Batch,
        index: FileIndex,
        gate: Gate,
        *,
        clean: bool = False,
        rewrite: bool = False,
    ) -> tuple[pl.DataFrame, list[RowFault]]:
        direct, examined, faults = self._sort_out(batch, index, gate, clean=clean, rewrite=rewrite)
        lines = [batch.lines[i] for i in direct]
        frame = direct_frame(lines, gate, self._dtypes, index.fields)
        places = direct
        if examined:
            canonical = canonical_frame(
                [msgspec.json.encode(seen.values) for _, seen in examined],
                [_none_given(seen) for _, seen in examined],
                self._dtypes,
                index.fields,
            )
            frame = pl.concat([frame, canonical])
            places = direct + [i for i, _ in examined]
        numbers = pl.Series([batch.numbers[i] for i in places], dtype=pl.Int64)
        return _placed(frame, numbers, places).sort("place"), faults

    def _sort_out(
        self, batch: Batch, index: FileIndex, gate: Gate, *, clean: bool, rewrite: bool
    ) -> tuple[list[int], list[tuple[int, Examined]], list[RowFault]]:
        """Which records polars may read as they stand, which need rewriting, which have faults."""
        every = list(range(len(batch.lines)))
        all_good = clean or (not batch.broken and gate.ids(batch.lines) is not None)
        if all_good and not rewrite:
            return every, [], []
        direct: list[int] = []
        examined: list[tuple[int, Examined]] = []
        faults: list[RowFault] = []
        expected = self._evidence & index.fields
        for i in every:
            if not rewrite and i not in batch.broken and gate.passes(batch.lines[i]):
                direct.append(i)
                continue
            seen = self._examine(batch, i)
            if seen.is_object:
                seen.faults += self._lacking(expected, seen.keys)
            if seen.faults:
                faults += [self._fault(batch, i, seen.case_id, fault) for fault in seen.faults]
            else:
                examined.append((i, seen))
        return direct, examined, faults

    def _lacking(self, expected: set[str], keys: dict[str, Key]) -> list[Fault]:
        present = {key.field for key in keys.values()}
        why = (
            f"{message('missing-field')}, as other records of this file do (null or [] are allowed)"
        )
        return [
            Fault(name, "missing-field", why)
            for name in self._dtypes
            if name in expected and name not in present
        ]

    def _fault(self, batch: Batch, i: int, case_id: str | None, fault: Fault) -> RowFault:
        place = (self.file.name, batch.numbers[i], batch.before + i + 1)
        return RowFault(*place, case_id, *fault, readable(batch.raw(i)))


def _placed(frame: pl.DataFrame, lines: pl.Series, places: list[int] | None = None) -> pl.DataFrame:
    """The frame with each row's line and its place in the batch."""
    if places is None:
        return frame.with_columns(line=lines, place=pl.int_range(pl.len(), dtype=pl.Int64))
    return frame.with_columns(line=lines, place=pl.Series(places, dtype=pl.Int64))


def _none_given(seen: Examined) -> bool:
    return {"required_ids", "expected_answers"} <= seen.none_given
