"""Findings between splits: which, how many, and that very many alike cost no square."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage.schemas.leakage import Findings
from ragtriage.splits import leaks
from ragtriage.splits.leaks import (
    Found,
    answer_in_question_leaks,
    duplicate_leaks,
    group_leaks,
    near_leaks,
)
from ragtriage.splits.near import near_pairs
from tests.splits.support import cases_of, distinct, similar

Row = dict[str, Any]


def case(name: str, split: str | None, question: str | None = None, **more: Any) -> Row:
    return {"case_id": name, "split": split, "question": question} | more


def named(found: Found) -> list[tuple[str, str, str, str]]:
    """Both cases and splits of each row."""
    return [
        (r["case_id"], r["split"], r["other_case_id"], r["other_split"])
        for r in found.rows.iter_rows(named=True)
    ]


def near(rows: list[Row], threshold: float) -> Found:
    cases = cases_of(rows)
    keys = distinct(cases)
    return near_leaks(cases, keys, near_pairs(keys, threshold)[0])


ORIGINAL = "When does the library on Mill Lane close?"
VARIANTS = {
    "exact": ORIGINAL,
    "case": "WHEN does the Library on mill lane CLOSE?",
    "punctuation": "“When does the library, on Mill Lane, close”",
    "spaces": " When  does the\tlibrary on Mill Lane close ?",
    "form": "When does the library on \uff2dill Lane close?",
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_planted_duplicates(variant: str) -> None:
    rows = [case("a", "test", ORIGINAL), case("b", "development", VARIANTS[variant])]
    found = duplicate_leaks(cases_of(rows))
    assert (found.n, named(found)) == (1, [("b", "development", "a", "test")])
    (row,) = found.rows.to_dicts()
    assert (row["score"], row["text"], row["other_text"]) == (1.0, VARIANTS[variant], ORIGINAL)
    assert near(rows, 0.1).n == 0


def test_a_duplicate_by_case_folding_and_composition() -> None:
    rows = [
        case("a", "test", "Wo ist die STRASSE zum Café?"),
        case("b", "dev", "wo ist die straße zum cafe\u0301"),
    ]
    assert duplicate_leaks(cases_of(rows)).n == 1


def test_word_order_is_near_not_equal() -> None:
    # 12 words, 10 3-grams. "please" moved from the end to the front: 9 of 11 are shared.
    one = "may I take the long ladder home over the whole weekend please"
    other = "please may I take the long ladder home over the whole weekend"
    rows = [case("a", "dev", one), case("b", "test", other)]
    assert duplicate_leaks(cases_of(rows)).n == 0
    found = near(rows, 0.6)
    assert (found.n, named(found)) == (1, [("a", "dev", "b", "test")])
    assert found.rows["score"].to_list() == [9 / 11]
    assert near(rows, 0.82).n == 0


@pytest.mark.parametrize("splits", [("dev", "dev"), ("dev", None), (None, None)])
def test_within_a_split_or_without_one_nothing_leaks(splits: tuple[str | None, ...]) -> None:
    rows = [case(f"c{i}", s, ORIGINAL, group="g") for i, s in enumerate(splits)]
    assert (group_leaks(cases_of(rows)).n, duplicate_leaks(cases_of(rows)).n) == (0, 0)
    rows[0]["question"] = ORIGINAL + " today"
    assert near(rows, 0.5).n == 0


def test_a_family_over_three_splits() -> None:
    splits = ("development", "test", "validation")
    rows = [case(f"{split[0]}{i}", split, group="g") for split in splits for i in (1, 2)]
    found = group_leaks(cases_of([*rows, case("x", "test", group="h")]))
    assert found.n == 3
    assert named(found) == [
        ("d1", "development", "t1", "test"),
        ("d1", "development", "v1", "validation"),
        ("t1", "test", "v1", "validation"),
    ]
    assert found.rows["pairs"].to_list() == [4, 4, 4]
    assert found.rows["group"].unique().to_list() == ["g"]
    assert found.rows["score"].null_count() == 3


def test_short_questions_are_compared_whole() -> None:
    rows = [case("a", "dev", "Why?"), case("b", "test", "why"), case("c", "test", "Why not?")]
    assert named(duplicate_leaks(cases_of(rows))) == [("a", "dev", "b", "test")]
    assert near(rows, 0.01).n == 0


def test_cases_without_a_question_are_equal_to_none() -> None:
    rows = [case("a", "dev", None), case("b", "test", None), case("c", "test", "?!")]
    assert duplicate_leaks(cases_of(rows)).n == 0


def test_a_thousand_identical_questions_are_a_thousand_rows() -> None:
    # 400 in development, 500 in test, 100 in validation: 400·500 + 400·100 + 500·100 pairs.
    sizes = {"development": 400, "test": 500, "validation": 100}
    rows = [case(f"{s}{i:03}", s, ORIGINAL) for s, n in sizes.items() for i in range(n)]
    found = duplicate_leaks(cases_of(rows))
    assert found.n == 290_000
    assert found.rows.height == 500 + 400 + 500
    assert set(found.rows["case_id"]) | set(found.rows["other_case_id"]) == {
        row["case_id"] for row in rows
    }
    assert (found.rows["split"] != found.rows["other_split"]).all()


def test_a_hundred_thousand_identical_questions_cost_no_square() -> None:
    n = 100_000
    cases = pl.DataFrame(
        {
            "case_id": [f"c{i:06}" for i in range(n)],
            "split": ["dev", "test"] * (n // 2),
            "question": [ORIGINAL] * n,
            "key": ["when does the library on mill lane close"] * n,
        }
    )
    started = time.process_time()
    found = duplicate_leaks(cases)
    near_pairs(distinct(cases), 0.6)
    assert time.process_time() - started < 10
    assert found.n == 2_500_000_000
    assert found.rows.height == n // 2


def test_a_long_list_is_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaks, "LISTED", 7)
    rows = [
        case(f"{split}{i}{j}", split, f"question of number {i} asked", group=f"g{i}")
        for split in ("dev", "test")
        for i in range(5)
        for j in range(3)
    ]
    found = duplicate_leaks(cases_of(rows))
    assert (found.n, found.rows.height) == (45, 7)
    monkeypatch.setattr(leaks, "LISTED", 2)
    found = group_leaks(cases_of(rows))
    assert (found.n, found.rows.height) == (5, 2)


WORDS = st.sampled_from(["red", "blue", "tin", "oak"])
CASES = st.lists(
    st.tuples(
        st.sampled_from(["dev", "test", "val", None]), st.lists(WORDS, min_size=3, max_size=5)
    ),
    max_size=14,
)


@settings(max_examples=40, deadline=None)
@given(CASES)
def test_numbers_and_rows_against_each_with_each(drawn: list[tuple[str | None, list[str]]]) -> None:
    rows = [case(f"c{i:02}", split, " ".join(words)) for i, (split, words) in enumerate(drawn)]
    cases = cases_of(rows)
    keys = distinct(cases)
    exact = similar(keys.to_list(), 0.4)
    pairs, _ = near_pairs(keys, 0.4)
    missed = len(exact) - pairs.height
    expected: Counter[str] = Counter()
    for i, one in enumerate(rows):
        for other in rows[i + 1 :]:
            if None in (one["split"], other["split"]) or one["split"] == other["split"]:
                continue
            if one["question"] == other["question"]:
                expected["equal"] += 1
            else:
                places = sorted(keys.index_of(row["question"]) or 0 for row in (one, other))
                expected["near"] += tuple(places) in exact
    assert duplicate_leaks(cases).n == expected["equal"]
    found = near_leaks(cases, keys, pairs)
    if not missed:
        assert found.n == expected["near"]
    for row in found.rows.iter_rows(named=True):
        assert row["split"] < row["other_split"]
        ends = sorted(keys.index_of(row[name]) or 0 for name in ("text", "other_text"))
        assert exact[ends[0], ends[1]] == row["score"]
        by_id = {r["case_id"]: r for r in rows}
        assert by_id[row["case_id"]]["question"] == row["text"]
        assert by_id[row["other_case_id"]]["question"] == row["other_text"]
        assert by_id[row["other_case_id"]]["split"] == row["other_split"]


@settings(max_examples=20, deadline=None)
@given(CASES, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(
    drawn: list[tuple[str | None, list[str]]], chance: Any
) -> None:
    rows = [
        case(f"c{i:02}", split, " ".join(words), group=words[0])
        for i, (split, words) in enumerate(drawn)
    ]
    shuffled = list(rows)
    chance.shuffle(shuffled)
    for look in (group_leaks, duplicate_leaks):
        one, other = look(cases_of(rows)), look(cases_of(shuffled))
        assert one.n == other.n
        assert one.rows.equals(other.rows)
    assert near(rows, 0.4).rows.equals(near(shuffled, 0.4).rows)


@pytest.mark.parametrize(
    ("question", "answers", "n"),
    [
        ("Is the Cedar Room upstairs open?", ["cedar room upstairs"], 1),
        ("Is the Cedar Room upstairs open?", ["THE CEDAR ROOM", "upstairs"], 1),
        # Word for word: neither part of a word, nor the same words elsewhere.
        ("Are the cedar roommates upstairs?", ["the cedar room"], 0),
        ("Is the room of cedar upstairs?", ["the cedar room"], 0),
        # Two answers that are the same but for case are one.
        ("Is the Cedar Room open?", ["the cedar room", "The Cedar Room"], 1),
        ("Is it yes or no?", ["yes"], 0),
        ("Is the Cedar Room open?", [], 0),
        ("Is the Cedar Room open?", None, 0),
        (None, ["the cedar room"], 0),
    ],
)
def test_a_question_that_holds_its_answer(
    question: str | None, answers: list[str] | None, n: int
) -> None:
    cases = cases_of([case("a", "test", question, expected_answers=answers)])
    assert answer_in_question_leaks(cases, 10).n == n


def test_the_least_length_counts_characters_of_what_is_compared() -> None:
    cases = cases_of([case("a", "test", "is 'A--B!' right?", expected_answers=["A--B!"])])
    assert answer_in_question_leaks(cases, 3).n == 1
    assert answer_in_question_leaks(cases, 4).n == 0


def test_every_kind_has_the_columns_of_the_model() -> None:
    cases = cases_of(
        [
            case("a", "dev", "is the oak tree old", group="g", expected_answers=["the oak tree"]),
            case("b", "test", "Is the oak tree old?", group="g"),
            case("c", "test", "is the oak tree old now"),
        ]
    )
    keys = distinct(cases)
    for found in (
        group_leaks(cases),
        duplicate_leaks(cases),
        near_leaks(cases, keys, near_pairs(keys, 0.5)[0]),
        answer_in_question_leaks(cases, 5),
    ):
        assert found.n == found.rows.height == 1
        tagged = found.rows.select(pl.lit("r").alias("run_id"), pl.all())
        Findings.to_schema().validate(tagged, lazy=True)
