"""Builds the one document of a comparison. Arranges what was computed; computes nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast

from ragtriage.comparison.coverage import together
from ragtriage.comparison.result import Result
from ragtriage.metrics.registry import REGISTRY, Column
from ragtriage.publish.comparison.document import (
    ChangedCase,
    ComparisonEntry,
    ComparisonReport,
    CoverageRow,
    SideEntry,
    StateEntry,
    ValueRow,
)
from ragtriage.read.runs import StoredRun
from ragtriage.schemas.results import SCHEMA_VERSION
from ragtriage.version import __version__

SIDES = ("base", "candidate")


def build_report(result: Result, started: str) -> ComparisonReport:
    """The whole document."""
    shown = result.shown.height
    return ComparisonReport(
        comparison=_entry(result, started),
        failures=list(result.decision.failures),
        changed=result.changed,
        differences=[
            {
                "difference": found.name,
                "base": found.base,
                "candidate": found.candidate,
                "n": found.n,
                "example_case_ids": found.case_ids,
            }
            for found in result.differences
        ],
        about=[
            {"key": key, "base": one, "candidate": other}
            for key, (one, other) in result.about.changed.items()
        ],
        combined_change=result.about.combined,
        gates=cast("Any", [asdict(verdict) for verdict in result.gates]),
        coverage=[_coverage(result, place) for place in range(len(result.coverage))],
        lost_together=[
            {"metrics": lost.metrics, "n_lost": lost.n, "example_case_ids": lost.case_ids}
            for lost in together(result.coverage)
        ],
        cases=_cases(result),
        cases_omitted=result.cases.height - shown,
        transitions=cast("Any", result.transitions.to_dicts()),
        deltas=cast(
            "Any",
            [
                row | {"direction": REGISTRY[row["metric"]].better}
                for row in result.deltas.to_dicts()
            ],
        ),
        tests=None if result.tests is None else result.tests.to_dicts(),
        resolution=result.resolution,
        intervals=None if result.intervals is None else result.intervals.to_dicts(),
        definitions={column.metric.name: column.metric.about for column in result.columns},
    )


def _entry(result: Result, started: str) -> ComparisonEntry:
    base, candidate = result.base.manifest, result.candidate.manifest
    return ComparisonEntry(
        run_id=result.run_id,
        status=result.decision.status,
        version=__version__,
        schema_version=SCHEMA_VERSION,
        started=started,
        base=_side(result.base, hidden=result.request.no_text),
        candidate=_side(result.candidate, hidden=result.request.no_text),
        contract=base["contract"],
        cutoffs=[k for k in base["cutoffs"] if k in candidate["cutoffs"]],
        normalizer=base["normalizer"],
        allow=sorted(result.request.allow),
        written=result.request.write,
        n_paired=result.n_paired,
        n_changed=result.cases.height,
        notes=result.notes,
    )


def _side(run: StoredRun, *, hidden: bool) -> SideEntry:
    rows = run.manifest["rows"]
    return SideEntry(
        run_id=run.run_id,
        started=str(run.manifest.get("started")),
        n_cases=rows["cases"],
        n_not_run=rows.get("not_run", 0),
        no_text=hidden or bool(run.manifest["config"].get("no_text")),
    )


def _coverage(result: Result, place: int) -> CoverageRow:
    lost = result.coverage[place]
    return CoverageRow(
        metric=lost.column.metric.name,
        k=lost.column.k,
        n_lost=lost.n,
        n_base=lost.n_base,
        n_candidate=lost.n_candidate,
        example_case_ids=lost.case_ids,
    )


def _cases(result: Result) -> list[ChangedCase]:
    """The first changed cases, in the order of the table."""
    details = result.details.rows_by_key("case_id", named=True, unique=True)
    return [
        ChangedCase(
            case_id=row["case_id"],
            change=row["change"],
            question=details[row["case_id"]]["question"],
            base=_state(row, details[row["case_id"]], "base"),
            candidate=_state(row, details[row["case_id"]], "candidate"),
            moved=row["moved"],
            metrics=_values(row, result.columns),
        )
        for row in result.shown.iter_rows(named=True)
    ]


def _state(row: dict[str, Any], details: dict[str, Any], side: str) -> StateEntry:
    return StateEntry(
        stage=row[f"{side}_stage"],
        break_point=row[f"{side}_break_point"],
        answer=details[f"{side}_answer"],
        error=details[f"{side}_error"],
    )


def _values(row: dict[str, Any], columns: list[Column]) -> list[ValueRow]:
    """Metrics whose value differs; a case of one run only has nothing to differ from."""
    if row["base_stage"] is None or row["candidate_stage"] is None:
        return []
    found = []
    for column in columns:
        one, other = (row[f"{column.name}_{side}"] for side in SIDES)
        if one != other:
            label = column.metric.name + ("" if column.k is None else f"@{column.k}")
            verdict = _verdict(row, column, one, other)
            found.append(ValueRow(metric=label, base=one, candidate=other, verdict=verdict))
    return found


def _verdict(row: dict[str, Any], column: Column, one: Any, other: Any) -> str:
    for verdict in ("better", "worse", "lost"):
        if column.name in row[f"metrics_{verdict}"]:
            return verdict
    return "gained" if one is None and other is not None else "changed"
