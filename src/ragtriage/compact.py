"""Rows that are kept while what they were taken from goes: with texts of their own."""

from __future__ import annotations

import polars as pl

_TEXTS = pl.List(pl.String)


def compact(rows: pl.DataFrame) -> pl.DataFrame:
    """The same few rows, holding no other text than theirs.

    Polars takes rows out of a frame by pointing at its texts: a single one would keep the texts of
    a whole chunk, or row group, in memory, and write them all where it is written as it is.
    """
    return rows.with_columns(
        _own(rows[name]) for name, dtype in rows.schema.items() if _holds_text(dtype)
    )


def _own(values: pl.Series) -> pl.Series:
    if values.dtype == pl.String:
        return values + ""
    if values.dtype == _TEXTS:
        return values.list.eval(pl.element() + "")
    return pl.Series(values.name, values.to_list(), dtype=values.dtype)


def _holds_text(dtype: object) -> bool:
    if isinstance(dtype, pl.List):
        return _holds_text(dtype.inner)
    return dtype == pl.String or isinstance(dtype, pl.Struct)
