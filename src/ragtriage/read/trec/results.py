"""Results as one JSON object: for each query its documents, each with a score. BEIR's runs."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.files import InputFile, open_bytes
from ragtriage.read.presets.base import UnmappableError
from ragtriage.read.presets.foreign import document
from ragtriage.read.presets.values import score_of, shown
from ragtriage.read.trec.columns import BrokenRow
from ragtriage.read.trec.order import by_score
from ragtriage.read.trec.reading import RUN_COLUMNS, Rows
from ragtriage.read.trec.runs import rankings
from ragtriage.read.trec.source import Taken, TopicSource
from ragtriage.read.trec.topics import Gatherer

_DECODER = msgspec.json.Decoder(dict[str, dict[str, float]], strict=True)


def results_source(file: InputFile) -> TopicSource:
    """A results file as a source of traces with `retrieved_ids`."""
    return TopicSource(file, {"retrieved_ids"}, lambda: _read(file))


def _read(file: InputFile) -> Taken:
    results = _decoded(file)
    gatherer = Gatherer(RUN_COLUMNS)
    broken: list[BrokenRow] = []
    empty: list[tuple[str, int]] = []
    for number, (topic, scores) in enumerate(results.items(), 1):
        try:
            good = _scores(scores)
        except UnmappableError as error:
            raw = json.dumps({topic: scores}, ensure_ascii=False, default=str)[:1000]
            broken.append(BrokenRow(number, topic, error.field, "unmapped", error.why, raw))
            continue
        if good:
            gatherer.add(_frame(topic, number, good))
        else:
            empty.append((topic, number))
    rows = Rows(gatherer.gathered(), [], len(results), 0, 0)
    rows.accuse(broken)
    taken = rankings(file, rows, by_score(rows.topics))
    # A query is one record of the file, however many documents it has.
    table = taken.table.with_columns(lines=pl.lit(1, pl.Int64)).drop("n")
    nothing = pl.DataFrame(
        {"topic": [topic for topic, _ in empty], "line": [line for _, line in empty]},
        schema={"topic": pl.String, "line": pl.Int64},
    ).select("topic", pl.lit(1, pl.Int64).alias("lines"), "line", retrieved_ids=pl.lit([]))
    whole = pl.concat([table, nothing.cast(table.schema)]).sort("line")
    raws = dict(zip(whole["line"], whole["topic"], strict=True))
    return taken._replace(table=whole, raw=lambda line: json.dumps(raws.get(line)))


def _decoded(file: InputFile) -> dict[str, Any]:
    """The whole object; a fast decoder where all is well, an exact one to say what is not."""
    with open_bytes(file) as stream:
        text = stream.read()
    try:
        results = _DECODER.decode(text)
        keys = len(results) + sum(len(scores) for scores in results.values())
        # Each key has a colon: as many as keys leave none for a repeated key.
        if text.count(b":") == keys:
            return results
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    with open_bytes(file) as stream:
        found = document(stream, file)
    if not isinstance(found, dict):
        raise InputError(
            f"{file.name}:1: record: expected one object of queries, got {shown(found)}; "
            "give {query: {document: score}}, or a TREC run"
        )
    return found


def _scores(scores: Any) -> dict[str, float]:
    if not isinstance(scores, dict):
        raise UnmappableError(
            "retrieved_ids", f"expected documents, got {shown(scores)}; correct it"
        )
    return {name: score_of("score", score) for name, score in scores.items()}


def _frame(topic: str, number: int, scores: dict[str, float]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "topic": [topic] * len(scores),
            "line": [number] * len(scores),
            "document": list(scores),
            "score": list(scores.values()),
            "rank": [None] * len(scores),
        },
        schema={"topic": pl.String, "line": pl.Int64, **RUN_COLUMNS},
    )
