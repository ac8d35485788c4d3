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
    was retrieved (null where none was), in rank order, `hit_ranks`, `newly_hit_ranks` (the same,
    each once), `hit_credit` (ranks so far that newly met one ÷ rank) and `hit_gain` (gain ÷
    log2(rank + 1)), with `ideal_gain` over all, best first.
    """
    joined = cases
    for terms in (_counts(ledger), _hits(ledger), _gains(ledger), _missing(ledger)):
        joined = beside(joined, terms)
    counts = ("n_requirements", "n_in_context", "n_required_cited", "n_dropped")
    filled = joined.with_columns(pl.col(counts).fill_null(0), pl.col("missing").fill_null([]))
    return filled.with_columns(*_rank_lists(filled))


def _counts(ledger: pl.DataFrame) -> pl.DataFrame:
    delivered = pl.col("delivered")
    return ledger.group_by("row", maintain_order=True).agg(
        n_requirements=pl.len().cast(pl.Int64),
        n_in_context=pl.col("in_context").sum().cast(pl.Int64),
        n_required_cited=pl.col("cited").sum().cast(pl.Int64),
        n_dropped=(pl.col("in_top_k") & ~pl.col("in_context")).sum().cast(pl.Int64),
        all_delivered=delivered.all(ignore_nulls=False),
        any_lost=delivered.not_().any(ignore_nulls=False),
        delivery_known=delivered.is_not_null().all(),
        break_order=pl.col("lost_at").replace_strict(_BREAK_ORDER, return_dtype=pl.Int8).min(),
    )


def _hits(ledger: pl.DataFrame) -> pl.DataFrame:
    """Ranks and discounted gains of the requirements that were met, in rank order."""
    rank = pl.col("retrieved_rank")
    met = ledger.select("row", "gain", "retrieved_rank").filter(rank.is_not_null())
    return (
        met.sort("row", "retrieved_rank", maintain_order=True)
        .select("row", hit_ranks=rank, hit_gain=pl.col("gain") / (rank + 1).log(2))
        .group_by("row", maintain_order=True)
        .agg("hit_ranks", "hit_gain")
    )


def _gains(ledger: pl.DataFrame) -> pl.DataFrame:
    """The gains of all requirements, largest first."""
    ordered = ledger.select("row", gains="gain").sort("row", "gains", descending=[False, True])
    return ordered.group_by("row", maintain_order=True).agg("gains")


def _missing(ledger: pl.DataFrame) -> pl.DataFrame:
    """What was not delivered, each requirement by its first ID, sorted."""
    lost = ledger.filter(~pl.col("delivered")).select("row", missing=pl.col("ids").list.first())
    # Each list is sorted by itself: of many cases with many requirements that is far cheaper.
    return lost.group_by("row", maintain_order=True).agg(pl.col("missing").unique().sort())


def _rank_lists(cases: pl.DataFrame) -> list[pl.Expr]:
    """Credit of each hit, and the ideal's discounted gains."""
    ranks = pl.col("hit_ranks")
    newly, distinct = pl.int_ranges(1, ranks.list.len() + 1), ranks
    if not cases.select((ranks.list.n_unique() == ranks.list.len()).all()).item():
        # An ID that meets two requirements at once is one newly hitting rank.
        newly = ranks.list.eval(pl.element().rank("dense"))
        distinct = ranks.list.unique(maintain_order=True)
    places = pl.int_ranges(2, pl.col("gains").list.len() + 2)
    return [
        distinct.alias("newly_hit_ranks"),
        (newly.cast(pl.List(pl.Float64)) / ranks).alias("hit_credit"),
        (
            pl.col("gains").cast(pl.List(pl.Float64))
            / places.list.eval(pl.element().cast(pl.Float64).log(2))
        ).alias("ideal_gain"),
    ]
