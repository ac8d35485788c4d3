"""Counts of IDs that this requester may not see. Kept on cases that were not run or not settled."""

from __future__ import annotations

import polars as pl

from ragtriage.metrics.registry import CITED, CONTEXT, RETRIEVED, SCOPE, metric


@metric(
    family="authorization",
    kind="count",
    needs=(RETRIEVED,),
    file_needs=(SCOPE,),
    bounds=(0, None),
    better="lower",
    unscored=True,
    source="ragtriage",
)
def unauthorized_retrieved() -> pl.Expr:
    """Distinct IDs retrieved that are outside `allowed_ids` or in `forbidden_ids` (count)."""
    return pl.col("n_unauthorized_retrieved")


@metric(
    family="authorization",
    kind="count",
    needs=(CONTEXT,),
    file_needs=(SCOPE,),
    bounds=(0, None),
    better="lower",
    unscored=True,
    source="ragtriage",
)
def unauthorized_context() -> pl.Expr:
    """Distinct IDs in the context that are outside `allowed_ids` or in `forbidden_ids` (count)."""
    return pl.col("n_unauthorized_context")


@metric(
    family="authorization",
    kind="count",
    needs=(CITED,),
    file_needs=(SCOPE,),
    bounds=(0, None),
    better="lower",
    unscored=True,
    source="ragtriage",
)
def unauthorized_cited() -> pl.Expr:
    """Distinct IDs cited that are outside `allowed_ids` or in `forbidden_ids` (count).

    An ID that was neither retrieved, supplied, forbidden nor in the corpus is invented, not leaked.
    """
    return pl.col("n_unauthorized_cited")
