"""A comparison's way onto disk: tables, reports, manifest; a folder, whole or absent."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ragtriage.comparison.result import Result
from ragtriage.publish.comparison.document import ComparisonReport
from ragtriage.publish.folder import RunFolder, to_json
from ragtriage.tally import SHOWN_CASES


def manifest(result: Result, report: ComparisonReport) -> dict[str, Any]:
    """What was compared, with what, and the verdict."""
    entry = report["comparison"]
    return {
        "run_id": entry["run_id"],
        "kind": "comparison",
        "status": "complete",
        "passed": result.decision.passed,
        "version": entry["version"],
        "schema_version": entry["schema_version"],
        "started": entry["started"],
        "base": entry["base"] | {"inputs": result.base.manifest["inputs"]},
        "candidate": entry["candidate"] | {"inputs": result.candidate.manifest["inputs"]},
        "config": result.request.model_dump(by_alias=True, exclude={"out", "evaluate"}),
        "cutoffs": entry["cutoffs"],
        "contract": entry["contract"],
        "normalizer": entry["normalizer"],
        "differences": report["differences"],
        "about": report["about"],
        "combined_change": report["combined_change"],
        "gates": report["gates"],
        "changed": report["changed"],
        "rows": {"paired": entry["n_paired"], "changed": entry["n_changed"]},
    }


def write_result(result: Result, report: ComparisonReport, folder: RunFolder) -> None:
    """Write all of it and let the folder appear."""
    from ragtriage.publish.comparison import html, markdown  # noqa: PLC0415 - bring Jinja

    with ThreadPoolExecutor(max_workers=1) as aside:
        # The one large table is written while the reports are put into words.
        large = aside.submit(folder.write_blocks, "cases.parquet", result.cases.blocks())
        for name in ("transitions", "deltas"):
            folder.write_table(f"{name}.parquet", getattr(result, name))
        # A run's own intervals have other columns: one glob must not meet both.
        for file, table in (("tests", result.tests), ("delta-intervals", result.intervals)):
            if table is not None:
                folder.write_table(f"{file}.parquet", table)
        folder.write_text("report.json", to_json(report))
        folder.write_text("report.md", markdown.render(report))
        folder.write_text("report.html", html.render(_first_cases(report)))
        large.result()
    folder.write_json("manifest.json", manifest(result, report))
    folder.publish()


def _first_cases(report: ComparisonReport) -> ComparisonReport:
    """As many as a browser can hold."""
    cases = report["cases"][:SHOWN_CASES]
    omitted = report["cases_omitted"] + len(report["cases"]) - len(cases)
    return {**report, "cases": cases, "cases_omitted": omitted}
