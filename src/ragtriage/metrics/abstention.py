"""Metrics of declining to answer. A higher refusal rate is never by itself better."""

from __future__ import annotations

import polars as pl

from ragtriage.metrics.registry import ABSTAINED, ANSWERABLE, LABELS, RETRIEVED, metric

_ABSTAINED = pl.col("did_abstain")
_UNANSWERABLE = ~pl.col("is_answerable")
_NEEDS = (ABSTAINED, ANSWERABLE)


def _over(population: pl.Expr, value: pl.Expr) -> pl.Expr:
    """The value inside a population, undefined outside it and where abstention is not known."""
    return pl.when(population & _ABSTAINED.is_not_null()).then(value)


@metric(family="abstention", kind="boolean", needs=(), file_needs=_NEEDS, source="ragtriage")
def appropriate_abstention() -> pl.Expr:
    """Over unanswerable cases: abstained and cited nothing.

    Citations that are not observed count as none.
    """
    return _over(_UNANSWERABLE, _ABSTAINED & (pl.col("n_cited").fill_null(0) == 0))


@metric(
    family="abstention",
    kind="boolean",
    needs=(),
    file_needs=_NEEDS,
    better="lower",
    source="ragtriage",
)
def answered_unsupported() -> pl.Expr:
    """Over unanswerable cases: did not abstain."""
    return _over(_UNANSWERABLE, ~_ABSTAINED)


@metric(
    family="abstention",
    kind="boolean",
    needs=(),
    file_needs=_NEEDS,
    better="lower",
    source="ragtriage",
)
def over_refusal() -> pl.Expr:
    """Over answerable cases: abstained."""
    return _over(pl.col("is_answerable"), _ABSTAINED)


@metric(
    family="abstention",
    kind="boolean",
    needs=(),
    file_needs=(*_NEEDS, LABELS, ("context_ids", "retrieved_ids")),
    better="lower",
    source="ragtriage",
)
def refused_with_evidence() -> pl.Expr:
    """Over answerable cases: abstained although every requirement was delivered."""
    return _over(pl.col("is_answerable"), _ABSTAINED & pl.col("all_delivered"))


@metric(
    family="abstention",
    kind="boolean",
    needs=(),
    file_needs=_NEEDS,
    by_choice=True,
    source="precision of refusals",
)
def abstention_precision() -> pl.Expr:
    """Over cases where the system abstained: the case is unanswerable."""
    return _over(_ABSTAINED, _UNANSWERABLE)


@metric(
    family="abstention", kind="boolean", needs=(), file_needs=_NEEDS, source="recall of refusals"
)
def abstention_recall() -> pl.Expr:
    """Over unanswerable cases: abstained."""
    return _over(_UNANSWERABLE, _ABSTAINED)


@metric(
    family="abstention",
    kind="boolean",
    needs=(RETRIEVED,),
    file_needs=(ANSWERABLE,),
    better="lower",
    source="ragtriage",
)
def false_evidence() -> pl.Expr:
    """Over unanswerable cases: something was retrieved (needs no answer)."""
    return pl.when(_UNANSWERABLE).then(pl.col("n_retrieved") > 0)
