"""What `--verbose` adds to the screen: slices, findings in full, inputs, timings, limits."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ragtriage.publish import wording
from ragtriage.publish.document import Report
from ragtriage.publish.escape import terminal
from ragtriage.publish.slice_words import most_broken
from ragtriage.publish.terminal_parts import HEAD, ROOM, print_table, sentence, text

VALUES = 50


def show(console: Console, report: Report, timings: dict[str, float]) -> None:
    """Each as a table; nothing where there is nothing."""
    for name, (columns, lines) in wording.slices(report).items():
        shown, rest = most_broken(lines, VALUES)
        means = ", ".join(terminal(column, 40) for column in columns)
        rows = [
            [
                text(line.value),
                Text(line.passed),
                *(Text(f"{mean} (n {over})" if over else "") for mean, over in line.cells),
                sentence(line.mix),
            ]
            for line in shown
        ]
        title = f"By {terminal(name, 40)} (passed{', ' if means else ''}{means})"
        if _fits(rows, console.width):
            print_table(console, title, tuple(range(1, 2 + len(columns))), rows)
        else:
            _stacked(console, name, columns, shown)
        if rest:
            where = " in summary.parquet" if report["run"]["written"] else " left out"
            console.print(Text(f"{rest}{where}"))
    _findings(console, report)
    _inputs(console, report)
    steps = [[text(step), Text(f"{seconds:.3f}")] for step, seconds in timings.items()]
    print_table(console, "Timings (seconds)", (1,), steps)
    console.print()
    console.print(sentence(f"Cannot tell: {' '.join(report['limits'])}"))


def _fits(rows: list[list[Text]], width: int) -> bool:
    """Whether the columns of numbers stand side by side unbroken, with room for the stages."""
    columns = [*zip(*rows, strict=True)][:-1]
    widest: list[int] = [max(cell.cell_len for cell in column) + 2 for column in columns]
    return sum(widest) + ROOM <= width


def _stacked(
    console: Console, name: str, columns: list[str], lines: Sequence[wording.SliceLine]
) -> None:
    """A paragraph a value, where a table would break words and numbers apart."""
    console.print()
    console.print(Text(f"By {terminal(name, 40)}", HEAD))
    for line in lines:
        means = [
            f"{column} {mean} (n {over})"
            for column, (mean, over) in zip(columns, line.cells, strict=True)
            if over
        ]
        told = "; ".join(each for each in (f"{line.passed} passed", line.mix, *means) if each)
        console.print(text(line.value).append("  ").append_text(sentence(told)))


def _findings(console: Console, report: Report) -> None:
    rows = []
    for row in report["findings"]:
        examples = ", ".join(terminal(one, 40) for one in row["example_case_ids"][:5])
        told = sentence(f"{row['meaning']} ({examples})")
        rows.append([text(row["finding"]), Text(f"{row['n']:,}"), told])
    print_table(console, "Findings", (1,), rows)


def _inputs(console: Console, report: Report) -> None:
    rows = [
        [
            text(file["path"]),
            text(file["role"]),
            *(Text(f"{n:,}") for n in (file["lines"], file["accepted"], file["set_aside"])),
        ]
        for file in report["run"]["inputs"]
    ]
    print_table(console, "Inputs (lines, accepted, set aside)", (2, 3, 4), rows)
