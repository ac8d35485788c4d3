"""Near duplicates: exact scores, both sides of the threshold, recall, and no square of anything."""

from __future__ import annotations

import random
import time

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage.splits import lsh
from ragtriage.splits.lsh import Banding, banding_for
from ragtriage.splits.near import near_pairs
from ragtriage.splits.words import keys_of
from tests.splits.support import similar

# 22 words: 20 3-grams. With the last n words replaced by others 20 - n are shared and 20 + n are
# in either: Jaccard (20 - n) ÷ (20 + n).
BASE = [f"w{i}" for i in range(22)]


def replaced(n: int) -> str:
    return " ".join([*BASE[: 22 - n], *(f"x{i}" for i in range(n))])


def found(texts: list[str], threshold: float) -> dict[tuple[int, int], float]:
    near, _ = near_pairs(pl.Series(texts), threshold)
    return {(a, b): score for a, b, score in near.iter_rows()}


@pytest.mark.parametrize(
    ("n", "score"),
    # 5: 15/25 = 0.6 exactly; 2: 18/22 = 0.818; 3: 17/23 = 0.739; 6: 14/26 = 0.538; 7: 13/27 = 0.481
    [(2, 18 / 22), (3, 17 / 23), (5, 0.6), (6, 14 / 26), (7, 13 / 27)],
)
@pytest.mark.parametrize("threshold", [0.5, 0.6, 0.8])
def test_planted_on_both_sides_of_the_threshold(n: int, score: float, threshold: float) -> None:
    expected = {(0, 1): score} if score >= threshold else {}
    assert found([" ".join(BASE), replaced(n)], threshold) == expected


@pytest.mark.parametrize(
    ("text", "score"),
    [
        # abc bcd cde def against fab? no: "d e f a b c" has def efa fab abc; 2 shared of 6.
        ("d e f a b c", 2 / 6),
        # "a b c d f e": abc bcd cdf dfe; 2 shared of 6.
        ("a b c d f e", 2 / 6),
        # One more word: all four and one of its own.
        ("a b c d e f g", 4 / 5),
        # A repeated passage adds 3-grams, but no 3-gram counts twice: fab and efa are new.
        ("a b c d e f a b c d e f", 4 / 6),
        # Backwards nothing is shared.
        ("f e d c b a", 0.0),
    ],
)
def test_word_order_counts_as_3_grams_see_it(text: str, score: float) -> None:
    assert found(["a b c d e f", text], max(score, 0.01)) == ({(0, 1): score} if score else {})
    assert found(["a b c d e f", text], score + 0.01) == {}


def test_short_texts_have_no_3_gram() -> None:
    near, search = near_pairs(pl.Series(["why", "why not", "why not now"]), 0.1)
    assert near.is_empty()
    assert (search.n_texts, search.n_short) == (3, 2)


def test_characters_stand_for_words_where_words_are_not_parted() -> None:
    # 5 3-grams each; shared are 图书馆 书馆几 馆几点: 3 of 7.
    keys = keys_of(pl.Series(["图书馆几点关门\uff1f", "图书馆几点开门\uff1f"]))
    assert found(keys.to_list(), 0.4) == {(0, 1): 3 / 7}
    assert found(keys.to_list(), 0.43) == {}
    thai = keys_of(pl.Series(["ห้องสมุดปิดกี่โมง", "ห้องสมุดเปิดกี่โมง"]))
    # ห้ อ ง ส มุ ด ปิ ด กี่ โ ม ง: 10 3-grams; one เ put in: 11, of which 2 are new and 1 is gone.
    assert found(thai.to_list(), 0.5) == {(0, 1): pytest.approx(8 / 13)}


def test_nothing_to_compare() -> None:
    near, search = near_pairs(pl.Series([], dtype=pl.String), 0.6)
    assert near.is_empty()
    assert (search.candidates, search.planted, search.found) == (0, 0, 0)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=9), min_size=2, max_size=25),
    st.sampled_from([0.3, 0.5, 0.6, 0.8, 1.0]),
)
def test_every_pair_found_is_exact(texts: list[list[str]], threshold: float) -> None:
    keys = sorted({" ".join(words) for words in texts})
    exact = similar(keys, threshold)
    assert found(keys, threshold).items() <= exact.items()


