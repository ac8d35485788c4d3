"""What is listed as a disagreement, with whose labels and notes."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage.agreement.disagreements import human_disagreements, judge_disagreements
from ragtriage.reviews.settle import settle
from ragtriage.schemas.agreement import Disagreements, JudgeDisagreements
from ragtriage.schemas.inputs import dtypes
from tests.agreement.plain import drawn_reviews, frame, item_of, review, settled, votes

Row = dict[str, Any]


def tables(reviews: list[Row]) -> tuple[pl.DataFrame, pl.DataFrame]:
    rows = frame(reviews)
    human, judge = (made(rows, settle(rows)) for made in (human_disagreements, judge_disagreements))
    for table, model in ((human, Disagreements), (judge, JudgeDisagreements)):
        assert dict(table.schema) == {n: t for n, t in dtypes(model).items() if n != "run_id"}
    return human, judge


def test_an_adjudication_settles_a_dispute() -> None:
    reviews = [
        review("c2", "bob", False, claim_id="k", note="the policy says four"),
        review("c2", "ann", True, claim_id="k"),
        review("c1", "ann", True, claim_id="k"),
        review("c1", "bob", False, claim_id="k"),
        review("c1", "cy", None, claim_id="k", note="cannot tell"),
        review("c1", "eve", False, "adjudication", claim_id="k", note="see section 4"),
        review("c3", "ann", True),
        review("c3", "bob", True),
    ]
    human, _ = tables(reviews)
    first, second = human.to_dicts()
    # What is still open to dispute comes first.
    assert (first["case_id"], first["state"], first["label"]) == ("c2", "disputed", None)
    assert first["labels"] == [
        {"reviewer": "ann", "label": True, "note": None},
        {"reviewer": "bob", "label": False, "note": "the policy says four"},
    ]
    assert first["adjudications"] == []
    assert (second["case_id"], second["state"], second["label"]) == ("c1", "adjudicated", False)
    assert [voice["reviewer"] for voice in second["labels"]] == ["ann", "bob", "cy"]
    assert second["adjudications"] == [{"reviewer": "eve", "label": False, "note": "see section 4"}]


def test_adjudications_that_contradict_each_other_are_a_dispute() -> None:
    reviews = votes({"ann": "T"}) + votes({"eve": "T", "flo": "F"}, "adjudication")
    human, _ = tables(reviews)
    assert human.select("state", "label").rows() == [("disputed", None)]
    assert [voice["reviewer"] for voice in human["adjudications"][0]] == ["eve", "flo"]


def test_an_adjudication_that_overrules_people_who_agree_is_listed() -> None:
    human, _ = tables(votes({"ann": "TT", "bob": "TT"}) + votes({"eve": "TF"}, "adjudication"))
    assert human.select("case_id", "state", "label").rows() == [("c1", "adjudicated", False)]


def test_a_judge_disagrees_with_what_is_settled_only() -> None:
    people = votes({"ann": "TTT ", "bob": "TF  "})
    _, judge = tables(people + votes({"j": "FFFT"}, "judge"))
    assert judge.select("judge", "case_id", "judge_label", "label").rows() == [
        ("j", "c0", False, True),
        ("j", "c2", False, True),
    ]
    assert judge["labels"][0].to_list() == [
        {"reviewer": "ann", "label": True, "note": None},
        {"reviewer": "bob", "label": True, "note": None},
    ]


@settings(max_examples=60, deadline=None)
@given(drawn_reviews())
def test_the_lists_again_in_plain_python(reviews: list[Row]) -> None:
    human, judge = tables(reviews)
    label = settled(reviews)
    said: dict[Any, set[tuple[str, bool]]] = {}
    for row in reviews:
        if row["label"] is not None:
            said.setdefault(item_of(row), set()).add((row["kind"], row["label"]))
    contradicted = {
        item
        for item, labels in said.items()
        for kind in ("human", "adjudication")
        if {(kind, True), (kind, False)} <= labels
    }
    overruled = {
        item for item, settled_as in label.items() if ("human", not settled_as) in said[item]
    }
    disputed = contradicted | overruled
    assert {item_of(row) for row in human.to_dicts()} == disputed
    assert {item_of(row): row["label"] for row in human.to_dicts()} == {
        item: label.get(item) for item in disputed
    }
    assert sorted(
        (row["judge"], *map(str, item_of(row)), row["judge_label"]) for row in judge.to_dicts()
    ) == sorted(
        (row["reviewer"], *map(str, item_of(row)), row["label"])
        for row in reviews
        if row["kind"] == "judge"
        and row["label"] is not None
        and item_of(row) in label
        and label[item_of(row)] != row["label"]
    )


@settings(max_examples=60, deadline=None)
@given(drawn_reviews(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(reviews: list[Row], chance: Any) -> None:
    shuffled = reviews.copy()
    chance.shuffle(shuffled)
    for found, expected in zip(tables(shuffled), tables(reviews), strict=True):
        assert found.equals(expected)
