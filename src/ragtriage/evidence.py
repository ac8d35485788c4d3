"""The ledger: one row a case and requirement, saying where the evidence got to and was lost.

A frame in, a frame out; nothing is counted here and no stage is named.
"""

from __future__ import annotations

from functools import cache

import polars as pl

# Along the way from source to model; a case's break point is the earliest.
BREAKS = (
    "source",
    "index",
    "chunk",
    "scope",
    "filter",
    "retrieval",
    "ranking",
    "context",
    "unobserved",
)

# In order: the first that applies to a requirement that was not delivered.
LOST_AT: tuple[tuple[str, str], ...] = (
    ("source", "the corpus is given and no member is in it, or `in_source` is false for all"),
    ("index", "every member that is in source is not indexed"),
    ("chunk", "every member that is indexed has `in_chunks` false"),
    ("scope", "no member may be seen by this requester: a label conflict"),
    ("filter", "a member was filtered out"),
    ("ranking", "a candidate not returned, or returned below k"),
    ("retrieval", "what was retrieved is observed; never returned, not a known candidate"),
    ("context", "in the first k and not in the context"),
    ("unobserved", "missing from the context while what was retrieved is not observed"),
)

_NAMES = pl.Series(BREAKS)

COLUMNS = (
    "case_id",
    "requirement",
    "ids",
    "in_source",
    "in_index",
    "in_chunks",
    "in_candidates",
    "filtered",
    "retrieved_rank",
    "retrieved_id",
    "in_top_k",
    "in_context",
    "context_rank",
    "context_size",
    "cited",
    "delivered",
    "lost_at",
)


def build_ledger(requirements: pl.DataFrame, cases: pl.DataFrame, k: int) -> pl.DataFrame:
    """The ledger of matched requirements, with `row` and `gain` for those who count from it.

    Args:
        requirements: from `relevance.match`.
        cases: the chunk's cases with their terms, one row each.
        k: the cutoff within which a retrieved requirement counts as returned.

    Returns:
        `COLUMNS`, `row`, `gain`, `listed`, `authorised`, `unmet`, and `break_order`, the place of
        `lost_at` among `BREAKS`; in case order. What is not observed on a row is null;
        `delivered` and `lost_at` are null on cases with an `error`.
    """
    observed = cases.select(
        "row",
        "case_id",
        failed=pl.col("error").is_not_null(),
        retrieved_seen=pl.col("retrieved_ids").is_not_null(),
        context_seen=pl.col("context_ids").is_not_null(),
        cited_seen=pl.col("cited_ids").is_not_null(),
        context_size=pl.col("n_context").cast(pl.Int64),
    )
    placed = requirements.join(observed, on="row", how="left", maintain_order="left").with_columns(
        in_top_k=_where(pl.col("retrieved_seen"), (pl.col("retrieved_rank") <= k)),
        in_context=_where(pl.col("context_seen"), pl.col("context_rank").is_not_null()),
        cited=_where(pl.col("cited_seen"), pl.col("cited_rank").is_not_null()),
        unmet=_where(pl.col("retrieved_seen"), ~pl.col("returned")),
    )
    delivered = pl.when(~pl.col("failed")).then(pl.coalesce("in_context", "in_top_k"))
    told = placed.with_columns(delivered=delivered).with_columns(break_order=_break_order())
    told = told.with_columns(lost_at=_NAMES.gather(told["break_order"]))
    return told.select(
        *COLUMNS, "row", "gain", "listed", "authorised", "unmet", "break_order"
    ).cast({"retrieved_rank": pl.Int64, "context_rank": pl.Int64})


def _where(seen: pl.Expr, value: pl.Expr) -> pl.Expr:
    return pl.when(seen).then(value.fill_null(False))


@cache
def _break_order() -> pl.Expr:
    """Where a requirement was lost, as its place among `BREAKS`; null where it was not."""
    candidate = pl.col("in_candidates").fill_null(False)
    ranked = pl.col("retrieved_rank").is_not_null()
    seen = pl.col("retrieved_seen")
    tests = {
        "source": ~pl.col("in_source"),
        "index": pl.col("all_unindexed"),
        "chunk": pl.col("all_unchunked"),
        "scope": ~pl.col("authorised"),
        "filter": pl.col("filtered"),
        "ranking": seen & (candidate | ranked) & ~pl.col("in_top_k"),
        "retrieval": seen & ~ranked,
        "context": pl.col("in_top_k") & ~pl.col("in_context"),
        "unobserved": ~seen,
    }
    lost = pl.lit(None, pl.Int8)
    for name, _ in reversed(LOST_AT):
        place = pl.lit(BREAKS.index(name), pl.Int8)
        lost = pl.when(tests[name].fill_null(False)).then(place).otherwise(lost)
    return pl.when(~pl.col("delivered")).then(lost)
