"""Runs as traces: the systems in a file, and the documents of each topic in ranking order."""

from __future__ import annotations

import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.files import InputFile
from ragtriage.read.trec.order import Ranked, by_rank, by_score
from ragtriage.read.trec.qrels import first_cells
from ragtriage.read.trec.reading import QRELS, RUN, Rows, read_run
from ragtriage.read.trec.source import Taken, TopicSource
from ragtriage.read.trec.topics import as_lists

ORDERS = ("score", "rank")


def run_source(file: InputFile, system: str | None, order: str) -> TopicSource:
    """A run file as a source of traces with `retrieved_ids`.

    Args:
        file: the run.
        system: the tag whose rows count; None takes all.
        order: `score`, or `rank` for the rank column.
    """
    return TopicSource(file, {"retrieved_ids"}, lambda: _read(file, system, order))


def _read(file: InputFile, system: str | None, order: str) -> Taken:
    _check_columns(file)
    rows = read_run(file, system, ranked=order == "rank")
    ranked = by_rank(rows.topics) if order == "rank" else by_score(rows.topics)
    return rankings(file, rows, ranked)


def rankings(file: InputFile, rows: Rows, ranked: Ranked) -> Taken:
    """Topics with `retrieved_ids`, and how they were ordered."""
    rows.topics = ranked.topics
    table = as_lists(ranked.topics, {"retrieved_ids": pl.col("document")})
    return Taken(rows, table, _notes(file, ranked))


def _check_columns(file: InputFile) -> None:
    number, cells = first_cells(file)
    if len(cells) in (len(QRELS.columns), len(QRELS.columns) - 1):
        raise InputError(
            f"{file.name}:{number}: row: {len(cells)} columns are of qrels, a run has 6 "
            f"({', '.join(RUN.columns)}); give qrels as --cases"
        )


def _notes(file: InputFile, ranked: Ranked) -> list[str]:
    """How a run was ordered, where anything else was possible."""
    of = f"of {ranked.topics.table.height:,} topics"
    notes = []
    if ranked.tied:
        notes.append(
            f"{file.name}: equal scores in {ranked.tied:,} {of}, ordered by document ID, last "
            "first, as trec_eval does"
        )
    if ranked.narrow:
        notes.append(
            f"{file.name}: scores that are equal in single precision only, as trec_eval holds "
            f"them, in {ranked.narrow:,} {of}"
        )
    if ranked.against_rank:
        notes.append(
            f"{file.name}: the rank column orders {ranked.against_rank:,} {of} otherwise; the "
            "scores count (--trec-order rank takes the ranks)"
        )
    return notes
