"""How many things were reviewed, and how many of them are settled, per target."""

from __future__ import annotations

from collections import Counter

import polars as pl

from ragtriage.agreement.pairs import ALL
from ragtriage.reviews.settle import ADJUDICATED, AGREED, DISPUTED, OPEN, TARGETS

ALONE = "alone"


def item_states(settled: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Items by target (`all` first, then those that occur) and state.

    Args:
        settled: what `reviews.settle.settle` makes of the reviews.

    Returns:
        For each target the items in state `agreed`, `adjudicated`, `disputed` and `open`, which
        make up `n`, and `alone`: the agreed ones that a single person labelled.
    """
    alone = (pl.col("state") == AGREED) & (pl.col("n_people") == 1)
    counted = settled.group_by("target", "state").agg(n=pl.len(), alone=alone.sum())
    counts: dict[str, Counter[str]] = {ALL: Counter()}
    for name, state, n, n_alone in counted.iter_rows():
        for group in (name, ALL):
            counts.setdefault(group, Counter()).update({state: n, ALONE: n_alone, "n": n})
    shown = ("n", AGREED, ALONE, ADJUDICATED, DISPUTED, OPEN)
    return {
        name: {column: counts[name][column] for column in shown}
        for name in (ALL, *TARGETS)
        if name in counts
    }
