"""Judges against settled labels: counts by hand, and again in plain Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage.agreement.coefficients import ONE_LABEL
from ragtriage.agreement.judges import (
    NONE_CALLED_TRUE,
    NONE_FALSE,
    NONE_SETTLED,
    NONE_TRUE,
    judge_table,
)
from ragtriage.reviews.settle import settle
from ragtriage.schemas.agreement import Judges
from ragtriage.schemas.inputs import dtypes
from tests.agreement.plain import drawn_reviews, frame, judge_rows, votes

Row = dict[str, Any]


def rows_of(reviews: list[Row], min_validated: int = 30) -> dict[tuple[str, str], Row]:
    rows = frame(reviews)
    table = judge_table(rows, settle(rows), min_validated)
    assert dict(table.schema) == {n: t for n, t in dtypes(Judges).items() if n != "run_id"}
    found = {(row["judge"], row["target"]): row for row in table.to_dicts()}
    assert len(found) == table.height
    return found


def against(people: str, judge: str) -> list[Row]:
    """One person whose word settles it, and one judge."""
    return votes({"ann": people}) + votes({"j": judge}, "judge")


def test_a_two_by_two_table_by_hand() -> None:
    # tp 6, fn 2 (people true: 8); fp 3, tn 9 (people false: 12)
    row = rows_of(against("T" * 8 + "F" * 12, "TTTTTTFF" + "TTT" + "F" * 9))["j", "all"]
    assert [row[name] for name in ("n", "tp", "fp", "tn", "fn")] == [20, 6, 3, 9, 2]
    assert row["sensitivity"] == pytest.approx(6 / 8, abs=1e-15)
    assert row["specificity"] == pytest.approx(9 / 12, abs=1e-15)
    assert row["precision"] == pytest.approx(6 / 9, abs=1e-15)
    # p_o = 15/20; judge true 9, people true 8: p_e = (9·8 + 11·12) ÷ 400 = 204/400;
    # κ = (300 - 204) ÷ (400 - 204) = 96/196
    assert row["kappa"] == pytest.approx(24 / 49, abs=1e-15)
    assert [row[f"{name}_reason"] for name in ("sensitivity", "precision", "kappa")] == [None] * 3
    assert not row["validated"]


@pytest.mark.parametrize(
    ("people", "judge", "reasons"),
    [
        ("??", "TF", [NONE_SETTLED] * 4),
        ("  ", "TF", [NONE_SETTLED] * 4),
        ("TT", "??", [NONE_SETTLED] * 4),
        ("FF", "TF", [NONE_TRUE, None, None, None]),
        ("TT", "TF", [None, NONE_FALSE, None, None]),
        ("TF", "FF", [None, None, NONE_CALLED_TRUE, None]),
        ("TT", "TT", [None, NONE_FALSE, None, ONE_LABEL]),
        ("FF", "FF", [NONE_TRUE, None, NONE_CALLED_TRUE, ONE_LABEL]),
    ],
)
def test_undefined_has_its_reason(people: str, judge: str, reasons: list[str | None]) -> None:
    row = rows_of(against(people, judge))["j", "answer"]
    names = ("sensitivity", "specificity", "precision", "kappa")
    assert [row[f"{name}_reason"] for name in names] == reasons
    assert [row[name] is None for name in names] == [reason is not None for reason in reasons]


@pytest.mark.parametrize(
    ("n", "minimum", "validated"), [(29, 30, False), (30, 30, True), (1, 1, True), (0, 1, False)]
)
def test_a_judge_is_validated_from_the_minimum_on(n: int, minimum: int, validated: bool) -> None:
    row = rows_of(against("T" * n + "???", "T" * (n + 3)), minimum)["j", "all"]
    assert (row["n"], row["n_labels"]) == (n, n + 3)
    assert (row["min_validated"], row["validated"]) == (minimum, validated)


def test_what_is_disputed_counts_in_nothing_until_it_is_settled() -> None:
    reviews = votes({"ann": "TT", "bob": "TF"}) + votes({"j": "TT"}, "judge")
    row = rows_of(reviews)["j", "all"]
    assert (row["n"], row["n_labels"], row["tp"], row["fp"]) == (1, 2, 1, 0)
    row = rows_of(reviews + votes({"eve": " F"}, "adjudication"))["j", "all"]
    assert (row["n"], row["tp"], row["fp"]) == (2, 1, 1)


def test_a_judge_is_not_held_against_another() -> None:
    people = against("TF", "TT")
    alone = rows_of(people)
    both = rows_of(people + votes({"k": "FF"}, "judge"))
    assert {name: row for name, row in both.items() if name[0] == "j"} == alone
    assert list(both) == [("j", "all"), ("j", "answer"), ("k", "all"), ("k", "answer")]


@settings(max_examples=60, deadline=None)
@given(drawn_reviews())
def test_every_number_again_in_plain_python(reviews: list[Row]) -> None:
    found, expected = rows_of(reviews), judge_rows(reviews)
    assert set(found) == set(expected)
    for names, row in expected.items():
        for column, value in row.items():
            shown = found[names][column]
            if value is None:
                assert shown is None, (names, column)
                assert found[names][f"{column}_reason"]
            else:
                assert shown == pytest.approx(float(value), abs=1e-12), (names, column)


@settings(max_examples=60, deadline=None)
@given(drawn_reviews(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(reviews: list[Row], chance: Any) -> None:
    shuffled = reviews.copy()
    chance.shuffle(shuffled)
    assert rows_of(shuffled) == rows_of(reviews)
