"""Keys: what makes two texts equal, and what keeps them apart."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage.splits.words import keys_of, n_words


def key(text: str | None) -> str | None:
    (found,) = keys_of(pl.Series([text], dtype=pl.String))
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is the fee?", "What is the fee?"),
        ("What is the fee?", "WHAT IS THE FEE?"),
        ("What is the fee?", "  what \t is\nthe  fee "),
        ("What's the fee?", "What\u2019s the fee"),
        ("What's the fee?", "Whats the fee?!"),
        ("“What is the fee?”", "What is -- the: fee…"),
        ("caf\u00e9 hours", "cafe\u0301 hours"),
        ("\uff26\uff25\uff25 \uff12", "fee 2"),
        ("the \ufb01le", "the file"),
        ("STRASSE 9", "straße 9"),
        ("re\u00adnew\u200b it", "renew it"),
        ("图书馆几点关门\uff1f", "图书馆 几点 关门"),
        ("図書館は\uff1f", "「図書館」は"),
        ("ค่าปรับเท่าไร", "ค่าปรับ เท่าไร"),
    ],
)
def test_equal(one: str, other: str) -> None:
    assert key(one) == key(other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.5 times", "15 times"),
        ("What is C#?", "What is C?"),
        ("C++ code", "C code"),
        ("5% fee", "5 fee"),
        ("R&D", "R D"),
        ("$5", "€5"),
        ("the notable", "the no table"),
        ("resume", "résumé"),
        ("may I renew it", "I may renew it"),
        ("ห้อง", "หอง"),
    ],
)
def test_apart(one: str, other: str) -> None:
    assert key(one) != key(other)


@pytest.mark.parametrize("text", [None, "", "  ", "?!…", "\u200b", "「」"])
def test_no_words_no_key(text: str | None) -> None:
    assert key(text) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Why?", 1),
        ("What's new?", 2),
        ("How so, then?", 3),
        # A character is a word where words are not parted; marks belong to their character.
        ("图书馆几点关门\uff1f", 7),
        ("ค่าปรับ", 5),
        ("コーヒー iPhone", 5),
        ("도서관은 언제 닫나요", 3),
    ],
)
def test_words(text: str, words: int) -> None:
    assert n_words(keys_of(pl.Series([text]))).to_list() == [words]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(), min_size=1, max_size=5))
def test_a_key_does_not_depend_on_its_neighbours(texts: list[str]) -> None:
    together = keys_of(pl.Series(texts, dtype=pl.String)).to_list()
    assert together == [key(text) for text in texts]


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet=st.characters(categories=("Lu", "Ll", "Nd", "Po", "Zs")), max_size=30))
def test_case_and_unicode_form_do_not_matter(text: str) -> None:
    assert key(text) == key(unicodedata.normalize("NFD", text)) == key(text.casefold())
