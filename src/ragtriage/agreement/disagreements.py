"""Who said what where labels differ: among people, and between a judge and people."""

from __future__ import annotations

import pandera.polars as pa
import polars as pl

from ragtriage.agreement.judges import beside_settled
from ragtriage.reviews.settle import DISPUTED
from ragtriage.schemas.agreement import Disagreements, JudgeDisagreements
from ragtriage.schemas.inputs import dtypes
from ragtriage.schemas.reviews import ADJUDICATION, HUMAN, ITEM


def human_disagreements(rows: pl.DataFrame, settled: pl.DataFrame) -> pl.DataFrame:
    """Items that are disputed, or that some person labelled other than they were settled.

    Args:
        rows: reviews, with the columns of `schemas.reviews.Reviews`.
        settled: what `reviews.settle.settle` makes of them.

    Returns:
        The columns of `schemas.agreement.Disagreements` but `run_id`; disputed items first,
        then by case, claim and passage.
    """
    others = pl.when("label").then("opponents").otherwise("supporters")
    overruled = pl.col("label").is_not_null() & (others.list.len() > 0)
    items = settled.filter((pl.col("state") == DISPUTED) | overruled)
    told = _with_labels(items, rows)
    disputed_first = pl.col("state") != DISPUTED
    return _as(Disagreements, told.sort(disputed_first, *ITEM, maintain_order=True))


def judge_disagreements(rows: pl.DataFrame, settled: pl.DataFrame) -> pl.DataFrame:
    """Each judge's labels that are not the settled label of their item.

    Args:
        rows: reviews, with the columns of `schemas.reviews.Reviews`.
        settled: what `reviews.settle.settle` makes of them.

    Returns:
        The columns of `schemas.agreement.JudgeDisagreements` but `run_id`, by judge, case,
        claim and passage. Items without a settled label are not in it.
    """
    differing = beside_settled(rows, settled).filter(pl.col("judge_label") != pl.col("label"))
    told = _with_labels(differing, rows)
    return _as(JudgeDisagreements, told.sort("judge", *ITEM, maintain_order=True))


def _with_labels(items: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Each item with what people and adjudications said of it, by name."""
    wanted = items.select(ITEM).unique()
    said = rows.join(wanted, on=ITEM, how="semi", nulls_equal=True)
    voice = pl.struct("reviewer", "label", "note").sort_by("reviewer")
    voices = said.group_by(ITEM).agg(
        labels=voice.filter(pl.col("kind").sort_by("reviewer") == HUMAN),
        adjudications=voice.filter(pl.col("kind").sort_by("reviewer") == ADJUDICATION),
    )
    return items.join(voices, on=ITEM, how="left", nulls_equal=True)


def _as(model: type[pa.DataFrameModel], frame: pl.DataFrame) -> pl.DataFrame:
    schema = {name: dtype for name, dtype in dtypes(model).items() if name != "run_id"}
    return frame.select(pl.col(name).cast(dtype) for name, dtype in schema.items())
