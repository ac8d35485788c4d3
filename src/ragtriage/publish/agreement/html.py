"""The agreement report as one self-contained HTML page, from templates/agreement.html.j2."""

from __future__ import annotations

from ragtriage.publish import html
from ragtriage.publish.agreement import wording
from ragtriage.publish.agreement.document import AgreementReport
from ragtriage.publish.template_files import template

OPEN_ENTRIES = 10


def render(report: AgreementReport) -> str:
    """The page: opens offline, needs no script, refers to nothing outside itself."""
    page = html.page("agreement.html.j2", a=wording, open_entries=OPEN_ENTRIES)
    return page.render(report=report, run=report["run"], css=template("report.css"))
