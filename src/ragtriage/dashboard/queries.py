"""Questions to the tables of one run, or of several: frames in, frames out. No file, no widget.

What is lazy stays lazy, so that only the chosen columns and rows of a run are ever read.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from ragtriage.schemas import results
from ragtriage.schemas.inputs import dtypes
from ragtriage.stages import PASS
from ragtriage.summary import THE_REST

NOT_PASSED = "not passed"
"""In place of a stage: every stage but pass. No stage has this name."""

PAGE = 25
_COLUMNS = {"tag": "tags"}
_CUT = 200
_SHOWN = ("case_id", "stage", "break_point", "question")


@dataclass(frozen=True)
class Choice:
    """Which cases are asked for.

    `known`: the slice's values that are kept apart; what the value `…` sums is none of them.
    `stage`: one, or `NOT_PASSED`, or None for any. `break_point`: None for any.
    `text`: a part of the case ID or of the question, in any letter case; "" for any.
    """

    slice: str = "all"
    value: str = "all"
    known: tuple[str, ...] = ()
    stage: str | None = None
    break_point: str | None = None
    text: str = ""


def slice_values(stages: pl.DataFrame) -> dict[str, list[str]]:
    """Each slice of a run with its values, in the order of the table."""
    rows = stages.select("slice", "slice_value").unique(maintain_order=True)
    values: dict[str, list[str]] = {}
    for name, value in rows.iter_rows():
        values.setdefault(name, []).append(value)
    return values


def stage_counts(stages: pl.DataFrame, name: str, value: str) -> dict[str, int]:
    """How many cases of a slice value broke at each stage, most first."""
    return _counts(_of_slice(stages, name, value), "stage")


def break_point_counts(stages: pl.DataFrame, choice: Choice) -> dict[str, int]:
    """How many cases of the chosen slice value and stage broke in each way, most first."""
    rows = _of_slice(stages, choice.slice, choice.value).filter(pl.col("break_point").is_not_null())
    wanted = _of_stage(choice.stage)
    return _counts(rows if wanted is None else rows.filter(wanted), "break_point")


def n_chosen(cases: pl.LazyFrame, choice: Choice) -> pl.LazyFrame:
    """How many cases are chosen: one row, `n`."""
    return _chosen(cases, choice).select(n=pl.len())


def case_page(cases: pl.LazyFrame, choice: Choice, page: int) -> pl.LazyFrame:
    """One page of the chosen cases, in the order of the run; `page` counts from 0.

    Columns: case_id, stage, break_point, question (its first 200 characters).
    """
    rows = _chosen(cases, choice).select(_SHOWN).slice(page * PAGE, PAGE)
    return rows.with_columns(pl.col("question").str.head(_CUT))


def one_case(table: pl.LazyFrame, case_id: str) -> pl.LazyFrame:
    """The rows of one case in the case table, the ledger or the claims, in order."""
    return table.filter(pl.col("case_id") == case_id)


def metric_columns(columns: list[str]) -> list[str]:
    """The metrics among the columns of a case table; numerators and denominators stand beside."""
    known = dtypes(results.CaseResults)
    names = [name for name in columns if name not in known]
    parts = {f"{name}_{part}" for name in names for part in ("numerator", "denominator")}
    return [name for name in names if name not in parts]


def metrics(summary: pl.DataFrame, name: str, value: str) -> pl.DataFrame:
    """The summary's rows of one slice value."""
    return _of_slice(summary, name, value)


def stage_mix(stages: pl.DataFrame, labels: dict[str, str]) -> pl.DataFrame:
    """Cases per run and stage over all cases; `pass` is a stage.

    Columns: run (its label, in the order of `labels`), stage, cases (most first).
    """
    counted = (
        _of_slice(stages, "all", "all")
        .group_by("run", "stage", maintain_order=True)
        .agg(pl.col("n").sum())
    )
    places = {name: place for place, name in enumerate(labels)}
    place = pl.col("run").replace_strict(places, return_dtype=pl.Int64)
    return counted.sort(place, "n", "stage", descending=[False, True, False]).select(
        pl.col("run").replace_strict(labels, return_dtype=pl.String),
        pl.col("stage").str.replace_all("_", " "),
        cases="n",
    )


def _of_slice(frame: pl.DataFrame, name: str, value: str) -> pl.DataFrame:
    return frame.filter((pl.col("slice") == name) & (pl.col("slice_value") == value))


def _counts(rows: pl.DataFrame, column: str) -> dict[str, int]:
    counted = rows.group_by(column).agg(pl.col("n").sum())
    return dict(counted.sort("n", column, descending=[True, False]).iter_rows())


def _chosen(cases: pl.LazyFrame, choice: Choice) -> pl.LazyFrame:
    tests = [_in_slice(choice), _of_stage(choice.stage)]
    if choice.break_point is not None:
        tests.append(pl.col("break_point") == choice.break_point)
    if choice.text:
        tests.append(_has(choice.text))
    wanted = [test for test in tests if test is not None]
    # A filter without a test lets nothing through.
    return cases.filter(wanted) if wanted else cases


def _in_slice(choice: Choice) -> pl.Expr | None:
    if choice.slice == "all":
        return None
    column = pl.col(_COLUMNS.get(choice.slice, choice.slice))
    if choice.slice == "tag":
        if choice.value in choice.known:
            return column.list.contains(choice.value)
        return column.list.set_difference(pl.lit(list(choice.known))).list.len() > 0
    text = column.cast(pl.String)
    return text == choice.value if choice.value in choice.known else ~text.is_in(choice.known)


def _of_stage(stage: str | None) -> pl.Expr | None:
    if stage is None:
        return None
    return pl.col("stage") != PASS if stage == NOT_PASSED else pl.col("stage") == stage


def _has(text: str) -> pl.Expr:
    """Plain text, not a pattern."""
    wanted = text.lower()
    return pl.any_horizontal(
        pl.col(name).str.to_lowercase().str.contains(wanted, literal=True).fill_null(value=False)
        for name in ("case_id", "question")
    )


def known_values(values: dict[str, list[str]], name: str) -> tuple[str, ...]:
    """The values of a slice that are kept apart: all but `…`."""
    return tuple(value for value in values.get(name, ()) if value != THE_REST)
