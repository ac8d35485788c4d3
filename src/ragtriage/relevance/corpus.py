"""What is known of each evidence ID, whatever the case: where it is, what says the same."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Corpus:
    """What is known of each evidence ID: one row an ID.

    Columns: `id`, `equivalence_group`, `in_source` (Boolean), `indexed` and `in_chunks`
    (Boolean, null unknown).
    """

    table: pl.DataFrame

    @classmethod
    def from_rows(cls, rows: pl.DataFrame) -> Corpus:
        """From validated corpus rows.

        An ID that is listed is in the source unless `in_source` says otherwise; it is not
        indexed when `in_index` is false or its two revisions differ.
        """
        differ = pl.col("revision") != pl.col("indexed_revision")
        table = rows.select(
            pl.col("evidence_id").alias("id"),
            # Nobody means an empty name as a group.
            pl.when(pl.col("equivalence_group").str.contains(r"\S")).then("equivalence_group"),
            pl.col("in_source").fill_null(True),
            indexed=pl.when(pl.col("in_index").eq_missing(False) | differ.fill_null(False))
            .then(False)
            .when(pl.col("in_index") | ~differ)
            .then(True),
            in_chunks="in_chunks",
        )
        return cls(table)

    @property
    def ids(self) -> pl.Series:
        """Every listed ID."""
        return self.table["id"]
