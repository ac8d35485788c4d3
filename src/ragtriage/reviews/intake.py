"""From reviews files to rows that hold their schema, and the faults of all others."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import polars as pl

from ragtriage.intake import Intake, checked
from ragtriage.read.chunk import Place, RowFault
from ragtriage.read.reviews import PLACE, ReviewsInput
from ragtriage.schemas.inputs import dtypes
from ragtriage.schemas.reviews import ITEM, JUDGE, REVIEWS, ReviewRows
from ragtriage.schemas.rules import message
from ragtriage.validate import Validator


def take_in(given: ReviewsInput) -> Intake:
    """Hold every review against the model, and all of them against each other; in file order."""
    intake = checked(given.chunks(), validator_of_reviews(), dtypes(ReviewRows))
    rows = intake.rows
    judge = pl.col("kind") == JUDGE
    judges, people = (set(rows.filter(who)["reviewer"].unique()) for who in (judge, ~judge))
    broken = broken_reviews(rows, judges & people)
    if broken.is_empty():
        return intake
    kept = rows.join(broken, on=PLACE, how="anti", maintain_order="left")
    return replace(intake, rows=kept, faults=intake.faults + _faults_of(broken, given))


def validator_of_reviews() -> Validator:
    """Holds reviews against their model."""
    return Validator(ReviewRows, REVIEWS, {})


def broken_reviews(rows: pl.DataFrame, two_kinds: Collection[str]) -> pl.DataFrame:
    """The rows that contradict another one, each with what is wrong.

    Args:
        rows: reviews in file order; all of a case, or none.
        two_kinds: reviewers who are judges here and people there, over all reviews.

    Returns:
        The rows with `field`, `rule` and `message`, one for each rule that is broken.
    """
    return pl.concat([_repeated(rows), _of_two_kinds(rows, two_kinds)])


def _faults_of(broken: pl.DataFrame, given: ReviewsInput) -> list[RowFault]:
    """Faults of whole rows, with the text of each."""
    in_order = broken.sort(PLACE, maintain_order=True)
    places: set[Place] = set(in_order.select(PLACE).iter_rows())
    raws = given.raws(places)
    return [
        RowFault(
            *(place := (row["source_file"], row["line"], row["record"])),
            row["case_id"],
            row["field"],
            row["rule"],
            row["message"],
            raws[place],
        )
        for row in in_order.iter_rows(named=True)
    ]


def _repeated(rows: pl.DataFrame) -> pl.DataFrame:
    """Every row whose item its reviewer labelled in another row too; names the first.

    Hashes only nominate: to compare names of a million rows costs more than the rows.
    """
    names = [*ITEM, "reviewer"]
    hashes = rows.select(pl.struct(names).hash(seed=0)).to_series()
    suspects = rows.filter(hashes.is_duplicated())
    place = pl.format("{}:{}", "source_file", "line")
    repeats = suspects.with_columns(first=place.first().over(names), n=pl.len().over(names))
    told = pl.format(
        "{} labelled the same thing more than once, first at {}; keep one label",
        "reviewer",
        "first",
    )
    return _broken(repeats.filter(pl.col("n") > 1), "reviewer", "duplicate-review", told)


def _of_two_kinds(rows: pl.DataFrame, reviewers: Collection[str]) -> pl.DataFrame:
    """Every row of a reviewer who is a judge here and a person there: one who adjudicates, too."""
    names = pl.Series(sorted(reviewers), dtype=pl.String).implode()
    told = pl.format("{}: {}", "reviewer", pl.lit(message("reviewer-kind")))
    return _broken(rows.filter(pl.col("reviewer").is_in(names)), "kind", "reviewer-kind", told)


def _broken(rows: pl.DataFrame, field: str, rule: str, text: pl.Expr) -> pl.DataFrame:
    told = rows.with_columns(field=pl.lit(field), rule=pl.lit(rule), message=text.cast(pl.String))
    return told.drop("first", "n", strict=False)
