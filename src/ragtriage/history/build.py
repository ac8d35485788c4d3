"""Builds the one document of a history. Arranges what runs came to; computes no metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import polars as pl

from ragtriage.history.document import (
    ComparisonEntry,
    GateEntry,
    GateHistory,
    HistoryDocument,
    OtherEntry,
    RunEntry,
)
from ragtriage.history.series import choose_slices, slice_series
from ragtriage.stages import PASS

# Means in the page, all runs and slices together: some eight megabytes.
BUDGET = 800_000


@dataclass(frozen=True)
class RunTables:
    """What all runs have in their small tables; `run` names the run in each."""

    summary: pl.DataFrame
    stages: pl.DataFrame
    gates: pl.DataFrame


@dataclass(frozen=True)
class Beside:
    """What stands beside the runs: comparisons with regressions, newest first, and the rest."""

    comparisons: list[ComparisonEntry]
    n_comparisons: int
    n_with_regressions: int
    n_agreements: int
    n_leakages: int
    others: list[OtherEntry]
    notes: list[str]


def build_history_document(
    manifests: Sequence[dict[str, Any]],
    tables: RunTables,
    beside: Beside,
    accepted: str | None,
    budget: int = BUDGET,
) -> HistoryDocument:
    """The whole document.

    Args:
        manifests: of the runs to show, oldest first.
        tables: their small tables.
        beside: what else stands in the folder.
        accepted: the accepted run's ID.
        budget: how many means the series may hold together; `all` is always whole.
    """
    gates = _gates(tables.gates)
    passes = _passes(tables.stages)
    names = [manifest["run_id"] for manifest in manifests]
    chosen, omitted = choose_slices(tables.summary, tables.stages, budget)
    return HistoryDocument(
        runs=[
            _run(manifest, gates.get(manifest["run_id"], []), passes, accepted)
            for manifest in manifests
        ],
        slices=slice_series(names, tables.summary, tables.stages, chosen),
        slices_omitted=omitted,
        gates=_gate_history(names, gates),
        comparisons=beside.comparisons,
        n_comparisons=beside.n_comparisons,
        n_with_regressions=beside.n_with_regressions,
        n_agreements=beside.n_agreements,
        n_leakages=beside.n_leakages,
        others=beside.others,
        notes=beside.notes,
    )


def _run(
    manifest: dict[str, Any],
    gates: list[GateEntry],
    passes: dict[str, int],
    accepted: str | None,
) -> RunEntry:
    run_id = manifest["run_id"]
    return RunEntry(
        run_id=run_id,
        started=manifest["started"],
        version=manifest["version"],
        contract=manifest["contract"],
        cutoffs=manifest["cutoffs"],
        n_cases=manifest["rows"]["cases"],
        n_not_run=manifest["rows"]["not_run"],
        n_pass=passes.get(run_id, 0),
        passed=manifest["passed"],
        accepted=run_id == accepted,
        gates=gates,
    )


def _passes(stages: pl.DataFrame) -> dict[str, int]:
    passed = stages.filter((pl.col("slice") == "all") & (pl.col("stage") == PASS))
    return dict(passed.group_by("run").agg(pl.col("n").sum()).iter_rows())


def _gates(gates: pl.DataFrame) -> dict[str, list[GateEntry]]:
    """Gates by run, in the order of the run."""
    found: dict[str, list[GateEntry]] = {}
    for row in gates.iter_rows(named=True):
        found.setdefault(row.pop("run"), []).append(cast("GateEntry", row))
    return found


def _gate_history(names: Sequence[str], gates: dict[str, list[GateEntry]]) -> list[GateHistory]:
    """Every gate that ever was: those that failed last first, then by name."""
    found: dict[str, GateHistory] = {}
    for name in names:
        for verdict in gates.get(name, []):
            entry = found.setdefault(
                verdict["gate"],
                GateHistory(
                    gate=verdict["gate"], n_runs=0, n_failed=0, passed_last=True, last_failed=None
                ),
            )
            entry["n_runs"] += 1
            entry["passed_last"] = verdict["passed"]
            if not verdict["passed"]:
                entry["n_failed"] += 1
                entry["last_failed"] = name
    return sorted(found.values(), key=lambda entry: (entry["passed_last"], entry["gate"]))
