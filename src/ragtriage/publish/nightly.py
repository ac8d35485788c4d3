"""A night in a few lines of Markdown: what failed, what broke, what regressed, where it is told.

The whole of it stands in the reports. Data is neutral, as in `markdown`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ragtriage.publish import wording
from ragtriage.publish.comparison import words
from ragtriage.publish.comparison.document import ComparisonReport
from ragtriage.publish.document import Report
from ragtriage.publish.escape import code, first, prose
from ragtriage.publish.markdown_parts import bullets, table

_SHOWN = 10
_LONGEST = 1_000


@dataclass(frozen=True)
class Night:
    """What a night came to.

    `comparison`: None where nothing was compared. `accepted`: the run's ID if it became the
    accepted one. `failures`: why the night failed, empty if it did not. `pages`: the HTML pages
    by what they are.
    """

    report: Report
    comparison: ComparisonReport | None
    accepted: str | None
    failures: list[str]
    pages: dict[str, Path]


def verdict(night: Night) -> str:
    """One line: what broke, what changed, what was accepted."""
    parts = [wording.verdict(night.report)]
    if night.comparison is not None:
        base = night.comparison["comparison"]["base"]["run_id"]
        parts.append(f"against {base}: {words.verdict(night.comparison)}")
    if night.accepted is not None:
        parts.append(f"accepted: {night.accepted}")
    elif night.comparison is None and not night.failures:
        parts.append("no accepted run to compare with")
    return "; ".join(parts)


def render(night: Night) -> str:
    """The night as Markdown, a screenful whatever the size of the run."""
    state = "failed" if night.failures else "passed"
    said, _ = wording.gates(night.report["gates"])
    parts = [
        f"# Night {code(night.report['run']['run_id'])}: {state}",
        bullets(prose(line, _LONGEST) for text in night.failures for line in text.splitlines()),
        f"{prose(verdict(night), _LONGEST)}. {said}.",
        "## Where the cases broke",
        _stages(night.report),
        *_regressed(night.comparison),
        bullets(f"{name}: {code(str(page), _LONGEST)}" for name, page in night.pages.items()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _stages(report: Report) -> str:
    totals: dict[str, int] = {}
    for row in report["stages"]:
        if row["slice"] == "all":
            totals[row["stage"]] = totals.get(row["stage"], 0) + row["n"]
    ordered = sorted(totals.items(), key=lambda item: (item[0] != "pass", -item[1], item[0]))
    rows = [(prose(wording.stage_words(stage)), f"{n:,}") for stage, n in ordered if n]
    return table(("Stage", "Cases>"), rows)


def _regressed(comparison: ComparisonReport | None) -> list[str]:
    if comparison is None or not comparison["changed"]["regressed"]:
        return []
    shown, _ = first(words.regressed(comparison), _SHOWN)
    rest = comparison["changed"]["regressed"] - len(shown)
    return [
        "## Regressed cases",
        bullets(f"{code(case['case_id'])}: {prose(words.way(case))}" for case in shown),
        f"{wording.count(rest, 'more case')} in the comparison." if rest else "",
    ]
