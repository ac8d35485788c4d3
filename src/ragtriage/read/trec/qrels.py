"""Qrels as cases: which layout a file has, and its judgements as grades."""

from __future__ import annotations

import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.batches import skip_bom
from ragtriage.read.chunk import readable
from ragtriage.read.faults import quoted
from ragtriage.read.files import InputFile, open_bytes
from ragtriage.read.trec.columns import BrokenRow, Layout
from ragtriage.read.trec.reading import QRELS, RUN, TABBED_QRELS, Rows, read_qrels
from ragtriage.read.trec.source import Taken, TopicSource, lines_of
from ragtriage.read.trec.topics import Topics, as_lists

# What heads BEIR's qrels.
_HEADERS = ({"query-id", "corpus-id", "score"}, {"query_id", "corpus_id", "score"})


def qrels_source(file: InputFile) -> TopicSource:
    """A qrels file as a source of cases with `grades`."""
    return TopicSource(file, {"grades"}, lambda: read_judgements(file))


def layout_of(file: InputFile) -> tuple[Layout, int]:
    """The layout of a qrels file by its first line that is not blank, and lines before the data.

    Raises:
        InputError: the line is a run's, or of no qrels that we know.
    """
    number, cells = first_cells(file)
    if not cells:
        return QRELS, 0
    words = {readable(cell) for cell in cells}
    if words in _HEADERS:
        return TABBED_QRELS, number
    if len(cells) == len(RUN.columns):
        raise InputError(
            f"{file.name}:{number}: row: 6 columns are a run's, qrels have 4 "
            f"({', '.join(QRELS.columns)}); give the run as --trace"
        )
    if len(cells) == len(TABBED_QRELS.columns):
        return TABBED_QRELS, 0
    return QRELS, 0


def first_cells(file: InputFile) -> tuple[int, list[bytes]]:
    """The first line that is not blank, and its cells; none in an empty file.

    Raises:
        InputError: the file is in another encoding than UTF-8.
    """
    with open_bytes(file) as stream:
        head = skip_bom(stream.read(4), file) + stream.readline(1 << 16)
        number = 1
        while head:
            for line in head.splitlines():
                if line.strip():
                    return number, line.split(b"\t") if b"\t" in line else line.split()
                number += 1
            head = stream.readline(1 << 16)
    return number, []


def read_judgements(file: InputFile) -> Taken:
    """A qrels file's topics with `grades`; judgements that contradict another are faults."""
    layout, skip = layout_of(file)
    rows = read_qrels(file, layout, skip)
    repeated = _repeated(rows.topics)
    if repeated.height:
        rows = _judged_once(rows, repeated, file)
    notes = []
    again = repeated.height - repeated["conflict"].sum() if repeated.height else 0
    if again:
        notes.append(f"{file.name}: judgements given more than once, counted once: {again:,}")
    grades = pl.struct(id="document", grade="grade")
    return Taken(rows, as_lists(rows.topics, {"grades": grades}), notes)


def _repeated(topics: Topics) -> pl.DataFrame:
    """Rows that judge a document of their topic again: their place, and is the grade another?"""
    # Counted topic by topic, which is cheap; looked at row by row only where there is a repeat.
    judged = as_lists(topics, {"documents": pl.col("document")})["documents"]
    suspects = (judged.list.n_unique() < judged.list.len()).arg_true()
    places = pl.Series("place", topics.places)
    among = places.is_in(suspects.cast(pl.UInt32).implode()) if suspects.len() else places < 0
    rows = topics.rows.with_columns(places).with_row_index("at").filter(among)
    of = ["place", "document"]
    first = rows.group_by(of, maintain_order=True).agg(
        first_line=pl.col("line").first(), first_grade=pl.col("grade").first()
    )
    return (
        rows.join(first, on=of, maintain_order="left")
        .filter(pl.col("line") != pl.col("first_line"))
        .with_columns(conflict=pl.col("grade") != pl.col("first_grade"))
    )


def _judged_once(rows: Rows, repeated: pl.DataFrame, file: InputFile) -> Rows:
    """The rows without repeated judgements; those that contradict the first are faults."""
    kept = pl.Series([True]).new_from_index(0, rows.topics.rows.height)
    kept[repeated["at"]] = False
    lost = repeated.group_by("place").agg(
        repeats=pl.len().cast(pl.Int64), conflicts=pl.col("conflict").sum().cast(pl.Int64)
    )
    table = (
        rows.topics.table.with_row_index("place")
        .join(lost, on="place", how="left", maintain_order="left")
        .with_columns(
            n=pl.col("n") - pl.col("repeats").fill_null(0),
            lines=pl.col("lines") - pl.col("conflicts").fill_null(0),
        )
        .drop("place", "repeats", "conflicts")
    )
    conflicts = repeated.filter("conflict").with_columns(
        topic=table["topic"].gather(repeated.filter("conflict")["place"])
    )
    rows.accuse(_conflict_rows(conflicts, file))
    rows.topics = Topics(table, rows.topics.rows.filter(kept))
    return rows


def _conflict_rows(conflicts: pl.DataFrame, file: InputFile) -> list[BrokenRow]:
    raws = lines_of(file, set(conflicts["line"]))
    broken = []
    for row in conflicts.iter_rows(named=True):
        text = (
            f"{quoted(row['document'])} has grade {row['grade']} here and {row['first_grade']} at "
            f"{file.name}:{row['first_line']}; keep one judgement"
        )
        line = row["line"]
        broken.append(BrokenRow(line, row["topic"], "grade", "grade-conflict", text, raws[line]))
    return broken
