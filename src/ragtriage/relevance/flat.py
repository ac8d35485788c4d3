"""A list a case laid out flat, and where given IDs stand in the list of their case.

Texts are compared by hash first: unequal hashes are unequal texts, and equal ones are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from ragtriage.schemas.fields import ITEMS_ALONE

Whole = np.ndarray[tuple[int], np.dtype[np.int64]]
Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]
Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]

# Makes one text in two cases two keys. Odd, so that no two cases share a factor.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
# Lists of at most so many items are compared with themselves place by place.
_SHORT = 32
# Going through lists place by place costs so much less than a join, by item that is looked at.
_CHEAPER = 4


@dataclass(frozen=True)
class Flat:
    """IDs of one list a case, one after another in case order.

    `ids`: String; `rows`: the case of each; `starts`: where each case's items begin, and at the
    end where the last ones stop. A null list has no item, as an empty one.
    """

    ids: pl.Series
    rows: Whole
    starts: Whole

    @classmethod
    def of(cls, lists: pl.Series) -> Flat:
        """From a column of lists of IDs, one a case."""
        sizes = lists.list.len().fill_null(0).cast(pl.Int64).to_numpy()
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        rows = np.repeat(np.arange(len(sizes)), sizes)
        return cls(lists.explode(**ITEMS_ALONE), rows, starts)

    @classmethod
    def of_rows(cls, ids: pl.Series, rows: pl.Series, cases: int) -> Flat:
        """From IDs and the case of each, in case order."""
        numbers = rows.cast(pl.Int64).to_numpy()
        sizes = np.bincount(numbers, minlength=cases)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        return cls(ids, numbers, starts)

    @cached_property
    def hashes(self) -> Hashes:
        """Of the texts, whatever the case."""
        return self.ids.hash(seed=0).to_numpy()

    @cached_property
    def places(self) -> Whole:
        """Of each item in its case's list, from 0."""
        return np.arange(len(self.rows)) - self.starts[self.rows]

    @property
    def longest(self) -> int:
        """The length of the longest list."""
        return int(np.diff(self.starts).max(initial=0))

    @cached_property
    def keys(self) -> Hashes:
        """Of the texts, each in its case."""
        return self.hashes ^ (self.rows.astype(np.uint64) * _SPREAD)

    def repeating(self) -> Whole:
        """Cases whose list may hold an ID twice, in order; of all others it is certain."""
        keys = self.keys
        found = np.zeros(len(self.starts) - 1, np.bool_)
        if self.longest > _SHORT:
            found[self.rows[_met_again(keys)]] = True
        else:
            for off in range(1, self.longest):
                found[self.rows[np.flatnonzero(keys[off:] == keys[:-off])]] = True
        return np.flatnonzero(found)

    def where(self, listed: Flat) -> Whole:
        """For each ID, which item of `listed` is the same in the same case; -1 where none is.

        `listed` holds an ID at most once a case.
        """
        looked_at = len(self.rows) * listed.longest
        if looked_at <= _CHEAPER * (len(self.rows) + len(listed.rows)):
            found, items = _by_place(self, listed)
        else:
            found, items = _by_join(self, listed)
        met = np.full(len(self.rows), -1, np.int64)
        met[found] = items
        return met

    def count(self, chosen: Flags) -> Whole:
        """How many of each case's items are chosen."""
        return np.bincount(self.rows[chosen], minlength=len(self.starts) - 1)


def _met_again(keys: Hashes) -> Whole:
    """Where keys stand that occur more than once; sorting costs less than a table of them all."""
    ordered = pl.Series(keys).sort().to_numpy()
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(again):
        return np.empty(0, np.int64)
    return np.flatnonzero(pl.Series(keys).is_in(pl.Series(again).implode()).to_numpy())


def _same(asked: Flat, found: Whole, listed: Flat, items: Whole) -> tuple[Whole, Whole]:
    """Of pairs with one hash, those with one text: nearly always all."""
    alike = asked.ids.gather(found) == listed.ids.gather(items)
    if alike.all():
        return found, items
    kept = alike.to_numpy()
    return found[kept], items[kept]


def _by_place(asked: Flat, listed: Flat) -> tuple[Whole, Whole]:
    """Which of the asked and of the listed are the same, one place of all lists at a time."""
    own, at_own = _at_own_place(asked, listed)
    pending = np.ones(len(asked.rows), np.bool_)
    pending[own] = False
    left = np.flatnonzero(pending)
    starts, stops = listed.starts[asked.rows[left]], listed.starts[asked.rows[left] + 1]
    hashes = asked.hashes[left]
    # One more, so that a place behind the last list can be looked at.
    those = np.append(listed.hashes, np.uint64(0))
    found, met = [left[:0]], [left[:0]]
    for place in range(listed.longest if len(left) else 0):
        at = np.minimum(starts + place, len(listed.rows))
        hits = np.flatnonzero((those[at] == hashes) & (at < stops))
        found.append(left[hits])
        met.append(at[hits])
    others, at_others = _same(asked, np.concatenate(found), listed, np.concatenate(met))
    return np.concatenate([own, others]), np.concatenate([at_own, at_others])


def _at_own_place(asked: Flat, listed: Flat) -> tuple[Whole, Whole]:
    """Those that stand where they stand in their own list: one is often the start of the other."""
    at = listed.starts[asked.rows] + asked.places
    there = np.flatnonzero(at < listed.starts[asked.rows + 1])
    found = there[listed.hashes[at[there]] == asked.hashes[there]]
    return _same(asked, found, listed, at[found])


def _by_join(asked: Flat, listed: Flat) -> tuple[Whole, Whole]:
    """The same for long lists."""
    these, those = (
        pl.DataFrame({"key": flat.keys}).with_row_index("item") for flat in (asked, listed)
    )
    met = these.join(those, on="key").cast({"item": pl.Int64, "item_right": pl.Int64})
    found, items = met["item"].to_numpy(), met["item_right"].to_numpy()
    here = asked.rows[found] == listed.rows[items]
    if not here.all():
        found, items = found[here], items[here]
    return _same(asked, found, listed, items)
