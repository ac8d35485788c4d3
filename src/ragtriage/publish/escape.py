"""How text from a fixture is kept text: cut, hidden characters shown, neutralised per format.

Every string of a report passes through here (HTML adds Jinja's autoescape). No layout and no
wording belongs in this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
HTML_LIMIT = 2_000
MARKDOWN_LIMIT = 300
TERMINAL_LIMIT = 100

# Explicit ranges, not unicodedata, so that the bytes do not depend on Python's Unicode version:
# control characters, bidirectional marks, zero-width and invisible characters, lone surrogates.
_HIDDEN = (
    r"\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
# A zero-width joiner between two non-ASCII characters is ordinary spelling (Persian, emoji).
_JOINER = r"(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
_SHOWN_LINE = re.compile(f"[{_HIDDEN}]|{_JOINER}")
_SHOWN_BLOCK = re.compile(f"(?![\n\t])[{_HIDDEN}]|{_JOINER}")
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}

# What is left of a word Markdown cannot read as anything but a word, once brackets, quotes and
# stops around it are gone. Punctuation that opens markup, a mention, a reference or a link is
# absent; so are a dot between letters (a domain), a hexadecimal word (a commit) and AB-12 (an
# issue key).
_PLAIN_CORE = re.compile(
    r"(?![0-9A-Fa-f]{7,}$|[A-Za-z]+-\d+$)"
    r"(?:[^\x00-\x7f]|[A-Za-z0-9%]|(?<=[A-Za-z0-9])[-/,'](?=[A-Za-z0-9])|(?<=\d)\.(?=\d))*"
)
_LIST_NUMBER = re.compile(r"\d+[.)]")
# Only a pipe would still end a table cell, and `##[` be a command where GitHub's runner reads it.
_APART = re.compile(r"(\||(?<=##)\[)")
# What GitHub's runner takes for a command: `::` first in a line, `##[` anywhere in it.
_COMMANDS = (
    (re.compile(r"(^|[\r\n])(\s*):(?=:)"), r"\1\2\\u003a"),
    (re.compile(r"##(?=\[)"), r"#\\u0023"),
)


def clip(text: str, limit: int) -> tuple[str, str]:
    """The first `limit` characters, and the mark that says so ("" when nothing was cut)."""
    if len(text) <= limit:
        return text, ""
    return text[:limit], f"… cut, {len(text):,} characters in all"


def first(items: Sequence[T], limit: int) -> tuple[Sequence[T], str]:
    """The first `limit` items, and words for the rest ("" when there is none)."""
    rest = len(items) - limit
    return (items, "") if rest <= 0 else (items[:limit], f"and {rest:,} more")


def _as_escape(match: re.Match[str]) -> str:
    char = match.group()
    return _SHORT.get(char) or (
        f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}"
    )


def _is_plain(text: str) -> bool:
    """Printable ASCII hides nothing; most text is that, and need not be searched."""
    return text.isascii() and text.isprintable()


def visible(text: str) -> str:
    r"""One line: control, bidirectional and zero-width characters as `\n`, `\u202e`."""
    return text if _is_plain(text) else _SHOWN_LINE.sub(_as_escape, text)


def visible_block(text: str) -> str:
    """The same, but line breaks and tabs stay, for formats that can hold them in a cell."""
    if _is_plain(text):
        return text
    return _SHOWN_BLOCK.sub(_as_escape, text.replace("\r\n", "\n"))


def visible_json(text: str) -> str:
    """The same JSON; what a terminal would obey or hide is escaped in it, and means the same."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _SHOWN_BLOCK.sub(lambda match: json.dumps(match.group())[1:-1], text)


def terminal(text: str, limit: int = TERMINAL_LIMIT) -> str:
    """One printable line for a terminal: no control character, hence no escape sequence."""
    head, mark = clip(text, limit)
    return visible(head) + mark


def _span(text: str) -> str:
    """A code span of text without a pipe; the fence is longer than any backtick run within."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    fence = "`" * (longest + 1)
    return f"{fence}{pad}{text}{pad}{fence}" if text.strip(" ") else f"{fence}{text}{fence}"


def _literal(text: str) -> str:
    """Code spans around everything but `_APART`, which stands between them, escaped.

    Inside a code span nothing is markup, HTML, a link, a mention or a reference, and a
    backslash is itself.
    """
    return "".join(
        rf"\{piece}" if place % 2 else _span(piece) if piece else ""
        for place, piece in enumerate(_APART.split(text))
    )


def code(text: str, limit: int = MARKDOWN_LIMIT) -> str:
    """Text as data in Markdown: exact, in a code span, safe in a table cell."""
    head, mark = clip(text, limit)
    if not head:
        return "(empty)"
    return _literal(visible(head)) + (f" {mark}" if mark else "")


def _word(word: str, *, first: bool) -> str:
    """A plain word as it is; any other as a code span, brackets and stops around it outside."""
    core = word.lstrip("(\"'").rstrip("\"'),.;:?")
    if _PLAIN_CORE.fullmatch(core) and not (first and _LIST_NUMBER.fullmatch(word)):
        return word
    before, after = word.split(core, 1)
    return before + _literal(core) + after


def prose(text: str, limit: int = MARKDOWN_LIMIT) -> str:
    """A sentence in Markdown: plain words stay plain, every other word becomes a code span."""
    head, mark = clip(text, limit)
    words = visible(head).split()
    if not words:
        return "(empty)"
    shown = [_word(word, first=place == 0) for place, word in enumerate(words)]
    return " ".join([*shown, mark] if mark else shown)


def no_commands(text: str) -> str:
    r"""Printed text without a line that GitHub's runner obeys: `\u003a:`, `#\u0023[` instead.

    Both are escapes of JSON, where they mean the same as before.
    """
    for pattern, instead in _COMMANDS:
        text = pattern.sub(instead, text)
    return text
