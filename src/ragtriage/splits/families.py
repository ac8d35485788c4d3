"""Which cases belong together: one group, one question, or nearly one. Splits play no part."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl


def families_of(cases: pl.DataFrame, keys: pl.Series, near: pl.DataFrame) -> pl.Series:
    """The first case ID of everything a case is linked with, however long the chain.

    Args:
        cases: `case_id` (in order), `group`, `key`.
        keys: the distinct keys of all cases.
        near: `a`, `b`: places in `keys` of near duplicates.

    Returns:
        `family`, a name a case. A function of the cases, not of their order in a file.
    """
    placed = cases.select("group", "key").with_row_index("place")
    of_key = placed.drop_nulls("key").group_by("key").agg(pl.col("place").min())
    first = keys.to_frame("key").join(of_key, on="key", how="left", maintain_order="left")["place"]
    links = [
        *_to_first(placed, "group"),
        *_to_first(placed, "key"),
        *zip(first.gather(near["a"]), first.gather(near["b"]), strict=True),
    ]
    roots = pl.Series(_joined(cases.height, links), dtype=pl.UInt32)
    return cases["case_id"].gather(roots).rename("family")


def _to_first(placed: pl.DataFrame, name: str) -> Iterable[tuple[int, int]]:
    """Each case with the first one of the same group or question."""
    same = placed.drop_nulls(name).select("place", first=pl.col("place").min().over(name))
    return same.filter(pl.col("place") != pl.col("first")).iter_rows()


def _joined(n: int, links: Iterable[tuple[int, int]]) -> list[int]:
    """The least member of each one's component."""
    parents = list(range(n))

    def root(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    for one, other in links:
        a, b = root(one), root(other)
        if a != b:
            parents[max(a, b)] = min(a, b)
    return [root(place) for place in range(n)]
