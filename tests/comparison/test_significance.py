"""The sign-flip test against enumeration by hand and SciPy; Holm against worked tables."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from ragtriage.comparison.significance import (
    SAMPLES,
    exact_p,
    holm,
    monte_carlo_p,
    resolution,
    sign_flip,
)
from tests.comparison.kit import units_of


def by_hand(differences: list[Fraction]) -> Fraction:
    """The share of all sign patterns that are at least as far from 0, in exact arithmetic."""
    seen = abs(sum(differences))
    patterns = list(itertools.product((1, -1), repeat=len(differences)))
    sums = [abs(sum(s * d for s, d in zip(p, differences, strict=True))) for p in patterns]
    return Fraction(sum(value >= seen for value in sums), len(patterns))


VALUES = st.sampled_from([Fraction(a, b) for b in (1, 2, 3, 7) for a in range(b + 1)])


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=12))
def test_exact_p_is_the_enumeration_by_hand(pairs: list[tuple[Fraction, Fraction]]) -> None:
    found = units_of([float(a) for a, _ in pairs], [float(b) for _, b in pairs])
    differences = [b - a for a, b in pairs]
    assert found.n_differing == sum(d != 0 for d in differences)
    if found.n_differing:
        assert exact_p(found) == float(by_hand(differences))


def test_four_cases_all_better() -> None:
    # Only all plus and all minus of 16 patterns are as far out: 2/16.
    test = sign_flip(units_of([0, 0, 0, 0], [1, 1, 1, 1]), 0, "x")
    assert (test.method, test.samples, test.p, test.p_smallest) == ("exact", 16, 0.125, 0.125)
    assert test.seed is None


@pytest.mark.parametrize("seed", range(6))
def test_exact_p_is_scipys(seed: int) -> None:
    chance = np.random.default_rng(seed)
    base = chance.integers(0, 5, 11) / 4
    candidate = chance.integers(0, 5, 11) / 4
    theirs = permutation_test(
        (base, candidate),
        lambda x, y, axis: np.mean(y - x, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    ours = exact_p(units_of(base.tolist(), candidate.tolist()))
    assert ours == pytest.approx(float(theirs.pvalue), abs=1e-12)


def test_groups_flip_whole() -> None:
    # Case by case 2 of 2^4 patterns are as far out; as two groups 2 of 2^2.
    base, candidate = [0.0] * 4, [1.0] * 4
    grouped = units_of(base, candidate, ["a", "a", "b", "b"])
    assert (grouped.n_units, grouped.n_differing, exact_p(grouped)) == (2, 2, 0.5)
    # One group, and two cases that stand for themselves: 2 of 2^3.
    mixed = units_of(base, candidate, ["a", "a", None, None])
    assert (mixed.n_units, mixed.n_differing, exact_p(mixed)) == (3, 3, 0.25)


def test_a_group_whose_cases_cancel_does_not_differ() -> None:
    # One case better and one worse in group a: its sum is 0, so only b differs.
    found = units_of([0, 1, 0], [1, 0, 1], ["a", "a", "b"])
    assert (found.n_units, found.n_differing) == (2, 1)
    assert sign_flip(found, 0, "x").p == 1.0


def test_a_group_of_thirds_that_cancel_does_not_differ() -> None:
    # 1/3 + 1/3 - 2/3 is 0, though its steps leave one over.
    found = units_of([0, 0, 2 / 3, 0], [1 / 3, 1 / 3, 0, 0], ["a", "a", "a", "b"])
    assert (found.n_units, found.n_differing, found.total) == (2, 0, 0)
    note = sign_flip(found, 0, "x").note or ""
    assert "group as a whole" in note  # three cases changed: it must not say that none did


@pytest.mark.parametrize(
    ("base", "candidate", "groups", "says"),
    [
        ([0.5, 1.0], [0.5, 1.0], None, "no difference"),
        ([0.5], [1.0], None, "not tested: one case"),
        ([None, 0.5], [1.0, None], None, "no case is scored in both"),
        ([0.5, 0.0], [1.0, 1.0], ["a", "a"], "one group"),
    ],
)
def test_undefined_is_null_with_its_reason(
    base: list[float | None], candidate: list[float | None], groups: list[str] | None, says: str
) -> None:
    test = sign_flip(units_of(base, candidate, list(groups) if groups else None), 0, "x")
    assert (test.p, test.p_smallest, test.method) == (None, None, "none")
    assert says in (test.note or "")


def test_above_twenty_differing_cases_patterns_are_drawn() -> None:
    # 21 cases, 15 better by one and 6 worse: P(|2B - 21| >= 9) for B binomial(21, 1/2).
    base = [0.0] * 15 + [1.0] * 6
    candidate = [1.0] * 15 + [0.0] * 6
    found = units_of(base, candidate)
    test = sign_flip(found, 3, "x")
    assert (test.method, test.samples, test.seed, test.n_differing) == (
        "monte-carlo",
        SAMPLES,
        3,
        21,
    )
    tail = sum(_choose(21, b) for b in range(22) if abs(2 * b - 21) >= 9) / 2**21
    assert test.p == pytest.approx(tail, abs=0.005)
    assert test.p_smallest == 1 / (SAMPLES + 1)


def _choose(n: int, k: int) -> int:
    return len(list(itertools.combinations(range(n), k)))


def test_drawn_p_of_unequal_differences_is_near_the_exact_one() -> None:
    chance = np.random.default_rng(4)
    found = units_of(
        [0.0] * 18, (chance.integers(1, 9, 18) / 9 * chance.choice([1, -1], 18)).tolist()
    )
    assert monte_carlo_p(found, 1, "x") == pytest.approx(exact_p(found), abs=0.008)


def test_a_seed_and_a_label_give_their_own_patterns_each_time() -> None:
    found = units_of([0.0] * 30, [1.0] * 17 + [-1.0] * 13)
    first = monte_carlo_p(found, 1, "recall[all=all]")
    assert monte_carlo_p(found, 1, "recall[all=all]") == first
    assert monte_carlo_p(found, 2, "recall[all=all]") != first
    assert monte_carlo_p(found, 1, "ndcg[all=all]") != first


@pytest.mark.parametrize(
    ("p", "adjusted"),
    [
        # Worked by hand, smallest first: 4 x .005, 3 x .01, 2 x .03, 1 x .04 raised to .06.
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        # An undefined member is no test: the family is two.
        ([0.01, 0.02, None], [0.02, 0.02, None]),
        ([None, None], [None, None]),
        ([0.9, 0.8], [1.0, 1.0]),
        ([], []),
    ],
)
def test_holm(p: list[float | None], adjusted: list[float | None]) -> None:
    found = holm(p)
    assert [value is None for value in found] == [value is None for value in adjusted]
    for one, other in zip(found, adjusted, strict=True):
        assert one is None or one == pytest.approx(other)


def test_where_draws_and_not_units_are_the_limit_it_says_so() -> None:
    # 30 differing units could give 2^-29, but 9,999 patterns give 0.0001 at best: times 600, 0.06.
    large = sign_flip(units_of([0.0] * 30, [1.0] * 30), 0, "x")
    told = resolution([large] * 600)
    assert "the family is too large" in told
    assert "0.0001" in told
    assert "0.06" in told
    assert "would be needed" not in told
    assert "can resolve at 0.05" in resolution([large] * 400)


def test_what_a_small_set_cannot_resolve() -> None:
    small = [sign_flip(units_of([0, 0, 0], [1, 1, 1]), 0, "x") for _ in range(2)]
    # Three differing cases give 2/8 at best, 0.5 in a family of two; 2^(1-m) * 2 <= 0.05 at m = 7.
    assert "cannot resolve any difference at 0.05" in resolution(small)
    assert "0.25" in resolution(small)
    assert "0.5" in resolution(small)
    assert "at least 7 differing units" in resolution(small)
    large = [sign_flip(units_of([0.0] * 12, [1.0] * 12), 0, "x")]
    assert "can resolve at 0.05" in resolution(large)
    same = [sign_flip(units_of([0.5, 1.0], [0.5, 1.0]), 0, "x")]
    assert "nothing to test" in resolution(same)
    unscored = sign_flip(units_of([None], [1.0]), 0, "x")
    assert "that is scored in both runs: there is nothing" in resolution([*same, unscored])
    assert "resolves nothing" in resolution([unscored])
    nothing = [sign_flip(units_of([0.5], [1.0]), 0, "x")]
    assert "resolves nothing" in resolution(nothing)
