"""The reference pages of metrics and stages, from their declarations: `ragtriage reference`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable

from ragtriage.evidence import BREAKS, LOST_AT
from ragtriage.metrics import REGISTRY, Metric
from ragtriage.publish import wording
from ragtriage.stages import NEXT_CHECKS, Row, precedence

_FAMILIES = {
    "retrieval": "What was retrieved against what was required",
    "context": "What was put in front of the model",
    "citation": "What the answer cites",
    "answer": "The answer",
    "abstention": "Answering and abstaining",
    "claims": "Reviewed claims",
    "authorization": "What a requester may not see",
}
_METRICS_HEAD = """\
# Metrics

Every metric with its formula, range and empty case. Made from the declarations; do not edit it,
but run `ragtriage reference metrics > docs/metrics.md`.

- `G` are the requirements of a case, `R@k` the first `k` distinct retrieved IDs, `R` all of them. A
  requirement is *hit* by the first authorised member of it; an unauthorised ID is never a hit.
- A value is null where a field it needs is not observed, and on cases that failed or are ambiguous
  (but for the `unauthorized_…` counts). A null enters no mean, and is counted beside it.
- *Over nothing* is what a ratio is when its denominator is 0.
- *trec_eval*: the measure of that name gives the same for every case with something required, and
  without groups, equivalents and permissions. A test holds each to it.
"""
_STAGES_HEAD = """\
# Stages

Where a case broke: the first row that applies, from the top. Made from the precedence table; do
not edit it, but run `ragtriage reference stages > docs/stages.md`. For a case of yours,
`ragtriage explain CASE_ID --run DIR` says which row placed it.
"""
_LEDGER = """\
## Where a requirement was lost

The first that applies to a requirement that was not delivered. Delivered is: in the context; where
that is not observed, in the first `k`; unknown where neither is. A case has one break point, the
earliest of its losses along
"""


def metrics_page() -> str:
    """Every metric, family by family."""
    parts = [_METRICS_HEAD]
    for family, title in _FAMILIES.items():
        found = [metric for metric in REGISTRY.values() if metric.family == family]
        parts += [f"## {title}\n", *map(_metric, found)]
    return "\n".join(parts)


def stages_page() -> str:
    """The precedence table, the break points with what to check next, and the ledger's rules."""
    rows = precedence("auto")
    table = _table(("", "Stage", "When", "Break point"), map(_stage, rows))
    points = [name for row in rows for name, _ in row.break_points if name is not None]
    told = _table(
        ("Break point", "What happened", "Look first"), map(_point, dict.fromkeys(points))
    )
    lost = _table(("Lost at", "When"), ((f"`{name}`", when) for name, when in LOST_AT))
    way = f"{_LEDGER}{' → '.join(BREAKS)}.\n"
    return f"{_STAGES_HEAD}\n{table}\n## Break points\n\n{told}\n{way}\n{lost}"


PAGES: dict[str, Callable[[], str]] = {"metrics": metrics_page, "stages": stages_page}


def _metric(metric: Metric) -> str:
    first, _, rest = inspect.cleandoc(metric.formula.__doc__ or "").partition("\n")
    names = {"at_k": "{0}@k", "uncut": "{0}", "both": "{0}, {0}@k"}[metric.cutoff]
    facts = {
        "kind": metric.kind,
        "range": _range(metric),
        "over nothing": _empty(metric),
        "better": metric.better,
        "needs": "; ".join(
            " or ".join(f"`{name}`" for name in group)
            for group in (*metric.needs, *metric.file_needs)
        ),
        "source": metric.source,
        "trec_eval": ", ".join(f"`{n.format(k='k')}`" for n in metric.trec_eval if n) or "none",
    }
    head = f"### `{names.format(metric.name)}`".replace(", ", "`, `")
    told = " ".join(f"{first} {rest}".split())
    listed = "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)
    return f"{head}\n\n{_plain(told)}\n\n{listed}\n"


def _range(metric: Metric) -> str:
    low, high = metric.bounds
    if metric.kind == "boolean":
        return "yes or no"
    return f"{low:g} and up" if high is None else f"{low:g} to {high:g}"


def _empty(metric: Metric) -> str:
    if metric.kind != "ratio":
        return ""
    return "undefined" if metric.empty is None else f"{metric.empty:g}"


def _stage(row: Row) -> tuple[str, ...]:
    points = ", ".join(f"`{name}`" for name, _ in row.break_points if name is not None)
    return str(row.number), wording.stage_words(row.stage), row.when, points


def _point(name: str) -> tuple[str, ...]:
    return f"`{name}`", wording.BREAK_POINTS[name], NEXT_CHECKS[name]


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _plain(text: str) -> str:
    """A docstring as Markdown: nothing in it is markup."""
    return text.replace("<", "&lt;").replace("*", r"\*").replace("|", r"\|")
