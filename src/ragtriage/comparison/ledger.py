"""What moved in the evidence ledger, requirement by requirement, in words: `D2: rank 3 → rank 7`.

Requirements of the two runs are matched by their IDs, so that one which only one run has is
said to be new or gone.
"""

from __future__ import annotations

import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.runs import StoredRun

_SEPARATOR = "\x1f"
_TOLD = ("retrieved_rank", "delivered", "lost_at", "cited")
_READ = ("case_id", "requirement", "ids", *_TOLD)
_BELOW = "below the cutoff"
NOT_MEASURED = "not measured"


def moves(base: StoredRun, candidate: StoredRun, case_ids: pl.Series) -> pl.DataFrame:
    """The moves of these cases: `case_id`, `moved` (a list of sentences); unmoved cases absent.

    Args:
        base: the base run.
        candidate: the run held against it.
        case_ids: the cases to look at.

    Raises:
        InputError: a requirement has no ID.
    """
    one, other = (_rows(run, case_ids) for run in (base, candidate))
    joined = one.join(other, on=["case_id", "key"], how="full", suffix="_candidate", coalesce=True)
    told = joined.filter(_differ()).with_columns(
        requirement=pl.coalesce("requirement", "requirement_candidate"),
        name=_name(pl.coalesce("ids", "ids_candidate")),
        place=_place_move(),
        cited=_cited_move(),
    )
    long = pl.concat(
        [
            told.select("case_id", "requirement", "name", pl.col(kind).alias("move"), order=order)
            for order, kind in enumerate(("place", "cited"))
        ]
    ).filter(pl.col("move").is_not_null())
    return (
        long.sort("case_id", "requirement", "name", "order")
        .group_by("case_id", maintain_order=True)
        .agg(moved=pl.format("{}: {}", "name", "move"))
    )


def _rows(run: StoredRun, case_ids: pl.Series) -> pl.DataFrame:
    wanted = pl.LazyFrame({"case_id": case_ids})
    ledger = run.evidence.select(_READ).join(wanted, on="case_id", how="semi")
    # Lists in many pieces are joined several times as slowly.
    rows = run.read(ledger, streaming=True).rechunk()
    first = rows["ids"].list.first()
    if first.null_count():
        raise InputError(
            f"run {run.run_id}: evidence/ has rows without ids: not a run of ours; evaluate again"
        )
    several = (rows["ids"].list.len() != 1).any()
    key = pl.col("ids").list.sort().list.join(_SEPARATOR) if several else pl.lit(first)
    return rows.with_columns(key=key, there=pl.lit(value=True))


def _differ() -> pl.Expr:
    """Is there anything to tell? Most requirements stand where they stood."""
    return pl.any_horizontal(
        pl.col(name).ne_missing(pl.col(f"{name}_candidate")) for name in (*_TOLD, "there")
    )


def _name(ids: pl.Expr) -> pl.Expr:
    """The first of a requirement's IDs, and how many others would do."""
    others = ids.list.len().cast(pl.Int64) - 1
    first = ids.list.first()
    return pl.when(others > 0).then(pl.format("{} (or {} more)", first, others)).otherwise(first)


def _place_move() -> pl.Expr:
    """How far the requirement got, where that differs."""
    gone, new = pl.col("there_candidate").is_null(), pl.col("there").is_null()
    status = [_status("lost_at", "delivered"), _status("lost_at_candidate", "delivered_candidate")]
    ranks = [pl.col("retrieved_rank"), pl.col("retrieved_rank_candidate")]
    by_rank = (pl.col("lost_at") == "ranking").fill_null(value=False) | (
        pl.col("lost_at_candidate") == "ranking"
    ).fill_null(value=False)
    shown = [
        pl.when(by_rank).then(_in_ranks(s, r)).otherwise(s)
        for s, r in zip(status, ranks, strict=True)
    ]
    ranked = [pl.when(r.is_null()).then(pl.lit("not returned")).otherwise(_rank(r)) for r in ranks]
    known = pl.all_horizontal(s != NOT_MEASURED for s in status)
    return (
        pl.when(gone)
        .then(pl.lit("no longer required"))
        .when(new)
        .then(pl.lit("newly required"))
        .when(status[0] != status[1])
        .then(pl.format("{} → {}", *shown))
        .when(known & ranks[0].ne_missing(ranks[1]))
        .then(pl.format("{} → {}", *ranked))
    )


def _status(lost_at: str, delivered: str) -> pl.Expr:
    lost = pl.col(lost_at)
    return (
        pl.when(lost == "ranking")
        .then(pl.lit(_BELOW))
        .when(lost.is_not_null())
        .then(pl.format("lost at {}", lost))
        .when(pl.col(delivered))
        .then(pl.lit("delivered"))
        .otherwise(pl.lit(NOT_MEASURED))
    )


def _in_ranks(status: pl.Expr, rank: pl.Expr) -> pl.Expr:
    """The same where a ranking decided: ranks say more than `delivered`."""
    below = pl.format("{} ({})", pl.lit(_BELOW), _rank(rank))
    candidate = pl.lit("a candidate, not returned")
    return (
        pl.when((status == _BELOW) & rank.is_null())
        .then(candidate)
        .when(status == _BELOW)
        .then(below)
        .when((status == "delivered") & rank.is_not_null())
        .then(_rank(rank))
        .otherwise(status)
    )


def _rank(rank: pl.Expr) -> pl.Expr:
    return pl.format("rank {}", rank)


def _cited_move() -> pl.Expr:
    one, other = pl.col("cited"), pl.col("cited_candidate")
    known = one.is_not_null() & other.is_not_null()
    return pl.when(known & (one != other)).then(
        pl.when(one).then(pl.lit("cited → not cited")).otherwise(pl.lit("not cited → cited"))
    )