@pytest.mark.parametrize("threshold", [0.5, 0.6, 0.8])
def test_recall_on_planted_paraphrases(threshold: float) -> None:
    chance = random.Random(5)  # noqa: S311 - data, not secrets
    vocabulary = [f"v{i}" for i in range(400)]
    texts = []
    for _ in range(200):
        words = chance.choices(vocabulary, k=chance.randint(10, 24))
        texts.append(" ".join(words))
        for _ in range(2):
            changed = list(words)
            changed[chance.randrange(len(changed))] = chance.choice(vocabulary)
            texts.append(" ".join(changed))
    keys = sorted(set(texts))
    exact = similar(keys, threshold)
    near, search = near_pairs(pl.Series(keys), threshold)
    got = {(a, b): score for a, b, score in near.iter_rows()}
    assert len(exact) > 40
    assert got.items() <= exact.items()
    # The chance of a miss is below 1 in 1,000 at the threshold and smaller above.
    assert len(got) >= 0.99 * len(exact)
    assert search.planted == 1_000
    assert search.found >= 990


@pytest.mark.parametrize("threshold", [0.05, 0.1, 0.3, 0.5, 0.6, 0.8, 0.9, 0.99])
def test_the_banding_misses_at_most_what_is_stated(threshold: float) -> None:
    banding = banding_for(threshold)
    assert banding.permutations <= lsh.PERMUTATIONS
    assert banding.miss(threshold) == (1 - threshold**banding.rows) ** banding.bands
    assert banding.miss(threshold) <= lsh.MISS


def test_signatures_agree_as_often_as_the_formula_says() -> None:
    banding = Banding(20, 4)
    chance = np.random.default_rng(3)
    left, right = [], []
    for _ in range(2_000):
        shared, a, b = np.split(chance.integers(0, 2**63, 15, dtype=np.uint64), [9, 12])
        left.append([*shared, *a])
        right.append([*b, *shared])
    # 9 shared of 15: 0.6. Expected to share a band: 1 - (1 - 0.6^4)^20 = 0.9377
    dtype = pl.List(pl.UInt64)
    of_left = lsh.bands_of(pl.Series(left, dtype=dtype), banding)
    of_right = lsh.bands_of(pl.Series(right, dtype=dtype), banding)
    met = (of_left == of_right).any(axis=1).mean()
    assert abs(met - (1 - banding.miss(0.6))) < 0.03


def test_a_thousand_alike_are_all_found() -> None:
    texts = [
        f"when does branch number seven of the town library close on monday {i}" for i in range(300)
    ]
    # 12 words and one of its own: 10 3-grams shared, 1 each of its own: 10 ÷ 12.
    pairs = found(texts, 0.6)
    assert len(pairs) == 300 * 299 // 2
    assert set(pairs.values()) == {10 / 12}


def test_pairs_formed_some_at_a_time_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"when does branch seven of the library on mill lane close at {i}" for i in range(60)]
    whole = found(texts, 0.6)
    monkeypatch.setattr(lsh, "_PAIRS_AT_ONCE", 7)
    assert found(texts, 0.6) == whole
    assert len(whole) == 60 * 59 // 2


def test_very_many_alike_are_bounded_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lsh, "BAND_PAIRS", 20_000)
    monkeypatch.setattr(lsh, "CROWDED_PAIRS", 20_000)
    texts = [
        f"when does branch number seven of the town library close on monday {i}"
        for i in range(3_000)
    ]
    started = time.process_time()
    near, search = near_pairs(pl.Series(texts), 0.6)
    assert time.process_time() - started < 20
    assert search.candidates <= 20_000 * search.banding.bands
    assert search.skipped > 4_000_000
    # Each still meets its neighbours, so that they stay linked.
    linked = {(a, b) for a, b, _ in near.iter_rows()}
    assert {(i, i + 1) for i in range(2_999)} <= linked
