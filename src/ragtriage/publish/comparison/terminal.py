"""The comparison for a terminal: regressed cases, other changes, what moved; a screen or so.

Every text is a rich Text of printable characters, never a markup string. Import this module
late: it brings rich. No wording and no numbers of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from ragtriage.options import Detail
from ragtriage.publish import wording
from ragtriage.publish.comparison import evidence, words
from ragtriage.publish.comparison.document import ChangedCase, ComparisonReport
from ragtriage.publish.escape import first
from ragtriage.publish.kept import kept
from ragtriage.publish.terminal_parts import (
    BAD,
    GOOD,
    HEAD,
    NARROW,
    SOFT,
    WARN,
    captured,
    failed_gates,
    gate_lines,
    notice,
    print_table,
    sentence,
    text,
)

ALL = 10**9


class Limits(NamedTuple):
    """How many of each are shown."""

    cases: int = 10
    others: int = 5
    rows: int = 12
    slices: int = 8


NO_LIMITS = Limits(ALL, ALL, ALL, ALL)


def render(report: ComparisonReport, *, color: bool, width: int, detail: Detail = "normal") -> str:
    """The comparison in at most `width` columns; without a single escape code unless `color`.

    `detail`: quiet is the verdict and failed gates alone; verbose shows all that the report has.
    """
    show = _quiet if detail == "quiet" else _show
    limits = NO_LIMITS if detail == "verbose" else Limits()
    return captured(lambda console: show(console, report, limits), color=color, width=width)


def _quiet(console: Console, report: ComparisonReport, _limits: Limits) -> None:
    regressed = report["changed"]["regressed"]
    console.print(sentence(words.verdict(report), BAD if regressed else HEAD))
    failed_gates(console, report["gates"])


def _show(console: Console, report: ComparisonReport, limits: Limits) -> None:
    _head(console, report)
    _cases(console, report, limits)
    _transitions(console, report)
    _metrics(console, report, limits.rows)
    _slices(console, report, limits.slices)
    _evidence(console, report, limits.rows)


def _head(console: Console, report: ComparisonReport) -> None:
    regressed = report["changed"]["regressed"]
    console.print(sentence(words.verdict(report), BAD if regressed else HEAD))
    gate_lines(console, report["gates"])
    for told in words.notices(report):
        notice(console, told)
    facts = Text()
    for name, value in words.facts(report):
        facts.append("; " if facts else "").append_text(text(f"{name} ", SOFT))
        facts.append_text(text(value))
    console.print(facts)


def _cases(console: Console, report: ComparisonReport, limits: Limits) -> None:
    regressed, total = words.regressed(report), report["changed"]["regressed"]
    shown = regressed[: limits.cases]
    _listed(console, f"Regressed ({len(shown):,} of {total:,})", shown)
    others = words.others(report)[: limits.others]
    rest = report["comparison"]["n_changed"] - total
    _listed(console, f"Other changes ({len(others):,} of {rest:,})", others)


def _listed(console: Console, title: str, cases: list[ChangedCase]) -> None:
    rows = []
    for case in cases:
        what = sentence(words.way(case))
        for told in _told(case):
            what.append("\n").append_text(sentence(told, SOFT))
        name = text(case["case_id"], HEAD)
        kind = text(case["change"], BAD if case["change"] == "regressed" else "")
        if console.width < NARROW:
            rows.append([name.append("\n  ").append_text(what)])
        else:
            rows.append([name, kind, what])
    print_table(console, title, (), rows)


def _told(case: ChangedCase) -> list[str]:
    """What moved in the ledger; where nothing did, the metrics."""
    moved, rest = first(case["moved"], 3)
    if moved:
        return [*moved, *([rest] if rest else [])]
    values, rest = first(words.values(case), 3)
    told = "; ".join(f"{name} {change}" for name, change, _ in values)
    return [f"{told} {rest}".rstrip()] if told else []


def _transitions(console: Console, report: ComparisonReport) -> None:
    rows = [
        [
            text(wording.stage_words(row["base_stage"])),
            text("→ " + wording.stage_words(row["candidate_stage"])),
            Text(f"{row['n']:,}"),
        ]
        for row in report["transitions"]
        if row["base_stage"] != row["candidate_stage"]
    ]
    same = sum(
        row["n"] for row in report["transitions"] if row["base_stage"] == row["candidate_stage"]
    )
    print_table(console, f"Stages ({wording.count(same, 'case')} at the same stage)", (2,), rows)


def _metrics(console: Console, report: ComparisonReport, limit: int) -> None:
    lines = words.moved_deltas(report)
    shown, rest = first(sorted(lines, key=lambda line: not line.row["worse"]), limit)
    rows = [_delta(console, line) for line in shown]
    print_table(console, "Metrics (means over the cases scored in both)", (1, 2), rows)
    same = len(words.deltas(report)) - len(lines)
    told = [_left(report, rest), f"{wording.count(same, 'metric')} the same" if same else ""]
    if any(told):
        console.print(Text("; ".join(part for part in told if part), SOFT))


def _delta(console: Console, line: words.DeltaLine) -> list[Text]:
    style = {"better": GOOD, "worse": BAD, "lost": BAD, "mixed": WARN}.get(line.state, "")
    row = [
        text(line.label),
        Text(f"{line.base} → {line.candidate}"),
        Text(line.delta, style),
        Text(line.moved + (f"; {line.one_sided}" if line.one_sided else "")),
    ]
    return row if console.width >= NARROW else [row[0].append(" ").append_text(row[1]), *row[2:]]


def _slices(console: Console, report: ComparisonReport, limit: int) -> None:
    shown, rest = first(words.slices_worse(report), limit)
    rows = [[text(name), *_delta(console, line)] for name, line in shown]
    print_table(console, "Slices that got worse", (2, 3), rows)
    _say(console, _left(report, rest))


def _left(report: ComparisonReport, rest: str) -> str:
    """Where what is not shown here stands."""
    return rest and rest + kept("the report", written=report["comparison"]["written"])


def _evidence(console: Console, report: ComparisonReport, limit: int) -> None:
    """Tests with the smallest p first, and intervals, where they were asked for."""
    if report["resolution"] is not None:
        tests, rest = first(evidence.test_lines(report), limit)
        rows = [[text(cell) for cell in line] for line in tests]
        title = "Tests (differing units, method, p, corrected, smallest)"
        print_table(console, title, (1, 3, 4, 5), rows)
        _say(console, _left(report, rest))
        console.print(sentence(report["resolution"]))
        _say(console, evidence.seeds(report["tests"]))
    lines, rest = first(evidence.interval_lines(report), limit)
    if lines:
        rows = [[text(cell) for cell in line] for line in lines]
        print_table(
            console, "Intervals (difference, 95 percent cluster bootstrap, units)", (1, 3), rows
        )
        _say(console, _left(report, rest))
        _say(console, evidence.seeds(report["intervals"]))


def _say(console: Console, told: str) -> None:
    if told:
        console.print(Text(told, SOFT))
