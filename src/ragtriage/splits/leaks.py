"""What cases of different splits share. Each kind of finding with its exact number.

Cases come as `case_id`, `split`, `group`, `question`, `expected_answers`, `key`, in order of
`case_id`; a case without a split is in no finding between splits.
"""

from __future__ import annotations

from typing import NamedTuple

import pandera.polars as pa
import polars as pl

from ragtriage.schemas.inputs import dtypes
from ragtriage.schemas.leakage import ANSWER_IN_QUESTION, DUPLICATE, GROUP, NEAR, Findings
from ragtriage.splits.words import keys_of

# Rows of one kind that are listed; all are counted.
LISTED = 100_000


class Found(NamedTuple):
    """Findings of one kind: the first `LISTED` rows of `schemas.leakage.Findings`, and how many."""

    rows: pl.DataFrame
    n: int


def group_leaks(cases: pl.DataFrame) -> Found:
    """Groups that lie in more than one split: one finding for each two splits of a group.

    A row names the first case of either split.
    """
    lying = (
        cases.filter(pl.col("group").is_not_null() & pl.col("split").is_not_null())
        .group_by("group", "split")
        .agg(pl.col("case_id", "question").first(), n=pl.len())
    )
    met = lying.join(lying, on="group", suffix="_other").filter(
        pl.col("split") < pl.col("split_other")
    )
    listed = met.sort("group", "split", "split_other").head(LISTED)
    rows = listed.select(
        "case_id",
        "split",
        "group",
        other_case_id="case_id_other",
        other_split="split_other",
        pairs=pl.col("n") * pl.col("n_other"),
        text="question",
        other_text="question_other",
    )
    return Found(as_findings(rows, GROUP), met.height)


def duplicate_leaks(cases: pl.DataFrame) -> Found:
    """Cases of different splits whose questions have one key: each two cases are a finding."""
    asked = _asked(cases)
    met = asked.join(asked, on="key", suffix="_other").filter(
        pl.col("split") < pl.col("split_other")
    )
    return _listed(met.with_columns(key_other="key", score=pl.lit(1.0)), cases, DUPLICATE)


def near_leaks(cases: pl.DataFrame, keys: pl.Series, near: pl.DataFrame) -> Found:
    """Cases of different splits whose questions are near duplicates, but not duplicates.

    Args:
        cases: as above.
        keys: the distinct keys of all cases.
        near: `a`, `b` (places in `keys`) and `score`, as `near.near_pairs` gives them.
    """
    asked = _asked(cases)
    named = near.select(
        key=keys.gather(near["a"]), key_other=keys.gather(near["b"]), score=near["score"]
    )
    met = (
        named.join(asked, on="key")
        .join(asked, left_on="key_other", right_on="key", suffix="_other")
        .filter(pl.col("split") != pl.col("split_other"))
    )
    turned = pl.col("split") > pl.col("split_other")
    names = ("key", "split", "n")
    swapped = [
        pl.when(turned).then(pl.col(one)).otherwise(pl.col(other)).alias(other)
        for name in names
        for one, other in ((name, f"{name}_other"), (f"{name}_other", name))
    ]
    return _listed(met.with_columns(swapped), cases, NEAR)


def answer_in_question_leaks(cases: pl.DataFrame, min_length: int) -> Found:
    """Cases whose question holds an expected answer of at least `min_length` characters."""
    told = answers_of(cases, min_length).filter(
        pl.format(" {} ", "key").str.contains(pl.format(" {} ", "answer_key"), literal=True)
    )
    rows = told.select(
        "case_id",
        "split",
        score=pl.lit(1.0),
        pairs=pl.lit(1),
        text="question",
        other_text="answer",
    )
    return Found(as_findings(rows.head(LISTED), ANSWER_IN_QUESTION), rows.height)


def answers_of(cases: pl.DataFrame, min_length: int) -> pl.DataFrame:
    """A row per case and expected answer that is long enough: `answer` and its `answer_key`.

    The length counts characters of the key, spaces between its words too; of the answers of a
    case with one key the first stands.
    """
    told = (
        cases.select("case_id", "split", "question", "key", answer="expected_answers")
        .filter(pl.col("answer").list.len() > 0)
        .explode("answer")
    )
    return (
        told.with_columns(answer_key=keys_of(told["answer"]))
        .filter(pl.col("answer_key").str.len_chars() >= min_length)
        .unique(["case_id", "answer_key"], keep="first", maintain_order=True)
    )


def as_findings(rows: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Rows in the columns of `Findings` but `run_id`; what they lack is null."""
    return in_columns(rows.with_columns(finding=pl.lit(kind)), Findings)


def in_columns(rows: pl.DataFrame, model: type[pa.DataFrameModel]) -> pl.DataFrame:
    """Rows in a model's columns but `run_id`; what they lack is null."""
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in dtypes(model).items()
        if name != "run_id"
    )


def _asked(cases: pl.DataFrame) -> pl.DataFrame:
    """How many cases of a split ask a question: `key`, `split`, `n`."""
    asked = cases.filter(pl.col("key").is_not_null() & pl.col("split").is_not_null())
    return asked.group_by("key", "split").agg(n=pl.len().cast(pl.Int64))


def _listed(met: pl.DataFrame, cases: pl.DataFrame, kind: str) -> Found:
    """Cases behind two questions and two splits: all are counted, each case stands in some row.

    The larger side is gone through once, the smaller one as often as it takes: a million pairs of
    a thousand cases each are a thousand rows.
    """
    total = int((met["n"] * met["n_other"]).sum())
    order = met.sort(
        "score", "key", "key_other", "split", "split_other", descending=[True] + 4 * [False]
    ).with_columns(rows=pl.max_horizontal("n", "n_other"))
    order = order.filter(pl.col("rows").cum_sum() - pl.col("rows") < LISTED)
    spread = (
        order.with_columns(row=pl.int_ranges(0, "rows"))
        .explode("row")
        .head(LISTED)
        .with_columns(
            place=pl.col("row") % pl.col("n"), place_other=pl.col("row") % pl.col("n_other")
        )
    )
    standing = (
        cases.filter(pl.col("key").is_not_null() & pl.col("split").is_not_null())
        .join(
            pl.concat([spread["key"], spread["key_other"]]).unique().to_frame(),
            on="key",
            how="semi",
            maintain_order="left",
        )
        .select(
            "key",
            "split",
            "case_id",
            "question",
            place=pl.int_range(pl.len()).over("key", "split"),
        )
    )
    at = ["key", "split", "place"]
    rows = spread.join(standing, on=at, how="left", maintain_order="left").join(
        standing,
        left_on=[f"{name}_other" for name in at],
        right_on=at,
        how="left",
        maintain_order="left",
        suffix="_other",
    )
    named = rows.select(
        "case_id",
        "split",
        "score",
        other_case_id="case_id_other",
        other_split="split_other",
        pairs=pl.col("n") * pl.col("n_other"),
        text="question",
        other_text="question_other",
    )
    return Found(as_findings(named, kind), total)
