"""The leakage report for a terminal: a screen or so. No wording and no numbers of its own."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ragtriage.publish.escape import first, terminal
from ragtriage.publish.kept import kept
from ragtriage.publish.leakage import document as doc
from ragtriage.publish.leakage import wording
from ragtriage.publish.terminal_parts import (
    BAD,
    GOOD,
    HEAD,
    SOFT,
    captured,
    notice,
    print_table,
    sentence,
)

FINDINGS = 5
SIZES = 12


def render(report: doc.LeakageReport, *, color: bool, width: int) -> str:
    """The report in at most `width` columns; without a single escape code unless `color`."""
    parts = (_head, _findings, _assignment, _rest)

    def show(console: Console) -> None:
        for part in parts:
            part(console, report)

    return captured(show, color=color, width=width)


def _head(console: Console, report: doc.LeakageReport) -> None:
    bad = report["run"]["status"] == "failed"
    console.print(sentence(wording.verdict(report), BAD if bad else GOOD))
    for told in wording.notices(report):
        notice(console, told)
    facts = "; ".join(f"{name} {text}" for name, text in wording.facts(report))
    console.print(sentence(facts, SOFT))


def _findings(console: Console, report: doc.LeakageReport) -> None:
    """Kind by kind: what leaks, both texts one under the other."""
    for kind in report["kinds"]:
        if not kind["n"]:
            continue
        shown, _ = first(wording.of_kind(report, kind["finding"]), FINDINGS)
        title = f"{wording.TITLES[kind['finding']]} ({len(shown):,} of {kind['n']:,})"
        console.print()
        console.print(Text(title, HEAD))
        for row in shown:
            console.print(_finding(row))
        rest = wording.unlisted(kind, len(shown), written=report["run"]["written"])
        if rest:
            console.print(sentence(rest, SOFT))
    unlooked = [f"{row['finding']} ({row['why']})" for row in report["kinds"] if row["n"] is None]
    if unlooked:
        console.print()
        console.print(Text("Not looked for: ", SOFT).append_text(sentence("; ".join(unlooked))))


def _finding(row: doc.FindingRow) -> Text:
    """`development d1  test t4  0.714`, and the texts below."""
    line = Text()
    for split, name in wording.places(row):
        if split is not None:
            line.append(f"{terminal(split, 30)} ", SOFT)
        line.append(f"{terminal(name, 60)}  ", HEAD)
    if row["group"] is not None:
        line.append("group ", SOFT).append(terminal(row["group"], 40))
    line.append(wording.score(row))
    line.rstrip()
    for text in (row["text"], row["other_text"]):
        line.append("\n  ").append(terminal(text if text is not None else "(no text)"))
    return line


def _assignment(console: Console, report: doc.LeakageReport) -> None:
    made = report["assignment"]
    if made is None:
        return
    rows = []
    for row in made["sizes"][:SIZES]:
        asked, reached = wording.size(row)
        of = "all cases" if row["stratum"] == "all" else f"tag {row['stratum_value']}"
        name = Text(terminal(row["split"], 30), HEAD)
        rows.append([sentence(of, SOFT), name, Text(f"asked {asked}"), Text(f"reached {reached}")])
    written = report["run"]["written"]
    title = "Proposed splits" + (" (assignment.parquet)" if written else "")
    print_table(console, title, (), rows)
    rest = len(made["sizes"]) - len(rows)
    if rest > 0:
        console.print(Text(f"and {rest:,} more{kept('sizes.parquet', written=written)}", SOFT))
    facts = "; ".join(f"{name} {text}" for name, text in wording.assignment_facts(made))
    console.print(sentence(facts, SOFT))


def _rest(console: Console, report: doc.LeakageReport) -> None:
    """How sure it is, and the limits."""
    told = wording.how_sure(report["search"])[1:] if report["search"] else []
    told += wording.lengths(report)
    aside = [f"{rule} {n:,}" for rule, n in report["rejects"].items()]
    console.print()
    if aside:
        console.print(Text("Set aside: ", SOFT).append_text(sentence("; ".join(aside))))
    if told:
        console.print(Text("How sure: ", SOFT).append_text(sentence(" ".join(told))))
    console.print(Text("Cannot tell: ", SOFT).append_text(sentence(report["limits"][0])))
