"""Pieces of a screen: text, tables, gates. They bring rich; import them late.

Every text is a rich Text of printable characters, never a markup string.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from typing import Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ragtriage.publish import wording
from ragtriage.publish.document import GateRow
from ragtriage.publish.escape import first, terminal

GATES = 10
NARROW = 80
ROOM = 14
WORD = 26  # what our own names take at most; longer words are data, and may be broken
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


def hanging(console: Console, line: Text, indent: int = 2) -> None:
    """Text whose further lines stand `indent` columns in, or below its own first word."""
    for part in line.split("\n"):
        lead = len(part.plain) - len(part.plain.lstrip(" "))
        room = max(console.width - max(indent, lead), 1)
        wrapped = part[lead:].wrap(console, room, overflow="fold") if part.plain else [part]
        for place, piece in enumerate(wrapped):
            piece.rstrip()
            console.print(Text(" " * (max(indent, lead) if place else lead)).append_text(piece))


def notice(console: Console, told: str) -> None:
    """What must be known before a number is read."""
    hanging(console, Text("! ", WARN).append_text(sentence(told)))


def print_table(console: Console, title: str, right: Sequence[int], rows: list[list[Text]]) -> None:
    """Aligned columns under a title; the numbers of `right` columns stand right.

    Where columns side by side would break a name apart, the cells of a row follow each other.
    """
    if not rows:
        return
    console.print()
    hanging(console, Text(title, HEAD))
    widths = _widths(rows, right, console.width)
    if widths is None or len(widths) == 1:
        for row in rows:
            _stacked(console, [cell for cell in row if cell.plain])
        return
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for column, width in enumerate(widths):
        justify: Literal["left", "right"] = "right" if column in right else "left"
        table.add_column(justify=justify, overflow="fold", width=width)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _stacked(console: Console, cells: Sequence[Text]) -> None:
    """The cells of a row after each other; one that does not fit begins a line of its own."""
    told = Text()
    for cell in cells:
        if told and told.cell_len + 2 + cell.cell_len > console.width - 2:
            hanging(console, told)
            told = Text("  ").append_text(cell)
        else:
            told.append("  " if told else "").append_text(cell)
    hanging(console, told)


def _widths(rows: list[list[Text]], right: Sequence[int], width: int) -> list[int] | None:
    """How wide each column is, narrow ones in full first.

    None where that would break a name of ours or a number apart.
    """
    columns = [list(column) for column in zip(*rows, strict=True)]
    widest = [max(_longest(cell.plain.split("\n")) for cell in column) for column in columns]
    words = [max(_longest(cell.plain.split()) for cell in column) for column in columns]
    widths = [widest[n] if n in right else min(word, WORD) for n, word in enumerate(words)]
    room = width - sum(widths) - 2 * (len(columns) - 1)
    if room < 0:
        return None
    for n in sorted(range(len(columns)), key=lambda n: widest[n] - widths[n]):
        more = min(widest[n] - widths[n], room)
        widths[n] += more
        room -= more
    return widths


def _longest(parts: Iterable[str]) -> int:
    return max(map(cell_len, parts), default=0)


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
        line.append(f": {value}, threshold {threshold}; ").append_text(text(gate["reason"]))
        hanging(console, line, 4)
    if rest:
        console.print(Text(f"  {rest}"))
