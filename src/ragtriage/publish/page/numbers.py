"""The numbers: metrics with their denominators, abstention, slices as a table with a heat."""

from __future__ import annotations

from collections.abc import Sequence

from ragtriage.metrics import REGISTRY
from ragtriage.publish import abstention, wording
from ragtriage.publish.document import AbstentionRow, NotObserved, Report
from ragtriage.publish.page.markup import NOTHING, Html, join, tag
from ragtriage.publish.page.parts import (
    ROWS,
    aside,
    head,
    heads,
    hint,
    number,
    row_head,
    section,
    table,
)
from ragtriage.publish.page.texts import breakable, ids, line, with_code
from ragtriage.publish.slice_words import counts, most_broken

# How far a mean is from the best there is, from which on a cell is one shade warmer.
_SHADES = (0.05, 0.15, 0.3, 0.5)
# Columns from which on their heads stand upright, so that all fit on a desk's screen.
_MANY = 10


def metrics(report: Report) -> Html:
    """Every metric over all cases, then those that were not observed, then abstention."""
    lines, apart = abstention.apart(report)
    return section(
        "metrics",
        "Metrics",
        hint(
            "Each mean is over the cases scored, named beside it. Pooled divides the summed "
            "numerators by the summed denominators. Undefined means that there was nothing to "
            "divide by; it is not 0."
        ),
        aside(wording.set_aside(report["run"])),
        _metric_table("Metrics over all cases", lines, report, report["not_observed"]),
        hint(wording.NOTES["intervals"]) if report["intervals"] else NOTHING,
        _abstention(report, apart),
    )


def _metric_table(
    caption: str,
    lines: Sequence[wording.MetricLine],
    report: Report,
    absent: Sequence[NotObserved] = (),
) -> Html:
    wide = [
        (name, title)
        for name, title in (("pooled", "#Pooled"), ("weighted", "#Weighted mean"))
        if any(getattr(told, name) for told in lines)
    ]
    asked = any(told.interval for told in lines)
    names = ["Metric", "#Mean", "#Cases scored", *(title for _, title in wide), "#Undefined"]
    names += ["#Not run", *(["95% interval"] if asked else [])]
    known = {told.row["metric"]: told for told in reversed(lines)}
    rows = [
        _metric(
            told,
            report,
            [name for name, _ in wide],
            asked=asked,
            defined=known[told.row["metric"]] is told,
        )
        for told in lines
    ]
    rows += [_absent(row, len(names)) for row in absent]
    none = tag("tr", tag("td", "No metric was observed.", colspan=len(names)))
    return table(caption, heads(*names), rows or [none], kind="metrics")


def _metric(
    told: wording.MetricLine, report: Report, wide: list[str], *, asked: bool, defined: bool
) -> Html:
    """A row; what the metric means stands with its first cutoff alone."""
    row = told.row
    about = note = NOTHING
    if defined:
        about = tag("small", with_code(report["definitions"].get(row["metric"], "")))
    if row["metric"] == "answer_match":
        by = line(report["run"]["normalizer"], 200)
        note = tag("small", "normalised by ", by, ". ", wording.NOTES["answer_match"])
    value = told.value
    return tag(
        "tr",
        row_head(breakable(told.label), about, note),
        tag("td", value, class_="num mean" if row["mean"] is not None else "num absent"),
        number(f"{row['n_scored']:,} of {row['n_cases']:,}"),
        *(number(getattr(told, name)) for name in wide),
        number(row["n_undefined"]),
        number(row["n_not_run"]),
        tag("td", told.interval) if asked else NOTHING,
    )


def _absent(row: NotObserved, width: int) -> Html:
    needs = tag("span", "not observed: the input lacks ", ids(row["needs"]), class_="needs")
    name = row_head(breakable(row["metric"]))
    return tag("tr", name, tag("td", needs, colspan=width - 1, class_="absent"), class_="unseen")


def _abstention(report: Report, lines: Sequence[wording.MetricLine]) -> Html:
    rows = abstention.answered(report)
    if not rows:
        return NOTHING
    return join(
        [
            tag("h3", "Abstention"),
            hint(wording.NOTES["abstention"]),
            table(
                "Answerable by abstained",
                heads("Cases", "#Answered", "#Abstained", "#Unknown"),
                map(_answerable, rows),
                kind="narrow",
            ),
            _metric_table("Metrics of abstention", lines, report) if lines else NOTHING,
        ]
    )


def _answerable(row: AbstentionRow) -> Html:
    counts = (row["answered"], row["abstained"], row["unknown"])
    return tag("tr", row_head(line(row["answerable"], 80)), *map(number, counts))


def slices(report: Report) -> Html:
    """A table per slice: sortable, the further from the best the warmer."""
    tables = wording.slices(report)
    told = [_slice(name, columns, lines) for name, (columns, lines) in tables.items()]
    legend = hint(
        "The warmer a cell, the further its mean is from the best there is; n: the cases scored. ",
        *(tag("span", words, class_=f"heat h{shade}") for shade, words in enumerate(_legend())),
    )
    return section(
        "slices",
        "Slices",
        aside(wording.set_aside(report["run"])),
        *([legend, *told] if told else [tag("p", "No slices.")]),
    )


def _legend() -> list[str]:
    """`within 0.05`, `within 0.15`, …, `beyond 0.5`."""
    return [*(f"within {shade:g}" for shade in _SHADES), f"beyond {_SHADES[-1]:g}"]


def _slice(name: str, columns: list[str], lines: list[wording.SliceLine]) -> Html:
    shown, rest = most_broken(lines, ROWS)
    titles = [_sortable(name, kind=None), _sortable("passed"), *map(_sortable, columns)]
    rows = [_slice_row(columns, told) for told in shown]
    kind = "slices sortable many" if len(columns) >= _MANY else "slices sortable"
    return join(
        [
            tag("h3", line(name, 200)),
            table(f"Means by {name}", titles, rows, kind=kind),
            hint(f"{rest} in ", tag("code", "summary.parquet"), ".") if rest else NOTHING,
        ]
    )


def _sortable(name: str, kind: str | None = "num") -> Html:
    """A column head that a script makes a button of."""
    return head(breakable(name), kind=kind)


def _slice_row(columns: list[str], told: wording.SliceLine) -> Html:
    mix = tag("small", told.mix) if told.mix else NOTHING
    passed, of = counts(told)
    share = passed / of if of else None
    cells = [
        _cell(column, mean, over) for column, (mean, over) in zip(columns, told.cells, strict=True)
    ]
    return tag(
        "tr",
        row_head(line(told.value, 200), mix, dir="auto", data_sort=told.value[:80]),
        _heated(told.passed, "", share, "higher"),
        *cells,
    )


def _cell(column: str, mean: str, over: str) -> Html:
    try:
        value: float | None = float(mean.lstrip("<>").replace(",", ""))
    except ValueError:
        value = None
    metric = REGISTRY.get(column.split("@", maxsplit=1)[0])
    bounded = metric is not None and metric.bounds[1] == 1
    return _heated(mean, over, value, metric.better if metric and bounded else "neither")


def _heated(shown: str, over: str, value: float | None, better: str) -> Html:
    small = tag("small", f"n {over}") if over else NOTHING
    if value is None:
        return tag("td", shown, small, class_="num absent")
    kind = "num"
    if better != "neither":
        gap = value if better == "lower" else 1 - value
        kind = f"num heat h{sum(gap > shade for shade in _SHADES)}"
    return tag("td", shown, small, class_=kind, data_sort=f"{value:.6g}")
