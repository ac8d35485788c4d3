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
# Which of some IDs: by their places, or all.
Chosen = Whole | slice
_ALL = slice(None)

# Makes one text in two cases two keys. Odd, so that no two cases share a factor.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
# Lists of at most so many items are compared with themselves place by place.
_SHORT = 32
# Comparing an ID with a whole list costs so much less than a join, by item that is looked at.
_CHEAPER = 4
# So many items are looked at in one go: what fits into a core's cache.
_AT_ONCE = 1 << 17


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

    @cached_property
    def table(self) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
        """The hashes, a row a case as long as the longest list; what is beyond a list is 0."""
        cases = len(self.starts) - 1
        if len(self.rows) == cases * self.longest:
            return self.hashes.reshape(cases, self.longest)
        table = np.zeros((cases, self.longest), np.uint64)
        table[self.rows, self.places] = self.hashes
        return table

    def where(self, listed: Flat, chosen: Chosen = _ALL) -> Whole:
        """For each ID, which item of `listed` is the same in the same case; -1 where none is.

        `listed` holds an ID at most once a case. `chosen`: the IDs to look for, where not all.
        """
        asked = len(self.rows[chosen])
        looked_at = max(asked, len(listed.starts) - 1) * listed.longest
        by_table = looked_at <= _CHEAPER * (asked + len(listed.rows))
        found, items = (_by_table if by_table else _by_join)(self, listed, chosen)
        met = np.full(asked, -1, np.int64)
        met[found] = items
        return met

    def where_from_start(self, listed: Flat) -> Whole:
        """The same, looking first where an ID would be if one list were the start of the other."""
        sizes = np.diff(self.starts)
        at = np.repeat(listed.starts[:-1] - self.starts[:-1], sizes) + np.arange(len(self.rows))
        if (sizes > np.diff(listed.starts)).any():
            return self.where(listed)
        alike = (listed.ids.gather(at) == self.ids).to_numpy()
        if not alike.all():
            at[~alike] = self.where(listed, np.flatnonzero(~alike))
        return at

    def count(self, chosen: Flags) -> Whole:
        """How many of each case's items are chosen."""
        return np.bincount(self.rows[chosen], minlength=len(self.starts) - 1)


def run_starts(numbers: Whole) -> Flags:
    """Where a run of equal numbers begins; the rows of a case stand together."""
    begins: Flags = np.ones(len(numbers), np.bool_)
    begins[1:] = numbers[1:] != numbers[:-1]
    return begins


def _met_again(keys: Hashes) -> Whole:
    """Where keys stand that occur more than once; sorting costs less than a table of them all."""
    ordered = pl.Series(keys).sort().to_numpy()
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(again):
        return np.empty(0, np.int64)
    return np.flatnonzero(pl.Series(keys).is_in(pl.Series(again).implode()).to_numpy())


def _same(
    asked: Flat, chosen: Chosen, found: Whole, listed: Flat, items: Whole
) -> tuple[Whole, Whole]:
    """Of pairs with one hash, those with one text: nearly always all."""
    mine = found if isinstance(chosen, slice) else chosen[found]
    alike = asked.ids.gather(mine) == listed.ids.gather(items)
    if alike.all():
        return found, items
    kept = alike.to_numpy()
    return found[kept], items[kept]


def _by_table(asked: Flat, listed: Flat, chosen: Chosen) -> tuple[Whole, Whole]:
    """Which of the asked and of the listed are the same, comparing each with its case's list."""
    rows, hashes = asked.rows[chosen], asked.hashes[chosen, np.newaxis]
    longest = max(listed.longest, 1)
    step = max(1, _AT_ONCE // longest)
    blocks = [
        np.flatnonzero(listed.table[rows[start : start + step]] == hashes[start : start + step])
        + start * longest
        for start in range(0, len(rows), step)
    ]
    found, places = np.divmod(np.concatenate([np.empty(0, np.int64), *blocks]), longest)
    items = listed.starts[rows[found]] + places
    # What is beyond a list looks like a text whose hash is 0.
    inside = items < listed.starts[rows[found] + 1]
    if not inside.all():
        found, items = found[inside], items[inside]
    return _same(asked, chosen, found, listed, items)


def _by_join(asked: Flat, listed: Flat, chosen: Chosen) -> tuple[Whole, Whole]:
    """The same for long lists."""
    these, those = (
        pl.DataFrame({"key": keys}).with_row_index("item")
        for keys in (asked.keys[chosen], listed.keys)
    )
    met = these.join(those, on="key").cast({"item": pl.Int64, "item_right": pl.Int64})
    found, items = met["item"].to_numpy(), met["item_right"].to_numpy()
    here = asked.rows[chosen][found] == listed.rows[items]
    if not here.all():
        found, items = found[here], items[here]
    return _same(asked, chosen, found, listed, items)


def by_way(asked: Flat, asked_there: Whole, listed: Flat, listed_there: Whole, n: int) -> Whole:
    """Where each ID stands in a list (-1: nowhere), from where both stand in a third.

    Args:
        asked: the IDs.
        asked_there: where each is in the third list, -1 where it is not.
        listed: the list, each ID once a case.
        listed_there: the same of its items.
        n: how many items the third list has.
    """
    # One more, for what is not there.
    back = np.full(n + 1, -1, np.int64)
    there = np.flatnonzero(listed_there >= 0)
    back[listed_there[there]] = there
    met = back[asked_there]
    if len(there) < len(listed.rows):
        left = np.flatnonzero(asked_there < 0)
        met[left] = asked.where(listed, left)
    return met
