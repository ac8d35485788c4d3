"""From their records to batches of ours, one by one, for presets where one record is one case."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import msgspec

from ragtriage.read.batches import Batch, BatchBuilder, Reader
from ragtriage.read.faults import SURROGATE, Fault
from ragtriage.read.files import InputFile, open_bytes
from ragtriage.read.presets.base import Asked, UnmappableError
from ragtriage.read.presets.foreign import Foreign, foreign_records
from ragtriage.read.presets.paths import dig
from ragtriage.read.presets.typed import typed
from ragtriage.schemas.rules import message

Record = dict[str, Any]
OTHERS = "(rows of other systems)"


class Row:
    """One of their records, which notes what was looked at: the rest is dropped, and counted."""

    def __init__(self, members: Record, asked: Asked, line: int = 0) -> None:
        self.members = members
        self.asked = asked
        self.line = line
        self._used: set[str] = set()

    def get(self, *names: str) -> Any:
        """The first of these keys that is there and not null."""
        found = None
        for name in names:
            if name in self.members:
                self._used.add(name)
                if found is None:
                    found = self.members[name]
        return found

    def has(self, name: str) -> bool:
        """Is the key there, be it null?"""
        return name in self.members

    def use(self, name: str) -> None:
        """Note a key as looked at."""
        self._used.add(name)

    def unused(self) -> list[str]:
        """Keys that hold something nobody asked for."""
        return [n for n, v in self.members.items() if n not in self._used and v is not None]


MapRow = Callable[[Row], Record]


def row_reader(
    map_row: MapRow, where: str = "", system_of: Callable[[Record], str | None] | None = None
) -> Callable[[Asked], Reader]:
    """A reader for files whose every record is one case.

    Args:
        map_row: our fields from one of their records; null fields may be left out.
        where: the path of the records in a JSON document.
        system_of: whose record it is, where a file holds several systems'.
    """

    def reader(asked: Asked) -> Reader:
        def read(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
            builder = BatchBuilder(with_raws=True)
            for foreign in foreign_records(stream, file, where):
                _add(foreign, asked, builder)
                if builder.full:
                    yield builder.take()
            yield builder.take()

        def _of_another(foreign: Foreign, asked: Asked) -> bool:
            if asked.system is None or system_of is None or not isinstance(foreign.value, dict):
                return False
            return system_of(foreign.value) != asked.system

        def _add(foreign: Foreign, asked: Asked, builder: BatchBuilder) -> None:
            if foreign.blank:
                builder.add_blank(foreign.blank)
                return
            if _of_another(foreign, asked):
                builder.drop([OTHERS])
                return
            line, problem, dropped = mapped(foreign, map_row, asked)
            builder.drop(dropped)
            builder.add(line, foreign.line, foreign.raw, problem)

        return read

    return reader


def row_systems(
    system_of: Callable[[Record], str | None], where: str = ""
) -> Callable[[InputFile, Asked], Iterator[str]]:
    """The systems whose records a file holds."""

    def systems(file: InputFile, _asked: Asked) -> Iterator[str]:
        with open_bytes(file) as stream:
            for foreign in foreign_records(stream, file, where):
                name = system_of(foreign.value) if isinstance(foreign.value, dict) else None
                if name is not None:
                    yield name

    return systems


def mapped(foreign: Foreign, map_row: MapRow, asked: Asked) -> tuple[bytes, str | Fault, list[str]]:
    """One record as our JSON, or why not; and the keys nobody asked for."""
    if foreign.problem:
        return b"", foreign.problem, []
    if not isinstance(foreign.value, dict):
        return b"", Fault("record", "not-an-object", message("not-an-object")), []
    row = Row(foreign.value, asked, foreign.line)
    record: Record = {}
    try:
        record = {name: value for name, value in map_row(row).items() if value is not None}
        _apply_mapping(row, record)
        named(record, foreign.line)
        return msgspec.json.encode(record), "", row.unused()
    except UnmappableError as error:
        fault = Fault(error.field, "unmapped", error.why)
        return _identity(record, row), fault, []
    except UnicodeEncodeError:
        return b"", Fault("record", "encoding", SURROGATE), []


def named(record: Record, line: int) -> None:
    """Give a record without an ID one: of its question, else of its line.

    The same question has the same ID in every file, so that runs pair by it.
    """
    if record.get("case_id") is not None or "case_id" in record.values():
        return
    question = record.get("question")
    record["case_id"] = question_id(question) if isinstance(question, str) else f"row-{line}"


def question_id(question: str) -> str:
    """An ID from a question's own text."""
    return "q-" + hashlib.sha256(question.strip().encode("utf-8", "replace")).hexdigest()[:16]


def _apply_mapping(row: Row, record: Record) -> None:
    """What the user maps, over what the preset took."""
    for path, name in row.asked.mapping.items():
        found, value = dig(row.members, path)
        if not found:
            continue
        row.use(path if path in row.members else path.split(".")[0].split("[")[0])
        if name != "tags":
            record.pop(name, None)
        record[path] = typed(name, value, row.asked.separator)


def _identity(record: Record, row: Row) -> bytes:
    """As much as says whose record was refused."""
    case_id = record.get("case_id")
    if case_id is None:
        given = (row.members.get(name) for name in ("case_id", "id", "qid", "query_id", "task_id"))
        case_id = next((str(value) for value in given if isinstance(value, str | int)), None)
    return b"" if case_id is None else msgspec.json.encode({"case_id": case_id})


def dropped_total(batches: Iterator[Batch]) -> Counter[str]:
    """Keys nobody asked for, over all batches."""
    total: Counter[str] = Counter()
    for batch in batches:
        total.update(batch.dropped)
    return total
