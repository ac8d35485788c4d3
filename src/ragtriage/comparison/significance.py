"""An exact paired sign-flip test, and what a set of this size can and cannot resolve.

If the runs did not differ, each unit's difference could as well have had the other sign. The p
value is the share of sign patterns whose summed difference is at least as far from 0 as the one
seen: all patterns up to 20 differing units, patterns drawn at random above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from ragtriage.comparison.units import Units, Whole

EXACT_UP_TO = 20
SAMPLES = 9_999
LEVEL = 0.05
_BLOCK = 4_000_000
NOT_SCORED = "no case is scored in both runs"
SAME = "no difference: every case, or group as a whole, comes to the same in both runs"


@dataclass(frozen=True)
class Test:
    """What one member of the family came to; `p` null with its reason in `note`."""

    n_cases: int
    n_units: int
    n_differing: int
    method: str
    samples: int | None
    seed: int | None
    p: float | None
    p_smallest: float | None
    note: str | None


def sign_flip(units: Units, seed: int, label: str) -> Test:
    """Test one metric in one slice, two-sided.

    Args:
        units: the paired differences, groups summed.
        seed: of the random patterns.
        label: the metric and slice: every member of a family draws its own patterns.
    """
    note = _undefined(units)
    m = units.n_differing
    if note is not None:
        return Test(units.n_cases, units.n_units, m, "none", None, None, None, None, note)
    smallest = 2.0 ** (1 - m) if m < 1024 else 0.0  # noqa: PLR2004 - where a double ends
    if m <= EXACT_UP_TO:
        p = exact_p(units)
        return Test(units.n_cases, units.n_units, m, "exact", 2**m, None, p, smallest, None)
    p = monte_carlo_p(units, seed, label)
    floor = max(smallest, 1 / (SAMPLES + 1))
    return Test(units.n_cases, units.n_units, m, "monte-carlo", SAMPLES, seed, p, floor, None)


def _undefined(units: Units) -> str | None:
    if units.n_cases == 0:
        return NOT_SCORED
    if units.n_cases == 1:
        return "not tested: one case"
    if units.n_units == 1:
        return "not tested: one group holds every case"
    if units.n_differing == 0:
        return SAME
    return None


def exact_p(units: Units) -> float:
    """Over all 2^m sign patterns of the m differing units."""
    sizes = np.repeat(*units.differing)
    sums: Whole = np.zeros(1, dtype=np.int64)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    as_far = int((np.abs(sums) >= abs(units.total) - units.slack).sum())
    return as_far / len(sums)


def monte_carlo_p(units: Units, seed: int, label: str) -> float:
    """Over drawn patterns, the one seen counted among them: (1 + as far) ÷ (1 + drawn)."""
    chance = np.random.default_rng([seed, crc32(label.encode())])
    sizes, counts = units.differing
    bar = abs(units.total) - units.slack
    as_far = 0
    block = max(1, _BLOCK // len(sizes))
    for start in range(0, SAMPLES, block):
        drawn = min(block, SAMPLES - start)
        # Of c units with one size, a binomial number keep their sign: the rest turn.
        kept = chance.binomial(counts, 0.5, size=(drawn, len(sizes)))
        sums = ((2 * kept - counts) * sizes).sum(axis=1)
        as_far += int((np.abs(sums) >= bar).sum())
    return (1 + as_far) / (1 + SAMPLES)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction over the defined tests; undefined ones stay undefined.

    The i-th smallest of m is multiplied by m - i + 1; a larger p never gets a smaller value.
    """
    defined = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(defined):
        highest = max(highest, min(1.0, (len(defined) - rank) * p))
        adjusted[place] = highest
    return adjusted


def resolution(tests: Sequence[Test]) -> str:
    """One sentence: what this set can and cannot resolve."""
    defined = [test for test in tests if test.p is not None]
    scored = [test for test in tests if test.note != NOT_SCORED]
    if scored and all(test.note == SAME for test in scored):
        which = "" if len(scored) == len(tests) else " that is scored in both runs"
        return (
            f"No case, or group as a whole, differs in any member of the family{which}: "
            "there is nothing to test."
        )
    if not defined:
        return (
            "No member of the family could be tested: this set resolves nothing, "
            "which is not the same as no difference."
        )
    most = max(test.n_differing for test in defined)
    smallest = min(test.p_smallest or 0.0 for test in defined)
    corrected = min(1.0, smallest * len(defined))
    family = f"{len(defined)} test{'' if len(defined) == 1 else 's'}"
    differing = "1 unit differs" if most == 1 else f"{most:,} units differ"
    basis = (
        f"At most {differing}, so that the smallest p is {_shown(smallest)}, or "
        f"{_shown(corrected)} as the most extreme of {family}"
    )
    needed = 1 + math.ceil(math.log2(len(defined) / LEVEL))
    if corrected > LEVEL and most >= needed:
        return (
            f"No p is below {_shown(smallest)}, as {SAMPLES:,} patterns are drawn where over "
            f"{EXACT_UP_TO} units differ; that is {_shown(corrected)} as the most extreme of "
            f"{family}: the family is too large to resolve any difference at {LEVEL:g}; name "
            "fewer metrics (--test-metric) or slices."
        )
    if corrected > LEVEL:
        return (
            f"{basis}: this set cannot resolve any difference at {LEVEL:g}; "
            f"at least {needed} differing units would be needed, all to one side."
        )
    return (
        f"{basis}: this set can resolve at {LEVEL:g} a difference to which nearly all differing "
        "units agree; a p above that is no evidence that nothing changed."
    )


def _shown(p: float) -> str:
    return f"{p:.2g}"
