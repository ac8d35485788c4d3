"""What people's labels come to: settled where they agree, disputed where they do not.

Frames in, frames out. Judges are kept apart: no label of theirs settles anything.
"""

from __future__ import annotations

import polars as pl

from ragtriage.schemas.reviews import ADJUDICATION, HUMAN, ITEM, JUDGE

AGREED = "agreed"
ADJUDICATED = "adjudicated"
DISPUTED = "disputed"
OPEN = "open"
STATES = (AGREED, ADJUDICATED, DISPUTED, OPEN)

TARGETS = ("claim", "answer", "relevance", "claim-passage")


def target() -> pl.Expr:
    """What a review is about, by which IDs it gives: one of `TARGETS`."""
    claim, passage = pl.col("claim_id").is_not_null(), pl.col("evidence_id").is_not_null()
    return (
        pl.when(claim & passage)
        .then(pl.lit("claim-passage"))
        .when(claim)
        .then(pl.lit("claim"))
        .when(passage)
        .then(pl.lit("relevance"))
        .otherwise(pl.lit("answer"))
    )


def settle(rows: pl.DataFrame) -> pl.DataFrame:
    """One row for each thing that was reviewed, in order of its first review.

    Args:
        rows: reviews, with the columns of `schemas.reviews.Reviews`.

    Returns:
        `case_id`, `claim_id`, `evidence_id`, `target`; `label` Boolean, null unless people agree
        or an adjudication says; `state`: `agreed`, `adjudicated`, `disputed` (people, or
        adjudications, contradict each other) or `open` (no person gave a label); `n_people`, the
        people who gave one; `supporters` and `opponents`, their names, sorted, where people differ
        or an adjudication spoke (else null).
    """
    given = pl.col("label").is_not_null()
    person = (pl.col("kind") == HUMAN) & given
    verdict = (pl.col("kind") == ADJUDICATION) & given
    votes = rows.group_by(ITEM, maintain_order=True).agg(
        n_people=person.sum().cast(pl.Int64),
        n_for=(person & pl.col("label")).sum().cast(pl.Int64),
        n_verdicts=verdict.sum().cast(pl.Int64),
        n_verdicts_for=(verdict & pl.col("label")).sum().cast(pl.Int64),
    )
    state = (
        pl.when(pl.col("n_verdicts") > 0)
        .then(_unanimous("n_verdicts", ADJUDICATED))
        .when(pl.col("n_people") > 0)
        .then(_unanimous("n_people", AGREED))
        .otherwise(pl.lit(OPEN))
    )
    decided = votes.with_columns(target=target(), state=state)
    label = (
        pl.when(pl.col("state") == ADJUDICATED)
        .then(pl.col("n_verdicts_for") > 0)
        .when(pl.col("state") == AGREED)
        .then(pl.col("n_for") > 0)
    )
    settled = decided.select(*ITEM, "target", label.alias("label"), "state", "n_people", "n_for")
    differ = (pl.col("n_for") > 0) & (pl.col("n_for") < pl.col("n_people"))
    split = settled.filter(differ | (pl.col("state") == ADJUDICATED))
    return settled.drop("n_for").join(
        _sides(rows, split), on=ITEM, how="left", nulls_equal=True, maintain_order="left"
    )


def _sides(rows: pl.DataFrame, split: pl.DataFrame) -> pl.DataFrame:
    """Who says yes and who no, of the few things on which that is in question."""
    votes = rows.filter((pl.col("kind") == HUMAN) & pl.col("label").is_not_null()).join(
        split.select(ITEM), on=ITEM, how="semi", nulls_equal=True, maintain_order="left"
    )
    return votes.group_by(ITEM, maintain_order=True).agg(
        supporters=pl.col("reviewer").filter("label").sort(),
        opponents=pl.col("reviewer").filter(~pl.col("label")).sort(),
    )


def _unanimous(count: str, agreed: str) -> pl.Expr:
    """`agreed` where all labels are the same, else disputed."""
    for_it = pl.col("n_verdicts_for" if count == "n_verdicts" else "n_for")
    same = (for_it == 0) | (for_it == pl.col(count))
    return pl.when(same).then(pl.lit(agreed)).otherwise(pl.lit(DISPUTED))


def judged(rows: pl.DataFrame, judge: str) -> pl.DataFrame:
    """The labels one judge gave: `case_id`, `claim_id`, `evidence_id`, `judge_label`."""
    given = (
        (pl.col("kind") == JUDGE) & (pl.col("reviewer") == judge) & pl.col("label").is_not_null()
    )
    return rows.filter(given).select(*ITEM, judge_label="label")


def with_answer_reviews(cases: pl.DataFrame, reviews: pl.DataFrame | None) -> pl.DataFrame:
    """The cases with what was said of their answers as a whole.

    Added: `review_label`, null where nothing is settled; `review_disputed`; `labels_disputed`: do
    people dispute any label of the case, be it of the answer, a claim or a passage?
    """
    flags = ("review_disputed", "labels_disputed")
    if reviews is None:
        return cases.with_columns(
            pl.lit(None, pl.Boolean).alias("review_label"),
            *(pl.lit(False).alias(name) for name in flags),
        )
    of_answers = reviews.filter(pl.col("target") == "answer").select(
        "case_id", review_label="label", review_disputed=pl.col("state") == DISPUTED
    )
    of_all = reviews.group_by("case_id").agg(labels_disputed=(pl.col("state") == DISPUTED).any())
    joined = cases.select("case_id")
    for said in (of_answers, of_all):
        joined = joined.join(said, on="case_id", how="left", maintain_order="left")
    return cases.hstack(joined.drop("case_id").with_columns(pl.col(flags).fill_null(False)))
