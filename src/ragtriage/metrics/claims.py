"""Metrics of reviewed claims. A reviewer decides what is supported; the arithmetic repeats it.

A label that is missing or disputed is unknown, and so is every ratio that would count it.
"""

from __future__ import annotations

import polars as pl

from ragtriage.metrics.registry import Ratio, metric

_CLAIMS = ("claims",)
_REQUIRED = ("required_claims",)
_SUPPLIED = ("context_ids", "retrieved_ids")
_CONTEXT = ("context_ids",)


def _where(known: str, top: str, bottom: str) -> Ratio:
    return Ratio(pl.when(known).then(top), pl.when(known).then(bottom))


@metric(family="claims", kind="ratio", needs=(_CLAIMS,), source="ragtriage")
def supported_claim_fraction() -> Ratio:
    """Supported claims ÷ proposed claims.

    Range 0 to 1; undefined when none is proposed, or a proposed claim has no settled label. A
    cautious answer can reach 1 and still omit most of the question: read it with
    required_claim_coverage.
    """
    return _where("claims_labelled", "n_supported_claims", "n_claims")


@metric(family="claims", kind="ratio", needs=(_CLAIMS, _REQUIRED), source="ragtriage")
def required_claim_coverage() -> Ratio:
    """Required claims that are proposed and supported ÷ required claims.

    Range 0 to 1; undefined when none is required, or a required claim that is proposed has no
    settled label; 0 when nothing is proposed.
    """
    return _where("required_labelled", "n_covered_claims", "n_required_claims")


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


@metric(family="claims", kind="ratio", needs=(_CLAIMS, _REQUIRED), source="RAGChecker, by claim ID")
def claim_precision() -> Ratio:
    """Proposed claims that are required ÷ proposed claims.

    By ID alone, whatever their labels. Range 0 to 1; undefined when none is proposed.
    """
    return Ratio(pl.col("n_stated_claims"), pl.col("n_claims"))


@metric(family="claims", kind="ratio", needs=(_CLAIMS, _REQUIRED), source="RAGChecker, by claim ID")
def claim_recall() -> Ratio:
    """Required claims that are proposed ÷ required claims.

    By ID alone: required_claim_coverage asks for support too. Range 0 to 1; undefined when none
    is required.
    """
    return Ratio(pl.col("n_stated_claims"), pl.col("n_required_claims"))


@metric(
    family="claims",
    kind="ratio",
    needs=(_CLAIMS, _REQUIRED, _CONTEXT),
    source="RAGChecker, by claim ID",
)
def context_utilization() -> Ratio:
    """Required claims with evidence in the context that the answer states ÷ all of those.

    The evidence of a claim: passages that reviewers labelled as supporting it; where none was
    labelled, what the claim cites once it is labelled supported. Range 0 to 1; undefined when no
    required claim had evidence in the context, or when that is not known of one of them.
    """
    return Ratio(pl.col("n_used_claims"), pl.col("n_evidenced_claims"))


@metric(
    family="claims",
    kind="count",
    needs=(_CLAIMS, _SUPPLIED),
    bounds=(0, None),
    better="lower",
    source="Ji et al. 2023, by claim label and citation",
)
def intrinsic_hallucinations() -> pl.Expr:
    """Unsupported claims that cite supplied evidence: they contradict or misread it (count).

    Supplied: in the context, in what was retrieved where that is not observed. Undefined while a
    claim has no settled label, or an unsupported one no `cited_ids`.
    """
    return pl.col("n_intrinsic")


@metric(
    family="claims",
    kind="count",
    needs=(_CLAIMS, _SUPPLIED),
    bounds=(0, None),
    better="lower",
    source="Ji et al. 2023, by claim label and citation",
)
def extrinsic_hallucinations() -> pl.Expr:
    """Unsupported claims that cite nothing that was supplied: they come from nowhere (count).

    Undefined while a claim has no settled label, or an unsupported one no `cited_ids`.
    """
    return pl.col("n_extrinsic")
