"""What reviewers and judges say, in long form: one label a row. Rules as in `inputs.py`."""

from __future__ import annotations

import pandera.polars as pa
import polars as pl
from pandera.api.polars.types import PolarsData

from ragtriage.schemas.contracts import Contract
from ragtriage.schemas.fields import field, is_blank, is_unclean
from ragtriage.schemas.rules import message

HUMAN = "human"
JUDGE = "judge"
ADJUDICATION = "adjudication"
KINDS = (HUMAN, JUDGE, ADJUDICATION)

# What a label is about; two labels may be held against each other only where all of it is equal.
ITEM = ("case_id", "claim_id", "evidence_id")
NAMES = (*ITEM, "reviewer")

REVIEWS = Contract(
    "reviews", "labels by people and judges, one a row", requires=("case_id", "reviewer", "kind")
)


class Reviews(pa.DataFrameModel):
    """One label of one reviewer; one row a case, claim, evidence ID and reviewer."""

    case_id: pl.String = field("the case", required=True)
    claim_id: pl.String = field("the claim that is labelled; null: see `evidence_id`")
    evidence_id: pl.String = field(
        "the passage: with a claim, does it support the claim? Alone, is it relevant to the "
        "question? Where both are null the label is of the whole answer"
    )
    reviewer: pl.String = field("who gave the label", "annotator", "rater")
    kind: pl.String = field(
        "human; judge: an automatic label; adjudication: settles what people dispute"
    )
    label: pl.Boolean = field(
        "supported, relevant, right; null: looked at and left open", label=True
    )
    note: pl.String = field("why")

    class Config:
        """Exactly these columns, in no particular order."""

        strict = True

    @pa.check(*NAMES, title="blank-id", error=message("blank-id"))
    def no_blank_name(cls, data: PolarsData) -> pl.LazyFrame:
        """No ID or name is empty or white space."""
        return data.lazyframe.select(~is_blank(pl.col(data.key)))

    @pa.check(*NAMES, title="id-whitespace", error=message("id-whitespace"))
    def clean_names(cls, data: PolarsData) -> pl.LazyFrame:
        """No ID or name carries what cannot be seen."""
        return data.lazyframe.select(~is_unclean(pl.col(data.key)))

    @pa.check("kind", title="review-kind", error=message("review-kind"))
    def known_kind(cls, data: PolarsData) -> pl.LazyFrame:
        """The label is a person's, a judge's or an adjudication."""
        return data.lazyframe.select(pl.col("kind").is_in(KINDS))


class ReviewRows(Reviews):
    """The review as it travels: with where it stood."""

    source_file: pl.String = field("the input file", required=True)
    line: pl.Int64 = field("physical line where the record starts", required=True)
    record: pl.Int64 = field("its place among the file's records, from 1", required=True)
