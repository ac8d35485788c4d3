"""Putting narrow results beside wide cases without copying the cases."""

from __future__ import annotations

import numpy as np
import polars as pl

from ragtriage.relevance.flat import Whole


def beside(cases: pl.DataFrame, more: pl.DataFrame) -> pl.DataFrame:
    """The cases with the columns of `more`, one row of it a case at most; null where none is.

    Both have `row`, which numbers the cases from 0. What a left join would do, but that only the
    new columns are gathered, and nothing is sought.
    """
    columns = more.drop("row")
    if more.is_empty():
        nothing = [pl.lit(None, dtype).alias(name) for name, dtype in columns.schema.items()]
        return cases.with_columns(nothing)
    places = np.full(cases.height, -1, np.int64)
    rows = more["row"].to_numpy()
    places[rows] = np.arange(more.height)
    if np.count_nonzero(places >= 0) != more.height:
        raise AssertionError(f"{more.height} rows are not one a case")
    if more.height == cases.height and bool((rows[1:] > rows[:-1]).all()):
        return cases.hstack(columns)
    return cases.hstack(gathered(columns, places))


def gathered(frame: pl.DataFrame, places: Whole) -> pl.DataFrame:
    """The rows at these places; all null where the place is negative."""
    index = pl.Series(places)
    if len(places) and int(places.min()) < 0:
        index = pl.select(pl.when(index >= 0).then(index)).to_series()
    return frame.select(pl.all().gather(index))


def keyed(frame: pl.DataFrame, text: str) -> pl.DataFrame:
    """With `key`, one number a case and text: joining by it is far cheaper than by both.

    Different texts may have one key: whoever joins by it has to compare them too.
    """
    return frame.with_columns(key=pl.col(text).hash(seed=0) ^ pl.col("row").hash(seed=1))


def same(text: str) -> pl.Expr:
    """Of rows joined by key: are case and text really the same?"""
    return (pl.col("row") == pl.col("row_right")) & (pl.col(text) == pl.col(f"{text}_right"))
