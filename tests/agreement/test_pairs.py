"""Who is held against whom, over which items, and that every number is the one it should be."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage.agreement import pairs
from ragtriage.agreement.coefficients import NONE_SHARED, ONE_LABEL, TWO_ONLY
from ragtriage.agreement.pairs import NONE_SHARED_BY_ANY, pair_table, unlisted_pairs
from ragtriage.schemas.agreement import Pairs
from ragtriage.schemas.inputs import dtypes
from tests.agreement.plain import drawn_reviews, frame, pair_rows, review, votes

Row = dict[str, Any]


def rows_of(reviews: list[Row]) -> dict[tuple[Any, ...], Row]:
    table = pair_table(frame(reviews))
    assert dict(table.schema) == {n: t for n, t in dtypes(Pairs).items() if n != "run_id"}
    found = {(r["reviewer_a"], r["reviewer_b"], r["target"]): r for r in table.to_dicts()}
    assert len(found) == table.height
    return found


def close(found: float | None, expected: Fraction | None) -> bool:
    if expected is None or found is None:
        return found is expected
    return found == pytest.approx(float(expected), abs=1e-12)


def test_two_reviewers_who_disagree() -> None:
    # ann T T F F, bob T F F T: both true 1, only ann 1, only bob 1, both false 1
    rows = rows_of(votes({"ann": "TTFF", "bob": "TFFT"}))
    pair = rows["ann", "bob", "answer"]
    assert (pair["n"], pair["n_labels"], pair["agreed"], pair["agreement"]) == (4, 8, 2, 0.5)
    squares = ("both_true", "only_a_true", "only_b_true", "both_false")
    assert [pair[name] for name in squares] == [1, 1, 1, 1]
    assert (pair["kappa"], pair["kappa_reason"]) == (0.0, None)
    # o(T,F) + o(F,T) = 4, n = 8, n(T) = n(F) = 4: α = 1 - 7·4 ÷ 32 = 1/8
    assert pair["alpha"] == pytest.approx(1 / 8, abs=1e-15)
    # There are no more than these two, so over all people is the same.
    over_all = rows[None, None, "all"]
    same = ("n", "n_labels", "n_pairs", "agreed", "agreement", "kappa", "alpha")
    assert [over_all[name] for name in same] == [pair[name] for name in same]
    assert [over_all[name] for name in squares] == [None] * 4


def test_three_reviewers_with_gaps() -> None:
    rows = rows_of(votes({"ann": "TTFT T", "bob": "TTFFF ", "cy": "TF  F "}))
    over_all = rows[None, None, "all"]
    assert over_all["alpha"] == pytest.approx(7 / 18, abs=1e-15)  # by hand in test_coefficients
    assert (over_all["n"], over_all["n_pairs"], over_all["agreed"]) == (5, 9, 6)
    assert over_all["n_labels"] == 13
    assert (over_all["kappa"], over_all["kappa_reason"]) == (None, TWO_ONLY)
    assert rows["ann", "cy", "all"]["n"] == 2


def test_nothing_in_common() -> None:
    rows = rows_of(votes({"ann": "TT  ", "bob": "  FF", "cy": "?   "}))
    assert len(rows) == 2 * (1 + 3)
    for names, row in rows.items():
        reason = NONE_SHARED_BY_ANY if names[0] is None else NONE_SHARED
        assert (row["n"], row["agreed"], row["agreement"]) == (0, 0, None)
        assert (row["kappa"], row["kappa_reason"]) == (None, reason)
        assert (row["alpha"], row["alpha_reason"]) == (None, reason)


def test_one_label_only() -> None:
    row = rows_of(votes({"ann": "TTT", "bob": "TTT"}))["ann", "bob", "all"]
    assert (row["n"], row["agreement"]) == (3, 1.0)
    assert (row["kappa"], row["kappa_reason"]) == (None, ONE_LABEL)
    assert (row["alpha"], row["alpha_reason"]) == (None, ONE_LABEL)


def test_judges_and_adjudications_enter_nothing() -> None:
    people = votes({"ann": "TTF", "bob": "TFF"})
    others = votes({"judge-1": "FFF"}, "judge") + votes({"eve": "TTT"}, "adjudication")
    assert rows_of(people + others) == rows_of(people)


def test_targets_are_kept_apart_and_pooled() -> None:
    reviews = [
        review("c1", name, label, claim_id=claim, evidence_id=passage)
        for name, labels in (("ann", "TTFF"), ("bob", "TFFF"))
        for (claim, passage), label in zip(
            [("k1", None), (None, None), (None, "p"), ("k1", "p")],
            [mark == "T" for mark in labels],
            strict=True,
        )
    ]
    rows = rows_of(reviews)
    of_pair = {target: row["agreed"] for (a, _, target), row in rows.items() if a}
    assert of_pair == {"all": 3, "claim": 1, "answer": 0, "relevance": 1, "claim-passage": 1}
    assert list(of_pair) == ["all", "claim", "answer", "relevance", "claim-passage"]


def test_rows_over_all_people_come_first_then_pairs_by_name() -> None:
    table = pair_table(frame(votes({"cy": "T", "ann": "T", "bob": "F"})))
    assert table.filter(pl.col("target") == "all").select("reviewer_a", "reviewer_b").rows() == [
        (None, None),
        ("ann", "bob"),
        ("ann", "cy"),
        ("bob", "cy"),
    ]


def test_pairs_without_a_common_item_are_counted_where_they_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reviews = frame(votes({"ann": "T ", "bob": "T ", "cy": " T"}))
    full = pair_table(reviews)
    assert (full.height, unlisted_pairs(full, reviews)) == (2 * (1 + 3), 0)
    monkeypatch.setattr(pairs, "LISTED_REVIEWERS", 2)
    short = pair_table(reviews)
    assert (short.height, unlisted_pairs(short, reviews)) == (2 * (1 + 1), 2)
    kept = pl.col("reviewer_a").is_null() | (pl.col("n") > 0)
    assert short.equals(full.filter(kept))


def test_no_reviews() -> None:
    assert rows_of([])[None, None, "all"]["n"] == 0


@settings(max_examples=60, deadline=None)
@given(drawn_reviews())
def test_every_number_again_in_plain_python(reviews: list[Row]) -> None:
    found, expected = rows_of(reviews), pair_rows(reviews)
    assert set(found) == set(expected)
    for names, row in expected.items():
        for column, value in row.items():
            if column in ("agreement", "kappa", "alpha"):
                assert close(found[names][column], value), (names, column, found[names], value)
            else:
                assert found[names][column] == value, (names, column)
        for column in ("kappa", "alpha"):
            assert (found[names][column] is None) == (found[names][f"{column}_reason"] is not None)


@settings(max_examples=60, deadline=None)
@given(drawn_reviews(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(reviews: list[Row], chance: Any) -> None:
    shuffled = reviews.copy()
    chance.shuffle(shuffled)
    assert pair_table(frame(shuffled)).equals(pair_table(frame(reviews)))


@settings(max_examples=60, deadline=None)
@given(drawn_reviews())
def test_swapping_two_names_swaps_their_rows_only(reviews: list[Row]) -> None:
    swap = {"ann": "bob", "bob": "ann"}
    renamed = [row | {"reviewer": swap.get(row["reviewer"], row["reviewer"])} for row in reviews]
    before, after = rows_of(reviews), rows_of(renamed)
    if ("ann", "bob", "all") not in before:
        return
    mirrored = {"only_a_true": "only_b_true", "only_b_true": "only_a_true"}
    for names, row in before.items():
        if names[:2] in (("ann", "bob"), (None, None)):
            same = {mirrored.get(column, column): value for column, value in row.items()}
            assert after[names] == same
