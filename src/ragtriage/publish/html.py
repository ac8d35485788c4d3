"""Pages from Jinja's templates: comparisons, agreement, leakage, history.

Jinja escapes every value; the filters cut and make visible what is hidden. Import this module
late: it brings Jinja. The report of a run does without: see `page`.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from ragtriage.publish import labels, wording
from ragtriage.publish.escape import first, visible_block
from ragtriage.publish.page.texts import attribute, cell, ids, line, values
from ragtriage.publish.template_files import template

ROWS = 100
REQUIREMENTS = 30


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
        "rows": ROWS,
        "requirements": REQUIREMENTS,
        **known,
    }
    return environment.get_template(name)


def _shown(item: object) -> object:
    """Whatever no filter handled: hidden characters shown, so that it can be encoded."""
    return visible_block(item) if type(item) is str else item
