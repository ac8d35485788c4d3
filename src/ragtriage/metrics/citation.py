"""Metrics of what the answer cites: IDs only, never whether the text supports the answer."""

from __future__ import annotations

import polars as pl

from ragtriage.metrics.registry import (
    ANSWERABLE,
    CITED,
    CONTEXT,
    LABELS,
    RETRIEVED,
    Ratio,
    metric,
)

_CITED = pl.col("n_cited")
# Cited IDs that are authorised members of a requirement.
_RELEVANT = pl.col("n_relevant_cited")


@metric(family="citation", kind="ratio", needs=(CITED, LABELS), source="ragtriage")
def citation_coverage() -> Ratio:
    """Requirements cited ÷ requirements. Range 0 to 1; undefined when nothing is required."""
    return Ratio(pl.col("n_required_cited"), pl.col("n_requirements"))


@metric(family="citation", kind="ratio", needs=(CITED, RETRIEVED), empty=0, source="ragtriage")
def citation_validity() -> Ratio:
    """Cited IDs that were retrieved ÷ cited IDs; 0 when nothing is cited.

    Range 0 to 1; 0 when nothing is cited. Permissions do not count here.
    """
    return Ratio(pl.col("n_cited_retrieved"), _CITED)


@metric(family="citation", kind="ratio", needs=(CITED, LABELS), source="ragtriage")
def citation_precision() -> Ratio:
    """Cited IDs that are relevant ÷ cited IDs. Range 0 to 1; undefined when nothing is cited."""
    return Ratio(_RELEVANT, _CITED)


@metric(family="citation", kind="ratio", needs=(CITED, CONTEXT), source="ragtriage")
def citation_in_context() -> Ratio:
    """Cited IDs that were in the context ÷ cited IDs.

    Range 0 to 1; undefined when nothing is cited. Permissions do not count here.
    """
    return Ratio(pl.col("n_cited_context"), _CITED)


def _citation_valid() -> pl.Expr:
    silent_is_right = ~pl.col("is_answerable")
    return (
        pl.when(_CITED > 0).then(pl.col("n_cited_retrieved") == _CITED).otherwise(silent_is_right)
    )


def _source_correct() -> pl.Expr:
    required = pl.col("n_requirements")
    exact = (pl.col("n_required_cited") == required) & (_CITED == _RELEVANT)
    return (
        pl.when(~pl.col("is_answerable"))
        .then(_CITED == 0)
        .when(pl.col("is_answerable") & (required > 0))
        .then(exact)
    )


@metric(family="citation", kind="boolean", needs=(CITED, RETRIEVED), source="ragtriage")
def citation_valid() -> pl.Expr:
    """Was every cited ID retrieved?

    With nothing cited: true if the case is unanswerable, false if it is answerable, undefined
    if that is not known.
    """
    return _citation_valid()


@metric(
    family="citation",
    kind="boolean",
    needs=(CITED,),
    file_needs=(ANSWERABLE,),
    source="ragtriage",
)
def source_correct() -> pl.Expr:
    """Does the answer cite exactly what it should?

    Answerable: the citations cover every requirement and hold nothing else. Unanswerable:
    nothing is cited. Undefined where that, or what is required, is not known.
    """
    return _source_correct()
