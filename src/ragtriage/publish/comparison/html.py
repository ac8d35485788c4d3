"""The comparison as one self-contained page, from templates/comparison.html.j2 and report.css.

Import this module late: it brings Jinja. No wording and no numbers of its own.
"""

from __future__ import annotations

from ragtriage.publish import wording
from ragtriage.publish.comparison import evidence, words
from ragtriage.publish.comparison.document import ChangedCase, ComparisonReport
from ragtriage.publish.html import page
from ragtriage.publish.template_files import template

OPEN_CASES = 10


def render(report: ComparisonReport) -> str:
    """The page: opens offline, needs no script, refers to nothing outside itself."""
    stages, columns, cells = words.transitions(report)
    return page("comparison.html.j2").render(
        report=report,
        run=report["comparison"],
        c=words,
        e=evidence,
        gates=wording.gates(report["gates"]),
        regressed=words.regressed(report),
        groups=_groups(report),
        stages=stages,
        columns=columns,
        cells=cells,
        moved=words.moved_deltas(report),
        n_same=len(words.deltas(report)) - len(words.moved_deltas(report)),
        slices=words.slices_worse(report),
        open_cases=OPEN_CASES,
        css=template("report.css"),
    )


def _groups(report: ComparisonReport) -> list[tuple[str, int, str, list[ChangedCase]]]:
    """Kinds of change that occur, in order: name, cases in all, meaning, those shown."""
    shown = words.others(report)
    return [
        (kind, n, meaning, [case for case in shown if case["change"] == kind])
        for kind, n, meaning in words.counts(report)
    ]
