"""Abstention as every format shows it: who answered what, and the metrics that stand beside it."""

from __future__ import annotations

from ragtriage.publish import wording
from ragtriage.publish.document import AbstentionRow, Report


def apart(report: Report) -> tuple[list[wording.MetricLine], list[wording.MetricLine]]:
    """The lines of `metrics`, and those that stand beside the answerable x abstained table."""
    lines = wording.metrics(report)
    if not answered(report):
        return lines, []
    beside = [line for line in lines if line.row["metric"] in wording.ABSTENTION]
    return [line for line in lines if line not in beside], beside


def answered(report: Report) -> list[AbstentionRow]:
    """The answerable x abstained table without rows of no case; none where nothing is known."""
    rows = report["abstention"] or []
    if not any(row["answered"] or row["abstained"] for row in rows):
        return []
    return [row for row in rows if row["answered"] or row["abstained"] or row["unknown"]]
