"""Metrics of what the retriever returned against what was required. Nothing of the context.

Ranks are 1-based places among the distinct retrieved IDs; a requirement is *hit* at the first
rank that holds an authorised member of it. Lists per case: `hit_ranks` ascending, with
`hit_credit` and `hit_gain` beside it; `relevant_retrieved`, the ranks that hold any relevant ID.
"""

from __future__ import annotations

import polars as pl

from ragtriage.metrics.registry import LABELS, RETRIEVED, Ratio, metric

_NEEDS = (RETRIEVED, LABELS)
_REQUIREMENTS = pl.col("n_requirements")


def _within(ranks: str, k: int | None) -> pl.Expr:
    """How many of a list's ranks are at most k."""
    values = pl.col(ranks)
    found = values.list.len() if k is None else values.list.eval(pl.element() <= k).list.sum()
    return found.fill_null(0).cast(pl.Int64)


def _hits(k: int | None) -> pl.Expr:
    return _within("hit_ranks", k)


def _relevant(k: int | None) -> pl.Expr:
    return _within("relevant_retrieved", k)


def _sum_of_hits(values: str, k: int) -> pl.Expr:
    """The sum of what stands beside the hits within k; the empty sum of polars is -0.0."""
    hits = _hits(k)
    return pl.when(hits > 0).then(pl.col(values).list.head(hits).list.sum()).otherwise(0.0)


def _where_required(value: pl.Expr) -> pl.Expr:
    return pl.when(_REQUIREMENTS > 0).then(value)


@metric(
    family="retrieval",
    kind="ratio",
    needs=_NEEDS,
    cutoff="both",
    source="IR textbook",
    trec_eval=("set_recall", "recall_{k}"),
)
def recall(k: int | None) -> Ratio:
    """Requirements hit ÷ requirements.

    Formula: |{g in G: g hit in R@k}| / |G|; uncut without k. Range 0 to 1. Undefined when
    nothing is required.
    """
    return Ratio(_hits(k), _REQUIREMENTS)


@metric(
    family="retrieval",
    kind="ratio",
    needs=_NEEDS,
    cutoff="at_k",
    empty=0,
    source="IR textbook",
    trec_eval=(None, "P_{k}"),
)
def precision(k: int) -> Ratio:
    """Relevant IDs in the first k ÷ k, however many were returned; 0 when none was.

    Range 0 to 1. 0 when nothing was returned or nothing is required.
    """
    # A column, not a literal: polars divides by a literal through its reciprocal (3/10 ≠ 0.3).
    return Ratio(_relevant(k), pl.col("row").cast(pl.Int64) * 0 + k)


@metric(
    family="retrieval",
    kind="ratio",
    needs=_NEEDS,
    cutoff="at_k",
    empty=0,
    source="set precision of what was considered",
)
def context_precision(k: int) -> Ratio:
    """Relevant IDs in the first k ÷ IDs considered; 0 when nothing was returned.

    Formula: |relevant in R@k| / |R@k|. Range 0 to 1. 0 when nothing was returned. The set
    form: the order within R@k does not count (average precision is the rank-aware one).
    """
    return Ratio(_relevant(k), pl.min_horizontal(pl.col("n_retrieved"), pl.lit(k)))


@metric(
    family="retrieval",
    kind="count",
    needs=_NEEDS,
    cutoff="at_k",
    bounds=(0, None),
    better="lower",
    source="ragtriage",
)
def redundant(k: int) -> pl.Expr:
    """Relevant IDs in the first k that hit no requirement for the first time (count)."""
    return _relevant(k) - _within("newly_hit_ranks", k)


@metric(
    family="retrieval",
    kind="boolean",
    needs=_NEEDS,
    cutoff="at_k",
    source="hit rate",
    trec_eval=(None, "success_{k}"),
)
def hit(k: int) -> pl.Expr:
    """Was any requirement hit in the first k? Undefined when nothing is required."""
    return _where_required(_hits(k) > 0)


@metric(family="retrieval", kind="boolean", needs=_NEEDS, cutoff="at_k", source="ragtriage")
def all_required(k: int) -> pl.Expr:
    """Was every requirement hit in the first k? Undefined when nothing is required."""
    return _where_required(_hits(k) == _REQUIREMENTS)


@metric(
    family="retrieval",
    kind="score",
    needs=_NEEDS,
    cutoff="both",
    source="IR textbook",
    trec_eval=("recip_rank", None),
)
def reciprocal_rank(k: int | None) -> pl.Expr:
    """1 ÷ rank of the first relevant ID, within k or uncut; 0 when there is none.

    Range 0 to 1. 0 when there is none.
    """
    first = pl.col("relevant_retrieved").list.first()
    reached = first.is_not_null() if k is None else first <= k
    return pl.when(reached).then(1 / first).otherwise(0.0)


@metric(
    family="retrieval",
    kind="score",
    needs=_NEEDS,
    cutoff="at_k",
    source="IR textbook",
    trec_eval=(None, "map_cut_{k}"),
)
def average_precision(k: int) -> pl.Expr:
    """Mean over all requirements of the precision at their first hit.

    Formula: Σ over requirements first hit at a rank r ≤ k of (ranks ≤ r that newly hit a
    requirement ÷ r), ÷ |G|. Range 0 to 1. A requirement never hit adds 0; undefined when
    nothing is required.
    """
    return _where_required(_sum_of_hits("hit_credit", k) / _REQUIREMENTS)


@metric(
    family="retrieval",
    kind="score",
    needs=_NEEDS,
    cutoff="at_k",
    source="Järvelin and Kekäläinen 2002, linear gain",
    trec_eval=(None, "ndcg_cut_{k}"),
)
def ndcg(k: int) -> pl.Expr:
    """Discounted gain of first hits ÷ that of the ideal ranking of all requirements.

    Formula: DCG@k / ideal DCG@k, gain ÷ log2(rank + 1), linear gain: the requirement's largest
    grade, 1 when ungraded. A requirement pays once. Range 0 to 1 (capped: an ID that meets two
    requirements at once could exceed it). Undefined when nothing is required.
    """
    gained = _sum_of_hits("hit_gain", k)
    ideal = pl.col("ideal_gain").list.head(k).list.sum()
    return _where_required(pl.min_horizontal(gained / ideal, pl.lit(1.0)))


@metric(
    family="retrieval",
    kind="ratio",
    needs=_NEEDS,
    source="IR textbook",
    trec_eval=("Rprec", None),
)
def r_precision() -> Ratio:
    """Relevant IDs in the first |G| ÷ |G|. Range 0 to 1; undefined when nothing is required."""
    beyond = pl.col("relevant_retrieved").cast(pl.List(pl.Int64)) - _REQUIREMENTS
    return Ratio(beyond.list.eval(pl.element() <= 0).list.sum().fill_null(0), _REQUIREMENTS)
