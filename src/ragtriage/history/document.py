"""The history as one document: all that its page may read."""

from __future__ import annotations

from typing import TypedDict


class GateEntry(TypedDict):
    """One gate of one run."""

    gate: str
    value: float | None
    threshold: float
    passed: bool
    reason: str


class RunEntry(TypedDict):
    """One run; `n_pass`: cases whose stage is pass."""

    run_id: str
    started: str
    version: str
    contract: str
    cutoffs: list[int]
    n_cases: int
    n_not_run: int
    n_pass: int
    passed: bool
    accepted: bool
    gates: list[GateEntry]


class MetricSeries(TypedDict):
    """One metric of one slice value: a mean and its cases scored per run, null where not there."""

    mean: list[float | None]
    n: list[int | None]


class SliceSeries(TypedDict):
    """One slice value over all runs.

    `cases`: cases of the slice per run, null in a run without it. `metrics`: by `recall@5`.
    `stages`: cases per run by stage, null in a run without the slice.
    """

    slice: str
    value: str
    cases: list[int | None]
    metrics: dict[str, MetricSeries]
    stages: dict[str, list[int | None]]


class GateHistory(TypedDict):
    """One gate over all runs that had it; `last_failed`: the newest run in which it failed."""

    gate: str
    n_runs: int
    n_failed: int
    passed_last: bool
    last_failed: str | None


class RegressedCase(TypedDict):
    """A case that passed in the base run and not in the candidate."""

    case_id: str
    base_stage: str | None
    candidate_stage: str | None


class ComparisonEntry(TypedDict):
    """One comparison that found regressions, with the first of them."""

    name: str
    started: str
    base: str
    candidate: str
    passed: bool
    n_regressed: int
    n_paired: int
    cases: list[RegressedCase]


class OtherEntry(TypedDict):
    """A folder that is shown by name only, and why."""

    name: str
    kind: str
    reason: str


class HistoryDocument(TypedDict):
    """Runs in order of time; every list in `slices` is as long as `runs`."""

    runs: list[RunEntry]
    slices: list[SliceSeries]
    slices_omitted: int
    gates: list[GateHistory]
    comparisons: list[ComparisonEntry]
    n_comparisons: int
    n_with_regressions: int
    n_agreements: int
    n_leakages: int
    others: list[OtherEntry]
    notes: list[str]
