"""The tables of `ragtriage agreement`: how far reviewers and judges say the same."""

from __future__ import annotations

import polars as pl

from ragtriage.schemas.fields import Table
from ragtriage.schemas.fields import field as column

# Labels a judge must share with settled human labels before its own may stand for any.
MIN_VALIDATED = 30

LABEL = pl.Struct({"reviewer": pl.String, "label": pl.Boolean, "note": pl.String})


class Pairs(Table):
    """`pairs.parquet`: a row per target over all people, and per pair of them."""

    run_id: pl.String = column("the run", required=True)
    reviewer_a: pl.String = column("a person; null in the rows over all people")
    reviewer_b: pl.String = column("another, later by name; null as well")
    target: pl.String = column(
        "what was labelled: all, claim, answer, relevance or claim-passage", required=True
    )
    n_labels: pl.Int64 = column(
        "labels they gave, whether anybody shares the item or not", required=True
    )
    n: pl.Int64 = column("items that both labelled; over all people: two or more", required=True)
    n_pairs: pl.Int64 = column("pairs of labels of one item; n for two people", required=True)
    agreed: pl.Int64 = column("pairs of equal labels", required=True)
    agreement: pl.Float64 = column("agreed ÷ n_pairs, 0 to 1; null where there is none")
    both_true: pl.Int64 = column("items that both call true; null over all people")
    only_a_true: pl.Int64 = column(
        "items that only reviewer_a calls true", null="in the rows over all people"
    )
    only_b_true: pl.Int64 = column(
        "items that only reviewer_b calls true", null="in the rows over all people"
    )
    both_false: pl.Int64 = column("items that both call false", null="in the rows over all people")
    kappa: pl.Float64 = column("Cohen's κ; null where undefined, and for more than two people")
    kappa_reason: pl.String = column("why κ is null", null="κ is defined")
    alpha: pl.Float64 = column("Krippendorff's α for nominal labels; null where undefined")
    alpha_reason: pl.String = column("why α is null", null="α is defined")


class Judges(Table):
    """`judges.parquet`: a row per judge and target, against the settled labels of people."""

    run_id: pl.String = column("the run", required=True)
    judge: pl.String = column("the judge", required=True)
    target: pl.String = column("as in the pairs", required=True)
    n_labels: pl.Int64 = column("labels the judge gave", required=True)
    n: pl.Int64 = column("of these, on items whose human label is settled", required=True)
    tp: pl.Int64 = column("both true", required=True)
    fp: pl.Int64 = column("true by the judge, false by people", required=True)
    tn: pl.Int64 = column("both false", required=True)
    fn: pl.Int64 = column("false by the judge, true by people", required=True)
    sensitivity: pl.Float64 = column(
        "tp ÷ (tp + fn)", null="nothing to divide by; the next column says why"
    )
    sensitivity_reason: pl.String = column("why it is null", null="the value is defined")
    specificity: pl.Float64 = column(
        "tn ÷ (tn + fp)", null="nothing to divide by; the next column says why"
    )
    specificity_reason: pl.String = column("why it is null", null="the value is defined")
    precision: pl.Float64 = column(
        "tp ÷ (tp + fp)", null="nothing to divide by; the next column says why"
    )
    precision_reason: pl.String = column("why it is null", null="the value is defined")
    kappa: pl.Float64 = column(
        "Cohen's κ of judge and settled label", null="undefined; the next column says why"
    )
    kappa_reason: pl.String = column("why it is null", null="κ is defined")
    min_validated: pl.Int64 = column("labels in common that were asked for", required=True)
    validated: pl.Boolean = column("n is at least that; no verdict on quality", required=True)


class Disagreements(Table):
    """`disagreements.parquet`: a row per item disputed, or settled against some person's label."""

    run_id: pl.String = column("the run", required=True)
    target: pl.String = column("as in the pairs", required=True)
    case_id: pl.String = column("the case", required=True)
    claim_id: pl.String = column(
        "the claim, if the label is of one", null="the label is of no claim"
    )
    evidence_id: pl.String = column(
        "the passage, if the label is of one", null="the label is of no passage"
    )
    state: pl.String = column("disputed, or adjudicated", required=True)
    label: pl.Boolean = column("the settled label; null while disputed")
    labels: pl.List = column("people's labels, by name", required=True, inner=LABEL)
    adjudications: pl.List = column("adjudications, by name", required=True, inner=LABEL)


class JudgeDisagreements(Table):
    """`judge-disagreements.parquet`: a row per judge's label that is not the settled one."""

    run_id: pl.String = column("the run", required=True)
    judge: pl.String = column("the judge", required=True)
    target: pl.String = column("as in the pairs", required=True)
    case_id: pl.String = column("the case", required=True)
    claim_id: pl.String = column(
        "the claim, if the label is of one", null="the label is of no claim"
    )
    evidence_id: pl.String = column(
        "the passage, if the label is of one", null="the label is of no passage"
    )
    judge_label: pl.Boolean = column("what the judge says", required=True)
    judge_note: pl.String = column("and why", null="the judge gave none")
    label: pl.Boolean = column("the settled label", required=True)
    state: pl.String = column("agreed or adjudicated", required=True)
    labels: pl.List = column("people's labels, by name", required=True, inner=LABEL)
    adjudications: pl.List = column("adjudications, by name", required=True, inner=LABEL)
