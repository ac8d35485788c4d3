"""Every table the program writes: the published, versioned contract.

Metric columns of the case table are appended from the metric registry, outside this folder.
A change of name, type or meaning raises `SCHEMA_VERSION`.
"""

from __future__ import annotations

import polars as pl

from ragtriage.schemas.fields import Table
from ragtriage.schemas.fields import field as column
from ragtriage.schemas.inputs import Cases

SCHEMA_VERSION = "1"


class CaseResults(Cases):
    """`cases/part-*.parquet`: a row per accepted case; metrics stand after `query_rewrite`."""

    run_id: pl.String = column("the run", required=True)
    source_file: pl.String = column("the input file", required=True)
    line: pl.Int64 = column(
        "physical line where the record starts; in Parquet the row", required=True
    )
    stage: pl.String = column("where the case broke, or pass", required=True)
    break_point: pl.String = column("how it broke; null for a pass")
    missing: pl.List = column(
        "undelivered requirements, each by its first ID",
        inner=pl.String,
        null="not known: see the stage",
    )
    lucky: pl.Boolean = column(
        "a right answer although required evidence was missing",
        null="no answer label, or delivery is not known",
    )
    answer_label: pl.Boolean = column(
        "is the answer right, by the label in force?", null="no label, or people dispute it"
    )
    label_source: pl.String = column(
        "staff, review, judge, claims or match: where the answer label is from",
        null="no answer label",
    )
    unsupported_claims: pl.List = column(
        "proposed claims without support", inner=pl.String, null="claims are not observed"
    )
    omitted_claims: pl.List = column(
        "required claims not proposed",
        inner=pl.String,
        null="claims or required claims are not observed",
    )
    disputed_claims: pl.List = column(
        "proposed claims on which people disagree", inner=pl.String, null="claims are not observed"
    )
    answer_disputed: pl.Boolean = column(
        "people disagree on the answer as a whole and nobody adjudicated", required=True
    )
    context_observed: pl.Boolean = column("does the stage rest on the real context?", required=True)
    findings: pl.List = column(
        "what a person should look at",
        inner=pl.String,
        null="never: nothing to look at is an empty list",
    )
    near_misses: pl.List = column(
        "required IDs and retrieved ones that differ only in case, white space or Unicode form",
        inner=pl.Struct({"required": pl.String, "retrieved": pl.String}),
        null="there is none",
    )
    next_check: pl.String = column(
        "what to look at first for this break point", null="the case passed"
    )


class Evidence(Table):
    """`evidence/part-*.parquet`: the ledger, a row per case and requirement."""

    run_id: pl.String = column("the run", required=True)
    case_id: pl.String = column("the case", required=True)
    requirement: pl.Int64 = column("0-based place of the requirement in its case", required=True)
    ids: pl.List = column("its interchangeable IDs, as given", required=True, inner=pl.String)
    in_source: pl.Boolean = column("some member is in the source; null without a corpus")
    in_index: pl.Boolean = column("some member in the source is indexed", null="not given")
    in_chunks: pl.Boolean = column("some indexed member survived chunking whole", null="not given")
    in_candidates: pl.Boolean = column(
        "some member was a candidate before reranking", null="candidates are not observed"
    )
    filtered: pl.Boolean = column(
        "some member was removed by a filter", null="what was filtered is not observed"
    )
    retrieved_rank: pl.Int64 = column(
        "1-based rank of its first authorised member", null="never returned, or not observed"
    )
    retrieved_id: pl.String = column("that member", null="never returned, or not observed")
    in_top_k: pl.Boolean = column(
        "that rank is within the first cutoff", null="what was retrieved is not observed"
    )
    in_context: pl.Boolean = column(
        "an authorised member was put in front of the model", null="the context is not observed"
    )
    context_rank: pl.Int64 = column(
        "its 1-based place in the context", null="not in the context, or not observed"
    )
    context_size: pl.Int64 = column(
        "distinct IDs in the context", null="the context is not observed"
    )
    cited: pl.Boolean = column("an authorised member was cited", null="citations are not observed")
    delivered: pl.Boolean = column(
        "in the context; where that is not observed, in the first k",
        null="neither is observed, or the case failed",
    )
    lost_at: pl.String = column(
        "where an undelivered requirement was lost", null="delivered, or that is not known"
    )


class Claims(Table):
    """`claims/part-*.parquet`: a row per proposed claim, and per required one not proposed."""

    run_id: pl.String = column("the run", required=True)
    case_id: pl.String = column("the case", required=True)
    claim_id: pl.String = column("the claim, unique in its case", required=True)
    proposed: pl.Boolean = column("the answer makes it", required=True)
    required: pl.Boolean = column("a complete answer makes it", required=True)
    supported: pl.Boolean = column(
        "the label in force; null where there is none, people dispute it or the claim is not made"
    )
    label_source: pl.String = column(
        "inline, review or judge: where that label is from", null="there is no label in force"
    )
    disputed: pl.Boolean = column("people disagree and nobody adjudicated", required=True)
    conflict: pl.Boolean = column(
        "the settled review overrides another inline label", required=True
    )
    cited_ids: pl.List = column("what the claim cites", inner=pl.String, null="not given")
    citation_valid: pl.Boolean = column(
        "it cites something, all of it supplied", null="not observed, or the claim is not made"
    )
    hallucination: pl.String = column(
        "of an unsupported claim: intrinsic (cites supplied evidence) or extrinsic (cites none); "
        "null where its citations are not given"
    )
    text: pl.String = column("what it says", null="not given")


