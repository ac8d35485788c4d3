"""Near duplicates: Jaccard similarity of word 3-grams, exact for every candidate pair."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt
import polars as pl

from ragtriage.splits.lsh import Banding, Places, banding_for, bands_of, nominations
from ragtriage.splits.words import GRAM, n_words

PLANTED = 1_000
# Variants of texts with fewer 3-grams cannot come close to a threshold.
PLANTABLE = 5
_PAIRS_AT_ONCE = 250_000
# Candidates that are compared exactly; no set that anybody reads has as many near duplicates.
KEPT_PAIRS = 5_000_000
# Odd and large: another hash for every hash.
_FRESH = 6364136223846793005
_PAIR = {"a": pl.UInt32, "b": pl.UInt32}


@dataclass(frozen=True)
class Search:
    """How near duplicates were looked for, and how surely.

    `n_texts`: different questions; `n_short`: of these, the ones without a 3-gram. `candidates`:
    pairs compared; `skipped`: candidate pairs left out for their number. `planted`, `found`:
    variants of these very questions at the threshold, and how many the candidate step found.
    """

    threshold: float
    banding: Banding
    n_texts: int
    n_short: int
    candidates: int
    skipped: int
    planted: int
    found: int

    @property
    def miss(self) -> float:
        """Chance that a pair exactly at the threshold was no candidate, 0 to 1."""
        return self.banding.miss(self.threshold)


def near_pairs(keys: pl.Series, threshold: float) -> tuple[pl.DataFrame, Search]:
    """Pairs of texts whose word 3-grams have a Jaccard similarity of at least `threshold`.

    Args:
        keys: distinct keys (`words.keys_of`), none null. Keys of fewer than three words have no
            3-gram and are in no pair.
        threshold: above 0, at most 1.

    Returns:
        `a` < `b` (places in `keys`) and `score` = shared 3-grams ÷ 3-grams of either, in order of
        place; and how they were looked for.
    """
    long = n_words(keys) >= GRAM
    places = long.arg_true().cast(pl.UInt32)
    grams = _grams(keys.filter(long))
    banding = banding_for(threshold)
    candidates, looked_at, skipped = _candidates(grams, banding, threshold)
    scored = _scored(grams["ids"], candidates)
    near = scored.filter(pl.col("score") >= threshold)
    planted, found = _recall(grams["hashes"], banding, threshold)
    a, b = places.gather(near["a"]).rename("a"), places.gather(near["b"]).rename("b")
    return pl.DataFrame([a, b, near["score"]]), Search(
        threshold=threshold,
        banding=banding,
        n_texts=keys.len(),
        n_short=keys.len() - places.len(),
        candidates=looked_at,
        skipped=skipped,
        planted=planted,
        found=found,
    )


def _candidates(
    grams: pl.DataFrame, banding: Banding, threshold: float
) -> tuple[pl.DataFrame, int, int]:
    """Nominated pairs that may meet the threshold; how many were looked at, and how many not."""
    sketch = _Sketch(grams["hashes"])
    known = more = pl.DataFrame(schema=_PAIR)
    looked_at = skipped = 0
    for found in nominations(grams["hashes"], banding):
        if known.height >= KEPT_PAIRS:
            skipped += len(found.a) + found.skipped
            continue
        looked_at += len(found.a)
        skipped += found.skipped
        able = sketch.most(found.a, found.b) >= threshold
        more = more.vstack(pl.DataFrame({"a": found.a[able], "b": found.b[able]}, schema=_PAIR))
        if more.height > known.height:
            known, more = pl.concat([known, more]).unique(), more.clear()
    return pl.concat([known, more]).unique().sort("a", "b"), looked_at, skipped


class _Sketch:
    """One bit of 64 for each 3-gram: a cheap limit on how alike two texts can be."""

    def __init__(self, grams: pl.Series) -> None:
        bit = pl.element() % 64
        one = pl.lit(1, pl.UInt64)
        bits = grams.list.eval(one * pl.lit(2, pl.UInt64).pow(bit)).list.eval(
            pl.element().bitwise_or()
        )
        self._bits = bits.list.first().to_numpy().astype(np.uint64)
        self._sizes = grams.list.len().to_numpy().astype(np.int64)

    def most(self, a: Places, b: Places) -> npt.NDArray[np.float64]:
        """No pair has a greater similarity: a bit the other lacks is a 3-gram it lacks."""
        left, right = self._bits[a], self._bits[b]
        only_a = np.bitwise_count(left & ~right).astype(np.int64)
        only_b = np.bitwise_count(right & ~left).astype(np.int64)
        shared = np.minimum(self._sizes[a] - only_a, self._sizes[b] - only_b)
        return np.asarray(shared / (self._sizes[a] + self._sizes[b] - shared))


def _grams(keys: pl.Series) -> pl.DataFrame:
    """A row a key: its distinct 3-grams as `ids` (exact) and as `hashes`."""
    words = (
        pl.DataFrame({"text": pl.int_range(keys.len(), dtype=pl.UInt32, eager=True), "key": keys})
        .with_columns(pl.col("key").str.split(" "))
        .explode("key")
    )
    spelt = [pl.col("key").shift(-ahead) for ahead in range(GRAM)]
    whole = pl.col("text") == pl.col("text").shift(1 - GRAM)
    grams = (
        words.select("text", whole=whole, gram=pl.concat_str(spelt, separator=" "))
        .filter("whole")
        .select("text", "gram")
        .unique()
    )
    named = grams.select("gram").unique().sort("gram").with_row_index("id")
    return (
        grams.join(named, on="gram")
        .sort("text", "id")
        .group_by("text", maintain_order=True)
        .agg(ids="id", hashes=pl.col("gram").hash(seed=0))
    )


def _scored(ids: pl.Series, pairs: pl.DataFrame) -> pl.DataFrame:
    """`a`, `b` and the exact similarity of each pair."""
    parts = [pl.DataFrame(schema={**pairs.schema, "score": pl.Float64})]
    for some in pairs.iter_slices(_PAIRS_AT_ONCE):
        sets = pl.DataFrame({"left": ids.gather(some["a"]), "right": ids.gather(some["b"])})
        shared = pl.col("left").list.set_intersection("right").list.len()
        either = pl.col("left").list.len() + pl.col("right").list.len() - shared
        parts.append(some.with_columns(sets.select(score=shared / either)["score"]))
    return pl.concat(parts)


def _recall(grams: pl.Series, banding: Banding, threshold: float) -> tuple[int, int]:
    """Variants planted at the threshold, and how many of them share a band with their original."""
    originals, variants = _planted(grams, threshold)
    met = bands_of(originals, banding) == bands_of(variants, banding)
    return originals.len(), int(met.any(axis=1).sum())


def _planted(grams: pl.Series, threshold: float) -> tuple[pl.Series, pl.Series]:
    """Texts, and a variant of each whose similarity is the least that meets the threshold.

    Of n 3-grams a variant keeps k = ⌈2nt ÷ (1 + t)⌉ and has n - k of its own: k ÷ (2n - k) ≥ t.
    """
    long = grams.filter(grams.list.len() >= PLANTABLE)
    step = max(long.len() // PLANTED, 1)
    some = long.gather_every(step).head(PLANTED).to_list()
    originals, variants = [], []
    for number in range(PLANTED if some else 0):
        text = some[number % len(some)]
        kept = min(ceil(2 * len(text) * threshold / (1 + threshold) - 1e-9), len(text))
        # Which ones are kept turns with the number: a text taken twice gives two variants.
        turn = number % len(text)
        turned = [*text[turn:], *text[:turn]]
        fresh = [(gram * _FRESH + number + 1) % 2**64 for gram in turned[kept:]]
        originals.append(text)
        variants.append([*turned[:kept], *fresh])
    dtype = pl.List(pl.UInt64)
    return pl.Series(originals, dtype=dtype), pl.Series(variants, dtype=dtype)
