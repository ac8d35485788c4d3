"""The report as one self-contained HTML page, from templates/report.html.j2 and report.css.

Jinja escapes every value; the filters here cut and make visible what is hidden. Import this
module late: it brings Jinja. No wording and no numbers of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from ragtriage.publish import labels, wording
from ragtriage.publish.document import CaseEntry, Report
from ragtriage.publish.escape import HTML_LIMIT, clip, first, visible, visible_block

OPEN_CASES = 10
LIST_LIMIT = 600
ROWS = 100
REQUIREMENTS = 30


def render(report: Report) -> str:
    """The page: opens offline, needs no script, refers to nothing outside itself."""
    failing, passing = _numbered(report["cases"])
    return page("report.html.j2").render(
        report=report,
        run=report["run"],
        gates=wording.gates(report["gates"]),
        failing=failing,
        passing=passing,
        first_of=_first_of(failing + passing),
        stages=[row for row in report["stages"] if row["slice"] == "all"],
        metrics=wording.metrics(report),
        css=template("report.css"),
    )


def template(name: str) -> str:
    """A file of `templates/`."""
    return resources.files(__package__).joinpath("templates", name).read_text("utf-8")


@cache
def page(name: str, **known: object) -> Template:
    """A page's template, compiled once a process; `known`: what its macros may use, too.

    Jinja with the filters of this module: escapes everything, knows no file but templates.
    """
    environment = Environment(
        loader=FunctionLoader(template),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        newline_sequence="\n",
    )
    environment.filters |= {
        "cell": cell,
        "line": line,
        "attribute": attribute,
        "ids": ids,
        "values": values,
        "n": lambda n: f"{n:,}",
        "number": wording.number,
        "percent": wording.percent,
        "exact": wording.exact,
        "words": wording.stage_words,
        "first": first,
    }
    environment.globals |= {
        "w": wording,
        "labels": labels,
        "open_cases": OPEN_CASES,
        "rows": ROWS,
        "requirements": REQUIREMENTS,
        **known,
    }
    return environment.get_template(name)


def _shown(item: object) -> object:
    """Whatever no filter handled: hidden characters shown, so that it can be encoded."""
    return visible_block(item) if type(item) is str else item


def _numbered(
    cases: Sequence[CaseEntry],
) -> tuple[list[tuple[int, CaseEntry]], list[tuple[int, CaseEntry]]]:
    """Failing and passing cases, each with its place in the report, which is its anchor."""
    numbered = list(enumerate(cases, start=1))
    failing = [entry for entry in numbered if entry[1]["stage"] != "pass"]
    return failing, [entry for entry in numbered if entry[1]["stage"] == "pass"]


def _first_of(cases: Sequence[tuple[int, CaseEntry]]) -> dict[tuple[str, str | None], int]:
    """The anchor of the first shown case of each (stage, break point)."""
    anchors: dict[tuple[str, str | None], int] = {}
    for anchor, case in cases:
        anchors.setdefault((case["stage"], case["break_point"]), anchor)
    return anchors


def _marked(shown: str, mark: str) -> Markup:
    text = escape(shown)
    return text + Markup('<span class="cut">{}</span>').format(mark) if mark else text


def cell(text: object, limit: int = HTML_LIMIT) -> Markup:
    """Text as written, line breaks kept; cut and marked when huge."""
    head, mark = clip(str(text), limit)
    return _marked(visible_block(head), mark)


def line(text: object, limit: int = HTML_LIMIT) -> Markup:
    """Text on one line; cut and marked when huge."""
    head, mark = clip(str(text), limit)
    return _marked(visible(head), mark)


def attribute(text: object, limit: int = 80) -> str:
    """Text for an attribute: one line, cut, no mark-up of our own."""
    return visible("".join(clip(str(text), limit)))


def ids(items: Sequence[str], joint: str = ", ", limit: int = HTML_LIMIT) -> Markup:
    """A list of IDs as code, as many as fit in `limit` characters, then how many are left."""
    shown: list[str] = []
    room = limit
    for item in items:
        if shown and room < len(item):
            break
        shown.append(f"<code>{line(item, LIST_LIMIT)}</code>")
        room -= len(item)
    rest = len(items) - len(shown)
    joined = str(escape(joint)).join(shown) + (f" and {rest:,} more" if rest else "")
    return Markup(joined)  # noqa: S704 - each part is escaped already


def values(metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A case's defined metrics by name, with the parts of ratios over something."""
    shown = []
    for name, item in metrics.items():
        if item is None or name.endswith(("_numerator", "_denominator")):
            continue
        bottom = metrics.get(f"{name}_denominator")
        parts = f" ({metrics[f'{name}_numerator']}/{bottom})" if bottom else ""
        shown.append((name, _value(item) + parts))
    return shown


def _value(item: Any) -> str:
    """A case's value of a metric: yes, no, a count or a rate."""
    if isinstance(item, bool):
        return "yes" if item else "no"
    return f"{item:,}" if isinstance(item, int) else wording.number(item)
