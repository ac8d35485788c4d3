"""Every table a comparison writes, beside `results`: part of the same versioned contract.

Metric columns of the case table (`<column>_base`, `<column>_candidate`) are appended from the
metric registry, outside this folder.
"""

from __future__ import annotations

import polars as pl

from ragtriage.schemas.fields import Table
from ragtriage.schemas.fields import field as column


class Transitions(Table):
    """`transitions.parquet`: a row per pair of stages that occurs; cases in both runs only."""

    run_id: pl.String = column("the comparison", required=True)
    base_stage: pl.String = column("the case's stage in the base run", required=True)
    candidate_stage: pl.String = column("its stage in the candidate", required=True)
    n: pl.Int64 = column("cases that went this way", required=True)


class Deltas(Table):
    """`deltas.parquet`: a row per slice value, metric and cutoff; both means over one set."""

    run_id: pl.String = column("the comparison", required=True)
    slice: pl.String = column("as in the summary, by the base run's labels", required=True)
    slice_value: pl.String = column("as in the summary", required=True)
    metric: pl.String = column("the metric's base name", required=True)
    k: pl.Int64 = column("the cutoff, null when there is none")
    base_mean: pl.Float64 = column("mean over the cases scored in both runs; null over none")
    candidate_mean: pl.Float64 = column(
        "the same of the candidate, over the same cases", null="no case is scored in both runs"
    )
    delta: pl.Float64 = column(
        "candidate less base: the mean of the paired differences",
        null="no case is scored in both runs",
    )
    n_paired: pl.Int64 = column("cases scored in both runs", required=True)
    better: pl.Int64 = column("of these, cases that got better; null without a direction")
    worse: pl.Int64 = column("cases that got worse; null without a direction")
    tied: pl.Int64 = column("cases with equal values", required=True)
    n_base_only: pl.Int64 = column("cases scored in the base run alone", required=True)
    n_candidate_only: pl.Int64 = column("cases scored in the candidate alone", required=True)


class ChangedCases(Table):
    """`cases.parquet`: a row per case that changed or is in one run only; regressions first."""

    run_id: pl.String = column("the comparison", required=True)
    case_id: pl.String = column("the case", required=True)
    change: pl.String = column(
        "regressed, stage, worse, changed, better, fixed, base-only or candidate-only",
        required=True,
    )
    base_stage: pl.String = column("null where the base run has no such case")
    base_break_point: pl.String = column("how it broke there; null for a pass")
    candidate_stage: pl.String = column("null where the candidate has no such case")
    candidate_break_point: pl.String = column("how it broke there; null for a pass")
    metrics_better: pl.List = column(
        "columns that got better", null="the case is in one run only", inner=pl.String
    )
    metrics_worse: pl.List = column(
        "columns that got worse", null="the case is in one run only", inner=pl.String
    )
    metrics_lost: pl.List = column(
        "columns no longer scored", null="the case is in one run only", inner=pl.String
    )
    moved: pl.List = column(
        "what moved in the ledger, in words", null="the case is in one run only", inner=pl.String
    )


class Tests(Table):
    """`tests.parquet`, with `--test`: a row per member of the declared family."""

    run_id: pl.String = column("the comparison", required=True)
    slice: pl.String = column("as in the deltas", required=True)
    slice_value: pl.String = column("as in the deltas", required=True)
    metric: pl.String = column("the metric's base name", required=True)
    k: pl.Int64 = column("the cutoff, null when there is none")
    n_cases: pl.Int64 = column("cases scored in both runs", required=True)
    n_units: pl.Int64 = column("what is flipped: groups, and cases without one", required=True)
    n_differing: pl.Int64 = column("units whose sum differs between the runs", required=True)
    method: pl.String = column(
        "exact, monte-carlo, or none where nothing was tested", required=True
    )
    samples: pl.Int64 = column("sign patterns looked at", null="nothing was tested")
    seed: pl.Int64 = column(
        "of the Monte Carlo patterns", null="the test is exact, or there is none"
    )
    p: pl.Float64 = column("two-sided; null where undefined")
    p_adjusted: pl.Float64 = column(
        "after Holm's correction over the defined tests", null="p is null"
    )
    p_smallest: pl.Float64 = column(
        "the smallest p these differing units could give", null="p is null"
    )
    note: pl.String = column("why there is no p", null="there is one")


class Intervals(Table):
    """`delta-intervals.parquet`, with `--intervals`: a row per member of the same family."""

    run_id: pl.String = column("the comparison", required=True)
    slice: pl.String = column("as in the deltas", required=True)
    slice_value: pl.String = column("as in the deltas", required=True)
    metric: pl.String = column("the metric's base name", required=True)
    k: pl.Int64 = column("the cutoff, null when there is none")
    delta: pl.Float64 = column("as in the deltas", null="no case is scored in both runs")
    low: pl.Float64 = column("2.5th percentile over resampled groups; null where undefined")
    high: pl.Float64 = column("97.5th percentile; null where undefined")
    n_units: pl.Int64 = column("what is drawn: groups, and cases without one", required=True)
    samples: pl.Int64 = column("resamples drawn", null="there is no interval")
    seed: pl.Int64 = column("of the resamples", null="there is no interval")
    note: pl.String = column("why there is no interval", null="there is one")
