"""The report for a terminal: a screen or so, in the order of the page.

Verdict and gates, where evidence was lost, what broke, metrics, findings, the first failing cases.

Import this module late: it brings rich. No wording and no numbers of its own.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ragtriage.options import Detail
from ragtriage.publish import abstention, case_words, funnel_words, labels, terminal_more, wording
from ragtriage.publish.document import DisputedRow, NotObserved, Report, StageRow
from ragtriage.publish.escape import terminal
from ragtriage.publish.notices import notices
from ragtriage.publish.page.first import advice
from ragtriage.publish.terminal_parts import (
    BAD,
    GOOD,
    HEAD,
    NARROW,
    SOFT,
    captured,
    failed_gates,
    gate_lines,
    hanging,
    notice,
    print_table,
    sentence,
    text,
)

CASES = 10
ALL = 10**9


def render(
    report: Report,
    *,
    color: bool,
    width: int,
    detail: Detail = "normal",
    timings: dict[str, float] | None = None,
) -> str:
    """The report in at most `width` columns; without a single escape code unless `color`.

    `detail`: quiet is the verdict, what was set aside and failed gates alone; verbose adds
    slices, every metric, every case that the report has, inputs and `timings`.
    """

    def show(console: Console) -> None:
        if detail == "quiet":
            _verdict(console, report)
            if aside := wording.set_aside(report["run"]):
                notice(console, aside)
            failed_gates(console, report["gates"])
        elif detail == "verbose":
            _show(console, report, ALL)
            terminal_more.show(console, report, timings or {})
        else:
            _show(console, report, CASES)

    return captured(show, color=color, width=width)


def _show(console: Console, report: Report, cases: int) -> None:
    _head(console, report)
    _funnel(console, report)
    _stages(console, report)
    _metrics(console, report, every=cases == ALL)
    _looked_at(console, report, every=cases == ALL)
    _cases(console, report, cases)
    if cases != ALL:
        console.print(Text(wording.NOTES["limits"], SOFT))


def _verdict(console: Console, report: Report) -> None:
    passed = report["run"]["n_pass"] == report["run"]["n_cases"] > 0
    console.print(sentence(wording.verdict(report), GOOD if passed else HEAD))


def _head(console: Console, report: Report) -> None:
    _verdict(console, report)
    gate_lines(console, report["gates"])
    for told in notices(report):
        notice(console, told)
    facts = Text()
    for name, value in wording.facts(report):
        facts.append("; " if facts else "").append_text(
            text("" if value.startswith(name) else f"{name} ", SOFT)
        )
        facts.append_text(text(value))
    console.print(facts)


def _funnel(console: Console, report: Report) -> None:
    """What is left of the required evidence after each step, and what was lost before it."""
    rows = [
        [text(line.name), text(line.left), text(line.lost, BAD), sentence(line.told, SOFT)]
        for line in funnel_words.lines(report, short=True)
    ]
    print_table(console, f"{funnel_words.TITLE} (requirements left, lost)", (1, 2), rows)
    if note := funnel_words.note(report):
        console.print(sentence(note, SOFT))


def _stages(console: Console, report: Report) -> None:
    """A row a stage, its break points beside it, most cases first."""
    rows = [row for row in report["stages"] if row["slice"] == "all"]
    by_stage: dict[str, list[StageRow]] = {}
    for row in rows:
        by_stage.setdefault(row["stage"], []).append(row)
    cells = []
    for stage, parts in sorted(by_stage.items(), key=lambda item: -sum(r["n"] for r in item[1])):
        shares = [row["share"] for row in parts if row["share"] is not None]
        points = ", ".join(f"{r['break_point']} {r['n']:,}" for r in parts if r["break_point"])
        cells.append(
            [
                text(wording.stage_words(stage), GOOD if stage == "pass" else BAD),
                Text(f"{sum(row['n'] for row in parts):,}"),
                Text(wording.percent(sum(shares)) if shares else ""),
                sentence(points, SOFT),
            ]
        )
    run = report["run"]
    ran = f"{run['n_cases'] - run['n_not_run']:,}"
    print_table(console, f"Where the cases broke (share of the {ran} run)", (1, 2), cells)
    if told := advice(report):
        hanging(console, Text("Look first: ", HEAD).append_text(sentence(told)))


def _cases(console: Console, report: Report, limit: int) -> None:
    """A line per failing case; with few of them, its question below."""
    failing = [case for case in report["cases"] if case["stage"] != "pass"]
    if not failing:
        return
    k = report["run"]["cutoffs"][0]
    rows = []
    for case in failing[:limit]:
        where = sentence(case_words.lost_first(case, k, lambda one: terminal(one, 40)))
        if len(failing) <= CASES // 2 and case["question"]:
            where.append("\n").append_text(text(case["question"], SOFT))
        stage = text(wording.stage_words(case["stage"]), BAD)
        name = text(case["case_id"], HEAD)
        if console.width < NARROW:
            rows.append([name.append("  ").append_text(stage).append("\n  ").append_text(where)])
        else:
            rows.append([name, stage, where])
    total = report["run"]["n_cases"] - report["run"]["n_pass"]
    title = f"Cases that did not pass ({len(rows):,} of {total:,})"
    print_table(console, title, (), rows)


def _metrics(console: Console, report: Report, *, every: bool) -> None:
    """The main metrics or every one, with denominators, and what must be known to read them."""
    lines = wording.metrics(report)
    mains = wording.mains(report)
    main = [line for line in lines if every or line.row in mains]
    rows = []
    for line in main:
        scored = Text(f"{line.row['n_scored']:,} of {line.row['n_cases']:,}")
        asked = [Text(line.interval)] if report["intervals"] else []
        row = [text(line.label), Text(line.value), scored, *asked, Text(line.pooled, SOFT)]
        rows.append(row[:-1] if console.width < NARROW else row)
    aside = wording.set_aside(report["run"])
    interval = ", 95% interval" if report["intervals"] else ""
    columns = f"mean, cases scored{interval}" + ("" if console.width < NARROW else ", pooled")
    print_table(console, f"Metrics ({columns})" + (f"; {aside}" if aside else ""), (1, 2), rows)
    if len(lines) > len(main):
        where = "in the report" if report["run"]["written"] else "with --verbose"
        console.print(Text(f"and {len(lines) - len(main):,} more {where}", SOFT))
    if any(line.row["metric"] == "answer_match" for line in main):
        by = terminal(report["run"]["normalizer"])
        console.print(sentence(f"answer_match by {by}. {wording.NOTES['answer_match']}", SOFT))
    if interval:
        console.print(sentence(wording.NOTES["intervals"], SOFT))
    if answered := abstention.answered(report):
        counts = "; ".join(
            f"{terminal(row['answerable'], 20)}: {row['answered']:,} answered, "
            f"{row['abstained']:,} abstained"
            + (f", {row['unknown']:,} unknown" if row["unknown"] else "")
            for row in answered
        )
        console.print(sentence(f"Abstention: {counts}. {wording.NOTES['abstention']}"))


def _looked_at(console: Console, report: Report, *, every: bool) -> None:
    """Disputes, findings, rejects and what was not observed, a line each.

    `every`: the metrics that were not observed by name; otherwise what the input lacks for them.
    """
    reviews = report["reviews"]
    told = {
        "Disputed": [_disputed(row) for row in reviews["disputed"][:CASES]] if reviews else [],
        "Findings": [f"{row['finding']} {row['n']:,}" for row in report["findings"]],
        "Set aside": [f"{rule} {n:,}" for rule, n in report["rejects"].items()],
        "Not observed": _not_observed(report["not_observed"], every=every),
    }
    for name, items in told.items():
        if items:
            console.print(Text(f"{name}: ", SOFT).append_text(sentence("; ".join(items))))


def _not_observed(rows: list[NotObserved], *, every: bool) -> list[str]:
    if every or not rows:
        return [row["metric"] for row in rows]
    lacking: dict[frozenset[str], str] = {}
    for need in (need for row in rows for need in row["needs"]):
        # Alternatives are the same in any order.
        lacking.setdefault(frozenset(need.split(" or ")), need)
    told = ", ".join(lacking.values())
    return [f"{wording.count(len(rows), 'metric')}; the input lacks {told}"]


def _disputed(row: DisputedRow) -> str:
    """`case-7, claim c1: yes ann; no bob`."""
    about = [terminal(name) for name in (row["claim_id"], row["evidence_id"]) if name]
    yes, no = ", ".join(row["supporters"]), ", ".join(row["opponents"])
    where = ", ".join([terminal(row["case_id"]), labels.subject(row), *about])
    return f"{where}: yes {terminal(yes)}, no {terminal(no)}"
