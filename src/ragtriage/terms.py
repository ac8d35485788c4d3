"""What a case's requirements come to: counts and rank-ordered lists that metrics are made of."""

from __future__ import annotations

import numpy as np
import polars as pl

from ragtriage.evidence import BREAKS
from ragtriage.relevance.flat import Flags, Whole, run_starts
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
    starts = np.flatnonzero(run_starts(ledger["row"].to_numpy()))
    told = ledger.select(
        n_in_context=_one(pl.col("in_context")),
        n_required_cited=_one(pl.col("cited")),
        n_dropped=_one(pl.col("in_top_k") & ~pl.col("in_context")),
        n_known=_one(pl.col("delivered").is_not_null()),
        n_lost=_one(~pl.col("delivered")),
        break_order=pl.col("break_order").fill_null(_NO_BREAK),
    )
    counted = pl.DataFrame(
        {
            "row": ledger["row"].gather(starts),
            "n_requirements": np.diff(starts, append=ledger.height),
            **{name: _per_run(told[name].to_numpy(), starts) for name in told.columns[:-1]},
            "break_order": np.minimum.reduceat(told["break_order"].to_numpy(), starts),
            "ideal_gain": _ideal_gains(ledger, starts),
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


def _one(test: pl.Expr) -> pl.Expr:
    return test.fill_null(False).cast(pl.UInt8)


def _per_run(ones: Whole, starts: Whole) -> Whole:
    """How many ones each run has; to sum run by run takes three times as long."""
    so_far: Whole = np.append(0, np.cumsum(ones, dtype=np.int64))
    per_run: Whole = np.diff(so_far[np.append(starts, len(ones))])
    return per_run


def _hits(ledger: pl.DataFrame) -> pl.DataFrame:
    """Ranks, credit and discounted gains of the requirements that were met, in rank order."""
    met = ledger.select("row", "gain", rank="retrieved_rank").filter(pl.col("rank").is_not_null())
    rows, ranks = met["row"].to_numpy().astype(np.int64), met["rank"].to_numpy()
    # One number to sort by, nearly in order already.
    order = np.argsort(rows * (ranks.max(initial=0) + 1) + ranks, kind="stable")
    rows, ranks = rows[order], ranks[order]
    starts = run_starts(rows)
    # An ID that meets two requirements at once is one newly hitting rank.
    newly = starts | run_starts(ranks)
    so_far = _within_runs(np.cumsum(newly), starts)
    lists = ["hit_ranks", "hit_credit", "hit_gain"]
    told = pl.DataFrame(
        {
            # Rows known to be in order are grouped in half the time.
            "row": met["row"].gather(order).set_sorted(),
            "hit_ranks": ranks,
            "hit_credit": so_far / ranks,
            "gain": met["gain"].gather(order),
        }
    ).with_columns(hit_gain=pl.col("gain") / (pl.col("hit_ranks") + 1).log(2))
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


def _ideal_gains(ledger: pl.DataFrame, starts: Whole) -> pl.Series:
    """The discounted gains of each case's requirements, largest first.

    `starts`: where a case's requirements begin.
    """
    sizes = np.diff(starts, append=ledger.height)
    if ledger["gain"].n_unique() <= 1:
        return _of_equal_gains(ledger["gain"], sizes)
    ordered = ledger.select("row", "gain").sort("row", "gain", descending=[False, True])
    place = np.arange(1, ledger.height + 1) - np.repeat(starts, sizes)
    discounted = ordered.select("row", ideal_gain=_discounted(pl.lit(pl.Series(place))))
    return discounted.group_by("row", maintain_order=True).agg("ideal_gain")["ideal_gain"]


def _of_equal_gains(gains: pl.Series, sizes: Whole) -> pl.Series:
    """The same where all gains are one: a list for each size, of which there are few."""
    known = np.flatnonzero(np.bincount(sizes))
    places = pl.DataFrame({"size": known}).select(
        place=pl.int_ranges(1, pl.col("size") + 1), gain=pl.lit(gains.first(), gains.dtype)
    )
    lists = places.explode("place").select(_discounted(pl.col("place"))).to_series()
    of_size = pl.DataFrame({"size": np.repeat(known, known), "gain": lists}).group_by(
        "size", maintain_order=True
    )
    of_known = np.zeros(sizes.max(initial=0) + 1, np.int64)
    of_known[known] = np.arange(len(known))
    return of_size.agg("gain")["gain"].gather(of_known[sizes])


def _discounted(place: pl.Expr) -> pl.Expr:
    return pl.col("gain") / (place + 1).log(2)


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
