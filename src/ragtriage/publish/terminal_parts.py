"""Pieces of a screen: text, tables, gates. They bring rich; import them late.

Every text is a rich Text of printable characters, never a markup string.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ragtriage.publish import wording
from ragtriage.publish.document import GateRow
from ragtriage.publish.escape import first, terminal

GATES = 10
NARROW = 80
ROOM = 14
BAD, GOOD, WARN, SOFT, HEAD = "bold red", "green", "yellow", "dim", "bold"


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
    whole = _whole(rows, console.width)
    for column in range(len(rows[0])):
        table.add_column(
            justify="right" if column in right else "left",
            overflow="fold",
            no_wrap=column in whole,
        )
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _whole(rows: list[list[Text]], width: int) -> set[int]:
    """The columns of single words that need not be broken, narrow ones first.

    Those of several words keep `ROOM` each: they wrap between words.
    """
    columns = [list(column) for column in zip(*rows, strict=True)]
    widest = [max(cell.cell_len for cell in column) + 2 for column in columns]
    words = [n for n, column in enumerate(columns) if not any(" " in c.plain for c in column)]
    room = width - sum(min(widest[n], ROOM) for n in range(len(columns)) if n not in words)
    whole: set[int] = set()
    for n in sorted(words, key=lambda n: widest[n]):
        rest = sum(min(widest[m], ROOM) for m in words if m != n and m not in whole)
        if sum(widest[m] for m in whole) + widest[n] + rest > room:
            break
        whole.add(n)
    return whole


def gate_lines(console: Console, rows: Sequence[GateRow]) -> None:
    """How many gates hold, and each that failed with what it came to."""
    said, gates = wording.gates(rows)
    failed, rest = first([gate for gate in gates if not gate["passed"]], GATES)
    if gates:
        console.print(text(f"✗ {said}" if failed else f"✓ {said}", BAD if failed else GOOD))
    _each_failed(console, failed, rest)


def failed_gates(console: Console, rows: Sequence[GateRow]) -> None:
    """Each gate that failed; nothing where all hold."""
    _each_failed(console, *first([gate for gate in rows if not gate["passed"]], GATES))


def _each_failed(console: Console, failed: Sequence[GateRow], rest: str) -> None:
    for gate in failed:
        value, threshold = wording.exact(gate["value"]), wording.exact(gate["threshold"])
        line = Text("  ✗ ", BAD).append_text(text(gate["gate"]))
        console.print(
            line.append(f": {value}, threshold {threshold}; ").append_text(text(gate["reason"]))
        )
    if rest:
        console.print(Text(f"  {rest}"))
