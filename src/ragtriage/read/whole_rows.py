"""Rows of a run's table for those who show them: every column there, and no value missing."""

from __future__ import annotations

from typing import Any

import pandera.polars as pa
import polars as pl

from ragtriage.errors import InputError
from ragtriage.read.run_tables import check_types
from ragtriage.schemas.fields import ITEMS_ALONE
from ragtriage.schemas.inputs import dtypes


def whole_rows(
    rows: pl.DataFrame, model: type[pa.DataFrameModel], where: str
) -> list[dict[str, Any]]:
    """A few rows as dictionaries, held against what is published of their table.

    Raises:
        InputError: a column is lost or of another type, or a value is missing that never is.
    """
    published = dtypes(model)
    lacking = [name for name in published if name not in rows.columns]
    if lacking:
        raise InputError(f"{where} has no {', '.join(lacking)}: not a run of ours; evaluate again")
    check_types(rows.schema, published, where)
    declared = model.to_schema().columns
    gaps = [
        name
        for name, dtype in published.items()
        if (not declared[name].nullable and rows[name].null_count())
        or (isinstance(dtype, pl.List) and rows[name].explode(**ITEMS_ALONE).null_count())
    ]
    if gaps:
        raise InputError(
            f"{where} has rows without {', '.join(gaps)}: not a run of ours; evaluate again"
        )
    return rows.to_dicts()
