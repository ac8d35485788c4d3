"""Cluster bootstrap intervals: groups drawn whole, seeds, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from ragtriage.comparison.intervals import SAMPLES, cluster_bootstrap
from tests.comparison.kit import units_of


def test_against_a_bootstrap_by_hand() -> None:
    # 40 cases, 24 of them better by one: means of 40 draws with replacement.
    found = cluster_bootstrap(units_of([0.0] * 40, [1.0] * 24 + [0.0] * 16), 1, "x")
    drawn = np.random.default_rng(9).binomial(40, 0.6, 20_000) / 40
    low, high = np.percentile(drawn, (2.5, 97.5))
    assert found.low == pytest.approx(low, abs=0.026)  # a step of 1/40 is the grain
    assert found.high == pytest.approx(high, abs=0.026)
    assert (found.n_units, found.samples, found.seed) == (40, SAMPLES, 1)


def test_groups_make_it_wider() -> None:
    base, candidate = [0.0] * 40, [1.0] * 20 + [0.0] * 20
    alone = cluster_bootstrap(units_of(base, candidate), 1, "x")
    groups: list[str | None] = [f"g{i // 10}" for i in range(40)]
    grouped = cluster_bootstrap(units_of(base, candidate, groups), 1, "x")
    assert grouped.n_units == 4
    assert None not in (alone.low, alone.high, grouped.low, grouped.high)
    # Two of four groups are all better: with chance 1/16 none of them is drawn.
    assert (grouped.low, grouped.high) == (0.0, 1.0)
    assert (alone.low or 0) > 0.3
    assert (alone.high or 1) < 0.7


def test_uneven_groups_weigh_by_their_cases() -> None:
    # Group a: nine cases, all better; one case the same. Drawn: aa, a and the case, twice the case.
    groups: list[str | None] = ["a"] * 9 + [None]
    found = cluster_bootstrap(units_of([0.0] * 10, [1.0] * 9 + [0.0], groups), 0, "x")
    assert (found.low, found.high) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("base", "candidate", "groups", "says"),
    [
        ([0.0], [1.0], None, "nothing to draw"),
        ([0.0, 0.0], [1.0, 1.0], ["a", "a"], "nothing to draw"),
        ([0.5, 0.5], [0.5, 0.5], None, "no difference"),
        ([None], [1.0], None, "no case"),
    ],
)
def test_none_where_it_would_mislead(
    base: list[float | None], candidate: list[float | None], groups: list[str | None], says: str
) -> None:
    found = cluster_bootstrap(units_of(base, candidate, groups), 0, "x")
    assert (found.low, found.high) == (None, None)
    assert says in (found.note or "")


def test_the_seed_decides() -> None:
    sample = units_of([0.0] * 30, [i / 30 for i in range(30)])
    one, again, other = (cluster_bootstrap(sample, seed, "x") for seed in (5, 5, 6))
    assert one == again
    assert (one.low, one.high) != (other.low, other.high)
