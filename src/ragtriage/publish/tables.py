"""The written tables as frames: which columns, in which order and type. Nothing is computed."""

from __future__ import annotations

from functools import cache

import pandera.polars as pa
import polars as pl

from ragtriage import evidence
from ragtriage.metrics import Column
from ragtriage.read.chunk import RowFault
from ragtriage.schemas import results
from ragtriage.schemas.inputs import CASE_FIELDS, dtypes

_PROVENANCE = ("source_file", "line")
_VERDICT = tuple(
    name
    for name in dtypes(results.CaseResults)
    if name not in ("run_id", *_PROVENANCE, *CASE_FIELDS)
)


def case_schema(columns: list[Column]) -> dict[str, pl.DataType]:
    """Columns of the case table of a run with these metrics, in order."""
    fixed = dtypes(results.CaseResults)
    metrics = {name: dtype for column in columns for name, dtype in column.schema.items()}
    names = ("run_id", *_PROVENANCE, *CASE_FIELDS)
    return (
        {name: fixed[name] for name in names} | metrics | {name: fixed[name] for name in _VERDICT}
    )


def case_table(cases: pl.DataFrame, columns: list[Column]) -> pl.DataFrame:
    """Rows of `cases/`, but for the run; `answerable` is the value that every rule used."""
    settled = cases.with_columns(answerable="is_answerable", answer_disputed="review_disputed")
    return settled.select(_written(tuple(columns)))


@cache
def _written(columns: tuple[Column, ...]) -> list[pl.Expr]:
    """Each column in its type; the same for every chunk."""
    schema = case_schema([*columns])
    return [pl.col(name).cast(dtype) for name, dtype in schema.items() if name != "run_id"]


def evidence_table(ledger: pl.DataFrame) -> pl.DataFrame:
    """Rows of `evidence/`, but for the run."""
    schema = dtypes(results.Evidence)
    return ledger.select(pl.col(name).cast(schema[name]) for name in evidence.COLUMNS)


def claims_table(claims: pl.DataFrame) -> pl.DataFrame:
    """Rows of `claims/`, but for the run."""
    schema = {name: dtype for name, dtype in dtypes(results.Claims).items() if name != "run_id"}
    return claims.select(pl.col(name).cast(dtype) for name, dtype in schema.items())


def reject_table(faults: list[RowFault]) -> pl.DataFrame:
    """Rows of `rejects/`, but for the run."""
    rows = [fault._asdict() for fault in faults]
    for row in rows:
        del row["refuses"]
    return rows_table(results.Rejects, rows)


def rows_table(model: type[pa.DataFrameModel], rows: list[dict[str, object]]) -> pl.DataFrame:
    """Rows of a small table, but for the run."""
    schema = {name: dtype for name, dtype in dtypes(model).items() if name != "run_id"}
    return pl.DataFrame(rows, schema=schema, orient="row")
