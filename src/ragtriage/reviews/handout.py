"""Settled labels on their way to cases, chunk by chunk, and what is learnt on that way.

What shards learn merges, in input order.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl

from ragtriage.read.chunk import RowFault
from ragtriage.reviews.settle import DISPUTED
from ragtriage.schemas.reviews import ITEM

# As many as a report can show.
MOST_DISPUTED = 500


class HandOut:
    """What people said, handed out once to each case that asks.

    `settled`: an item a row, numbered by `place`. Of what was handed out: `met`, how many items by
    state; `disputed`, the first of those that people dispute. `unknown_claims`: labels of claims
    that their case does not have. `set_aside`: cases that were, and where they stand.
    """

    def __init__(self, settled: pl.DataFrame) -> None:
        self._settled = settled
        self._taken: list[pl.Series] = []
        self.set_aside: dict[str, str] = {}
        self.unknown_claims: list[pl.DataFrame] = []
        self.met: Counter[str] = Counter()
        self.disputed: list[dict[str, Any]] = []

    def take(self, cases: pl.DataFrame) -> pl.DataFrame:
        """What was said of these cases; each case is asked for once.

        Labels of claims that a case neither proposes nor requires are kept for later.
        """
        known = cases.select("case_id")
        found = self._settled.join(known, on="case_id", how="semi", maintain_order="left")
        if found.is_empty():
            return found
        self._taken.append(found["place"])
        claims = found.filter(pl.col("claim_id").is_not_null())
        strays = claims.join(_claims_of(cases), on=("case_id", "claim_id"), how="anti")
        if not strays.is_empty():
            self.unknown_claims.append(strays.select(ITEM))
            found = found.join(
                strays.select(ITEM), on=ITEM, how="anti", nulls_equal=True, maintain_order="left"
            )
        self._count(found)
        return found

    def _count(self, found: pl.DataFrame) -> None:
        for state, n in found.group_by("state").len().iter_rows():
            self.met[state] += n
        disputed = found.filter(pl.col("state") == DISPUTED)
        shown = disputed.head(MOST_DISPUTED - len(self.disputed))
        self.disputed += shown.select(*ITEM, "target", "supporters", "opponents").to_dicts()

    def note(self, faults: list[RowFault]) -> None:
        """Cases that were set aside: their reviews go with them."""
        self.set_aside |= {f.case_id: f"{f.source_file}:{f.line}" for f in faults if f.case_id}

    def detach(self) -> None:
        """Keep what was learnt and let go of the labels: to be sent, and merged elsewhere."""
        reviewed = self._settled["case_id"].implode()
        names = pl.Series(list(self.set_aside), dtype=pl.String)
        known = names.filter(names.is_in(reviewed))
        self.set_aside = {name: self.set_aside[name] for name in known}
        self._settled = self._settled.clear()

    def merge(self, later: HandOut) -> None:
        """Take in what another learnt of the cases that come after."""
        self._taken += later._taken
        self.set_aside |= later.set_aside
        self.unknown_claims += later.unknown_claims
        self.met.update(later.met)
        self.disputed += later.disputed[: MOST_DISPUTED - len(self.disputed)]

    def untaken(self) -> pl.DataFrame:
        """Cases that were reviewed and never asked for."""
        taken = pl.DataFrame({"place": pl.concat([*self._taken, _NO_PLACES])})
        left = self._settled.select("place", "case_id").join(taken, on="place", how="anti")
        return left.select("case_id").unique()


_NO_PLACES = pl.Series(dtype=pl.UInt32)


def _claims_of(cases: pl.DataFrame) -> pl.DataFrame:
    """Claims that the cases propose or require: `case_id`, `claim_id`."""
    proposed = pl.col("claims").list.eval(pl.element().struct.field("claim_id")).fill_null([])
    claims = pl.concat_list(proposed, pl.col("required_claims").fill_null([]))
    return cases.select("case_id", claim_id=claims).explode("claim_id").drop_nulls()
