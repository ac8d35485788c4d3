"""Groups that lie in more than one split, over a whole run: what no chunk of cases can tell."""

from __future__ import annotations

import polars as pl

GROUP_ACROSS_SPLITS = "group-across-splits"
NEEDS = ("group", "split")
# Groups whose first case is kept as an example; all are counted.
_NAMED = 100_000
_SCHEMA = {"group": pl.UInt64, "split": pl.UInt64, "n": pl.UInt32, "first": pl.String}


class SplitGroups:
    """Watches a run for groups with cases in several splits.

    Groups and splits are known by 64-bit hashes, some 24 bytes for each group and split that
    occur together; what chunks add is summed whenever as much has come as was known.
    """

    def __init__(self) -> None:
        self._known = pl.DataFrame(schema=_SCHEMA)
        self._more: list[pl.DataFrame] = []

    def add(self, cases: pl.DataFrame) -> None:
        """Take in a chunk's `case_id`, `group` and `split`; cases that lack one are passed over."""
        given = cases.select("case_id", *NEEDS).drop_nulls()
        if given.is_empty():
            return
        self._take(
            given.group_by(pl.col(NEEDS).hash(seed=0), maintain_order=True).agg(
                n=pl.len().cast(pl.UInt32), first=pl.col("case_id").first()
            )
        )

    def merge(self, other: SplitGroups) -> None:
        """Take in what another has seen of the cases that come after."""
        for part in (other._known, *other._more):
            self._take(part)

    def result(self, examples: int) -> tuple[int, list[str]]:
        """Cases of groups in several splits; of these the first of each group and split."""
        self._sum()
        across = self._known.filter(pl.col("split").n_unique().over("group") > 1)
        return int(across["n"].sum()), across["first"].drop_nulls().head(examples).to_list()

    def _take(self, part: pl.DataFrame) -> None:
        self._more.append(part)
        if sum(more.height for more in self._more) >= self._known.height:
            self._sum()

    def _sum(self) -> None:
        if not self._more:
            return
        every = pl.concat([self._known, *self._more])
        summed = every.group_by(NEEDS, maintain_order=True).agg(
            pl.col("n").sum(), pl.col("first").first()
        )
        room = pl.int_range(pl.len()) < _NAMED
        self._known = summed.with_columns(first=pl.when(room).then("first"))
        self._more = []
