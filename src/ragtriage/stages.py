"""The stage of a case: where on the way from source to answer it broke first.

One precedence table; the first row that applies decides. The documentation's table is made
from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import polars as pl

from ragtriage.evidence import BREAKS

PASS = "pass"  # noqa: S105 - a stage, not a secret
NOT_RUN = "not_run"


@dataclass(frozen=True)
class Row:
    """One row of the table: `break_points` are tried in order, the last one without a test."""

    number: int
    stage: str
    when: str
    test: pl.Expr
    break_points: tuple[tuple[str | None, pl.Expr | None], ...]


_UNANSWERABLE = ~pl.col("is_answerable")
_ABSTAINED = pl.col("did_abstain")
_CITED = pl.col("n_cited").fill_null(0) > 0
_LABEL = pl.col("answer_label")
_LEAKED = {
    name: pl.col(f"n_unauthorized_{name}").fill_null(0) > 0
    for name in ("retrieved", "context", "cited")
}
# Cites what was not supplied: the context where it is observed, else what was retrieved.
_INVALID = pl.col("n_cited") > pl.coalesce("n_cited_context", "n_cited_retrieved")
_UNCITED = pl.col("n_cited") == 0
_WRONG_SOURCE = pl.col("n_required_cited") == 0


def precedence(contract: str) -> tuple[Row, ...]:
    """The table, first row first."""
    strict = pl.lit(contract == "diagnosis")
    return (
        Row(
            1,
            "authorization",
            "an unauthorised ID was retrieved, supplied or cited (also on failed cases)",
            pl.any_horizontal(_LEAKED.values()),
            (
                ("leak-cited", _LEAKED["cited"]),
                ("leak-context", _LEAKED["context"]),
                ("leak-retrieved", None),
            ),
        ),
        Row(2, NOT_RUN, "`error` is set", pl.col("error").is_not_null(), (("error", None),)),
        Row(
            3,
            "unresolved",
            "`ambiguity` is set: not scored until a person resolves it",
            pl.col("ambiguity").is_not_null(),
            (("ambiguity", None),),
        ),
        Row(
            4,
            "abstention",
            "unanswerable, and it answered, or abstained but cited",
            _UNANSWERABLE & (~_ABSTAINED | (_ABSTAINED & _CITED)),
            (("answered-unsupported", ~_ABSTAINED), ("cited-unsupported", None)),
        ),
        Row(
            5,
            PASS,
            "unanswerable, abstained, cited nothing (citations not observed count as none)",
            _UNANSWERABLE & _ABSTAINED,
            ((None, None),),
        ),
        Row(
            6, "unprepared", "unanswerable, abstention unknown", _UNANSWERABLE, (("answer", None),)
        ),
        Row(
            7,
            "unresolved",
            "no requirement",
            pl.col("n_requirements") == 0,
            (("no-required-set", None),),
        ),
        Row(
            8,
            "unprepared",
            "no answer label, under `diagnosis`",
            strict & _LABEL.is_null(),
            (("answer-label", None),),
        ),
        Row(
            9,
            "unprepared",
            "neither context nor retrieved observed",
            pl.col("context_ids").is_null() & pl.col("retrieved_ids").is_null(),
            (("evidence", None),),
        ),
        Row(
            10,
            "retrieval",
            "a requirement was not delivered, whatever the answer label",
            pl.col("any_lost"),
            tuple((name, pl.col("break_order") == i) for i, name in enumerate(BREAKS)),
        ),
        Row(11, "unprepared", "no answer label", _LABEL.is_null(), (("answer-label", None),)),
        Row(
            12,
            "generation",
            "delivered in full, answer wrong",
            ~_LABEL,
            (
                ("over-refusal", _ABSTAINED),
                ("unsupported-claim", pl.col("unsupported_claims").list.len() > 0),
                ("omission", pl.col("omitted_claims").list.len() > 0),
                ("wrong-answer", None),
            ),
        ),
        Row(
            13,
            "citation",
            "delivered, answer right, citations observed and wrong",
            _INVALID | _UNCITED | _WRONG_SOURCE & pl.col("n_cited").is_not_null(),
            (("invalid-citation", _INVALID), ("uncited", _UNCITED), ("wrong-source", None)),
        ),
        Row(
            14,
            PASS,
            "otherwise; incomplete or extra citations remain a pass",
            pl.lit(True),
            ((None, None),),
        ),
    )


def deciding_row(
    stage: str, break_point: str | None, *, answerable: bool | None, missing_known: bool
) -> Row | None:
    """The row that placed a case, from what a run stores of it; None where there is no such row.

    `answerable`, `missing_known` (`missing` is not null) tell rows apart that share stage and break
    point: 5 and 14, 8 and 11.
    """
    rows = [
        row
        for row in precedence("auto")
        if row.stage == stage and break_point in (name for name, _ in row.break_points)
    ]
    if not rows:
        return None
    if stage == PASS:
        return rows[0 if answerable is False else -1]
    return rows[-1 if missing_known else 0]


NEXT_CHECKS = {
    "leak-retrieved": (
        "Check the retriever's permission filter: it returned what this requester may not see."
    ),
    "leak-context": (
        "Check permissions before the context is packed: the model was given what this "
        "requester may not see."
    ),
    "leak-cited": (
        "Check permissions along the whole path: the answer cites what this requester may not see."
    ),
    "error": "Read the recorded error and run the case again.",
    "ambiguity": "Let a reviewer resolve the ambiguity, then score the case.",
    "answered-unsupported": (
        "Check the instruction to decline: the collection does not support an answer."
    ),
    "cited-unsupported": "Check why an answer that declines still cites sources.",
    "answer": "Record the answer, or whether the system abstained.",
    "no-required-set": "Label the evidence this question needs, or declare it unanswerable.",
    "answer-label": "Label the answer as correct or incorrect.",
    "evidence": "Record what was retrieved or what was put in the context.",
    "source": "Check the source: the required passage is not in the collection.",
    "index": "Check ingestion and freshness: the required revision is not indexed.",
    "chunk": "Check extraction and chunking: no chunk keeps the required passage whole.",
    "scope": "Check the labels: they require what this requester may not see.",
    "filter": "Check the filters: they removed the required passage.",
    "retrieval": (
        "Check query terms and the retrieval method: the required passage was never returned."
    ),
    "ranking": "Check ranking and reranking: the required passage was ranked below the cutoff.",
    "context": (
        "Check deduplication, ordering and truncation: the passage was returned but not supplied."
    ),
    "unobserved": (
        "Record what was retrieved: the passage is missing from the context, and why is not known."
    ),
    "over-refusal": (
        "Check the instruction to decline: all evidence was supplied and the system still "
        "abstained."
    ),
    "unsupported-claim": (
        "Check the claims nobody could support: the answer says more than the evidence does."
    ),
    "omission": "Check completeness: the answer leaves out what it was required to say.",
    "wrong-answer": "Check the answering instruction, the model and the handling of its output.",
    "invalid-citation": (
        "Check how citations are made: the answer cites what the model was not given."
    ),
    "uncited": "Check the instruction to cite: the answer is right but cites nothing.",
    "wrong-source": (
        "Check how citations are made: the answer cites other passages than the required ones."
    ),
}

# What to do before that where people disagree on the label that is missing.
ADJUDICATE = "Adjudicate: people disagree on this case's labels, so they count as unknown."

# Stage rows on which nothing can be said to be missing.
_MISSING_UNKNOWN = (2, 3, 6, 7, 8, 9)


def with_stages(cases: pl.DataFrame, contract: str) -> pl.DataFrame:
    """The cases with stage, break point, what is missing, and what to check next."""
    for step in _steps(contract):
        cases = cases.with_columns(step)
    return cases


@cache
def _steps(contract: str) -> tuple[list[pl.Expr], ...]:
    """What is added, one after another; the same for every chunk."""
    rows = precedence(contract)
    number = pl.lit(None, pl.Int8)
    for row in reversed(rows):
        number = (
            pl.when(row.test.fill_null(False)).then(pl.lit(row.number, pl.Int8)).otherwise(number)
        )
    stages = {row.number: row.stage for row in rows}
    check = pl.col("break_point").replace_strict(NEXT_CHECKS, default=None, return_dtype=pl.String)
    in_dispute = (pl.col("break_point") == "answer-label") & pl.col("label_in_dispute")
    return (
        [number.alias("stage_row")],
        [
            pl.col("stage_row").replace_strict(stages, return_dtype=pl.String).alias("stage"),
            _break_point(rows).alias("break_point"),
            _missing().alias("missing"),
            _lucky().alias("lucky"),
            pl.col("context_ids").is_not_null().alias("context_observed"),
        ],
        [pl.when(in_dispute).then(pl.lit(ADJUDICATE)).otherwise(check).alias("next_check")],
    )


def _break_point(rows: tuple[Row, ...]) -> pl.Expr:
    named = pl.lit(None, pl.String)
    for row in reversed(rows):
        inner = pl.lit(None, pl.String)
        for name, test in reversed(row.break_points):
            value = pl.lit(name, pl.String)
            inner = value if test is None else pl.when(test).then(value).otherwise(inner)
        named = pl.when(pl.col("stage_row") == row.number).then(inner).otherwise(named)
    return named


def _missing() -> pl.Expr:
    """Undelivered requirements, each by its first ID, sorted; null where that is not known."""
    nothing = pl.lit([], pl.List(pl.String))
    return (
        pl.when(pl.col("stage_row").is_in(_MISSING_UNKNOWN))
        .then(pl.lit(None, pl.List(pl.String)))
        .when(_UNANSWERABLE)
        .then(nothing)
        .when("delivery_known")
        .then("missing")
    )


def _lucky() -> pl.Expr:
    """A right answer although a requirement was not delivered."""
    return (
        pl.when(~_LABEL)
        .then(pl.lit(False))
        .when(_LABEL & (pl.col("n_requirements") == 0))
        .then(pl.lit(False))
        .when(_LABEL)
        .then("any_lost")
    )
