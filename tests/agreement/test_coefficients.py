"""κ and α against values worked out by hand, and where they are undefined."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage.agreement.coefficients import (
    NONE_SHARED,
    ONE_LABEL,
    Square,
    cohen_kappa,
    krippendorff_alpha,
    label_pairs,
)
from tests.agreement import plain


@pytest.mark.parametrize(
    ("square", "expected"),
    [
        # p_o = (20 + 15) ÷ 50 = 0.7; a says true 25 times, b 30 times:
        # p_e = (25·30 + 25·20) ÷ 50² = 0.5; κ = 0.2 ÷ 0.5
        (Square(20, 5, 10, 15), Fraction(2, 5)),
        # p_o = 90 ÷ 100; a 85, b 85: p_e = (85·85 + 15·15) ÷ 10,000 = 0.745;
        # κ = 0.155 ÷ 0.255 = 31 ÷ 51: much agreement, much of it by chance
        (Square(80, 5, 5, 10), Fraction(31, 51)),
        (Square(3, 0, 0, 2), Fraction(1)),
        # p_o = 0; a 1 of 2, b 1 of 2: p_e = (1·1 + 1·1) ÷ 4 = 0.5; κ = -0.5 ÷ 0.5
        (Square(0, 1, 1, 0), Fraction(-1)),
        # a always true, b always false: p_o = 0 and p_e = (4·0 + 0·4) ÷ 16 = 0
        (Square(0, 4, 0, 0), Fraction(0)),
        # a always true, b true 3 of 4 times: p_o = 3/4 = p_e = (4·3 + 0·1) ÷ 16
        (Square(3, 1, 0, 0), Fraction(0)),
    ],
)
def test_kappa_by_hand(square: Square, expected: Fraction) -> None:
    assert cohen_kappa(square) == (pytest.approx(float(expected), abs=1e-15), None)


@pytest.mark.parametrize("square", [Square(7, 0, 0, 0), Square(0, 0, 0, 1)])
def test_kappa_is_undefined_with_one_label_only(square: Square) -> None:
    assert cohen_kappa(square) == (None, ONE_LABEL)


def test_kappa_is_undefined_where_nothing_is_shared() -> None:
    assert cohen_kappa(Square(0, 0, 0, 0)) == (None, NONE_SHARED)


def test_kappa_of_huge_counts_is_exact() -> None:
    # Scaled by 10⁹ the first table above still has κ = 2/5.
    assert cohen_kappa(Square(*(n * 10**9 for n in (20, 5, 10, 15)))) == (0.4, None)


@settings(max_examples=60, deadline=None)
@given(st.tuples(*[st.integers(0, 30)] * 4))
def test_kappa_is_symmetric_and_within_its_range(cells: tuple[int, int, int, int]) -> None:
    square = Square(*cells)
    kappa = cohen_kappa(square)
    swapped = Square(square.both_true, square.only_b_true, square.only_a_true, square.both_false)
    assert cohen_kappa(swapped) == kappa
    if kappa.value is not None:
        assert -1 <= kappa.value <= 1


# Three reviewers of six items, `nan` a gap:
#   T T T      coincidences of an item with m labels: each ordered pair counts 1 ÷ (m - 1)
#   T T F      o(T,T) = 6/2 + 2/2 = 4;  o(T,F) = o(F,T) = 2/2 + 1 = 2;  o(F,F) = 2 + 2 = 4
#   F F .      n(T) = n(F) = 6, n = 12
#   T F .      D_o = 4 ÷ 12;  D_e = 2·6·6 ÷ (12·11)
#   . F F      α = 1 - (4 ÷ 12) ÷ (72 ÷ 132) = 1 - 44/72 = 7/18
#   T . .      alone: in no pair, so not in α at all
_GAP = float("nan")
_TABLE = [
    [1, 1, 0, 1, _GAP, 1],
    [1, 1, 0, 0, 0, _GAP],
    [1, 0, _GAP, _GAP, 0, _GAP],
]
_VOTES = {(3, 0): 1, (2, 1): 1, (0, 2): 2, (1, 1): 1, (1, 0): 1}


def test_alpha_of_three_reviewers_with_gaps() -> None:
    found = krippendorff_alpha(_VOTES)
    assert found == (pytest.approx(7 / 18, abs=1e-15), None)
    assert found.value == pytest.approx(
        krippendorff.alpha(reliability_data=_TABLE, level_of_measurement="nominal"), abs=1e-15
    )


@pytest.mark.parametrize(
    ("votes", "reason"),
    [
        ({}, NONE_SHARED),
        ({(2, 0): 0}, NONE_SHARED),
        ({(1, 0): 5, (0, 1): 5}, NONE_SHARED),
        ({(2, 0): 5}, ONE_LABEL),
        ({(0, 2): 1, (0, 3): 1}, ONE_LABEL),
        # A label that nobody else could meet does not make D_e more than 0.
        ({(2, 0): 5, (0, 1): 1}, ONE_LABEL),
    ],
)
def test_alpha_is_undefined(votes: dict[tuple[int, int], int], reason: str) -> None:
    assert krippendorff_alpha(votes) == (None, reason)


def test_alpha_of_disagreement_throughout_is_below_zero() -> None:
    # Two items, each T and F: o(T,F) + o(F,T) = 4, n = 4, n(T) = n(F) = 2:
    # α = 1 - 3·4 ÷ (2·2·2) = -1/2
    assert krippendorff_alpha({(1, 1): 2}) == (pytest.approx(-0.5, abs=1e-15), None)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from([1.0, 0.0, _GAP]), min_size=3, max_size=3), max_size=12))
def test_alpha_is_the_library_s_of_the_whole_table(table: list[list[float]]) -> None:
    units = [[bool(label) for label in unit if label == label] for unit in table]
    votes = Counter((sum(unit), len(unit) - sum(unit)) for unit in units)
    found = krippendorff_alpha(votes).value
    by_definition = plain.alpha([unit for unit in units if len(unit) > 1])
    if by_definition is None:
        assert found is None
        return
    assert found == pytest.approx(float(by_definition), abs=1e-12)
    of_table = krippendorff.alpha(
        reliability_data=np.array(table).T, level_of_measurement="nominal"
    )
    assert found == pytest.approx(of_table, abs=1e-12)


def test_label_pairs() -> None:
    # 3 labels make 3 pairs: T T T agrees in 3, T T F in 1; two items F F agree, T F does not.
    assert label_pairs(_VOTES) == (3 + 3 + 2 + 1, 3 + 1 + 2)
