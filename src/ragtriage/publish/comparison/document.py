"""The comparison as one document: what report.json holds, and all that any renderer may read."""

from __future__ import annotations

from typing import Any, TypedDict

from ragtriage.publish.document import GateRow

Value = float | int | bool | None


class SideEntry(TypedDict):
    """One of the two runs. `no_text`: its texts are left out, there or here."""

    run_id: str
    started: str
    n_cases: int
    n_not_run: int
    no_text: bool


class ComparisonEntry(TypedDict):
    """What was compared, and how."""

    run_id: str
    status: str
    version: str
    schema_version: str
    started: str
    base: SideEntry
    candidate: SideEntry
    contract: str
    cutoffs: list[int]
    normalizer: str
    allow: list[str]
    written: bool
    n_paired: int
    n_changed: int
    notes: list[str]


class DifferenceRow(TypedDict):
    """One named difference that was allowed."""

    difference: str
    base: str
    candidate: str
    n: int
    example_case_ids: list[str]


class AboutRow(TypedDict):
    """A key of the about table that differs."""

    key: str
    base: str | None
    candidate: str | None


class CoverageRow(TypedDict):
    """A metric that lost scored cases."""

    metric: str
    k: int | None
    n_lost: int
    n_base: int
    n_candidate: int
    example_case_ids: list[str]


class LostTogetherRow(TypedDict):
    """Metrics that lost the same scored cases."""

    metrics: list[str]
    n_lost: int
    example_case_ids: list[str]


class TransitionRow(TypedDict):
    """How many cases went from one stage to another, or stayed."""

    base_stage: str
    candidate_stage: str
    n: int


class DeltaRow(TypedDict):
    """One metric in one slice; the columns of deltas.parquet, and the metric's direction."""

    slice: str
    slice_value: str
    metric: str
    k: int | None
    direction: str
    base_mean: float | None
    candidate_mean: float | None
    delta: float | None
    n_paired: int
    better: int | None
    worse: int | None
    tied: int
    n_base_only: int
    n_candidate_only: int


class ValueRow(TypedDict):
    """One metric of a case that changed; `verdict`: better, worse, lost, gained or changed."""

    metric: str
    base: Value
    candidate: Value
    verdict: str


class StateEntry(TypedDict):
    """A case in one run."""

    stage: str | None
    break_point: str | None
    answer: str | None
    error: str | None


class ChangedCase(TypedDict):
    """One case that changed: both states, and what moved."""

    case_id: str
    change: str
    question: str | None
    base: StateEntry
    candidate: StateEntry
    moved: list[str]
    metrics: list[ValueRow]


class ComparisonReport(TypedDict):
    """The whole document."""

    comparison: ComparisonEntry
    failures: list[str]
    changed: dict[str, int]
    differences: list[DifferenceRow]
    about: list[AboutRow]
    combined_change: bool
    gates: list[GateRow]
    coverage: list[CoverageRow]
    lost_together: list[LostTogetherRow]
    cases: list[ChangedCase]
    cases_omitted: int
    transitions: list[TransitionRow]
    deltas: list[DeltaRow]
    tests: list[dict[str, Any]] | None
    resolution: str | None
    intervals: list[dict[str, Any]] | None
    definitions: dict[str, str]
