"""What a case's requirements come to: counts and rank-ordered lists that metrics are made of."""

from __future__ import annotations

import numpy as np
import polars as pl

from ragtriage.evidence import BREAKS
from ragtriage.relevance.flat import Flags, Whole
from ragtriage.relevance.frames import beside

_NO_BREAK = len(BREAKS)
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
    for terms in (_counts(ledger), _hits(ledger), _missing(ledger)):
        joined = beside(joined, terms)
    counts = ("n_requirements", "n_in_context", "n_required_cited", "n_dropped")
    return joined.with_columns(pl.col(counts).fill_null(0), pl.col("missing").fill_null([]))


def _counts(ledger: pl.DataFrame) -> pl.DataFrame:
    """Counts and gains of each case's requirements, which stand together in the ledger.

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
        break_order=pl.col("break_order").cast(pl.Int64).fill_null(_NO_BREAK),
    )
    sums = {name: np.add.reduceat(told[name].to_numpy(), starts) for name in told.columns[:-1]}
    first = np.minimum.reduceat(told["break_order"].to_numpy(), starts)
    sizes = np.diff(starts, append=len(rows))
    counted = pl.DataFrame(
        {
            "row": ledger["row"].gather(starts),
            "n_requirements": sizes,
            **sums,
            "break_order": first,
            "ideal_gain": _ideal_gains(ledger),
        }
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
        ideal_gain="ideal_gain",
    )


def _ones(test: pl.Expr) -> pl.Expr:
    return test.fill_null(False).cast(pl.Int64)


def _hits(ledger: pl.DataFrame) -> pl.DataFrame:
    """Ranks, credit and discounted gains of the requirements that were met, in rank order."""
    met = ledger.select("row", "gain", rank="retrieved_rank").filter(pl.col("rank").is_not_null())
    met = met.sort("row", "rank", maintain_order=True)
    rows, ranks = met["row"].to_numpy().astype(np.int64), met["rank"].to_numpy()
    starts = np.diff(rows, prepend=-1) != 0
    # An ID that meets two requirements at once is one newly hitting rank.
    newly = starts | (np.diff(ranks, prepend=0) != 0)
    so_far = _within_runs(np.cumsum(newly), starts)
    lists = ["hit_ranks", "hit_credit", "hit_gain"]
    told = met.select(
        "row",
        hit_ranks="rank",
        hit_credit=pl.Series(so_far / ranks),
        hit_gain=pl.col("gain") / (pl.col("rank") + 1).log(2),
    )
    grouped = told.group_by("row", maintain_order=True).agg(lists)
    if newly.all():
        return grouped.with_columns(newly_hit_ranks="hit_ranks")
    each_once = told.filter(newly).group_by("row", maintain_order=True)
    return grouped.hstack(each_once.agg(newly_hit_ranks="hit_ranks").drop("row"))


def _within_runs(counted: Whole, starts: Flags) -> Whole:
    """A running count, begun anew at 1 where a run starts; each start counts one."""
    first = np.flatnonzero(starts)
    sizes = np.diff(first, append=len(counted))
    return counted - np.repeat(counted[first] - 1, sizes)


def _ideal_gains(ledger: pl.DataFrame) -> pl.Series:
    """The discounted gains of each case's requirements, largest first."""
    ordered = ledger.select("row", "gain")
    if ordered["gain"].n_unique() > 1:
        ordered = ordered.sort("row", "gain", descending=[False, True])
    starts = np.diff(ordered["row"].to_numpy().astype(np.int64), prepend=-1) != 0
    place = _within_runs(np.arange(1, len(starts) + 1), starts)
    discounted = ordered.select(
        "row", ideal_gain=pl.col("gain") / (pl.lit(pl.Series(place)) + 1).log(2)
    )
    return discounted.group_by("row", maintain_order=True).agg("ideal_gain")["ideal_gain"]


def _missing(ledger: pl.DataFrame) -> pl.DataFrame:
    """What was not delivered, each requirement by its first ID, sorted, each once."""
    lost = ledger.filter(~pl.col("delivered")).select("row", missing=pl.col("ids").list.first())
    rows = lost["row"].to_numpy()
    again = np.append(rows[1:] == rows[:-1], False)
    several = again | np.append(False, again)[: len(again)]
    if not several.any():
        return lost.select("row", missing=pl.concat_list("missing"))
    alone = lost.filter(~several).select("row", missing=pl.concat_list("missing"))
    return pl.concat([alone, _sorted_by_row(lost.filter(several))], rechunk=True)


def _sorted_by_row(lost: pl.DataFrame) -> pl.DataFrame:
    missing = pl.col("missing")
    if lost.height > _MANY * lost["row"].n_unique():
        # Long lists are sorted one by one, short ones all together.
        return lost.group_by("row", maintain_order=True).agg(missing.unique().sort())
    return lost.unique().sort("row", "missing").group_by("row", maintain_order=True).agg("missing")
