"""Two small runs to compare: records in, a comparison out, nothing written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

import ragtriage
from ragtriage import Comparison, Run
from ragtriage.comparison.deltas import Scores
from ragtriage.comparison.units import Units, group_codes, units
from ragtriage.metrics import columns_for
from tests.support import Record, lines_of

Records = Iterable[Mapping[str, Any]]


def case(name: str, retrieved: list[str], **more: Any) -> Record:
    """A case that requires `D`, with a right answer; what was retrieved decides."""
    return {
        "case_id": name,
        "question": f"question {name}",
        "required_ids": ["D"],
        "retrieved_ids": retrieved,
        "context_ids": retrieved,
        "answer_correct": True,
    } | more


HIT, MISS = ["D", "x"], ["x", "y"]


_RUNS: dict[tuple[str, ...], Run] = {}


def run_of(folder: Path, records: Records, **options: Any) -> Run:
    """These records as a finished run in memory; the same ones are evaluated once."""
    text = lines_of(records)
    number = len(list(folder.iterdir()))
    path = folder / f"input-{number}.jsonl"
    path.write_text(text, encoding="utf-8")
    named = {"run_id": f"run-{number}"} | options
    key = (text, repr(sorted(named.items())))
    if key not in _RUNS:
        _RUNS[key] = ragtriage.evaluate(path, write=False, **named)
    return _RUNS[key]


def compared(folder: Path, base: Records, candidate: Records, **options: Any) -> Comparison:
    """The comparison of two lists of records."""
    runs = [run_of(folder, records) for records in (base, candidate)]
    return ragtriage.compare(*runs, write=False, **options)


def delta(found: Comparison, metric: str, k: int | None = None, where: str = "all=all") -> Record:
    """The one row of the deltas."""
    name, value = where.split("=", 1)
    rows = [
        row
        for row in found.deltas.iter_rows(named=True)
        if (row["slice"], row["slice_value"], row["metric"], row["k"]) == (name, value, metric, k)
    ]
    assert len(rows) == 1, (metric, k, where, rows)
    return dict(rows[0])


def changed(found: Comparison) -> dict[str, Record]:
    """The table of changed cases by case ID."""
    return {row["case_id"]: row for row in found.cases.iter_rows(named=True)}


RECALL = next(column for column in columns_for([5]) if column.name == "recall_at_5")


def units_of(
    base: list[float | None], candidate: list[float | None], groups: list[str | None] | None = None
) -> Units:
    """The paired values of one metric as units to flip or draw."""
    one, other = (pl.Series(values, dtype=pl.Float64) for values in (base, candidate))
    scores = Scores(RECALL, one, other, one.ne_missing(other))
    names = pl.Series(groups or [None] * len(base), dtype=pl.String)
    return units(scores, group_codes(names))
