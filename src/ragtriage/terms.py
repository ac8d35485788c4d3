"""What a case's requirements come to: counts and rank-ordered lists that metrics are made of."""

from __future__ import annotations

import numpy as np
import polars as pl

from ragtriage.evidence import BREAKS
from ragtriage.relevance.frames import beside

_BREAK_ORDER = {name: place for place, name in enumerate(BREAKS)}
_NO_BREAK = len(_BREAK_ORDER)
# So many missing requirements a case are many.
_MANY = 20


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
    """Counts of each case's requirements, which stand together in the ledger.

    Runs of rows are added up at once: to group them costs far more.
    """
    rows = ledger["row"].to_numpy()
    starts = np.flatnonzero(np.diff(rows, prepend=np.nan))
    told = ledger.select(
        n_in_context=_ones(pl.col("in_context")),
        n_required_cited=_ones(pl.col("cited")),
        n_dropped=_ones(pl.col("in_top_k") & ~pl.col("in_context")),
        n_known=_ones(pl.col("delivered").is_not_null()),
        n_lost=_ones(~pl.col("delivered")),
        break_order=pl.col("lost_at")
        .replace_strict(_BREAK_ORDER, return_dtype=pl.Int64)
        .fill_null(_NO_BREAK),
    )
    sums = {name: np.add.reduceat(told[name].to_numpy(), starts) for name in told.columns[:-1]}
    first = np.minimum.reduceat(told["break_order"].to_numpy(), starts)
    sizes = np.diff(starts, append=len(rows))
    counted = pl.DataFrame(
        {"row": ledger["row"].gather(starts), "n_requirements": sizes, **sums, "break_order": first}
    )
    whole = pl.col("n_known") == pl.col("n_requirements")
    some = pl.col("n_lost") > 0
    return counted.select(
        "row",
        "n_requirements",
        "n_in_context",
        "n_required_cited",
        "n_dropped",
        all_delivered=pl.when(some).then(pl.lit(False)).when(whole).then(pl.lit(True)),
        any_lost=pl.when(some).then(pl.lit(True)).when(whole).then(pl.lit(False)),
        delivery_known=whole,
        break_order=pl.when(pl.col("break_order") < _NO_BREAK).then("break_order").cast(pl.Int8),
    )


def _ones(test: pl.Expr) -> pl.Expr:
    return test.fill_null(False).cast(pl.Int64)


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
    missing = pl.col("missing")
    if lost.height > _MANY * lost["row"].n_unique():
        # Long lists are sorted one by one, short ones all together.
        return lost.group_by("row", maintain_order=True).agg(missing.unique().sort())
    return lost.unique().sort("row", "missing").group_by("row", maintain_order=True).agg("missing")


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
