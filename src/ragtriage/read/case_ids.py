"""Where each case stands among all of them, so that what belongs to it can be put beside it."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragtriage.read.index import Duplicates, FileIndex, Source, hash_ids

Places = NDArray[np.uint32]

# What no case has is spread over so many places behind the last case, by its hash.
STRANGE = 1 << 20
_STRANGE_SHIFT = np.uint64(64 - 20)


class CaseIds:
    """The place of a case, from 0, by the hash of its ID: 12 bytes a record.

    An ID that several records have stands where the first of them does. Two IDs of one hash
    share a place, too: such rows are `odd`, and only the IDs themselves tell whose they are.
    """

    def __init__(self, hashes: list[pl.Series], duplicates: Duplicates | None = None) -> None:
        """`hashes`: of all IDs, in the order of the records. `duplicates`: IDs of several."""
        parts = [part.to_numpy() for part in hashes]
        joined = np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)
        order = np.argsort(joined, kind="stable")
        self._order: Places = order.astype(np.uint32)
        self._sorted: NDArray[np.uint64] = joined[order]
        self._duplicates = duplicates or {}
        self._repeated = pl.Series(list(self._duplicates), dtype=pl.String)
        same = self._sorted[1:] == self._sorted[:-1]
        self._shared: Places = self._order[:-1][same]

    @classmethod
    def of(cls, pairs: list[tuple[Source, FileIndex]], duplicates: Duplicates) -> CaseIds:
        """Of indexed files, whose own hashes are given up: nobody else asks for them any more."""
        ids = cls([part for _, index in pairs for part in index.hashes], duplicates)
        for _, index in pairs:
            index.hashes = []
        return ids

    def __len__(self) -> int:
        return len(self._sorted)

    @property
    def end(self) -> int:
        """Beyond every place, those of IDs that no case has among them."""
        return len(self) + STRANGE

    def places(self, ids: pl.Series) -> Places:
        """The place of each ID; from `len(self)` on where no record has it."""
        hashes = hash_ids(ids).to_numpy()
        strange = (hashes >> _STRANGE_SHIFT).astype(np.uint32) + np.uint32(len(self))
        if not len(self):
            return strange
        at = np.minimum(np.searchsorted(self._sorted, hashes), len(self) - 1)
        return np.where(self._sorted[at] == hashes, self._order[at], strange)

    def lack(self, other: CaseIds) -> bool:
        """Is there an ID that the others have and these do not?"""
        if not len(self):
            return bool(len(other))
        at = np.minimum(np.searchsorted(self._sorted, other._sorted), len(self) - 1)
        return bool((self._sorted[at] != other._sorted).any())

    def repeated_at(self, case_id: str) -> str | None:
        """Where an ID stands first that several records have: all of them are set aside."""
        first = self._duplicates.get(case_id)
        return None if first is None else f"{first[0]}:{first[1]}"

    def odd(self, places: Places, ids: pl.Series) -> NDArray[np.bool_]:
        """Which of these might be of another case than the first at their place."""
        if not len(self._shared):
            return np.zeros(len(places), dtype=np.bool_)
        repeated: NDArray[np.bool_] = ids.is_in(self._repeated.implode()).to_numpy()
        return np.isin(places, self._shared) & ~repeated
