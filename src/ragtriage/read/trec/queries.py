"""Queries as JSON lines or two columns, and judgements with their questions beside them."""

from __future__ import annotations

from typing import Any

import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.chunk import RowFault, readable
from ragtriage.read.faults import Fault, quoted
from ragtriage.read.files import InputFile, fingerprint, open_bytes
from ragtriage.read.index import FileIndex
from ragtriage.read.presets.base import UnmappableError
from ragtriage.read.presets.foreign import Foreign, foreign_records
from ragtriage.read.presets.values import text_of
from ragtriage.read.trec.columns import Layout, read_blocks
from ragtriage.read.trec.qrels import read_judgements
from ragtriage.read.trec.source import Beside, Taken, TopicSource

_TABBED = Layout("queries", ("query", "text"), tabbed=True)
_IDS = ("_id", "id", "query_id", "query-id", "qid")
_TEXTS = ("text", "query", "question")
_SHOWN = 3


def judged_source(qrels: InputFile, queries: InputFile | None) -> TopicSource:
    """Judged queries as a source of cases with `grades` and, where given, `question`."""
    if queries is None:
        return TopicSource(qrels, {"grades"}, lambda: read_judgements(qrels))
    return TopicSource(qrels, {"grades", "question"}, lambda: _read(qrels, queries))


def _read(qrels: InputFile, queries: InputFile) -> Taken:
    taken = read_judgements(qrels)
    beside, texts = _queries(queries)
    topics = taken.table["topic"]
    _check_same_ids(topics, texts, beside, qrels, queries)
    asked = pl.DataFrame(
        {"topic": list(texts), "question": list(texts.values())},
        schema={"topic": pl.String, "question": pl.String},
    )
    table = taken.table.join(asked, on="topic", how="left", maintain_order="left")
    unasked = table.filter(~pl.col("topic").is_in([*texts, *beside.accused])).height
    unjudged = asked.height - table.filter(pl.col("topic").is_in(list(texts))).height
    notes = list(taken.notes)
    if unasked:
        notes.append(f"{qrels.name}: judged queries that {queries.name} does not hold: {unasked:,}")
    if unjudged:
        notes.append(
            f"{queries.name}: queries without a judgement in {qrels.name}, no cases: {unjudged:,}"
        )
    return taken._replace(table=table, notes=notes, beside=beside)


def _check_same_ids(
    topics: pl.Series,
    texts: dict[str, str | None],
    beside: Beside,
    qrels: InputFile,
    queries: InputFile,
) -> None:
    """Do both files speak of the same queries?

    Raises:
        InputError: they have none in common.
    """
    known = [*texts, *beside.accused]
    if not known or topics.is_empty() or topics.is_in(known).any():
        return
    hint = _prefix(topics, known)
    raise InputError(
        f"{qrels.name}: topic: no judged query is in {queries.name}: judged are "
        f"{_few(topics)}, asked are {_few(pl.Series(known))}; {hint}"
    )


def _few(names: pl.Series) -> str:
    return ", ".join(repr(name) for name in names.head(_SHOWN)) + (
        "…" if len(names) > _SHOWN else ""
    )


def _prefix(topics: pl.Series, known: list[str]) -> str:
    """What to do, by what stands before the IDs of one file."""
    judged, asked = set(topics), set(known)
    for ours, theirs, where in ((judged, asked, "judgements"), (asked, judged, "queries")):
        name = min(ours)
        for cut in range(1, len(name)):
            before = name[:cut]
            if name[cut:] in theirs and any(
                one.startswith(before) and one[cut:] in theirs for one in ours - {name}
            ) | (len(ours) == 1):
                return (
                    f"the IDs of the {where} begin with {before!r}, the others do not; "
                    "give both files the same IDs"
                )
    return "give both files the same IDs"


def _queries(file: InputFile) -> tuple[Beside, dict[str, str | None]]:
    index = FileIndex(file, fingerprint(file))
    gathered = _Queries(file)
    if file.format == "jsonl":
        with open_bytes(file) as stream:
            for foreign in foreign_records(stream, file):
                gathered.add(foreign)
    else:
        gathered.add_tabbed()
    index.dropped = dict(sorted(gathered.dropped.items()))
    done = Beside(index, gathered.read, gathered.blank, gathered.faults, gathered.accused)
    return done, gathered.texts


class _Queries:
    """Queries of one file, as they are met."""

    def __init__(self, file: InputFile) -> None:
        self._file = file
        self._first: dict[str, int] = {}
        self.texts: dict[str, str | None] = {}
        self.faults: list[RowFault] = []
        self.accused: dict[str, str] = {}
        self.dropped: dict[str, int] = {}
        self.read = 0
        self.blank = 0

    def add(self, foreign: Foreign) -> None:
        """One record of JSON."""
        if foreign.blank:
            self.read += foreign.blank
            self.blank += foreign.blank
            return
        self.read += 1
        raw = readable(foreign.raw)
        record = foreign.value
        if foreign.problem or not isinstance(record, dict):
            why = foreign.problem or "the record is not an object; write one JSON object a record"
            fault = why if isinstance(why, Fault) else Fault("record", "json-syntax", why)
            self._fault(foreign.line, None, fault.field, fault.rule, fault.message, raw)
            return
        try:
            query, text = _given(record, _IDS, "case_id"), _given(record, _TEXTS, "question")
        except UnmappableError as error:
            known = record.get("_id")
            name = known if isinstance(known, str) else None
            self._fault(foreign.line, name, error.field, "unmapped", error.why, raw)
            return
        if query is None:
            why = f"no {_IDS[0]!r}; give the query its ID"
            self._fault(foreign.line, None, "case_id", "unmapped", why, raw)
            return
        for key, value in record.items():
            if key not in _IDS + _TEXTS and value not in (None, {}, []):
                self.dropped[key] = self.dropped.get(key, 0) + 1
        self._take(foreign.line, query, text, raw)

    def add_tabbed(self) -> None:
        """A whole file of two columns."""
        with open_bytes(self._file) as stream:
            for block in read_blocks(stream, self._file, _TABBED):
                self.read += block.read
                self.blank += block.blank
                for row in block.broken:
                    self._fault(row.line, row.topic, "question", row.rule, row.message, row.raw)
                for query, text, line in block.frame.iter_rows():
                    self._take(line, query, text, f"{query}\t{text}")

    def _take(self, line: int, query: str, text: str | None, raw: str) -> None:
        if query in self._first:
            first = f"{self._file.name}:{self._first[query]}"
            why = f"{quoted(query)} is not unique, first at {first}; give each query its own ID"
            self._fault(line, query, "case_id", "duplicate-case-id", why, raw)
            self.texts.pop(query, None)
            return
        self._first[query] = line
        self.texts[query] = text

    def _fault(
        self, line: int, query: str | None, field: str, rule: str, why: str, raw: str
    ) -> None:
        place = (self._file.name, line, line)
        self.faults.append(RowFault(*place, query, field, rule, why, raw))
        if query is not None:
            self.accused.setdefault(query, f"{self._file.name}:{line}")


def _given(record: dict[str, Any], names: tuple[str, ...], field: str) -> str | None:
    found = next((record[name] for name in names if record.get(name) is not None), None)
    return text_of(field, found)
