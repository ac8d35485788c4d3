"""One chunk's way from accepted rows to diagnosed cases: pure steps, in order."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from ragtriage.claim_evidence import with_evidence_terms
from ragtriage.claims import with_claim_terms
from ragtriage.evidence import build_ledger
from ragtriage.findings import with_findings
from ragtriage.labels import with_labels
from ragtriage.metrics import Column, with_metrics
from ragtriage.relevance import Corpus, match
from ragtriage.request import EvaluateRequest
from ragtriage.reviews.settle import with_answer_reviews
from ragtriage.stages import with_stages
from ragtriage.terms import with_requirement_terms


class Scored(NamedTuple):
    """Cases with terms, metrics, stage and findings; their ledger; their claims."""

    cases: pl.DataFrame
    ledger: pl.DataFrame
    claims: pl.DataFrame


def score(
    accepted: pl.DataFrame,
    request: EvaluateRequest,
    columns: list[Column],
    fields: set[str],
    corpus: Corpus | None,
    reviews: pl.DataFrame | None = None,
) -> Scored:
    """Match, place, label, measure, diagnose.

    `fields`: what the input supplies; a metric they do not suffice for is null on every case.
    `reviews`: what people said of these cases, settled.
    """
    # To gather from a column in several pieces costs ten times as much.
    relevance = match(accepted.rechunk(), corpus)
    ledger = build_ledger(relevance.requirements, relevance.cases, request.ledger_k)
    cases = with_requirement_terms(relevance.cases, ledger)
    claims = with_claim_terms(with_answer_reviews(cases, reviews), reviews)
    cases = with_labels(
        with_evidence_terms(claims.cases, claims.table, reviews),
        contract=request.contract,
        normalizer=request.normalizer,
        abstain_texts=request.abstain_text,
    )
    cases = with_metrics(cases, columns, fields)
    cases = with_stages(cases, request.contract)
    return Scored(with_findings(cases, ledger, request.ledger_k), ledger, claims.table)
