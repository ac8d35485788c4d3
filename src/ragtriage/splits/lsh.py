"""Which texts may be near duplicates: MinHash signatures cut into bands. Nothing is decided here.

Signatures, and which texts share a band with another at all, come from rensa; the pairs are
formed here, so that a band shared by very many texts stays bounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl
from rensa import RMinHash, RMinHashDigestMatrix, RMinHashLSH

# The chance that a pair at the threshold shares no band.
MISS = 1e-3
PERMUTATIONS = 256
# Pairs that one band may nominate. Many texts made from one pattern would give the square of their
# number: there each text meets only its next ones in a bucket, `CROWDED_PAIRS` in all.
BAND_PAIRS = 10_000_000
CROWDED_PAIRS = 500_000
_PAIRS_AT_ONCE = 1_000_000
_LARGEST_ROWS = 16
_SEED = 1
_ROWS_AT_ONCE = 20_000
_MIX = 0x9E3779B97F4A7C15

Places = npt.NDArray[np.int64]
Bands = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Banding:
    """How a signature is cut: `bands` of `rows` values each."""

    bands: int
    rows: int

    @property
    def permutations(self) -> int:
        """Values in a signature."""
        return self.bands * self.rows

    def miss(self, similarity: float) -> float:
        """Chance that a pair of this Jaccard similarity shares no band: (1 - s^rows)^bands."""
        return float((1 - similarity**self.rows) ** self.bands)


@dataclass(frozen=True)
class Nominated:
    """Pairs of a band: places of texts, `a` < `b`. `skipped`: pairs left out for their number."""

    a: Places
    b: Places
    skipped: int


def banding_for(threshold: float) -> Banding:
    """The most rows a band, for few false candidates, that miss at most `MISS` at the threshold.

    Args:
        threshold: above 0, at most 1.

    Returns:
        As few bands as will do. Below a threshold of about 0.03 even `PERMUTATIONS` bands of one
        row miss more than `MISS`.
    """
    if threshold >= 1:
        return Banding(1, _LARGEST_ROWS)
    for rows in range(_LARGEST_ROWS, 0, -1):
        bands = math.ceil(math.log(MISS) / math.log1p(-(threshold**rows)))
        if bands * rows <= PERMUTATIONS:
            return Banding(bands, rows)
    return Banding(PERMUTATIONS, 1)


def nominations(grams: pl.Series, banding: Banding) -> Iterator[Nominated]:
    """Pairs of texts that share a band, some at a time; a pair comes once for each band it shares.

    Args:
        grams: hashes of each text's 3-grams, a list a text, no list empty.
        banding: how signatures are cut.
    """
    flagged = _sharing(grams, banding)
    places = flagged.arg_true().to_numpy().astype(np.int64)
    bands = bands_of(grams.filter(flagged), banding)
    for band in range(banding.bands):
        yield from _pairs(bands[:, band], places)


def bands_of(grams: pl.Series, banding: Banding) -> Bands:
    """One value a band, a row a text; the same 3-grams give the same row."""
    parts = [np.empty((0, banding.bands), np.uint64)]
    for start in range(0, grams.len(), _ROWS_AT_ONCE):
        rows = _digests(grams.slice(start, _ROWS_AT_ONCE), banding).to_rows()
        values = np.array(rows, dtype=np.uint64).reshape(-1, banding.bands, banding.rows)
        mixed = np.zeros(values.shape[:2], np.uint64)
        for row in range(banding.rows):
            mixed = (mixed ^ values[:, :, row]) * np.uint64(_MIX)
            mixed ^= mixed >> np.uint64(29)
        parts.append(mixed)
    return np.concatenate(parts)


def _sharing(grams: pl.Series, banding: Banding) -> pl.Series:
    """Does a text share a band with any other?"""
    if grams.is_empty():
        return pl.Series(dtype=pl.Boolean)
    # The threshold of the library's index is for its own comparison, which is not asked for.
    index = RMinHashLSH(0.5, banding.permutations, banding.bands)
    flags = index.query_duplicate_flags_matrix_one_shot(_digests(grams, banding))
    return pl.Series(flags, dtype=pl.Boolean)


def _digests(grams: pl.Series, banding: Banding) -> RMinHashDigestMatrix:
    ends = grams.list.len().cast(pl.UInt64).cum_sum().to_numpy()
    offsets = np.concatenate([np.zeros(1, np.uint64), ends])
    hashes = np.ascontiguousarray(grams.explode().to_numpy(), dtype=np.uint64)
    return RMinHash.digest_matrix_from_flat_token_hashes(
        hashes, offsets, banding.permutations, _SEED
    )


def _pairs(values: npt.NDArray[np.uint64], places: Places) -> Iterator[Nominated]:
    """Texts with the same value, two by two, as many as are allowed."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.r_[True, values[order][1:] != values[order][:-1]])
    sizes = np.diff(np.r_[starts, len(order)])
    after = np.repeat(starts + sizes, sizes) - 1 - np.arange(len(order))
    reach, skipped = _reach(sizes)
    met = np.minimum(after, reach)
    named = places[order]
    so_far = np.cumsum(met)
    cuts = np.arange(_PAIRS_AT_ONCE, int(met.sum()), _PAIRS_AT_ONCE)
    ends = [0, *np.searchsorted(so_far, cuts), len(order)]
    for low, high in pairwise(ends):
        some = met[low:high]
        first = np.repeat(np.arange(low, high), some)
        start = np.repeat(np.cumsum(some) - some, some)
        second = first + 1 + np.arange(len(first)) - start
        yield Nominated(named[first], named[second], skipped)
        skipped = 0


def _reach(sizes: Places) -> tuple[int, int]:
    """How many next ones each text of a bucket may meet, and the pairs that leaves out."""
    low, high = 1, max(int(sizes.max(initial=1)) - 1, 1)
    every = _formed(sizes, high)
    if every <= BAND_PAIRS:
        return high, 0
    while low < high:
        middle = (low + high + 1) // 2
        if _formed(sizes, middle) <= CROWDED_PAIRS:
            low = middle
        else:
            high = middle - 1
    return low, every - _formed(sizes, low)


def _formed(sizes: Places, reach: int) -> int:
    """Pairs at most `reach` apart, over all buckets."""
    near = np.minimum(sizes - 1, reach)
    return int((near * sizes - near * (near + 1) // 2).sum())
