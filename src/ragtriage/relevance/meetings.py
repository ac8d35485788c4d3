"""Where the members of requirements stand in one list of their cases: ranks and counts."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import polars as pl

from ragtriage.relevance.flat import Flags, Flat, Whole, run_starts
from ragtriage.relevance.frames import gathered

_NEVER = np.iinfo(np.int64).max


class Meetings:
    """Members of requirements that are in a list.

    Only authorised members hit; a requirement is met first where its best one is.
    """

    def __init__(
        self, members: pl.DataFrame, asked: Flat, items: Whole, listed: Flat, *, single: bool
    ) -> None:
        """Put the members beside what they met.

        Args:
            members: `q`, `id`, `authorised`, in the order of requirements.
            asked: the same IDs by case.
            items: which item of the list each is, -1 where none.
            listed: the list, each ID once a case.
            single: every requirement has one member.
        """
        self._ids = members["id"]
        self._listed = listed
        self._items = items
        self._met = self._items >= 0
        self._hits = self._met & members["authorised"].to_numpy()
        ranks = self._items - listed.starts[asked.rows] + 1
        self._by_member: Whole = np.where(self._hits, ranks, _NEVER)
        self._starts = None if single else np.flatnonzero(run_starts(members["q"].to_numpy()))

    def ranks(self) -> pl.Series:
        """Where each requirement is hit first, from 1; null where it is not."""
        first = pl.Series(self._first)
        return pl.select(pl.when(first < _NEVER).then(first)).to_series()

    def first_ids(self) -> pl.Series:
        """By which of its members each requirement is hit first."""
        if self._starts is None:
            return pl.select(pl.when(pl.Series(self._hits)).then(self._ids)).to_series()
        first = self._first
        sizes = np.diff(self._starts, append=len(self._ids))
        of_member = np.repeat(np.arange(len(self._starts)), sizes)
        chosen = np.flatnonzero(self._hits & (self._by_member == first[of_member]))
        places = np.full(len(self._starts), -1, np.int64)
        places[of_member[chosen]] = chosen
        return gathered(self._ids.to_frame(), places).to_series()

    def met_at_all(self) -> pl.Series:
        """Is any member in the list, authorised or not?"""
        if self._starts is None:
            return pl.Series(self._met)
        return pl.Series(np.logical_or.reduceat(self._met, self._starts))

    def relevant_counts(self) -> pl.Series:
        """How many IDs of each case's list are relevant."""
        return pl.Series(self._listed.count(self._relevant()))

    def relevant_places(self) -> pl.DataFrame:
        """The places of a list that hold a relevant ID, in order: `row`, `relevant_retrieved`."""
        relevant = np.flatnonzero(self._relevant())
        rows = self._listed.rows[relevant]
        places = pl.DataFrame(
            {
                "row": pl.Series(rows).set_sorted(),
                "relevant_retrieved": relevant - self._listed.starts[rows] + 1,
            }
        )
        return places.group_by("row", maintain_order=True).agg("relevant_retrieved")

    def _relevant(self) -> Flags:
        """Which items of the list are relevant."""
        relevant = np.zeros(len(self._listed.rows), np.bool_)
        relevant[self._items[self._hits]] = True
        return relevant

    @cached_property
    def _first(self) -> Whole:
        """The place from 1 at which each requirement is hit first; `_NEVER` where it is not."""
        if self._starts is None:
            return self._by_member
        return np.minimum.reduceat(self._by_member, self._starts)
