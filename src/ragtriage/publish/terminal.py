"""The report for a terminal: what broke, the failing cases, the main metrics; a screen or so.

Every text is a rich Text of printable characters, never a markup string. Import this module
late: it brings rich. No wording and no numbers of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ragtriage.publish import labels, wording
from ragtriage.publish.document import CaseEntry, DisputedRow, GateRow, Report, StageRow
from ragtriage.publish.escape import first, terminal

CASES = 10
GATES = 10
SLICE_VALUES = 5
NARROW = 80
BAD, GOOD, WARN, SOFT, HEAD = "bold red", "green", "yellow", "dim", "bold"


def render(report: Report, *, color: bool, width: int) -> str:
    """The report in at most `width` columns; without a single escape code unless `color`."""
    return captured(lambda console: _show(console, report), color=color, width=width)


def _show(console: Console, report: Report) -> None:
    _head(console, report)
    _stages(console, report)
    _cases(console, report)
    _metrics(console, report)
    _rest(console, report)


def captured(show: Callable[[Console], None], *, color: bool, width: int) -> str:
    """What `show` prints, as text of at most `width` columns."""
    out = StringIO()
    console = Console(
        file=out,
        width=max(width, 20),
        height=50,
        force_terminal=color,
        force_jupyter=False,
        color_system="standard" if color else None,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        _environ={},
    )
    show(console)
    lines = out.getvalue().split("\n")
    return "\n".join(lines if color else (line.rstrip() for line in lines))


def text(value: str, style: str = "") -> Text:
    """Data: one line, cut."""
    return Text(terminal(value), style=style)


def sentence(value: str, style: str = "") -> Text:
    """Our own sentences: not cut as data is, but as printable."""
    return Text(terminal(value, 1000), style=style)


def print_table(console: Console, title: str, right: Sequence[int], rows: list[list[Text]]) -> None:
    """Aligned columns under a title; the numbers of `right` columns stand right."""
    if not rows:
        return
    console.print()
    console.print(Text(title, HEAD))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for column in range(len(rows[0])):
        table.add_column(justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _head(console: Console, report: Report) -> None:
    passed = report["run"]["n_pass"] == report["run"]["n_cases"] > 0
    console.print(sentence(wording.verdict(report), GOOD if passed else HEAD))
    gate_lines(console, report["gates"])
    for notice in wording.notices(report):
        console.print(Text("! ", WARN).append_text(sentence(notice)))
    facts = Text()
    for name, value in wording.facts(report):
        facts.append("; " if facts else "").append_text(
            text("" if value.startswith(name) else f"{name} ", SOFT)
        )
        facts.append_text(text(value))
    console.print(facts)


def gate_lines(console: Console, rows: Sequence[GateRow]) -> None:
    """How many gates hold, and each that failed with what it came to."""
    said, gates = wording.gates(rows)
    failed, rest = first([gate for gate in gates if not gate["passed"]], GATES)
    if gates:
        console.print(text(f"✗ {said}" if failed else f"✓ {said}", BAD if failed else GOOD))
    for gate in failed:
        value, threshold = wording.exact(gate["value"]), wording.exact(gate["threshold"])
        line = Text("  ✗ ", BAD).append_text(text(gate["gate"]))
        console.print(
            line.append(f": {value}, threshold {threshold}; ").append_text(text(gate["reason"]))
        )
    if rest:
        console.print(Text(f"  {rest}"))


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


def _where(case: CaseEntry, k: int) -> str:
    """What was lost and at which step; without a loss, the break point in words."""
    for row in wording.lost_first(case)[:1]:
        for step in wording.path(row, k):
            if step.state == "lost":
                others = f" (or {len(row['ids']) - 1:,} more)" if len(row["ids"]) > 1 else ""
                return f"{terminal(row['ids'][0], 40)}{others} lost at {step.name}: {step.text}"
    return wording.headline(case)


def _cases(console: Console, report: Report) -> None:
    """A line per failing case; with few of them, its question below."""
    failing = [case for case in report["cases"] if case["stage"] != "pass"]
    if not failing:
        return
    k = report["run"]["cutoffs"][0]
    rows = []
    for case in failing[:CASES]:
        where = sentence(_where(case, k))
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


def _metrics(console: Console, report: Report) -> None:
    """The main metrics, each with its denominator, and what must be known to read them."""
    lines = wording.metrics(report)
    main = [line for line in lines if wording.is_main(line.row, report["run"])]
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
        console.print(Text(f"and {len(lines) - len(main):,} more in the report", SOFT))
    if any(line.row["metric"] == "answer_match" for line in main):
        by = terminal(report["run"]["normalizer"])
        console.print(sentence(f"answer_match by {by}. {wording.NOTES['answer_match']}", SOFT))
    if interval:
        console.print(sentence(wording.NOTES["intervals"], SOFT))
    if report["abstention"]:
        counts = "; ".join(
            f"{terminal(row['answerable'], 20)}: {row['answered']:,} answered, "
            f"{row['abstained']:,} abstained, {row['unknown']:,} unknown"
            for row in report["abstention"]
        )
        console.print(sentence(f"Abstention: {counts}. {wording.NOTES['abstention']}"))


def _rest(console: Console, report: Report) -> None:
    """Slices, findings, rejects, what was not observed and the limits, a line each."""
    slices = []
    for name, (_, lines) in wording.slices(report).items():
        shown, rest = first(lines, SLICE_VALUES)
        values = ", ".join(f"{terminal(line.value, 20)} {line.passed}" for line in shown)
        slices.append(f"{terminal(name, 20)} {values} {rest}".rstrip())
    reviews = report["reviews"]
    told = {
        "Passed by": slices,
        "Disputed": [_disputed(row) for row in reviews["disputed"][:CASES]] if reviews else [],
        "Findings": [f"{row['finding']} {row['n']:,}" for row in report["findings"]],
        "Set aside": [f"{rule} {n:,}" for rule, n in report["rejects"].items()],
        "Not observed": [row["metric"] for row in report["not_observed"]],
        "Cannot tell": report["limits"],
    }
    for name, items in told.items():
        if items:
            joined = " ".join(items) if name == "Cannot tell" else "; ".join(items)
            console.print(Text(f"{name}: ", SOFT).append_text(sentence(joined)))


def _disputed(row: DisputedRow) -> str:
    """`case-7, claim c1: yes ann; no bob`."""
    about = [terminal(name) for name in (row["claim_id"], row["evidence_id"]) if name]
    yes, no = ", ".join(row["supporters"]), ", ".join(row["opponents"])
    where = ", ".join([terminal(row["case_id"]), labels.subject(row), *about])
    return f"{where}: yes {terminal(yes)}, no {terminal(no)}"
