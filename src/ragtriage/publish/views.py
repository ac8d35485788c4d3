"""DuckDB views over a folder of runs: `ragtriage schema --format sql`, `sql/views.sql`.

The views of tables are made from the models; those built on them stand in templates/views.sql.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pandera.polars as pa
import polars as pl

from ragtriage.publish.template_files import template
from ragtriage.schemas import results
from ragtriage.schemas.inputs import dtypes

_DUCKDB = {
    pl.String: "VARCHAR",
    pl.Int64: "BIGINT",
    pl.Float64: "DOUBLE",
    pl.Boolean: "BOOLEAN",
}


class _View(NamedTuple):
    """One table of all runs: files that match `glob` and whose path holds `<run_id>/<within>`."""

    name: str
    model: type[pa.DataFrameModel]
    glob: str
    within: str
    metrics: bool = False


_VIEWS = (
    _View("summary", results.Summary, "summary.parquet", "summary.parquet"),
    _View("stages", results.Stages, "stages.parquet", "stages.parquet"),
    _View("findings", results.Findings, "findings.parquet", "findings.parquet"),
    _View("gates", results.Gates, "gates.parquet", "gates.parquet"),
    _View("cases", results.CaseResults, "cases/part-*.parquet", "cases/part-", metrics=True),
    _View("evidence", results.Evidence, "evidence/part-*.parquet", "evidence/part-"),
    # Few runs have claims, and DuckDB refuses a pattern that matches nothing: one that also
    # matches cases always finds a file.
    _View("claims", results.Claims, "c*s/part-*.parquet", "claims/part-"),
)


def script() -> str:
    """Every view, as one script that DuckDB runs as it is beside `reports/`."""
    text = template("views.sql").replace("{version}", results.SCHEMA_VERSION)
    head, rest = text.split("-- tables --\n")
    return head + "\n".join(_view(view) for view in _VIEWS) + rest


def duckdb_type(dtype: Any) -> str:
    """A polars type as DuckDB names it."""
    if isinstance(dtype, pl.List):
        return f"{duckdb_type(dtype.inner)}[]"
    if isinstance(dtype, pl.Struct):
        fields = ", ".join(f'"{field.name}" {duckdb_type(field.dtype)}' for field in dtype.fields)
        return f"STRUCT({fields})"
    return _DUCKDB[dtype.base_type()]


def _view(view: _View) -> str:
    """One view: the model's columns in its types, of runs of this schema version.

    Columns of a run of another version may be missing or of another type: the empty row of the
    model gives every column, and the cast takes its type back. A copy of a run under another name
    is left out.
    """
    types = {name: duckdb_type(dtype) for name, dtype in dtypes(view.model).items()}
    empty = ",\n".join(f'    NULL::{dtype} AS "{name}"' for name, dtype in types.items())
    casts = ",\n".join(
        f'  TRY_CAST("{name}" AS {dtype}) AS "{name}"' for name, dtype in types.items()
    )
    columns = casts
    if view.metrics:
        columns = f"  * EXCLUDE (stored_in) REPLACE (\n{_indented(casts)}\n  )"
    return f"""\
CREATE OR REPLACE VIEW {view.name} AS
WITH stored AS (
  SELECT
{empty}
  WHERE false
  UNION ALL BY NAME
  SELECT * FROM read_parquet(
    'reports/*/{view.glob}',
    union_by_name = true, hive_partitioning = false, filename = 'stored_in'
  )
)
SELECT
{columns}
FROM stored
WHERE run_id IN (SELECT run_id FROM runs)
  AND contains(stored_in, '/' || run_id || '/{view.within}');
"""  # noqa: S608 - our own names alone


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
