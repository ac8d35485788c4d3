"""The history as one self-contained page, from templates/history.* and the charting library.

The library stands in the page once; the page may run nothing but its own two scripts, named by
their digests, and may load nothing. Import this module late: it brings Jinja.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

from markupsafe import Markup

from ragtriage.history.document import HistoryDocument, SliceSeries
from ragtriage.publish.escape import clip, visible
from ragtriage.publish.history import words
from ragtriage.publish.html import page
from ragtriage.publish.template_files import template
from ragtriage.version import __version__

MARK = '<meta name="generator" content="ragtriage history">'
OPEN_RUNS = 50
OTHERS = 200
GATES = 100
_LABEL = 120


def render(document: HistoryDocument) -> str:
    """The page: opens offline; without scripts it is a table of runs."""
    metrics = words.headline_metrics(document)
    library, script = _library(), template("history.js")
    return page("history.html.j2").render(
        document=document,
        h=words,
        mark=Markup(MARK),  # noqa: S704 - a constant
        metrics=metrics,
        lines=words.run_lines(document, metrics),
        gates=document["gates"],
        open_runs=OPEN_RUNS,
        others_shown=OTHERS,
        gates_shown=GATES,
        version=__version__,
        css=template("report.css") + template("history.css"),
        policy=f"{_digest(library)} {_digest(script)}",
        library=library,
        script=script,
        data=_embedded(_chart_data(document, metrics)),
    )


def _library() -> str:
    """Plotly's script as its package ships it; nothing of plotly is imported for it."""
    return resources.files("plotly").joinpath("package_data", "plotly.min.js").read_text("utf-8")


def _digest(script: str) -> str:
    """What a Content-Security-Policy allows an inline script by."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _embedded(value: Any) -> str:
    """JSON that cannot end the element it stands in, whatever its strings hold."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _chart_data(document: HistoryDocument, metrics: list[str]) -> dict[str, Any]:
    """What the charts draw: lists per run, labels cut and made visible."""
    runs = document["runs"]
    return {
        "runs": [run["run_id"] for run in runs],
        "started": [run["started"] for run in runs],
        "accepted": next((n for n, run in enumerate(runs) if run["accepted"]), None),
        "gates": [len(run["gates"]) for run in runs],
        "failed": [
            [_label(gate["gate"]) for gate in run["gates"] if not gate["passed"]] for run in runs
        ],
        "slices": [_slice(entry) for entry in document["slices"]],
        "first": metrics[0] if metrics else None,
    }


def _slice(entry: SliceSeries) -> dict[str, Any]:
    return {
        "slice": _label(entry["slice"]),
        "value": _label(entry["value"]),
        "cases": _short(entry["cases"]),
        "metrics": {
            _label(label): [_short(series["mean"]), _short(series["n"])]
            for label, series in entry["metrics"].items()
        },
        "stages": {_label(stage): _short(counts) for stage, counts in entry["stages"].items()},
    }


def _short(values: Sequence[float | None]) -> Sequence[float | None] | float | None:
    """One value per run; a value that is the same in all of them stands once, without a list."""
    return values[0] if len(set(values)) == 1 else values


def _label(text: str) -> str:
    head, mark = clip(text, _LABEL)
    return visible(head) + ("…" if mark else "")
