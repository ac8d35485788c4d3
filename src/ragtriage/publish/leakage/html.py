"""The leakage report as one self-contained HTML page, from templates/leakage.html.j2."""

from __future__ import annotations

from ragtriage.publish import html
from ragtriage.publish.leakage import wording
from ragtriage.publish.leakage.document import LeakageReport
from ragtriage.publish.template_files import template


def render(report: LeakageReport) -> str:
    """The page: opens offline, needs no script, refers to nothing outside itself."""
    page = html.page("leakage.html.j2", l=wording)
    return page.render(report=report, run=report["run"], css=template("report.css"))
