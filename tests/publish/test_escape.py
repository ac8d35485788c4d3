"""Text stays text: hidden characters show, and no Markdown can come alive."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragtriage.publish import escape

# What GitHub turns into a link or a mention when it stands outside code.
ALIVE = re.compile(r"[@<>\[\]*_~`#&$\\]|://|www\.|\b[0-9a-f]{7,}\b|\b[A-Za-z]+-\d+\b", re.ASCII)
ATTACKS = [
    r"back\slash \| \` \\",
    "`tick` ``two`` ```three``` `",
    "a | b || c \\| d",
    "line one\nline two\r\n\n- item",
    "<script>alert(1)</script>",
    "<!-- comment --> &lt; &#64;x",
    "@mention (@team/x)",
    "#1 GH-12 JIRA-3 owner/repo#4 deadbeef01",
    "http://evil.example https://e.example www.evil.example a@evil.example mailto:x",
    "[a](http://evil.example) ![i](//evil.example/i.png) [r]: /u",
    "# heading",
    "- item",
    "+ item",
    "* item",
    "1. item",
    "1) item",
    "> quote",
    "===",
    "---",
    "    indented",
    "\tindented",
    "**bold** __bold__ *em* _em_ ~~gone~~ $x$ :smile:",
    "\u202egnp.exe\u200b \x1b[31m \x00 \ud800",
    "`",
    "``",
    "|",
    "||",
    " |",
    "a`|`b",
    " leading and trailing ",
    "'" * 400 + "!",
]


def cells(markdown: str) -> list[list[Token]]:
    """The inline tokens of a table's cells, the cell under test between two others."""
    text = f"| a | b | c |\n| --- | --- | --- |\n| left | {markdown} | right |\n\nafter\n"
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    kinds = [token.type for token in tokens]
    assert kinds.count("tr_open") == 2
    assert kinds[-3:] == ["paragraph_open", "inline", "paragraph_close"]
    return [token.children or [] for token in tokens if token.type == "inline"][3:-1]


def shown(inline: list[Token]) -> str:
    """The text a reader sees; fails on anything but text and code."""
    assert {token.type for token in inline} <= {"text", "text_special", "code_inline"}
    return "".join(token.content for token in inline)


@pytest.mark.parametrize("attack", ATTACKS)
def test_code_shows_the_exact_text_in_a_table_cell(attack: str) -> None:
    left, middle, right = cells(escape.code(attack, 1_000))
    assert (shown(left), shown(right)) == ("left", "right")
    assert shown(middle) == escape.visible(attack)
    assert not "".join(t.content for t in middle if t.type != "code_inline").strip("|")


@pytest.mark.parametrize("attack", ATTACKS)
def test_prose_leaves_only_plain_words_outside_code(attack: str) -> None:
    left, middle, right = cells(escape.prose(attack, 1_000))
    assert (shown(left), shown(right)) == ("left", "right")
    assert shown(middle) == " ".join(escape.visible(attack).split())
    plain = "".join(t.content for t in middle if t.type != "code_inline")
    assert not ALIVE.search(plain)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("neutralise", [escape.code, escape.prose])
def test_nothing_starts_a_block_after_a_list_marker(attack: str, neutralise: object) -> None:
    assert callable(neutralise)
    tokens = MarkdownIt("commonmark").enable("table").parse(f"- {neutralise(attack)}\n")
    kinds = [token.type for token in tokens]
    assert kinds == [
        "bullet_list_open",
        "list_item_open",
        "paragraph_open",
        "inline",
        "paragraph_close",
        "list_item_close",
        "bullet_list_close",
    ]


@given(st.text(st.sampled_from("`|\\ a1*_<>[]()!@#\n.:-\u202e"), min_size=1, max_size=30))
def test_code_is_exact_for_any_text(text: str) -> None:
    _, middle, _ = cells(escape.code(text))
    assert shown(middle) == escape.visible(text)


@given(st.text(st.sampled_from("`|\\ a1*_<>[]()!@#\n.:-\"'"), max_size=30))
@example("##[")
@example("a##[group]x")
def test_prose_is_harmless_for_any_text(text: str) -> None:
    # The one bracket that stands outside a code span is escaped, and opens nothing.
    _, middle, _ = cells(escape.prose(text).replace("##`\\[", "##` "))
    shown(middle)
    assert not ALIVE.search("".join(t.content for t in middle if t.type != "code_inline"))


def test_a_plain_sentence_stays_plain() -> None:
    said = 'Compare the pool (before the cut), then "re-rank" it: 0.75 of 12, half/half.'
    assert escape.prose(said) == said
    assert escape.prose("See recall@5 (of b_1).") == "See `recall@5` (of `b_1`)."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31m", r"\u001b[31m"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\u202e\u2066\u200f\u061c", r"\u202e\u2066\u200f\u061c"),
        ("\u200b\ufeff\u00ad\u2028", r"\u200b\ufeff\u00ad\u2028"),
        ("\ud800\x9b\x7f\x00", r"\ud800\u009b\u007f\u0000"),
        ("\U000e0041", r"\U000e0041"),
        ("a\u200db", r"a\u200db"),
        ("\u06cc\u200c\u062e 👩\u200d💻 é 日本", "\u06cc\u200c\u062e 👩\u200d💻 é 日本"),
    ],
)
def test_hidden_characters_are_shown(text: str, expected: str) -> None:
    assert escape.visible(text) == expected


def test_a_block_keeps_its_line_breaks() -> None:
    assert escape.visible_block("a\r\nb\n\tc\x07\r") == "a\nb\n\tc\\u0007\\r"


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example('\x00\x1b[2J\x7f\x85\x9b\u2028\u202e\ufeff\U000e0041 é 日本 \\ " \n')
def test_json_shows_hidden_characters_and_means_the_same(text: str) -> None:
    stored = json.dumps({"a": [text]}, ensure_ascii=False, indent=1)
    shown = escape.visible_json(stored)
    assert json.loads(shown) == {"a": [text]}
    assert escape.visible_block(shown) == shown


def test_what_is_huge_is_cut_and_marked() -> None:
    mark = "… cut, 5,000,000 characters in all"
    huge = "x" * 5_000_000
    assert escape.clip(huge, 10) == ("x" * 10, mark)
    assert escape.terminal(huge) == "x" * 100 + mark
    assert escape.code(huge) == f"`{'x' * 300}` {mark}"
    assert escape.clip("x" * 10, 10) == ("x" * 10, "")
    assert escape.first(range(12), 10) == (range(10), "and 2 more")
    assert escape.first([1], 1) == ([1], "")
