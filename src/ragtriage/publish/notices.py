"""What must be known before a number of a report is read. No layout."""

from __future__ import annotations

from ragtriage.publish import labels, wording
from ragtriage.publish.document import CaseEntry, Report, RunEntry


def notices(report: Report) -> list[str]:
    """A sentence each; none where the numbers leave nothing out."""
    run, context = report["run"], _context(report)
    told = [
        wording.set_aside(run),
        f"{wording.count(run['n_not_run'], 'case')} not run: in no mean"
        if run["n_not_run"]
        else "",
        _lucky(run["n_lucky"]),
        _unlabelled(run, followed=context != wording.NOTES["nothing_recorded"]),
        context,
    ]
    return [notice for notice in told if notice] + labels.notices(report["reviews"])


def judged_by(case: CaseEntry) -> str:
    """What stands for a context that was not recorded; "" where one was."""
    if case["context_observed"]:
        return ""
    if case["retrieved_ids"] is None:
        return "not recorded, nor was what was retrieved"
    return "not recorded: judged by what was retrieved"


def _lucky(n: int) -> str:
    if not n:
        return ""
    were, passes = ("was", "a pass") if n == 1 else ("were", "passes")
    right = f"{wording.count(n, 'answer')} {were} right although required evidence was missing"
    return f"{right}: not counted as {passes}"


def _unlabelled(run: RunEntry, *, followed: bool) -> str:
    """Where no answer has a label, what arrived cannot pass: said, or it reads as failure."""
    n = run["n_unlabelled"]
    if not n:
        return ""
    disputed = f", of these disputed: {run['n_disputed']:,}" if run["n_disputed"] else ""
    every = n > 1 and n == run["n_cases"] - run["n_not_run"]
    said = every and followed and not disputed
    rest = f", every one: {wording.NOTES['no_label']}" if said else ""
    return f"answers unlabelled: {n:,}{disputed}{rest}"


def _context(report: Report) -> str:
    run = report["run"]
    seen = run["context_observed"]
    if seen >= run["n_cases"] - run["n_not_run"]:
        return ""
    if seen:
        of = f"{seen:,} of {run['n_cases']:,} cases"
        return f"context observed on {of}: {wording.NOTES['no_context']}"
    retrieved = not any("retrieved_ids" in row["needs"] for row in report["not_observed"])
    return wording.NOTES["retrieved_alone" if retrieved else "nothing_recorded"]
