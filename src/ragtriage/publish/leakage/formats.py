"""The formats that stdout can show, by name."""

from __future__ import annotations

import shutil

from ragtriage.publish.folder import to_json
from ragtriage.publish.leakage.document import LeakageReport


def render(report: LeakageReport, name: str, *, color: bool) -> str:
    """The report as `table`, `markdown` or `json`; each loads its library only when asked for."""
    if name == "json":
        return to_json(report)
    if name == "markdown":
        from ragtriage.publish.leakage import markdown  # noqa: PLC0415 - see above

        return markdown.render(report)
    from ragtriage.publish.leakage import terminal  # noqa: PLC0415 - see above

    width = shutil.get_terminal_size((100, 24)).columns
    return terminal.render(report, color=color, width=width)
