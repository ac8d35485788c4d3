"""Agreement beyond chance, from counts. Undefined is None with its reason, never a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

NONE_SHARED = "no item was labelled by both"
ONE_LABEL = "only one label was ever given to these items: chance agreement is total"
TWO_ONLY = "Cohen's κ is for two reviewers"


class Coefficient(NamedTuple):
    """A number, or why there is none."""

    value: float | None
    reason: str | None = None


class Square(NamedTuple):
    """Two reviewers' labels of the items that both labelled."""

    both_true: int
    only_a_true: int
    only_b_true: int
    both_false: int

    @property
    def n(self) -> int:
        """Items that both labelled."""
        return sum(self)


# Items by how many called them true and how many false.
Votes = Mapping[tuple[int, int], int]


def ratio(part: int, whole: int, reason: str) -> Coefficient:
    """`part ÷ whole`; None with the reason where the whole is 0."""
    return Coefficient(part / whole) if whole else Coefficient(None, reason)


def cohen_kappa(square: Square, none_shared: str = NONE_SHARED) -> Coefficient:
    """Cohen's κ = (p_o - p_e) ÷ (1 - p_e) of two reviewers.

    p_o is the share of items labelled alike; p_e the share that chance would give two reviewers
    with these margins, (a·b + (n - a)·(n - b)) ÷ n² where a and b are the items each called
    true. Computed from whole numbers, divided once: (n·agreed - e) ÷ (n² - e) with e = p_e·n².

    Returns:
        From -1 to 1. None where n = 0, and where both gave the same single label throughout
        (p_e = 1).
    """
    n = square.n
    if not n:
        return Coefficient(None, none_shared)
    true_by_a = square.both_true + square.only_a_true
    true_by_b = square.both_true + square.only_b_true
    chance = true_by_a * true_by_b + (n - true_by_a) * (n - true_by_b)
    if chance == n * n:
        return Coefficient(None, ONE_LABEL)
    agreed = square.both_true + square.both_false
    return Coefficient((n * agreed - chance) / (n * n - chance))


def krippendorff_alpha(votes: Votes, none_shared: str = NONE_SHARED) -> Coefficient:
    """Krippendorff's α = 1 - D_o ÷ D_e for nominal labels, any number of reviewers, and gaps.

    D_o is the disagreement seen within items, D_e the one expected if the labels were dealt out
    by chance; both from the coincidence matrix, which `krippendorff` builds. Items with fewer
    than two labels do not enter it.

    Returns:
        At most 1, below 0 where labels disagree more than chance. None where no item has two
        labels, and where all labels of such items are equal (D_e = 0).
    """
    shared = {counts: n for counts, n in votes.items() if n and sum(counts) > 1}
    if not shared:
        return Coefficient(None, none_shared)
    if not (any(true for true, _ in shared) and any(false for _, false in shared)):
        return Coefficient(None, ONE_LABEL)
    import krippendorff  # noqa: PLC0415 - numpy's import, only for those who ask
    import numpy as np  # noqa: PLC0415 - the same

    # Sorted: the library adds fractions item by item, and their order would show in the last bit.
    patterns = sorted(shared)
    counts = np.repeat(np.array(patterns), [shared[pattern] for pattern in patterns], axis=0)
    return Coefficient(
        float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))
    )


def label_pairs(votes: Votes) -> tuple[int, int]:
    """Pairs of labels of one item: how many there are, and how many are equal."""
    pairs = agreed = 0
    for (true, false), n in votes.items():
        pairs += n * _choose_two(true + false)
        agreed += n * (_choose_two(true) + _choose_two(false))
    return pairs, agreed


def _choose_two(n: int) -> int:
    return n * (n - 1) // 2
