"""The agreement report for a terminal: a screen or so. No wording and no numbers of its own."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ragtriage.publish.agreement import document as doc
from ragtriage.publish.agreement import wording
from ragtriage.publish.escape import first, terminal
from ragtriage.publish.kept import kept
from ragtriage.publish.terminal_parts import (
    BAD,
    GOOD,
    HEAD,
    NARROW,
    SOFT,
    WARN,
    captured,
    notice,
    print_table,
)

ENTRIES = 10
ROWS = 20
VOICES = 6


def render(report: doc.AgreementReport, *, color: bool, width: int) -> str:
    """The report in at most `width` columns; without a single escape code unless `color`."""
    parts = (_head, _disputed, _pairs, _judges, _rest)

    def show(console: Console) -> None:
        for part in parts:
            part(console, report)

    return captured(show, color=color, width=width)


def sentence(text: str, style: str = "") -> Text:
    """Our own sentence: not cut as data is, but as printable."""
    return Text(terminal(text, 400), style=style)


def _more(console: Console, report: doc.AgreementReport, n: int, table: str) -> None:
    if n:
        where = kept(table, written=report["run"]["written"])
        console.print(Text(f"and {n:,} more{where}", SOFT))


def _head(console: Console, report: doc.AgreementReport) -> None:
    disputed = report["items"][0]["disputed"]
    console.print(sentence(wording.verdict(report), BAD if disputed else HEAD))
    for told in wording.notices(report):
        notice(console, told)
    facts = ", ".join(f"{name} {text}" for name, text in wording.facts(report))
    console.print(sentence(facts, SOFT))


def _disputed(console: Console, report: doc.AgreementReport) -> None:
    """A line per item: who says what."""
    rows = []
    shown, _ = first(report["disputed"], ENTRIES)
    for entry in shown:
        voices, more = first(wording.voices(entry), VOICES)
        said = "; ".join(f"{terminal(name, 30)}: {label}" for name, label, _ in voices)
        said = f"{said}; {more}" if more else said
        item = _item(entry)
        if console.width < NARROW:
            rows.append([item.append("\n  ").append_text(sentence(said))])
        else:
            rows.append([item, sentence(said)])
    total = len(report["disputed"]) + report["omitted"]["disputed"]
    print_table(console, f"Disputed and unsettled ({len(rows):,} of {total:,})", (), rows)
    _more(console, report, total - len(rows), "disagreements.parquet")


def _item(entry: doc.Disagreement) -> Text:
    return Text(" / ".join(terminal(name, 40) for _, name in wording.names(entry)), HEAD)


def _pairs(console: Console, report: doc.AgreementReport) -> None:
    """Over all people, then two by two."""
    listed = wording.rows(report["pairs"])
    pairs, _ = first([row for row in listed if row["n"]], ROWS)
    rows = [_pair(console, "all people", row) for row in wording.rows(report["overall"])]
    for row in pairs:
        names = (row["reviewer_a"] or "", row["reviewer_b"] or "")
        rows.append(_pair(console, ", ".join(terminal(name, 30) for name in names), row))
    print_table(console, "Agreement of people (items in common; equal label pairs)", (), rows)
    _more(console, report, len(listed) - len(pairs) + report["omitted"]["pairs"], "pairs.parquet")


def _pair(console: Console, who: str, row: doc.PairRow) -> list[Text]:
    name = Text(who, HEAD).append(f"  {wording.TARGETS[row['target']]}", SOFT)
    if not row["n"]:
        numbers = [Text("n 0"), sentence(wording.agreement(row), SOFT)]
    else:
        kappa = wording.coefficient(row["kappa"], row["kappa_reason"])
        alpha = wording.coefficient(row["alpha"], row["alpha_reason"])
        same = row["kappa_reason"] is not None and row["kappa_reason"] == row["alpha_reason"]
        beyond = f"κ and α {kappa}" if same else f"κ {kappa}; α {alpha}"
        agreed = Text(wording.agreement(row)).append(f"; {beyond}")
        numbers = [Text(f"n {row['n']:,}"), agreed]
    return _fitted(console, [name, *numbers])


def _fitted(console: Console, cells: list[Text]) -> list[Text]:
    """The cells, or one cell of lines where the terminal is narrow."""
    if console.width >= NARROW:
        return cells
    return [Text("\n  ").join(cells)]


def _judges(console: Console, report: doc.AgreementReport) -> None:
    """Each judge: validated or not, and what was found on the labels in common."""
    listed = wording.judged(report)
    shown, _ = first(listed, ROWS)
    rows = []
    for row in shown:
        judge = Text(terminal(row["judge"], 40), HEAD)
        judge.append(f"  {wording.TARGETS[row['target']]}  ", SOFT)
        judge.append(wording.validated(row), GOOD if row["validated"] else WARN)
        rows.append([judge.append("\n  ").append_text(_found(row))])
    print_table(console, "Judges against settled human labels (true is positive)", (), rows)
    _more(console, report, len(listed) - len(shown) + report["omitted"]["judges"], "judges.parquet")


def _found(row: doc.JudgeRow) -> Text:
    if not row["n"]:
        return sentence(wording.coefficient(None, row["kappa_reason"]), SOFT)
    words = ("sensitivity", "specificity", "precision")
    found = [f"{word} {text}" for word, text in zip(words, wording.quotients(row), strict=True)]
    found.append(f"κ {wording.coefficient(row['kappa'], row['kappa_reason'])}")
    counts = f"tp {row['tp']:,}, fp {row['fp']:,}, tn {row['tn']:,}, fn {row['fn']:,}"
    return Text("; ".join([f"n {row['n']:,}", counts, *found]))


def _rest(console: Console, report: doc.AgreementReport) -> None:
    """Counts of what the other formats list, and the limits."""
    listed = {
        "items settled against a person's label": "adjudicated",
        "judge labels that differ from the settled one": "judge_disagreements",
    }
    counts = [
        f"{words} {len(report[key]) + report['omitted'][key]:,}"  # type: ignore[literal-required]
        for words, key in listed.items()
    ]
    told = {
        "Listed in the report": counts,
        "Set aside": [f"{rule} {n:,}" for rule, n in report["rejects"].items()],
        "Cannot tell": report["limits"][:1],
    }
    console.print()
    for name, items in told.items():
        if items:
            console.print(Text(f"{name}: ", SOFT).append_text(sentence("; ".join(items))))
