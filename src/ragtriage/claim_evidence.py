"""Claims beside passages: which required claims had their evidence in the context, and were stated.

The evidence of a claim is what reviewers labelled as supporting it; where no passage was
labelled for it, what the claim itself cites, once it is labelled supported.
"""

from __future__ import annotations

import polars as pl

from ragtriage.relevance.frames import beside

_KEY = ["case_id", "claim_id"]
_COUNTS = ("n_evidenced_claims", "n_used_claims")


def with_evidence_terms(
    cases: pl.DataFrame, table: pl.DataFrame, reviews: pl.DataFrame | None
) -> pl.DataFrame:
    """The cases with `n_evidenced_claims` and `n_used_claims`.

    Args:
        cases: with their distinct lists.
        table: their claims, from `claims.with_claim_terms`.
        reviews: what was said of these cases, from `ReviewBook.take`.

    `n_evidenced_claims`: required claims of whose evidence some is in the context.
    `n_used_claims`: of these, those the answer states. Both null where the context is not
    observed, or where it is not known of every required claim whether its evidence was there:
    a claim whose labelled passages all fail counts as without evidence only once every passage
    of the context was labelled. Both 0 where no claim is required.
    """
    nothing_required = (
        pl.col("claims").is_not_null()
        & pl.col("distinct_context").is_not_null()
        & (pl.col("required_claims").list.len() == 0)
    )
    none = pl.when(nothing_required).then(pl.lit(0, pl.Int64))
    required = table.filter("required")
    if required.is_empty():
        return cases.with_columns(none.alias(name) for name in _COUNTS)
    told = beside(cases, _counted(required, cases, reviews))
    return told.with_columns(
        pl.when("known").then(pl.col(name)).otherwise(none).alias(name) for name in _COUNTS
    ).drop("known")


def _counted(
    required: pl.DataFrame, cases: pl.DataFrame, reviews: pl.DataFrame | None
) -> pl.DataFrame:
    """Required claims by case: `row`, `known` (of each, whether its evidence was there), counts."""
    supplied = cases.select("row", supplied="distinct_context")
    labelled = (
        required.join(supplied, on="row", maintain_order="left")
        .join(_passages(reviews), on=_KEY, how="left", maintain_order="left")
        .with_columns(there=_evidence_there())
    )
    return labelled.group_by("row", maintain_order=True).agg(
        known=pl.col("there").is_not_null().all(),
        n_evidenced_claims=pl.col("there").sum().cast(pl.Int64),
        n_used_claims=(pl.col("there") & pl.col("proposed")).sum().cast(pl.Int64),
    )


def _passages(reviews: pl.DataFrame | None) -> pl.DataFrame:
    """Labelled passages of each claim: `for_it`, `against_it`."""
    ids = pl.List(pl.String)
    if reviews is None:
        return pl.DataFrame(
            schema={**dict.fromkeys(_KEY, pl.String), "for_it": ids, "against_it": ids}
        )
    labels = reviews.filter((pl.col("target") == "claim-passage") & pl.col("label").is_not_null())
    return labels.group_by(_KEY, maintain_order=True).agg(
        for_it=pl.col("evidence_id").filter("label"),
        against_it=pl.col("evidence_id").filter(~pl.col("label")),
    )


def _evidence_there() -> pl.Expr:
    """Is some evidence of the claim in the context? Null where the labels do not tell."""
    supplied = pl.col("supplied")
    some = pl.col("for_it").list.len() > 0
    unlabelled = supplied.list.set_difference(pl.col("against_it")).list.len()
    by_reviews = (
        pl.when(some)
        .then(_met(pl.col("for_it"), supplied))
        .when(unlabelled == 0)
        .then(pl.lit(False))
    )
    cites = pl.col("supported") & (pl.col("cited_ids").list.len() > 0)
    by_citation = pl.when(cites).then(_met(pl.col("cited_ids"), supplied))
    told = pl.when(pl.col("for_it").is_not_null()).then(by_reviews).otherwise(by_citation)
    return pl.when(supplied.is_not_null()).then(told)


def _met(ids: pl.Expr, supplied: pl.Expr) -> pl.Expr:
    return ids.list.set_intersection(supplied).list.len() > 0
