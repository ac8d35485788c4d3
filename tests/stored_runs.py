"""Folders of runs made cheaply: small tables of the models' shape, no evaluation."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandera.polars as pa
import polars as pl

from ragtriage.schemas import results
from ragtriage.schemas.inputs import dtypes
from ragtriage.version import __version__

FIRST = datetime(2024, 1, 1, 3, tzinfo=UTC)


def frame_of(model: type[pa.DataFrameModel], rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows as the model has them; what a row leaves out is null."""
    types = dtypes(model)
    return pl.DataFrame([{n: row.get(n) for n in types} for row in rows], schema=types)


def mean_row(
    metric: str, k: int | None, mean: float | None, n: int, of: int, **where: str
) -> dict[str, Any]:
    """A row of the summary."""
    return {
        "slice": where.get("slice", "all"),
        "slice_value": where.get("value", "all"),
        "metric": metric,
        "k": k,
        "mean": mean,
        "n_scored": n,
        "n_undefined": of - n,
        "n_not_run": 0,
        "n_cases": of,
    }


def stage_row(stage: str, n: int, of: int, **where: str) -> dict[str, Any]:
    """A row of the stages."""
    return {
        "slice": where.get("slice", "all"),
        "slice_value": where.get("value", "all"),
        "stage": stage,
        "break_point": None if stage == "pass" else stage,
        "n": n,
        "share": n / of,
    }


def gate_row(gate: str, value: float | None, threshold: float, *, passed: bool) -> dict[str, Any]:
    """A row of the gates."""
    reason = f"{value} {'meets' if passed else 'does not meet'} >= {threshold}"
    return {"gate": gate, "value": value, "threshold": threshold, "passed": passed} | {
        "reason": reason
    }


def store_run(
    top: Path,
    name: str,
    /,
    *,
    started: datetime = FIRST,
    summary: list[dict[str, Any]] | None = None,
    stages: list[dict[str, Any]] | None = None,
    gates: list[dict[str, Any]] | None = None,
    n_cases: int = 10,
    changes: dict[str, Any] | None = None,
    **manifest: Any,
) -> Path:
    """A finished run's folder, without cases or reports; `changes`, `manifest`: its entries."""
    folder = top / name
    folder.mkdir(parents=True)
    gates = gates or []
    tables: dict[str, tuple[type[pa.DataFrameModel], list[dict[str, Any]]]] = {
        "summary": (results.Summary, summary or [mean_row("recall", 5, 0.5, 8, n_cases)]),
        "stages": (results.Stages, stages or [stage_row("pass", n_cases, n_cases)]),
        "gates": (results.Gates, gates),
        "findings": (results.Findings, []),
    }
    for table, (model, rows) in tables.items():
        tagged = [{"run_id": name, **row} for row in rows]
        frame_of(model, tagged).write_parquet(folder / f"{table}.parquet")
    entries = {
        "run_id": name,
        "status": "complete",
        "passed": all(gate["passed"] for gate in gates),
        "version": __version__,
        "schema_version": results.SCHEMA_VERSION,
        "started": f"{started:%Y-%m-%dT%H:%M:%SZ}",
        "contract": "answer",
        "cutoffs": [5],
        "rows": {"cases": n_cases, "not_run": 0},
    }
    entries |= manifest | (changes or {})
    (folder / "manifest.json").write_text(json.dumps(entries), encoding="utf-8")
    return folder


def store_many(top: Path, n: int) -> None:
    """A year's nightly runs and more: some fail a gate, some lack a metric, slices come and go."""
    for day in range(n):
        started = FIRST + timedelta(days=day)
        summary, stages = [], []
        for place, (slice_, value) in enumerate(_SLICES[: 9 if day < n // 2 else 12]):
            of = 40 if slice_ == "all" else 12 + place
            for number, (metric, k) in enumerate(_METRICS):
                mean = _wave(day, place, number)
                undefined = metric == "citation_validity" and day % 50 < 4
                scored = 0 if undefined else of - number % 5
                row = mean_row(
                    metric, k, None if undefined else mean, scored, of, slice=slice_, value=value
                )
                summary.append(row)
            retrieval = int(of * (1 - _wave(day, place, 0)) / 2)
            generation = (day + place) % 5
            counts = {"retrieval": retrieval, "generation": generation, "citation": day % 3}
            counts["pass"] = of - sum(counts.values())
            stages += [
                stage_row(stage, c, of, slice=slice_, value=value)
                for stage, c in counts.items()
                if c
            ]
        recall = summary[0]["mean"]
        gates = [
            gate_row("recall@5 >= 0.6", recall, 0.6, passed=recall >= 0.6),
            gate_row("n.recall@5 >= 30", 40, 30, passed=True),
        ]
        store_run(
            top,
            f"{started:%Y%m%dT%H%M%SZ}-{day:08x}",
            started=started,
            summary=summary,
            stages=stages,
            gates=gates,
            n_cases=40,
        )


_METRICS: list[tuple[str, int | None]] = [
    *((name, k) for name in ("recall", "precision", "ndcg", "hit") for k in (5, 10, 20)),
    ("reciprocal_rank", None),
    ("citation_coverage", None),
    ("citation_validity", None),
    ("answer_match", None),
    ("appropriate_abstention", None),
    ("over_refusal", None),
]
_SLICES = [
    ("all", "all"),
    ("split", "development"),
    ("split", "test"),
    ("answerable", "true"),
    ("answerable", "false"),
    *(
        ("tag", f"topic={name}")
        for name in ("loans", "fees", "rooms", "cards", "events", "late", "x")
    ),
]


def _wave(day: int, place: int, number: int) -> float:
    """Something that rises, sways and stays within 0 and 1; no chance in it."""
    sway = ((day * 7 + place * 13 + number * 29) % 23) / 230
    return min(1.0, 0.5 + day / 4000 + sway + place / 100)
