"""Metrics of the answer's text. Exact match after a declared normalisation, nothing semantic."""

from __future__ import annotations

import polars as pl

from ragtriage.metrics.registry import CITED, LABELS, RETRIEVED, metric

_ANSWER_OR_SILENCE = ("answer", "abstained")
_EXPECTED = ("expected_answers", "answerable", *LABELS)


@metric(
    family="answer",
    kind="boolean",
    needs=(),
    file_needs=(_ANSWER_OR_SILENCE, _EXPECTED),
    source="exact match, as in SQuAD, under the normaliser shown",
)
def answer_match() -> pl.Expr:
    """Is the answer one of the expected ones?

    Unanswerable: did the system abstain? Otherwise: does the normalised answer equal a
    normalised expected answer? Undefined where either is not observed. Narrow: a right
    paraphrase does not match.
    """
    return pl.col("matches")


@metric(
    family="answer",
    kind="boolean",
    needs=(),
    file_needs=(_ANSWER_OR_SILENCE, _EXPECTED, CITED, RETRIEVED),
    source="ragtriage",
)
def answer_passed() -> pl.Expr:
    """answer_match and citation_valid and source_correct.

    False as soon as one of them is; undefined where none is false and one is undefined.
    """
    return pl.col("answer_match") & pl.col("citation_valid") & pl.col("source_correct")
