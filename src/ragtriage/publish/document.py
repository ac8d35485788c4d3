"""The report as one document: what report.json holds, and all that any renderer may read.

Types only. `pipeline` fills it, the renderers beside this module (HTML, Markdown, JSON,
terminal) show it; none of them computes a number, so no two formats can disagree.
"""

from __future__ import annotations

from typing import Any, TypedDict


class InputEntry(TypedDict):
    """One input file, as read."""

    role: str
    path: str
    sha256: str
    bytes: int
    lines: int
    accepted: int
    set_aside: int
    blank: int


class LineCounts(TypedDict):
    """Lines read = accepted + set aside + blank."""

    read: int
    accepted: int
    set_aside: int
    blank: int


class RunEntry(TypedDict):
    """What was run, and on what. `written`: a folder holds it (no with `--no-write`)."""

    run_id: str
    status: str
    version: str
    schema_version: str
    started: str
    contract: str
    cutoffs: list[int]
    normalizer: str
    on_invalid: str
    no_text: bool
    written: bool
    n_cases: int
    n_not_run: int
    n_pass: int
    n_lucky: int
    n_unlabelled: int
    n_disputed: int
    context_observed: int
    lines: LineCounts
    inputs: list[InputEntry]
    mapping: dict[str, str]
    notes: list[str]


class SummaryRow(TypedDict):
    """One metric in one slice: a row of summary.parquet, and the metric's kind.

    `kind`: ratio, score, count or boolean, as the metric is declared.
    """

    run_id: str
    slice: str
    slice_value: str
    metric: str
    kind: str
    k: int | None
    mean: float | None
    weighted_mean: float | None
    pooled: float | None
    sum: float | None
    numerator: int | None
    denominator: int | None
    n_scored: int
    n_undefined: int
    n_not_run: int
    n_cases: int


class IntervalRow(TypedDict):
    """How far one mean could move with other cases of the same kind; null with a note."""

    slice: str
    slice_value: str
    metric: str
    k: int | None
    mean: float
    low: float | None
    high: float | None
    n_scored: int
    n_units: int
    samples: int | None
    seed: int | None
    note: str | None


class StageRow(TypedDict):
    """How many cases of a slice broke at one stage and break point: a row of stages.parquet."""

    run_id: str
    slice: str
    slice_value: str
    stage: str
    break_point: str | None
    n: int
    share: float | None


class FindingRow(TypedDict):
    """One kind of finding."""

    finding: str
    n: int
    example_case_ids: list[str]
    meaning: str


class GateRow(TypedDict):
    """One gate and its verdict."""

    gate: str
    value: float | None
    threshold: float
    passed: bool
    reason: str


class NotObserved(TypedDict):
    """A metric without rows, and the fields it would need."""

    metric: str
    needs: list[str]


class AbstentionRow(TypedDict):
    """One row of the answerable x abstained table (cases that were run and settled)."""

    answerable: str
    answered: int
    abstained: int
    unknown: int


class DisputedRow(TypedDict):
    """One thing on which people disagree; `target` says what: a claim, an answer, …."""

    target: str
    case_id: str
    claim_id: str | None
    evidence_id: str | None
    supporters: list[str]
    opponents: list[str]


class ReviewsEntry(TypedDict):
    """What reviews came to in this run.

    `states`: things reviewed by state: agreed, adjudicated, disputed, open. `claim_labels`:
    proposed claims by where their label is from: review, inline, judge or none. `conflicts`:
    inline labels that a settled review overrides.
    """

    states: dict[str, int]
    claim_labels: dict[str, int]
    conflicts: int
    judge: str | None
    disputed: list[DisputedRow]
    disputed_omitted: int


class FunnelRow(TypedDict):
    """Requirements of the cases run that are left after one step from source to answer.

    `step`: required, corpus, retrieved, top_k, context, cited or answered. `lost`: between the
    step before and this one, `lost_by` as the ledger names it (`uncited` and `wrong-answer` at
    the last two). `unknown`: the record does not say, followed no further. `unrecorded`: of
    those left, for how many this step was not recorded.
    """

    step: str
    left: int
    lost: int
    lost_by: dict[str, int]
    unknown: int
    unrecorded: int


class ClaimRow(TypedDict):
    """One claim of a case, proposed by the answer or required and not proposed."""

    claim_id: str
    proposed: bool
    required: bool
    supported: bool | None
    label_source: str | None
    disputed: bool
    cited_ids: list[str] | None
    citation_valid: bool | None
    text: str | None


class EvidenceRow(TypedDict):
    """One requirement of a case: the ledger's row."""

    requirement: int
    ids: list[str]
    in_source: bool | None
    in_index: bool | None
    in_chunks: bool | None
    in_candidates: bool | None
    filtered: bool | None
    retrieved_rank: int | None
    retrieved_id: str | None
    in_top_k: bool | None
    in_context: bool | None
    context_rank: int | None
    context_size: int | None
    cited: bool | None
    delivered: bool | None
    lost_at: str | None


class CaseEntry(TypedDict):
    """One case: what was asked, what came back, where it broke.

    `slices`: its value of each field named with `--slice`. `evidence_omitted`: requirements
    beyond those of `evidence`, to be found in the ledger.
    """

    case_id: str
    source_file: str
    line: int
    question: str | None
    split: str | None
    tags: list[str] | None
    answerable: bool | None
    stage: str
    break_point: str | None
    missing: list[str] | None
    lucky: bool | None
    label_source: str | None
    answer_label: bool | None
    context_observed: bool
    findings: list[str]
    unsupported_claims: list[str] | None
    omitted_claims: list[str] | None
    disputed_claims: list[str] | None
    answer_disputed: bool
    near_misses: list[dict[str, str]] | None
    next_check: str | None
    error: str | None
    ambiguity: str | None
    expected_answers: list[str] | None
    answer: str | None
    abstained: bool | None
    retrieved_ids: list[str] | None
    context_ids: list[str] | None
    cited_ids: list[str] | None
    metrics: dict[str, float | int | bool | None]
    evidence: list[EvidenceRow]
    evidence_omitted: int
    claims: list[ClaimRow]
    slices: dict[str, str]


class Report(TypedDict):
    """The whole document. `failures`: why the run did not pass, empty when it did."""

    run: RunEntry
    failures: list[str]
    about: dict[str, Any]
    summary: list[SummaryRow]
    stages: list[StageRow]
    funnel: list[FunnelRow]
    funnel_bypassed: int
    abstention: list[AbstentionRow]
    findings: list[FindingRow]
    rejects: dict[str, int]
    gates: list[GateRow]
    reviews: ReviewsEntry | None
    intervals: list[IntervalRow] | None
    not_observed: list[NotObserved]
    definitions: dict[str, str]
    limits: list[str]
    cases: list[CaseEntry]
    cases_omitted: int
