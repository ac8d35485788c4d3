"""Metrics of reviewed claims. A reviewer decides what is supported; the arithmetic repeats it."""

from __future__ import annotations

import polars as pl

from ragtriage.metrics.registry import Ratio, metric

_CLAIMS = ("claims",)
_SUPPLIED = ("context_ids", "retrieved_ids")


@metric(family="claims", kind="ratio", needs=(_CLAIMS,), source="ragtriage")
def supported_claim_fraction() -> Ratio:
    """Supported claims ÷ proposed claims.

    Range 0 to 1; undefined when none is proposed. A cautious answer can reach 1 and still omit
    most of the question: read it with required_claim_coverage.
    """
    return Ratio(pl.col("n_supported_claims"), pl.col("n_claims"))


@metric(family="claims", kind="ratio", needs=(_CLAIMS, ("required_claims",)), source="ragtriage")
def required_claim_coverage() -> Ratio:
    """Required claims that are proposed and supported ÷ required claims.

    Range 0 to 1; undefined when none is required, 0 when nothing is proposed.
    """
    return Ratio(pl.col("n_covered_claims"), pl.col("n_required_claims"))


@metric(
    family="claims",
    kind="count",
    needs=(_CLAIMS, _SUPPLIED),
    bounds=(0, None),
    source="ragtriage",
)
def valid_citation_claims() -> pl.Expr:
    """Claims whose cited IDs are non-empty and all in the context (count).

    In what was retrieved where the context is not observed. Says nothing of support.
    """
    return pl.col("n_valid_claims")
