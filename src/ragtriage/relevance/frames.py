"""Putting narrow results beside wide cases without copying the cases."""

from __future__ import annotations

import polars as pl


def beside(cases: pl.DataFrame, more: pl.DataFrame, on: str = "row") -> pl.DataFrame:
    """The cases with the columns of `more`, one row of it a key at most; null where none is.

    A left join that gathers nothing but the new columns: cases are wide.
    """
    matched = cases.select(on).join(more, on=on, how="left", maintain_order="left")
    if matched.height != cases.height:
        raise AssertionError(f"{cases.height} cases met {matched.height} rows")
    return cases.hstack(matched.drop(on))


def keyed(frame: pl.DataFrame, text: str) -> pl.DataFrame:
    """With `key`, one number a case and text: joining by it is far cheaper than by both.

    Different texts may have one key: whoever joins by it has to compare them too.
    """
    return frame.with_columns(key=pl.col(text).hash(seed=0) ^ pl.col("row").hash(seed=1))


def same(text: str) -> pl.Expr:
    """Of rows joined by key: are case and text really the same?"""
    return (pl.col("row") == pl.col("row_right")) & (pl.col(text) == pl.col(f"{text}_right"))
