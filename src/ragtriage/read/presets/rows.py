"""From their records to batches of ours, one by one, for presets where one record is one case."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO, NamedTuple

import msgspec

from ragtriage.read.batches import Batch, BatchBuilder, Reader
from ragtriage.read.faults import SURROGATE, Fault
from ragtriage.read.files import InputFile
from ragtriage.read.presets.base import CORPUS, RECORDS, Asked, UnmappableError
from ragtriage.read.presets.foreign import Foreign, foreign_records
from ragtriage.read.presets.paths import dig
from ragtriage.read.presets.typed import listed, typed
from ragtriage.read.presets.values import shown
from ragtriage.schemas.rules import message

Record = dict[str, Any]
NUMBERED = "row-"
FOREIGN = "none of its keys is known here"
OTHERS = "(records left out: of other systems, or within others)"


class Row:
    """One of their records, which notes what was looked at: the rest is dropped, and counted."""

    def __init__(self, members: Record, asked: Asked, line: int = 0) -> None:
        self.members = members
        self.asked = asked
        self.line = line
        self._used: set[str] = set()
        self._left: dict[str, None] = {}

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

    @property
    def is_foreign(self) -> bool:
        """Does it hold something, and nothing that anybody looked at?"""
        return not self._used and bool(self.members)

    def leave(self, what: str) -> None:
        """Note something that is left behind and is no key of the record itself."""
        self._left[what] = None

    def unused(self) -> list[str]:
        """What is left behind: keys that hold something nobody asked for, and what was noted."""
        keys = [n for n, v in self.members.items() if n not in self._used and v is not None]
        return keys + list(self._left)


MapRow = Callable[[Row], Record]


class Mapped(NamedTuple):
    """One of their records as our JSON, or why not.

    `dropped`: keys nobody asked for. `mapping`: the user's paths that led somewhere.
    """

    line: bytes
    problem: str | Fault
    dropped: list[str]
    mapping: dict[str, str]


def row_reader(
    map_row: MapRow, where: tuple[str, ...] = (), is_of: Callable[[Record, str], bool] | None = None
) -> Callable[[Asked], Reader]:
    """A reader for files whose every record is one case.

    Args:
        map_row: our fields from one of their records; null fields may be left out.
        where: the paths where records may lie in a JSON document.
        is_of: is the record this system's? Where a file holds several systems'.
    """

    def reader(asked: Asked) -> Reader:
        def read(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
            records = foreign_records(stream, file, where)
            yield from batches_of(of_system(records, asked.system, is_of), map_row, asked)

        return read

    return reader


def of_system(
    records: Iterator[Foreign], system: str | None, is_of: Callable[[Record, str], bool] | None
) -> Iterator[Foreign]:
    """The records, others than the system's marked."""
    if system is None or is_of is None:
        yield from records
        return
    for foreign in records:
        other = isinstance(foreign.value, dict) and not is_of(foreign.value, system)
        yield replace(foreign, other=True) if other else foreign


def batches_of(records: Iterator[Foreign], map_row: MapRow, asked: Asked) -> Iterator[Batch]:
    """Their records, mapped one by one, in batches."""
    builder = BatchBuilder(with_raws=True)
    for foreign in records:
        if foreign.blank:
            builder.add_blank(foreign.blank)
        elif foreign.other:
            builder.drop([OTHERS])
        else:
            done = mapped(foreign, map_row, asked)
            builder.drop(done.dropped)
            builder.note(done.mapping)
            builder.add(done.line, foreign.line, foreign.raw, done.problem)
            if builder.full:
                yield builder.take()
    yield builder.take()


def mapped(foreign: Foreign, map_row: MapRow, asked: Asked) -> Mapped:
    """One record through a preset and the user's mapping."""
    if foreign.problem:
        return Mapped(b"", foreign.problem, [], {})
    if not isinstance(foreign.value, dict):
        fault = Fault("record", "not-an-object", message("not-an-object"))
        return Mapped(b"", fault, [], {})
    row = Row(foreign.value, asked, foreign.line)
    record: Record = {}
    try:
        for name, value in map_row(row).items():
            if value is not None:
                record[name] = value
        mapping = {} if asked.role == CORPUS else _apply_mapping(row, record)
        if asked.role != CORPUS:
            _refuse_foreign(row)
            numbered = asked.role == RECORDS
            named(record, foreign.line, by_question=asked.by_question, numbered=numbered)
        return Mapped(msgspec.json.encode(record), "", row.unused(), mapping)
    except UnmappableError as error:
        fault = Fault(error.field, "unmapped", error.why)
        return Mapped(_identity(record, row), fault, [], {})
    except UnicodeEncodeError:
        return Mapped(b"", Fault("record", "encoding", SURROGATE), [], {})


def _refuse_foreign(row: Row) -> None:
    """A record of another layout must not become a case that holds nothing."""
    if not row.is_foreign:
        return
    keys = ", ".join(list(row.members)[:5])
    raise UnmappableError(
        "record",
        f"{FOREIGN} ({shown(keys)[1:-1]}); is this the right preset? `ragtriage inspect` says "
        "what fits, --map names fields",
    )


def named(record: Record, line: int, *, by_question: bool = False, numbered: bool = True) -> None:
    """Give a record without an ID one: of its question, else of its line.

    The same question has the same ID in every file, so that runs pair by it; `by_question` sets
    aside the ID that the record has. `numbered`: the line will do, as nothing is joined by it.
    """
    question = record.get("question")
    if record.get("case_id") is not None and not by_question:
        return
    if by_question and not isinstance(question, str):
        raise UnmappableError("question", "no question to make the ID from (--id-from question)")
    if not isinstance(question, str) and not numbered:
        raise UnmappableError(
            "case_id",
            "no ID and no question to join by; cases and traces pair by ID, never by place: give "
            "one, or --map their.path=case_id",
        )
    record["case_id"] = question_id(question) if isinstance(question, str) else f"{NUMBERED}{line}"


def question_id(question: str) -> str:
    """An ID from a question's own text."""
    return "q-" + hashlib.sha256(question.strip().encode("utf-8", "replace")).hexdigest()[:16]


def _apply_mapping(row: Row, record: Record) -> dict[str, str]:
    """What the user maps, over what the preset took; the paths that led somewhere."""
    led = {}
    for path, name in row.asked.mapping.items():
        inside = path.removeprefix(row.asked.within)
        found, value = dig(row.members, inside)
        if not found:
            continue
        led[path] = name
        row.use(inside if inside in row.members else inside.split(".")[0].split("[")[0])
        value = listed(name, typed(name, value, row.asked.separator))
        if name in ("case_id", "question"):
            # Under our own name: an ID may be made from it.
            record[name] = value
            continue
        if name != "tags":
            record.pop(name, None)
        # Under theirs: whether null means none depends on what the whole file has there.
        record[path] = value
    return led


def _identity(record: Record, row: Row) -> bytes:
    """As much as says whose record was refused."""
    case_id = record.get("case_id")
    if case_id is None:
        given = (row.members.get(name) for name in ("case_id", "id", "qid", "query_id", "task_id"))
        case_id = next((str(value) for value in given if isinstance(value, str | int)), None)
    try:
        return b"" if case_id is None else msgspec.json.encode({"case_id": case_id})
    except UnicodeEncodeError:
        return b""
