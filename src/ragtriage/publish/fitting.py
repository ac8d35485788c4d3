"""Markdown within a limit: what is left out is counted, and said where it stood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

# What a comment on a pull request holds. In UTF-16 units, the strictest way to count characters.
COMMENT = 65_536
# What GitHub takes of one step's job summary, in bytes.
JOB_SUMMARY = 1024 * 1024
Measure = Callable[[str], int]


def utf16(text: str) -> int:
    """Length in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf8(text: str) -> int:
    """Length in bytes."""
    return len(text.encode("utf-8", "surrogatepass"))


@dataclass
class Part:
    """A piece of a report: its heading, then blocks, of which the last can be left out first.

    `noun`: what one block is (`case`); empty where blocks are tables, lists and paragraphs.
    `firm`: never shortened before all that is not firm. `first`: shortened before all others.
    """

    heading: str
    blocks: list[str]
    noun: str = ""
    firm: bool = False
    first: bool = False
    _out: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, texts: Sequence[str], *, firm: bool = False) -> Part:
        """A part whose first text is its heading; empty texts are none."""
        told = [text for text in texts if text]
        return cls(told[0] if told else "", told[1:], firm=firm)

    def text(self, limit: int) -> str:
        """The part as it stands, with what was left out."""
        out = ", ".join(
            f"{n:,} {noun}{'' if n == 1 else 's'}" for noun, n in self._out.items() if n
        )
        mark = f"_Left out to stay within {limit:,}: {out}._" if out else ""
        return "\n\n".join(text for text in (self.heading, *self.blocks, mark) if text)

    def drop(self) -> bool:
        """Leave out the last block, and count it; False where there is none."""
        if not self.blocks:
            return False
        block = self.blocks.pop()
        noun, n = (self.noun, 1) if self.noun else _counted(block)
        self._out[noun] += n
        return True


def fitted(parts: Sequence[Part], limit: int = COMMENT, measure: Measure = utf16) -> str:
    """The parts as one text of at most `limit`.

    What may go first goes first, block by block from its end; then the other parts, the last one
    first; then firm ones. If headings alone are too long, lines are cut from the end.
    """
    parts = [part for part in parts if part.heading or part.blocks]
    order = [part for part in parts if part.first]
    order += [part for part in reversed(parts) if not part.first and not part.firm]
    order += [part for part in reversed(parts) if part.firm]
    text = _joined(parts, limit)
    for part in order:
        while measure(text) > limit and part.drop():
            text = _joined(parts, limit)
    return text if measure(text) <= limit else cut(text, limit, measure)


def shared(
    texts: Sequence[Callable[[int], str]], limit: int = COMMENT, measure: Measure = utf16
) -> list[str]:
    """Texts that stand below each other within one limit; each is made for the room it is given.

    Short ones stay whole, long ones share what they leave.
    """
    made = [text(limit) for text in texts]
    room, left = limit, len(made)
    for place in sorted(range(len(made)), key=lambda n: measure(made[n])):
        if measure(made[place]) > room // left:
            made[place] = texts[place](room // left)
        room -= measure(made[place])
        left -= 1
    return made


def cut(text: str, limit: int, measure: Measure = utf16) -> str:
    """Whole lines from the start, and how many are left out."""
    lines = text.split("\n")
    kept, room = 0, limit - 100
    for line in lines:
        room -= measure(line) + 1
        if room < 0:
            break
        kept += 1
    return "\n".join(lines[:kept]) + f"\n\n_Cut: {len(lines) - kept:,} lines left out._\n"


def _joined(parts: Sequence[Part], limit: int) -> str:
    return "\n\n".join(part.text(limit) for part in parts) + "\n"


def _counted(block: str) -> tuple[str, int]:
    lines = block.count("\n") + 1
    return ("row", max(lines - 2, 0)) if block.startswith("| ") else ("line", lines)
