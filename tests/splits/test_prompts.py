"""What stands in prompts: word for word, over lines and escapes, with file and line."""

from __future__ import annotations

import time
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage.splits.prompts import Haystack, PromptText, answer_leaks, question_leaks
from ragtriage.splits.words import keys_of
from tests.splits.support import cases_of

QUESTION = "Which licence do I need for the trailer?"


def asked(*texts: str, question: str = QUESTION) -> list[tuple[str, int]]:
    """File and line of each place the question stands in."""
    files = [PromptText(f"f{i}", text) for i, text in enumerate(texts)]
    cases = cases_of([{"case_id": "a", "split": "test", "question": question}])
    rows = question_leaks(cases, Haystack(files)).rows
    return list(rows.select("file", "line").iter_rows())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (QUESTION, 1),
        ("# Examples\n\n- Q: which LICENCE do I need, for the trailer\n", 3),
        ("one\nq: Which licence do\n   I need for\n the trailer? yes", 2),
        ('{"q": "Which licence do I need for the trailer?"}', 1),
        (r'{"p": "So:\nWhich licence do I need for the trailer?\n"}', 1),
        (r"P = 'Ask: \"Which licence do I need for the trailer?\"'", 1),
        ("Which licence do I need for\r\nthe trailer?", 1),
        ("\n\n\n" + QUESTION + " " + QUESTION + "\n" + QUESTION, 4),
    ],
)
def test_found_with_its_line(text: str, line: int) -> None:
    assert asked(text) == [("f0", line)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Which licence do I need for the trailers?",
        "Which licence do I need for a trailer?",
        "For the trailer: which licence do I need",
        "unwhich licence do i need for the trailer",
    ],
)
def test_anything_else_is_not_it(text: str) -> None:
    assert asked(text) == []


def test_never_across_files() -> None:
    assert asked("Which licence do I need", "for the trailer?") == []
    assert asked("x\n" + QUESTION, "y", QUESTION) == [("f0", 2), ("f2", 1)]


def test_escaped_characters_are_what_they_stand_for() -> None:
    assert asked(r'{"q": "\u56f3\u66f8\u9928\u306f\u3044\u3064"}', question="図書館はいつ") == [
        ("f0", 1)
    ]


def test_short_questions_are_looked_for_nowhere() -> None:
    assert asked("Opening hours?", question="Opening hours?") == []
    assert asked("the Opening hours?", question="The opening hours?") == [("f0", 1)]


def answered(text: str, answers: list[str], least: int = 10) -> int:
    cases = cases_of([{"case_id": "a", "split": "test", "expected_answers": answers}])
    return answer_leaks(cases, Haystack([PromptText("f", text)]), least).n


def test_an_answer_that_stands_in_every_prompt_is_no_leak() -> None:
    assert answered("Answer yes or no. Yes!", ["yes"]) == 0
    assert answered("Answer yes or no. Yes!", ["yes"], 3) == 1
    assert answered("say: category BE licence", ["Category BE licence"]) == 1
    # 10 characters are enough, 9 are not.
    assert (answered("cedar room", ["cedar room"]), answered("cedar hut", ["cedar hut"])) == (1, 0)


def test_each_answer_and_file_is_a_finding() -> None:
    answers = ["the green locker", "at the front desk", "on the far shelf"]
    cases = cases_of([{"case_id": "a", "split": None, "expected_answers": answers}])
    files = [
        PromptText("one", "at the front desk\nor in the green locker"),
        PromptText("two", "the green locker, the green locker"),
    ]
    found = answer_leaks(cases, Haystack(files), 10)
    assert found.n == 3
    assert set(found.rows.select("text", "file", "line").iter_rows()) == {
        ("at the front desk", "one", 1),
        ("the green locker", "one", 2),
        ("the green locker", "two", 1),
    }


WORDS = st.sampled_from(["red", "blue", "tin"])


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.lists(st.lists(WORDS, max_size=4), max_size=4), min_size=1, max_size=3),
    st.lists(st.lists(WORDS, min_size=1, max_size=4), min_size=1, max_size=6),
)
def test_against_a_plain_search(files: list[list[list[str]]], needles: list[list[str]]) -> None:
    texts = ["\n".join(" ".join(line) for line in file) for file in files]
    haystack = Haystack([PromptText(str(i), text) for i, text in enumerate(texts)])
    keys = sorted({" ".join(words) for words in needles})
    expected: list[Any] = []
    for key in keys:
        words = key.split(" ")
        for i, file in enumerate(files):
            flat = [(word, n) for n, line in enumerate(file, 1) for word in line]
            for start in range(len(flat)):
                if [word for word, _ in flat[start : start + len(words)]] == words:
                    expected.append((key, str(i), flat[start][1]))
                    break
    found = haystack.where(pl.Series(keys)).select("key", "file", "line")
    assert list(found.iter_rows()) == expected


def test_many_questions_in_a_long_prompt() -> None:
    questions = [f"what is the opening time of branch {i} on monday" for i in range(20_000)]
    text = "\n".join(questions[::10]) + "\nmuch else" * 20_000
    started = time.process_time()
    found = Haystack([PromptText("f", text)]).where(keys_of(pl.Series(questions)))
    assert time.process_time() - started < 10
    assert found.height == 2_000
