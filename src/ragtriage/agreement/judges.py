"""Judges held against what people settled. Which of their labels may be used is said elsewhere."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl

from ragtriage.agreement.coefficients import Square, cohen_kappa, ratio
from ragtriage.agreement.pairs import ALL, targets_of
from ragtriage.reviews.settle import target
from ragtriage.schemas.agreement import MIN_VALIDATED, Judges
from ragtriage.schemas.inputs import dtypes
from ragtriage.schemas.reviews import ITEM, JUDGE

NONE_SETTLED = "no item that the judge labelled has a settled human label"
NONE_TRUE = "no settled label of these items is true"
NONE_FALSE = "no settled label of these items is false"
NONE_CALLED_TRUE = "the judge called none of these items true"


def judge_table(
    rows: pl.DataFrame, settled: pl.DataFrame, min_validated: int = MIN_VALIDATED
) -> pl.DataFrame:
    """Each judge against the settled labels, per target and over all targets.

    True is the positive label. Items without a settled label (disputed, or open) are in no
    count but `n_labels`.

    Args:
        rows: reviews, with the columns of `schemas.reviews.Reviews`.
        settled: what `reviews.settle.settle` makes of them.
        min_validated: common labels below which a judge is not validated.

    Returns:
        The columns of `schemas.agreement.Judges` but `run_id`: a row per judge, by name, and
        target that occurs in the reviews, `all` first. A quotient over nothing is null with
        its reason.
    """
    cells = _cells(rows, settled)
    judges = rows.filter(pl.col("kind") == JUDGE)["reviewer"].unique().sort().to_list()
    table = [
        _row(judge, name, cells, min_validated) for judge in judges for name in targets_of(rows)
    ]
    schema = {name: dtype for name, dtype in dtypes(Judges).items() if name != "run_id"}
    return pl.DataFrame(table, schema=schema, orient="row")


def beside_settled(rows: pl.DataFrame, settled: pl.DataFrame) -> pl.DataFrame:
    """Judges' labels with the settled label of the same item, null where there is none."""
    given = rows.filter((pl.col("kind") == JUDGE) & pl.col("label").is_not_null())
    return given.select(
        *ITEM, judge="reviewer", target=target(), judge_label="label", judge_note="note"
    ).join(
        settled.select(*ITEM, "label", "state"),
        on=ITEM,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )


# By judge, target, the judge's label and the settled one.
_Cells = Counter[tuple[str, str, bool, bool | None]]


def _cells(rows: pl.DataFrame, settled: pl.DataFrame) -> _Cells:
    by = ("judge", "target", "judge_label", "label")
    cells: _Cells = Counter()
    for judge, name, says, label, n in (
        beside_settled(rows, settled).group_by(by).agg(n=pl.len()).iter_rows()
    ):
        cells[judge, name, says, label] += n
        cells[judge, ALL, says, label] += n
    return cells


def _row(judge: str, name: str, cells: _Cells, min_validated: int) -> dict[str, Any]:
    square = Square(
        both_true=cells[judge, name, True, True],
        only_a_true=cells[judge, name, True, False],
        only_b_true=cells[judge, name, False, True],
        both_false=cells[judge, name, False, False],
    )
    return {
        "judge": judge,
        "target": name,
        "n_labels": square.n + cells[judge, name, True, None] + cells[judge, name, False, None],
        "n": square.n,
        **_quotients(square),
        "min_validated": min_validated,
        "validated": square.n >= min_validated,
    }


def _quotients(square: Square) -> dict[str, Any]:
    """Counts and quotients of a judge (a) against the settled labels (b)."""
    tp, fp, fn, tn = square
    none = None if square.n else NONE_SETTLED
    found = {
        "sensitivity": ratio(tp, tp + fn, none or NONE_TRUE),
        "specificity": ratio(tn, tn + fp, none or NONE_FALSE),
        "precision": ratio(tp, tp + fp, none or NONE_CALLED_TRUE),
        "kappa": cohen_kappa(square, NONE_SETTLED),
    }
    values = {name: coefficient.value for name, coefficient in found.items()}
    reasons = {f"{name}_reason": coefficient.reason for name, coefficient in found.items()}
    return {"tp": tp, "fp": fp, "tn": tn, "fn": fn, **values, **reasons}
