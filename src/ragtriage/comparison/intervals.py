"""Cluster bootstrap intervals of a mean difference: whole groups are drawn, with replacement.

A percentile interval of Σ differences ÷ Σ cases over resampled units. It says how far the mean
could move with other cases of the same kind, and nothing of cases of another kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ragtriage.comparison.significance import NOT_SCORED, SAME
from ragtriage.comparison.units import ONE, Units

SAMPLES = 9_999
_BLOCK = 4_000_000
_TAILS = (2.5, 97.5)


@dataclass(frozen=True)
class Interval:
    """95 percent of the resampled means lie between `low` and `high`; null with a reason."""

    low: float | None
    high: float | None
    n_units: int
    samples: int | None
    seed: int | None
    note: str | None


def cluster_bootstrap(units: Units, seed: int, label: str) -> Interval:
    """The interval of one metric's mean difference in one slice.

    Args:
        units: the paired differences, groups summed.
        seed: of the resamples.
        label: the metric and slice, so that each has draws of its own.
    """
    note = _undefined(units)
    if note is not None:
        return Interval(None, None, units.n_units, None, None, note)
    return resampled(units, seed, label)


def resampled(units: Units, seed: int, label: str) -> Interval:
    """The interval of Σ sums ÷ Σ cases over resampled units, of which there are at least two."""
    means = _resampled(units, seed, label)
    low, high = np.percentile(means, _TAILS)
    return Interval(float(low), float(high), units.n_units, SAMPLES, seed, None)


def _undefined(units: Units) -> str | None:
    if units.n_cases == 0:
        return NOT_SCORED
    if units.n_units == 1:
        return "one case or group: nothing to draw from"
    if units.n_differing == 0:
        return SAME
    return None


def _resampled(units: Units, seed: int, label: str) -> NDArray[np.float64]:
    chance = np.random.default_rng([seed, crc32(label.encode()), 1])
    share = units.counts / units.counts.sum()
    means = []
    block = max(1, _BLOCK // len(share))
    for start in range(0, SAMPLES, block):
        drawn = chance.multinomial(units.n_units, share, size=min(block, SAMPLES - start))
        # Whole numbers first: a product of floats could be added up in any order.
        means.append((drawn @ units.sums) / (drawn @ units.cases) / ONE)
    return np.concatenate(means)
