"""Metrics of what was put in front of the model against what was required."""

from __future__ import annotations

import polars as pl

from ragtriage.metrics.registry import CONTEXT, LABELS, RETRIEVED, Ratio, metric


@metric(family="context", kind="ratio", needs=(CONTEXT, LABELS), source="ragtriage")
def context_recall() -> Ratio:
    """Requirements in the context ÷ requirements.

    Range 0 to 1; undefined when nothing is required.
    """
    return Ratio(pl.col("n_in_context"), pl.col("n_requirements"))


@metric(family="context", kind="boolean", needs=(CONTEXT, LABELS), source="ragtriage")
def context_complete() -> pl.Expr:
    """Was every requirement in the context? Undefined when nothing is required."""
    required = pl.col("n_requirements")
    return pl.when(required > 0).then(pl.col("n_in_context") == required)


@metric(
    family="context",
    kind="count",
    needs=(CONTEXT, RETRIEVED, LABELS),
    bounds=(0, None),
    better="lower",
    source="ragtriage",
)
def context_dropped() -> pl.Expr:
    """Requirements returned within the first cutoff but not in the context (count)."""
    return pl.col("n_dropped")