class Rejects(Table):
    """`rejects/part-*.parquet`: a row per broken rule of a record set aside."""

    run_id: pl.String = column("the run", required=True)
    source_file: pl.String = column("the input file", required=True)
    line: pl.Int64 = column("physical line where the record starts", required=True)
    case_id: pl.String = column("the case, where it could be read", null="it could not be read")
    field: pl.String = column("the field at fault", required=True)
    rule: pl.String = column("the rule's stable ID", required=True)
    message: pl.String = column("what is wrong and what to do", required=True)
    raw: pl.String = column(
        r"the record as it stood; bytes that are not UTF-8 as \xNN", null="never otherwise"
    )


class Summary(Table):
    """`summary.parquet`: a row per slice value, metric and cutoff."""

    run_id: pl.String = column("the run", required=True)
    slice: pl.String = column(
        "all, split, tag, answerable or a field named with --slice", required=True
    )
    slice_value: pl.String = column(
        "the value; `…` sums what is beyond 1,000 values", required=True
    )
    metric: pl.String = column("the metric's base name", required=True)
    k: pl.Int64 = column("the cutoff, null when there is none")
    mean: pl.Float64 = column(
        "sum over scored cases ÷ n_scored: the macro average",
        null="no case was scored: undefined, not 0",
    )
    weighted_mean: pl.Float64 = column(
        "the same, weighted by the cases' weights", null="no case was scored"
    )
    pooled: pl.Float64 = column(
        "numerator ÷ denominator: the micro average of a ratio",
        null="no ratio, or a denominator of 0",
    )
    sum: pl.Float64 = column(
        "sum of the values; unauthorized counts include failed cases", null="nothing to sum"
    )
    numerator: pl.Int64 = column(
        "sum of a ratio's numerators", null="no ratio, or no case was scored"
    )
    denominator: pl.Int64 = column(
        "sum of a ratio's denominators", null="no ratio, or no case was scored"
    )
    n_scored: pl.Int64 = column("cases in the mean", required=True)
    n_undefined: pl.Int64 = column("cases run for which the metric is undefined", required=True)
    n_not_run: pl.Int64 = column("cases that failed", required=True)
    n_cases: pl.Int64 = column("n_scored + n_undefined + n_not_run", required=True)


class Stages(Table):
    """`stages.parquet`: a row per slice value, stage and break point."""

    run_id: pl.String = column("the run", required=True)
    slice: pl.String = column("as in the summary", required=True)
    slice_value: pl.String = column("as in the summary", required=True)
    stage: pl.String = column("where cases broke, or pass", required=True)
    break_point: pl.String = column("how; null for a pass")
    n: pl.Int64 = column("cases", required=True)
    share: pl.Float64 = column("of the cases run; null for those that were not")


class Findings(Table):
    """`findings.parquet`: a row per kind of finding."""

    run_id: pl.String = column("the run", required=True)
    finding: pl.String = column("the kind", required=True)
    n: pl.Int64 = column("cases that show it", required=True)
    example_case_ids: pl.List = column("the first of them", required=True, inner=pl.String)


class Gates(Table):
    """`gates.parquet`: a row per gate."""

    run_id: pl.String = column("the run", required=True)
    gate: pl.String = column("the gate as given", required=True)
    value: pl.Float64 = column("what was measured, null when nothing was")
    threshold: pl.Float64 = column("what it is held against", required=True)
    passed: pl.Boolean = column("the verdict", required=True)
    reason: pl.String = column("in words", required=True)


class Intervals(Table):
    """`intervals.parquet`, with `--intervals`: a row per slice value, metric and cutoff."""

    run_id: pl.String = column("the run", required=True)
    slice: pl.String = column("all, or a field named with --slice", required=True)
    slice_value: pl.String = column("as in the summary", required=True)
    metric: pl.String = column("the metric's base name", required=True)
    k: pl.Int64 = column("the cutoff, null when there is none")
    mean: pl.Float64 = column("as in the summary", required=True)
    low: pl.Float64 = column("2.5th percentile over resampled groups; null where undefined")
    high: pl.Float64 = column("97.5th percentile; null where undefined")
    n_scored: pl.Int64 = column("cases in the mean", required=True)
    n_units: pl.Int64 = column("what is drawn: groups, and cases without one", required=True)
    samples: pl.Int64 = column("resamples drawn", null="there is no interval")
    seed: pl.Int64 = column("of the resamples", null="there is no interval")
    note: pl.String = column("why there is no interval", null="there is one")
