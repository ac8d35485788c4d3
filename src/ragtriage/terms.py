"""What a case's requirements come to: counts and rank-ordered lists that metrics are made of."""

from __future__ import annotations

import polars as pl

from ragtriage.evidence import BREAKS
from ragtriage.relevance.frames import beside

_BREAK_ORDER = {name: place for place, name in enumerate(BREAKS)}


def with_requirement_terms(cases: pl.DataFrame, ledger: pl.DataFrame) -> pl.DataFrame:
    """The cases with what their requirements come to: counts and rank-ordered lists.

    Added: `n_requirements`, `n_in_context`, `n_required_cited`, `n_dropped` (hit within the
    ledger's cutoff, not in the context): counts, 0 where nothing is required; `all_delivered`
    (null where unknown or nothing is required), `missing`; and, over requirements met in what
    was retrieved, in rank order, `hit_ranks`, `hit_credit` (ranks so far that newly met one ÷
    rank) and `hit_gain` (gain ÷ log2(rank + 1)), with `ideal_gain` over all, best first.
    """
    rank = pl.col("retrieved_rank")
    met = rank.is_not_null()
    in_rank_order = ledger.sort("row", "retrieved_rank", nulls_last=True, maintain_order=True)
    terms = in_rank_order.group_by("row", maintain_order=True).agg(
        n_requirements=pl.len().cast(pl.Int64),
        n_in_context=pl.col("in_context").sum().cast(pl.Int64),
        n_required_cited=pl.col("cited").sum().cast(pl.Int64),
        n_dropped=(pl.col("in_top_k") & ~pl.col("in_context")).sum().cast(pl.Int64),
        all_delivered=pl.col("delivered").all(ignore_nulls=False),
        any_lost=pl.col("delivered").not_().any(ignore_nulls=False),
        delivery_known=pl.col("delivered").is_not_null().all(),
        break_order=pl.col("lost_at").replace_strict(_BREAK_ORDER, return_dtype=pl.Int8).min(),
        hit_ranks=rank.filter(met),
        hit_gain=(pl.col("gain") / (rank + 1).log(2)).filter(met),
        gains=pl.col("gain").sort(descending=True),
    )
    counts = ("n_requirements", "n_in_context", "n_required_cited", "n_dropped")
    lost = ledger.filter(~pl.col("delivered")).select("row", missing=pl.col("ids").list.first())
    missing = lost.group_by("row").agg(pl.col("missing").unique().sort())
    joined = beside(beside(cases, terms), missing)
    filled = joined.with_columns(pl.col(counts).fill_null(0), pl.col("missing").fill_null([]))
    return filled.with_columns(*_rank_lists(filled))


def _rank_lists(cases: pl.DataFrame) -> list[pl.Expr]:
    """Credit of each hit, and the ideal's discounted gains."""
    ranks = pl.col("hit_ranks")
    newly = pl.int_ranges(1, ranks.list.len() + 1)
    if not cases.select((ranks.list.n_unique() == ranks.list.len()).all()).item():
        # An ID that meets two requirements at once is one newly hitting rank.
        newly = ranks.list.eval(pl.element().rank("dense"))
    places = pl.int_ranges(2, pl.col("gains").list.len() + 2)
    return [
        (newly.cast(pl.List(pl.Float64)) / ranks).alias("hit_credit"),
        (
            pl.col("gains").cast(pl.List(pl.Float64))
            / places.list.eval(pl.element().cast(pl.Float64).log(2))
        ).alias("ideal_gain"),
    ]
