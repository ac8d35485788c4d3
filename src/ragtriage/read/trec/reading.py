"""One qrels or run file to topics and faults: each row's own values are looked at here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import polars as pl

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
_RUN_COLUMNS: dict[str, pl.DataType] = {
    "document": pl.String(),
    "score": pl.Float64(),
    "rank": pl.Int64(),
}
_GRADE = "is no grade; write a whole number"
_SCORE = "is no score; write a finite number"
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

    `system`: the tag whose rows count, None for all. `ranked`: the rank column must be one.
    """

    def rankings(block: Block) -> _Judged:
        frame = block.frame
        left_out = 0
        if system is not None:
            frame = frame.filter(pl.col("tag") == system)
            left_out = block.frame.height - frame.height
        numbers = frame.with_columns(
            number=_float(frame["score"]), place=_whole(frame["rank"])
        )
        finite = pl.col("number").is_finite().fill_null(False)
        checks = [("score", _SCORE, numbers.select(~finite).to_series())]
        if ranked:
            checks.append(("rank", _RANK, numbers["place"].is_null()))
        good, broken = _sorted_out(numbers, block, checks)
        kept = good.select("topic", "document", "line", score="number", rank="place")
        return kept, broken, left_out

    return _rows(file, RUN, 0, _RUN_COLUMNS, rankings)


def tags_of(file: InputFile) -> Iterator[str]:
    """The tags of a run file, in the order they are met; a row without its columns has none."""
    seen: dict[str, None] = {}
    with open_bytes(file) as stream:
        for block in read_blocks(stream, file, RUN):
            for tag in block.frame["tag"].unique(maintain_order=True):
                if tag not in seen:
                    seen[tag] = None
                    yield tag


def _judgements(block: Block) -> _Judged:
    frame = block.frame.with_columns(number=_whole(block.frame["grade"]))
    good, broken = _sorted_out(frame, block, [("grade", _GRADE, frame["number"].is_null())])
    return good.select("topic", "document", "line", grade="number"), broken, 0


# Column, what is wrong, and which rows.
_Check = tuple[str, str, pl.Series]


def _sorted_out(frame: pl.DataFrame, block: Block, checks: list[_Check]) -> tuple[pl.DataFrame, list[BrokenRow]]:
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
    """Whole numbers of at most 64 bits, exactly; anything else is null."""
    numbers = text.cast(pl.Int64, strict=False)
    if numbers.null_count():
        # polars takes no plus sign.
        signed = text.str.strip_prefix("+")
        plus = pl.Series(numbers.is_null() & text.str.contains(r"^\+\d"))
        numbers = numbers.zip_with(~plus, signed.cast(pl.Int64, strict=False))
    return numbers


def _float(text: pl.Series) -> pl.Series:
    return text.cast(pl.Float64, strict=False)
