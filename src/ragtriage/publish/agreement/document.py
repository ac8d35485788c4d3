"""The agreement report as one document: what report.json holds, and all that renderers read."""

from __future__ import annotations

from typing import Any, TypedDict, cast

import polars as pl

from ragtriage.publish.document import InputEntry, LineCounts
from ragtriage.reviews.settle import DISPUTED

SHOWN = 500

LIMITS = (
    (
        "Agreement is not correctness: people who agree can all be wrong, and a judge that says "
        "what people say is wrong where they are."
    ),
    (
        "κ and α also depend on how often each label is given: hold them against each other only "
        "where the labels are about equally frequent."
    ),
    "The rows `all` pool labels of different kinds; read the rows of one kind first.",
)


class AgreementRun(TypedDict):
    """What was read, and how."""

    run_id: str
    kind: str
    status: str
    version: str
    schema_version: str
    started: str
    on_invalid: str
    written: bool
    min_validated: int
    n_reviews: int
    n_people: int
    n_judges: int
    lines: LineCounts
    inputs: list[InputEntry]
    notes: list[str]


class ItemStates(TypedDict):
    """Reviewed items of one target; n = agreed + adjudicated + disputed + open."""

    target: str
    n: int
    agreed: int
    alone: int
    adjudicated: int
    disputed: int
    open: int


class Voice(TypedDict):
    """One label, whose it is, and why."""

    reviewer: str
    label: bool | None
    note: str | None


class Disagreement(TypedDict):
    """An item that is disputed, or was settled against some person's label."""

    target: str
    case_id: str
    claim_id: str | None
    evidence_id: str | None
    state: str
    label: bool | None
    labels: list[Voice]
    adjudications: list[Voice]


class JudgeDisagreement(Disagreement):
    """A judge's label that is not the settled one."""

    judge: str
    judge_label: bool
    judge_note: str | None


class PairRow(TypedDict):
    """A row of pairs.parquet; both reviewers are None over all people."""

    reviewer_a: str | None
    reviewer_b: str | None
    target: str
    n_labels: int
    n: int
    n_pairs: int
    agreed: int
    agreement: float | None
    both_true: int | None
    only_a_true: int | None
    only_b_true: int | None
    both_false: int | None
    kappa: float | None
    kappa_reason: str | None
    alpha: float | None
    alpha_reason: str | None


class JudgeRow(TypedDict):
    """A row of judges.parquet."""

    judge: str
    target: str
    n_labels: int
    n: int
    tp: int
    fp: int
    tn: int
    fn: int
    sensitivity: float | None
    sensitivity_reason: str | None
    specificity: float | None
    specificity_reason: str | None
    precision: float | None
    precision_reason: str | None
    kappa: float | None
    kappa_reason: str | None
    min_validated: int
    validated: bool


class AgreementReport(TypedDict):
    """The whole document; `omitted`: how many rows of a list it leaves to the tables."""

    run: AgreementRun
    items: list[ItemStates]
    disputed: list[Disagreement]
    overall: list[PairRow]
    pairs: list[PairRow]
    judges: list[JudgeRow]
    adjudicated: list[Disagreement]
    judge_disagreements: list[JudgeDisagreement]
    omitted: dict[str, int]
    rejects: dict[str, int]
    limits: list[str]


def build_document(
    run: AgreementRun,
    states: dict[str, dict[str, int]],
    tables: dict[str, pl.DataFrame],
    rejects: dict[str, int],
) -> AgreementReport:
    """Arranges the tables; computes nothing. At most `SHOWN` rows of each list."""
    disagreements, pairs = tables["disagreements"], tables["pairs"]
    is_disputed, of_pair = pl.col("state") == DISPUTED, pl.col("reviewer_a").is_not_null()
    lists = {
        "disputed": disagreements.filter(is_disputed),
        # Those who share something first: a list that is cut must not lose what it has to say.
        "pairs": pairs.filter(of_pair).sort(pl.col("n") == 0, maintain_order=True),
        "judges": tables["judges"],
        "adjudicated": disagreements.filter(~is_disputed),
        "judge_disagreements": tables["judge_disagreements"],
    }
    shown = {name: frame.head(SHOWN).to_dicts() for name, frame in lists.items()}
    return cast(
        "AgreementReport",
        {
            "run": run,
            "items": [{"target": name, **counts} for name, counts in states.items()],
            "overall": pairs.filter(~of_pair).to_dicts(),
            **cast("dict[str, Any]", shown),
            "omitted": {name: max(frame.height - SHOWN, 0) for name, frame in lists.items()},
            "rejects": rejects,
            "limits": list(LIMITS),
        },
    )
