"""From a folder of runs to `index.html`. Every step is elsewhere; this calls them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

import polars as pl

from ragtriage.errors import InputError
from ragtriage.history.build import Beside, RunTables, build_history_document
from ragtriage.history.document import (
    ComparisonEntry,
    HistoryDocument,
    OtherEntry,
    RegressedCase,
)
from ragtriage.publish.history.page import MARK, render
from ragtriage.publish.single_file import refuse_foreign, replace_file
from ragtriage.read.accepted import read_accepted
from ragtriage.read.folders import StoredFolder, stored_folders
from ragtriage.read.stored import read_table, regressed_cases
from ragtriage.schemas import results

INDEX = "index.html"
_SHOWN_COMPARISONS = 20
_SHOWN_CASES = 10
_SUMMARY = ("slice", "slice_value", "metric", "k", "mean", "n_scored", "n_cases")
_STAGES = ("slice", "slice_value", "stage", "n")
_GATES = ("gate", "value", "threshold", "passed", "reason")


@dataclass(frozen=True)
class History:
    """What `ragtriage.build_history` returns: the page, and the document it shows."""

    path: Path
    document: HistoryDocument

    def __repr__(self) -> str:
        """One line: how many runs, and where the page lies."""
        return f"<History of {len(self.document['runs']):,} runs; {self.path}>"


def build_history(directory: str | PathLike[str]) -> History:
    """Write `index.html` over all runs of a folder, whole or not at all.

    Args:
        directory: the folder that runs are written to (`--out` of `evaluate`).

    Raises:
        InputError: there is no such folder, or no finished run of this schema version in it.
        UsageError: its `index.html` is not one of ours.
    """
    top = Path(fspath(directory))
    folders = stored_folders(str(top))
    refuse_foreign(top / INDEX, MARK)
    document = _document(top, folders)
    replace_file(top / INDEX, render(document))
    return History(top / INDEX, document)


def _document(top: Path, folders: Sequence[StoredFolder]) -> HistoryDocument:
    usable = [folder for folder in folders if folder.reason is None]
    runs, tables, lost = _tables([folder for folder in usable if folder.kind == "run"])
    others = _others(folders, lost)
    if not runs:
        raise InputError(f"{top}: no finished run in it{_first(others)}; run `ragtriage evaluate`")
    accepted, notes = _accepted(top)
    comparisons = [folder for folder in usable if folder.kind == "comparison"]
    regressed = _newest_first(folder for folder in comparisons if _n_regressed(folder))
    beside = Beside(
        comparisons=[_comparison(folder) for folder in regressed[:_SHOWN_COMPARISONS]],
        n_comparisons=len(comparisons),
        n_with_regressions=len(regressed),
        n_agreements=sum(folder.kind == "agreement" for folder in usable),
        n_leakages=sum(folder.kind == "leakage" for folder in usable),
        others=others,
        notes=notes,
    )
    return build_history_document([run.manifest for run in runs], tables, beside, accepted)


def _tables(
    runs: list[StoredFolder],
) -> tuple[list[StoredFolder], RunTables, dict[str, str]]:
    """The runs whose small tables can all be read, oldest first; the others with the reason."""
    summary, lost = read_table(runs, "summary.parquet", results.Summary, _SUMMARY)
    stages, more = read_table(runs, "stages.parquet", results.Stages, _STAGES)
    gates, rest = read_table(runs, "gates.parquet", results.Gates, _GATES)
    lost = rest | more | lost
    kept = sorted(
        (run for run in runs if run.name not in lost), key=lambda run: (run.started, run.name)
    )
    whole = ~pl.col("run").is_in(list(lost))
    tables = RunTables(summary.filter(whole), stages.filter(whole), gates.filter(whole))
    return kept, tables, lost


def _others(folders: Sequence[StoredFolder], lost: dict[str, str]) -> list[OtherEntry]:
    """Every folder that cannot be used, and why."""
    reasons = [(folder, folder.reason or lost.get(folder.name)) for folder in folders]
    return [
        OtherEntry(name=folder.name, kind=folder.kind, reason=reason)
        for folder, reason in reasons
        if reason is not None
    ]


def _first(others: Sequence[OtherEntry]) -> str:
    if not others:
        return ""
    first = others[0]
    return f" ({len(others):,} other, the first {first['name']}: {first['reason']})"


def _accepted(top: Path) -> tuple[str | None, list[str]]:
    """The accepted run's ID; a broken file is told on the page and stops nothing."""
    try:
        accepted = read_accepted(top)
    except InputError as error:
        return None, [str(error)]
    return (None if accepted is None else accepted.run_id), []


def _n_regressed(comparison: StoredFolder) -> int:
    n = comparison.manifest["changed"].get("regressed", 0)
    return n if type(n) is int else 0


def _newest_first(folders: Iterable[StoredFolder]) -> list[StoredFolder]:
    return sorted(folders, key=lambda folder: (folder.started, folder.name), reverse=True)


def _comparison(folder: StoredFolder) -> ComparisonEntry:
    manifest = folder.manifest
    cases = regressed_cases(folder, _SHOWN_CASES)
    return ComparisonEntry(
        name=folder.name,
        started=manifest["started"],
        base=str(manifest["base"].get("run_id")),
        candidate=str(manifest["candidate"].get("run_id")),
        passed=manifest["passed"],
        n_regressed=_n_regressed(folder),
        n_paired=manifest["rows"]["paired"],
        cases=[
            RegressedCase(case_id=case_id, base_stage=before, candidate_stage=after)
            for case_id, before, after in cases
        ],
    )
