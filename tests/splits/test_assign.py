"""Proposed splits: families whole, shares met, a function of seed and content."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage.schemas.leakage import Assignment, Sizes
from ragtriage.splits.assign import Proposal, propose
from ragtriage.splits.families import families_of
from ragtriage.splits.near import near_pairs
from tests.splits.support import cases_of, distinct

HALVES = {"a": 0.5, "b": 0.5}
USUAL = {"development": 0.8, "test": 0.2}
Row = dict[str, Any]


def proposed(
    rows: list[Row],
    shares: dict[str, float] = USUAL,
    *,
    seed: int = 0,
    by_tag: bool = False,
    reassign: bool = False,
) -> Proposal:
    cases = cases_of(rows)
    keys = distinct(cases)
    near, _ = near_pairs(keys, 0.6)
    families = families_of(cases, keys, near)
    return propose(cases, families, shares, seed=seed, by_tag=by_tag, reassign=reassign)


def splits_of(proposal: Proposal) -> dict[str, str]:
    return dict(proposal.assignment.select("case_id", "proposed_split").iter_rows())


def singles(n: int) -> list[Row]:
    return [{"case_id": f"c{i:03}", "question": f"question{i} about{i} this{i}"} for i in range(n)]


def test_links_of_every_kind_make_one_family() -> None:
    rows = [
        # a-b by group, b-c by one question, c-d by near duplicates, d-e by group again.
        {"case_id": "a", "group": "g", "question": "what is it"},
        {"case_id": "b", "group": "g", "question": "May I take the long ladder home today?"},
        {"case_id": "c", "question": "may i take the long ladder home today"},
        {"case_id": "d", "group": "h", "question": "may i take the long ladder home today please"},
        {"case_id": "e", "group": "h", "question": None},
        {"case_id": "f", "question": None},
        {"case_id": "g", "question": "what is this"},
    ]
    made = proposed(rows)
    families = dict(made.assignment.select("case_id", "family").iter_rows())
    assert families == {**dict.fromkeys("abcde", "a"), "f": "f", "g": "g"}
    assert (made.n_families, made.largest) == (3, 5)
    assert len({splits_of(made)[name] for name in "abcde"}) == 1


@pytest.mark.parametrize("n", [1, 5, 10, 100, 333])
def test_shares_are_met_by_single_cases(n: int) -> None:
    for shares in (USUAL, HALVES, {"x": 0.7, "y": 0.2, "z": 0.1}):
        counts = Counter(splits_of(proposed(singles(n), shares)).values())
        assert all(abs(counts[split] - share * n) < 1 for split, share in shares.items())


def test_the_sizes_reached_stand_beside_those_asked() -> None:
    # A family of 6 of 10 cannot be halved.
    rows = singles(10)
    for row in rows[:6]:
        row["group"] = "g"
    made = proposed(rows, HALVES)
    sizes = {row["split"]: row for row in made.sizes.to_dicts()}
    assert sorted(row["reached"] for row in sizes.values()) == [4, 6]
    assert {row["asked"] for row in sizes.values()} == {5.0}
    assert sorted(row["reached_share"] for row in sizes.values()) == [0.4, 0.6]
    tagged = made.sizes.select(pl.lit("r").alias("run_id"), pl.all())
    Sizes.to_schema().validate(tagged, lazy=True)
    tagged = made.assignment.select(pl.lit("r").alias("run_id"), pl.all())
    Assignment.to_schema().validate(tagged, lazy=True)


def test_strata_by_tag() -> None:
    rows = singles(200)
    for i, row in enumerate(rows):
        row["tags"] = ["rare"] if i % 20 == 0 else ["fees", "hours"] if i % 3 else ["hours"]
    made = proposed(rows, by_tag=True)
    for row in made.sizes.to_dicts():
        assert abs(row["reached"] - row["asked"]) <= 1.5, row
    assert {row["stratum_value"] for row in made.sizes.to_dicts()} == {
        *("all", "rare", "fees", "hours")
    }


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "g", "h", "k"]),
            st.sampled_from([None, "development", "test"]),
            st.lists(st.sampled_from(["x", "y"]), max_size=2),
        ),
        min_size=1,
        max_size=20,
    ),
    st.integers(0, 5),
    st.booleans(),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_a_function_of_seed_and_content(
    drawn: list[tuple[str | None, str | None, list[str]]],
    seed: int,
    by_tag: bool,
    reassign: bool,
    chance: random.Random,
) -> None:
    rows: list[Row] = [
        {"case_id": f"c{i}", "question": f"ask{i}", "group": group, "split": split, "tags": tags}
        for i, (group, split, tags) in enumerate(drawn)
    ]
    shuffled = list(rows)
    chance.shuffle(shuffled)
    options: Any = {"seed": seed, "by_tag": by_tag, "reassign": reassign}
    one, other = proposed(rows, **options), proposed(shuffled, **options)
    assert one.assignment.equals(other.assignment)
    assert one.sizes.equals(other.sizes)
    given_splits = {row["case_id"]: row["split"] for row in rows}
    chosen = splits_of(one)
    assert sum(one.sizes.filter(stratum="all")["reached"]) == len(rows)
    by_family = one.assignment.group_by("family").agg(pl.col("proposed_split").n_unique())
    assert by_family["proposed_split"].max() == 1
    moved = {n for n, s in given_splits.items() if s is not None and chosen[n] != s}
    assert set(one.assignment.filter("moved")["case_id"]) == moved
    if not reassign:
        whole = one.assignment.group_by("family").agg(pl.col("split").drop_nulls().n_unique())
        torn = set(whole.filter(pl.col("split") > 1)["family"])
        assert set(one.assignment.filter("moved")["family"]) <= torn


def test_another_seed_another_proposal() -> None:
    rows = singles(60)
    first, again, other = (splits_of(proposed(rows, seed=seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert Counter(first.values()) == Counter(other.values())


def test_a_family_follows_the_split_it_has_or_has_most_of() -> None:
    rows: list[Row] = [
        {"case_id": "a", "group": "g", "split": "test"},
        {"case_id": "b", "group": "g", "split": None},
        {"case_id": "c", "group": "h", "split": "other"},
        {"case_id": "d", "group": "h", "split": None},
        {"case_id": "e", "group": "k", "split": "test"},
        {"case_id": "f", "group": "k", "split": "development"},
        {"case_id": "g", "group": "k", "split": "development"},
        {"case_id": "h", "group": "k", "split": None},
    ]
    made = proposed(rows)
    assert splits_of(made) == {
        "a": "test",
        "b": "test",
        "c": "other",
        "d": "other",
        **dict.fromkeys("efgh", "development"),
    }
    assert made.n_moved == 1
    kept = proposed([row for row in rows if row["case_id"] != "g"])
    # One to one: the first by name.
    assert {splits_of(kept)[name] for name in "efh"} == {"development"}
    outside = made.sizes.filter(split="other").to_dicts()[0]
    assert (outside["asked"], outside["asked_share"], outside["reached"]) == (None, None, 2)
