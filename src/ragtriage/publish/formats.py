"""The formats that stdout can show, by name."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from ragtriage.options import Detail
from ragtriage.publish.document import Report
from ragtriage.publish.fitting import COMMENT
from ragtriage.publish.folder import to_json

if TYPE_CHECKING:
    from ragtriage.publish.comparison.document import ComparisonReport


def render(
    report: Report,
    name: str,
    *,
    color: bool,
    detail: Detail = "normal",
    timings: dict[str, float] | None = None,
    limit: int = COMMENT,
) -> str:
    """The report as `table`, `markdown` or `json`; each loads its library only when asked for.

    `detail` and `timings` (seconds by step) are of the table, `limit` is of Markdown.
    """
    if name == "json":
        return to_json(report)
    if name == "markdown":
        from ragtriage.publish import markdown  # noqa: PLC0415 - see above

        return markdown.render(report, limit=limit)
    from ragtriage.publish import terminal  # noqa: PLC0415 - see above

    return terminal.render(report, color=color, width=_width(), detail=detail, timings=timings)


def render_comparison(
    report: ComparisonReport,
    name: str,
    *,
    color: bool,
    detail: Detail = "normal",
    limit: int = COMMENT,
) -> str:
    """The same of a comparison."""
    if name == "json":
        return to_json(report)
    if name == "markdown":
        from ragtriage.publish.comparison import markdown  # noqa: PLC0415 - see above

        return markdown.render(report, limit=limit)
    from ragtriage.publish.comparison import terminal  # noqa: PLC0415 - see above

    return terminal.render(report, color=color, width=_width(), detail=detail)


def _width() -> int:
    return shutil.get_terminal_size((100, 24)).columns
