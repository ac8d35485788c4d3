"""What people's labels come to."""

from __future__ import annotations

import random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.reviews.settle import judged, settle, target
from ragtriage.schemas.inputs import dtypes
from ragtriage.schemas.reviews import ITEM, Reviews

YES, NO, LEFT_OPEN = True, False, None
HUMAN, JUDGE, ADJUDICATION = "human", "judge", "adjudication"
Vote = tuple[str, str, bool | None]


def reviews(*votes: Vote, claim: str | None = "c", passage: str | None = None) -> pl.DataFrame:
    rows = [("case", claim, passage, who, kind, label, None) for who, kind, label in votes]
    return pl.DataFrame(rows, schema=dtypes(Reviews), orient="row")


@pytest.mark.parametrize(
    ("votes", "label", "state", "people"),
    [
        ([("a", HUMAN, YES)], YES, "agreed", 1),
        ([("a", HUMAN, NO), ("b", HUMAN, NO)], NO, "agreed", 2),
        ([("a", HUMAN, YES), ("b", HUMAN, NO)], None, "disputed", 2),
        ([("a", HUMAN, YES), ("b", HUMAN, YES), ("c", HUMAN, NO)], None, "disputed", 3),
        ([("a", HUMAN, YES), ("b", HUMAN, LEFT_OPEN)], YES, "agreed", 1),
        ([("a", HUMAN, LEFT_OPEN)], None, "open", 0),
        ([("a", JUDGE, YES)], None, "open", 0),
        ([("a", HUMAN, NO), ("j", JUDGE, YES)], NO, "agreed", 1),
        ([("a", HUMAN, YES), ("b", HUMAN, NO), ("s", ADJUDICATION, NO)], NO, "adjudicated", 2),
        ([("a", HUMAN, YES), ("s", ADJUDICATION, NO)], NO, "adjudicated", 1),
        ([("s", ADJUDICATION, YES)], YES, "adjudicated", 0),
        ([("a", HUMAN, YES), ("s", ADJUDICATION, LEFT_OPEN)], YES, "agreed", 1),
        ([("s", ADJUDICATION, YES), ("t", ADJUDICATION, NO)], None, "disputed", 0),
    ],
)
def test_a_label_counts_once_people_agree(
    votes: list[Vote], label: bool | None, state: str, people: int
) -> None:
    (row,) = settle(reviews(*votes)).iter_rows(named=True)
    assert (row["label"], row["state"], row["n_people"]) == (label, state, people)


def test_who_said_what() -> None:
    rows = reviews(("cy", HUMAN, YES), ("b", HUMAN, NO), ("a", HUMAN, YES), ("j", JUDGE, NO))
    (row,) = settle(rows).iter_rows(named=True)
    assert (row["supporters"], row["opponents"]) == (["a", "cy"], ["b"])


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        ("c", None, "claim"),
        (None, "p", "relevance"),
        ("c", "p", "claim-passage"),
        (None, None, "answer"),
    ],
)
def test_what_a_label_is_of(claim: str | None, passage: str | None, expected: str) -> None:
    rows = reviews(("a", HUMAN, YES), claim=claim, passage=passage)
    assert rows.select(target()).item() == expected
    assert settle(rows)["target"].to_list() == [expected]


def test_things_that_differ_in_a_null_are_apart() -> None:
    rows = pl.concat(
        [
            reviews(("a", HUMAN, YES), claim="x", passage=None),
            reviews(("b", HUMAN, NO), claim=None, passage="x"),
            reviews(("c", HUMAN, NO), claim="x", passage="x"),
            reviews(("d", HUMAN, NO), claim=None, passage=None),
        ]
    )
    assert settle(rows)["state"].to_list() == ["agreed"] * 4


def test_a_judges_labels() -> None:
    rows = reviews(("j", JUDGE, YES), ("k", JUDGE, NO), ("a", HUMAN, NO), ("l", JUDGE, LEFT_OPEN))
    assert judged(rows, "j")["judge_label"].to_list() == [True]
    assert judged(rows, "a").is_empty()
    assert judged(rows, "l").is_empty()


VOTES = st.lists(
    st.tuples(
        st.sampled_from("pq"),
        st.sampled_from("abcde"),
        st.sampled_from((HUMAN, JUDGE, ADJUDICATION)),
        st.sampled_from((YES, NO, LEFT_OPEN)),
    ),
    max_size=9,
)


@given(VOTES, st.randoms())
def test_order_changes_nothing(
    votes: list[tuple[str, str, str, bool | None]], chance: random.Random
) -> None:
    frames = [reviews((who, kind, label), claim=claim) for claim, who, kind, label in votes]
    shuffled = list(frames)
    chance.shuffle(shuffled)
    one, other = (
        settle(pl.concat([reviews(), *rows])).sort(ITEM, nulls_last=True)
        for rows in (frames, shuffled)
    )
    assert one.equals(other)
