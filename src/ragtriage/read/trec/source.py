"""Qrels and runs as sources of cases and traces: a record a topic, its lines counted one by one.

A topic with a faulty row is set aside whole: without one of its judgements a case asks for
something else, and without one of its rows a ranking is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.chunk import Chunk, RowFault, readable
from ragtriage.read.files import InputFile, fingerprint, open_bytes, unchanged
from ragtriage.read.index import FileIndex, hash_ids
from ragtriage.read.trec.columns import BrokenRow
from ragtriage.read.trec.reading import Rows
from ragtriage.schemas.inputs import LABEL_FIELDS, CaseRows, dtypes

OTHER_SYSTEMS = "(rows of other systems)"
_FLAGS = ("answer_given", "none_given")


@dataclass(frozen=True)
class Beside:
    """A further file that says something of each topic: what it is, and what became of its lines.

    `accused`: topics whose record there cannot be used, each with the place of that record.
    """

    index: FileIndex
    read: int
    blank: int
    faults: list[RowFault]
    accused: dict[str, str]


class Taken(NamedTuple):
    """A file's rows, their topics with a list each, and what there is to say of them.

    `table`: `topic`, `line`, `lines`, and columns named as fields of a case. `raw`: a topic's own
    text by its line, where that is not simply a line of the file.
    """

    rows: Rows
    table: pl.DataFrame
    notes: list[str]
    beside: Beside | None = None
    raw: Callable[[int], str] | None = None


def lines_of(file: InputFile, wanted: set[int]) -> dict[int, str]:
    """Some lines of a file, as they stand; it is read again for them."""
    found = {}
    with open_bytes(file) as stream:
        for number, line in enumerate(stream, 1):
            if number in wanted:
                found[number] = readable(line.rstrip(b"\r\n"))
    return found


class TopicSource:
    """A file whose rows make up one field of a case."""

    def __init__(self, file: InputFile, fields: set[str], read: Callable[[], Taken]) -> None:
        """`fields`: the columns of `read`'s table that are fields of a case."""
        self.file = file
        self._fields = fields
        self._read = read
        self._taken: Taken | None = None
        self._where = pl.DataFrame(schema={"topic": pl.String, "line": pl.Int64})

    def index(self) -> FileIndex:
        """All of it: a topic's rows may lie anywhere in the file."""
        index = FileIndex(self.file, fingerprint(self.file))
        self._taken = taken = self._read()
        self._where = taken.table.select("topic", "line")
        index.fields = {"case_id", *self._fields}
        index.hashes.append(hash_ids(taken.table["topic"]))
        long = taken.table.select("line", "lines").filter(pl.col("lines") > 1)
        index.record_lines = dict(long.iter_rows())
        index.notes = taken.notes
        if taken.rows.left_out:
            index.dropped[OTHER_SYSTEMS] = taken.rows.left_out
        if taken.beside is not None:
            index.beside.append(taken.beside.index)
            index.dropped |= taken.beside.index.dropped
        return index

    def chunks(self, index: FileIndex) -> Iterator[Chunk]:
        """One chunk: whoever joins it cuts it up."""
        # The second pass needs no second reading; what is large is handed on, not kept.
        taken = self._taken or self._read()
        self._taken = None
        for seen in (index, *index.beside):
            if not unchanged(seen.file, seen.fingerprint):
                raise InputError(f"{seen.file.name}: changed while it was read; run again")
        read = taken.rows.read - taken.rows.left_out
        counts = [(self.file.name, read, taken.rows.blank)]
        faults = [self._fault(row) for row in taken.rows.broken]
        if taken.beside is not None:
            counts.append((taken.beside.index.file.name, taken.beside.read, taken.beside.blank))
            faults += taken.beside.faults
        table, more = self._apart(taken)
        raw = taken.raw or (lambda line: self._first_lines.get(line, ""))
        yield Chunk(self._frame(table), faults + more, counts, raw)

    def positions(self, index: FileIndex, wanted: pl.Series) -> Iterator[tuple[str, int]]:
        """Topics whose hash is wanted, with the line where each is met first."""
        hits = index.hashes[0].is_in(wanted.implode())
        yield from self._where.filter(hits).iter_rows()

    @cached_property
    def _first_lines(self) -> dict[int, str]:
        """Every topic's first line, read again: few runs ever ask for one."""
        return lines_of(self.file, set(self._where["line"]))

    def _apart(self, taken: Taken) -> tuple[pl.DataFrame, list[RowFault]]:
        """Topics without a fault, and what is set aside of the others with their faulty rows."""
        accused = {
            topic: (f"{self.file.name}:{row.line}", row.field, row.rule)
            for topic, row in taken.rows.accused.items()
        }
        for topic, place in (taken.beside.accused if taken.beside else {}).items():
            accused.setdefault(topic, (place, "question", "unmapped"))
        if not accused:
            return taken.table, []
        of_accused = taken.table["topic"].is_in(list(accused))
        faults = []
        for topic, line in taken.table.filter(of_accused).select("topic", "line").iter_rows():
            place, field, rule = accused[topic]
            text = f"set aside with the row of its topic at {place}"
            raw = taken.raw(line) if taken.raw else self._first_lines.get(line, "")
            where = (self.file.name, line, line)
            faults.append(RowFault(*where, topic, field, rule, text, raw, refuses=False))
        return taken.table.filter(~of_accused), faults

    def _frame(self, table: pl.DataFrame) -> pl.DataFrame:
        columns = dtypes(CaseRows)
        given = {
            "case_id": pl.col("topic"),
            **{name: pl.col(name) for name in self._fields},
            "source_file": pl.lit(self.file.name, pl.String),
            "line": pl.col("line"),
            "record": pl.col("line"),
            "required_given": pl.lit(not self._fields.isdisjoint(LABEL_FIELDS)),
            **dict.fromkeys(_FLAGS, pl.lit(False)),
        }
        return table.select(
            given.get(name, pl.lit(None, dtype)).cast(dtype).alias(name)
            for name, dtype in columns.items()
        )

    def _fault(self, row: BrokenRow) -> RowFault:
        place = (self.file.name, row.line, row.line)
        return RowFault(*place, row.topic, row.field, row.rule, row.message, row.raw)
