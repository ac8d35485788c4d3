"""One qrels or run file to topics and faults: each row's own values are looked at here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.files import InputFile, open_bytes
from ragtriage.read.trec.columns import Block, BrokenRow, Layout, read_blocks
from ragtriage.read.trec.topics import Gatherer, Topics

QRELS = Layout("qrels", ("topic", "iteration", "document", "grade"))
# BEIR's: a header, tabs, and no second column.
TABBED_QRELS = Layout("qrels", ("topic", "document", "grade"), tabbed=True)
RUN = Layout("a run", ("topic", "Q0", "document", "rank", "score", "tag"))

# Rows to keep, rows with faults, and how many rows are another system's.
_Judged = tuple[pl.DataFrame, list[BrokenRow], int]
_Judge = Callable[[Block], _Judged]

_QRELS_COLUMNS: dict[str, pl.DataType] = {
    "document": pl.String(),
    "grade": pl.Int64(),
    "line": pl.Int64(),
}
RUN_COLUMNS: dict[str, pl.DataType] = {
    "document": pl.String(),
    "score": pl.Float64(),
    "rank": pl.Int64(),
}
_GRADE = "is no grade; write a whole number"
_SCORE = "is no score; write a finite number"
_SHOWN_TAGS = 5
_RANK = "is no rank; write a whole number, or let the scores order the run (--trec-order score)"


@dataclass
class Rows:
    """What a file holds: its topics, rows with faults, lines in all and blank ones.

    `left_out`: rows of other systems. `accused`: topics with a faulty row, each with the first.
    """

    topics: Topics
    broken: list[BrokenRow]
    read: int
    blank: int
    left_out: int
    accused: dict[str, BrokenRow] = field(default_factory=dict)

    def accuse(self, rows: list[BrokenRow]) -> None:
        """Take in further rows with faults."""
        self.broken = sorted([*self.broken, *rows], key=lambda row: row.line)
        for row in reversed(self.broken):
            if row.topic is not None:
                self.accused[row.topic] = row


def read_qrels(file: InputFile, layout: Layout, skip: int) -> Rows:
    """Judgements: `document` and `grade`."""
    return _rows(file, layout, skip, _QRELS_COLUMNS, _judgements)


def read_run(file: InputFile, system: str | None, *, ranked: bool) -> Rows:
    """A run: `document`, `score` and `rank` (null where it is no number).

    `system`: the tag whose rows count, None where all are one system's. `ranked`: the rank column
    must be one.

    Raises:
        InputError: no system was named, and a topic has rows of several.
    """
    tags = _Tags()

    def rankings(block: Block) -> _Judged:
        frame, left_out = block.frame, 0
        if system is None:
            tags.add(frame)
        else:
            frame = frame.filter(pl.col("tag") == system)
            left_out = block.frame.height - frame.height
        numbers = frame.with_columns(
            number=frame["score"].cast(pl.Float64, strict=False), place=_whole(frame["rank"])
        )
        finite = pl.col("number").is_finite().fill_null(False)
        checks = [("score", _SCORE, numbers.select(~finite).to_series())]
        if ranked:
            checks.append(("rank", _RANK, numbers["place"].is_null()))
        good, broken = _sorted_out(numbers, block, checks)
        kept = good.select("topic", "document", "line", score="number", rank="place")
        return kept, broken, left_out

    rows = _rows(file, RUN, 0, RUN_COLUMNS, rankings)
    tags.check(file)
    return rows


class _Tags:
    """Watches whether a topic has rows of several systems."""

    def __init__(self) -> None:
        self._pairs: list[pl.DataFrame] = []

    def add(self, frame: pl.DataFrame) -> None:
        """A block's rows."""
        if frame.is_empty():
            return
        first = frame["tag"][0]
        if (frame["tag"] == first).all():
            topics = frame["topic"].rle().struct.field("value").unique(maintain_order=True)
            pairs = pl.DataFrame({"topic": topics}).with_columns(tag=pl.lit(first))
        else:
            pairs = frame.select("topic", "tag").unique(maintain_order=True)
        self._pairs.append(pairs)

    def check(self, file: InputFile) -> None:
        """Is it one run? Tags of different topics may differ."""
        if not self._pairs:
            return
        pairs = pl.concat(self._pairs).unique(maintain_order=True)
        if not pairs["topic"].is_duplicated().any():
            return
        tags = pairs["tag"].unique(maintain_order=True)
        shown = ", ".join(repr(tag) for tag in tags.head(_SHOWN_TAGS))
        more = f" and {tags.len() - _SHOWN_TAGS:,} more" if tags.len() > _SHOWN_TAGS else ""
        raise InputError(
            f"{file.name}: tag: rows of {tags.len():,} systems: {shown}{more}; choose one with "
            "--system NAME"
        )


def _judgements(block: Block) -> _Judged:
    frame = block.frame.with_columns(number=_whole(block.frame["grade"]))
    good, broken = _sorted_out(frame, block, [("grade", _GRADE, frame["number"].is_null())])
    return good.select("topic", "document", "line", grade="number"), broken, 0


# Column, what is wrong, and which rows.
_Check = tuple[str, str, pl.Series]


def _sorted_out(
    frame: pl.DataFrame, block: Block, checks: list[_Check]
) -> tuple[pl.DataFrame, list[BrokenRow]]:
    """Rows that pass every check, and the first fault of each other one."""
    bad = pl.Series([False]).new_from_index(0, frame.height)
    broken: list[BrokenRow] = []
    for column, text, failing in checks:
        rows = frame.filter(failing & ~bad)
        bad |= failing
        raws = block.raw(rows["line"].to_list()) if rows.height else []
        for (topic, value, line), raw in zip(
            rows.select("topic", column, "line").iter_rows(), raws, strict=True
        ):
            broken.append(BrokenRow(line, topic, column, "unmapped", f"{value[:60]!r} {text}", raw))
    return (frame.filter(~bad) if broken else frame), broken


def _rows(
    file: InputFile,
    layout: Layout,
    skip: int,
    columns: dict[str, pl.DataType],
    judge: _Judge,
) -> Rows:
    gatherer = Gatherer(columns)
    broken: list[BrokenRow] = []
    read = blank = left_out = 0
    with open_bytes(file) as stream:
        for block in read_blocks(stream, file, layout, skip):
            frame, faults, others = judge(block)
            gatherer.add(frame)
            broken += block.broken
            broken += faults
            read += block.read
            blank += block.blank
            left_out += others
    rows = Rows(gatherer.gathered(), [], read, blank, left_out)
    rows.accuse(broken)
    return rows


def _whole(text: pl.Series) -> pl.Series:
    """Whole numbers of at most 64 bits, exactly, also as `+1` and `1.0`; anything else is null."""
    numbers = text.cast(pl.Int64, strict=False)
    if not numbers.null_count():
        return numbers
    plain = text.to_frame("text").select(
        pl.col("text").str.extract(r"^\+?(-?[0-9]+)(?:\.0+)?$").cast(pl.Int64, strict=False)
    )
    return numbers.zip_with(numbers.is_not_null(), plain.to_series())
