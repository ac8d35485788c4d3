"""What the history says in words. No layout; text from runs leaves as it came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragtriage.history.document import HistoryDocument, RunEntry, SliceSeries
from ragtriage.publish import wording
from ragtriage.publish.escape import terminal

_HEADLINES = 3
_OTHERS = 10
_WIDE = 300


class RunLine(NamedTuple):
    """One row of the table of runs; `means`: value and cases scored, per headline metric."""

    run: RunEntry
    means: list[tuple[str, str]]
    gates: str
    failed: list[str]


def headline(document: HistoryDocument) -> str:
    """One sentence: how the newest run did."""
    run = document["runs"][-1]
    n = len(document["runs"])
    which = "The only run" if n == 1 else f"The newest of {n:,} runs"
    passed = f"{run['n_pass']:,} of {wording.count(run['n_cases'], 'case')} passed"
    return f"{which}: {passed}, {gate_words(run)}"


def gate_words(run: RunEntry) -> str:
    """How many of a run's gates held."""
    n = len(run["gates"])
    failed = sum(not gate["passed"] for gate in run["gates"])
    if n == 0:
        return "no gate" if run["passed"] else "failed without a gate"
    if failed:
        return f"{failed:,} of {wording.count(n, 'gate')} failed"
    return f"{n:,} of {wording.count(n, 'gate')} {'holds' if n == 1 else 'hold'}"


def all_cases(document: HistoryDocument) -> SliceSeries | None:
    """The series over all cases; None where no run has any."""
    return next((entry for entry in document["slices"] if entry["slice"] == "all"), None)


def headline_metrics(document: HistoryDocument) -> list[str]:
    """Up to three metrics for the table: the main ones that are there, at the first cutoff."""
    series = all_cases(document)
    if series is None:
        return []
    run = document["runs"][-1]
    cutoffs = [f"@{k}" for k in run["cutoffs"][:1]]
    found = []
    for name in wording.main_metrics(run["contract"]):
        labels = (name + ending for ending in (*cutoffs, ""))
        found += [label for label in labels if label in series["metrics"]][:1]
    return found[:_HEADLINES]


def run_lines(document: HistoryDocument, metrics: Sequence[str]) -> list[RunLine]:
    """Every run, newest first."""
    series = all_cases(document)
    lines = []
    for place, run in reversed(list(enumerate(document["runs"]))):
        means = [_mean(series, label, place) for label in metrics] if series else []
        failed = [gate["gate"] for gate in run["gates"] if not gate["passed"]]
        lines.append(RunLine(run, means, gate_words(run), failed))
    return lines


def _mean(series: SliceSeries, label: str, place: int) -> tuple[str, str]:
    metric = series["metrics"][label]
    n, of = metric["n"][place], series["cases"][place]
    if n is None:
        return "not observed", ""
    return wording.number(metric["mean"][place]), f"{n:,} of {of or 0:,}"


def moment(started: str) -> str:
    """A time stamp for reading: `2026-11-30 08:03 UTC`."""
    shown = started.replace("T", " ")
    return f"{shown[:16]} UTC" if started.endswith("Z") else shown


def facts(document: HistoryDocument) -> list[tuple[str, str]]:
    """What stands under the headline."""
    runs = document["runs"]
    accepted = [run["run_id"] for run in runs if run["accepted"]]
    failed = sum(not run["passed"] for run in runs)
    found = [
        ("runs", f"{len(runs):,}, {failed:,} with failed gates"),
        ("from", moment(runs[0]["started"])),
        ("to", moment(runs[-1]["started"])),
        ("accepted", accepted[0] if accepted else "none of these"),
    ]
    if document["n_comparisons"]:
        n = document["n_with_regressions"]
        found.append(("comparisons", f"{document['n_comparisons']:,}, {n:,} with regressions"))
    if document["n_agreements"]:
        found.append(("agreement reports", f"{document['n_agreements']:,}"))
    if document["n_leakages"]:
        found.append(("leakage reports", f"{document['n_leakages']:,}"))
    if document["others"]:
        found.append(("other folders", f"{len(document['others']):,}, listed below"))
    return found


def told(document: HistoryDocument) -> str:
    """What the command line prints: the headline, then every folder left out and why."""
    lines = [headline(document), *(terminal(note, _WIDE) for note in document["notes"])]
    others = document["others"]
    lines += [
        f"not shown: {terminal(o['name'])}: {terminal(o['reason'], _WIDE)}"
        for o in others[:_OTHERS]
    ]
    if len(others) > _OTHERS:
        lines.append(f"not shown: {len(others) - _OTHERS:,} more folders")
    return "\n".join(lines) + "\n"
