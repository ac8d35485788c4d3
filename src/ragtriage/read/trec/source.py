"""Qrels and runs as sources of cases and traces: a record a topic, its lines counted one by one.

A topic with a faulty row is set aside whole: without one of its judgements a case asks for
something else, and without one of its rows a ranking is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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

OTHER_SYSTEMS = "rows of other systems"
_FLAGS = ("answer_given", "none_given")


class Taken(NamedTuple):
    """A file's rows, their topics with a list each, and what there is to say of them."""

    rows: Rows
    table: pl.DataFrame
    notes: list[str]


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

    def __init__(
        self,
        file: InputFile,
        field: str,
        read: Callable[[], Taken],
    ) -> None:
        """`field`: the column of `read`'s table that holds the lists."""
        self.file = file
        self._field = field
        self._read = read
        self._taken: Taken | None = None
        self._where = pl.DataFrame(schema={"topic": pl.String, "line": pl.Int64})

    def index(self) -> FileIndex:
        """All of it: a topic's rows may lie anywhere in the file."""
        index = FileIndex(self.file, fingerprint(self.file))
        self._taken = taken = self._read()
        rows, table, index.notes = taken
        self._where = table.select("topic", "line")
        index.fields = {"case_id", self._field}
        index.hashes.append(hash_ids(table["topic"]))
        long = table.select("line", "lines").filter(pl.col("lines") > 1)
        index.record_lines = dict(long.iter_rows())
        if rows.left_out:
            index.dropped[OTHER_SYSTEMS] = rows.left_out
        return index

    def chunks(self, index: FileIndex) -> Iterator[Chunk]:
        """One chunk: whoever joins it cuts it up."""
        # The second pass needs no second reading; what is large is handed on, not kept.
        rows, table, _ = self._taken or self._read()
        self._taken = None
        if not unchanged(self.file, index.fingerprint):
            raise InputError(f"{self.file.name}: changed while it was read; run again")
        faults = [self._fault(row) for row in rows.broken]
        if rows.accused:
            accused = table["topic"].is_in(list(rows.accused))
            faults += self._set_aside(table.filter(accused), rows)
            table = table.filter(~accused)
        read = rows.read - rows.left_out
        yield Chunk(
            frame=self._frame(table),
            faults=sorted(faults, key=lambda fault: fault.record),
            counts=[(self.file.name, read, rows.blank)],
            raw=lambda line: self._first_lines.get(line, ""),
        )

    def positions(self, index: FileIndex, wanted: pl.Series) -> Iterator[tuple[str, int]]:
        """Topics whose hash is wanted, with the line where each is met first."""
        hits = index.hashes[0].is_in(wanted.implode())
        yield from self._where.filter(hits).iter_rows()

    @cached_property
    def _first_lines(self) -> dict[int, str]:
        """Every topic's first line, read again: few runs ever ask for one."""
        return lines_of(self.file, set(self._where["line"]))

    def _frame(self, table: pl.DataFrame) -> pl.DataFrame:
        columns = dtypes(CaseRows)
        given = {
            "case_id": pl.col("topic"),
            self._field: pl.col(self._field),
            "source_file": pl.lit(self.file.name, pl.String),
            "line": pl.col("line"),
            "record": pl.col("line"),
            "required_given": pl.lit(self._field in LABEL_FIELDS),
            **dict.fromkeys(_FLAGS, pl.lit(False)),
        }
        return table.select(
            given.get(name, pl.lit(None, dtype)).cast(dtype).alias(name)
            for name, dtype in columns.items()
        )

    def _fault(self, row: BrokenRow) -> RowFault:
        place = (self.file.name, row.line, row.line)
        return RowFault(*place, row.topic, row.field, row.rule, row.message, row.raw)

    def _set_aside(self, table: pl.DataFrame, rows: Rows) -> list[RowFault]:
        """The sound rows of topics that have a faulty one."""
        faults = []
        for topic, line in table.select("topic", "line").iter_rows():
            row = rows.accused[topic]
            place = (self.file.name, line, line)
            text = f"set aside with the row of its topic at {self.file.name}:{row.line}"
            raw = self._first_lines.get(line, "")
            faults.append(RowFault(*place, topic, row.field, row.rule, text, raw, refuses=False))
        return faults
