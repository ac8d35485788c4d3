"""Small tables of many runs as one frame each; a table that cannot be read names its run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandera.polars as pa
import polars as pl

from ragtriage.read.folders import StoredFolder
from ragtriage.schemas.inputs import dtypes

_FAILURES = (pl.exceptions.PolarsError, OSError)


def read_table(
    runs: Sequence[StoredFolder],
    file: str,
    model: type[pa.DataFrameModel],
    columns: Sequence[str],
) -> tuple[pl.DataFrame, dict[str, str]]:
    """These columns of `<run>/<file>` of every run, the run's folder name in `run`.

    One scan reads all runs. A run whose table is missing, broken, of other types or of values that
    we never write has no rows: it stands with its reason in the second result.
    """
    types = dtypes(model)
    schema = {name: types[name] for name in columns}
    lost: dict[str, str] = {}
    names: dict[str, str] = {}
    for run in runs:
        path = run.path / file
        reason = _fault(path, schema)
        if reason is None:
            names[str(path)] = run.name
        else:
            lost[run.name] = f"{file} {reason}"
    frame = _together(names, file, schema, lost)
    wrong = _foreign_values(frame, model)
    lost |= {run: f"{file} {reason}" for run, reason in wrong.items()}
    return frame.filter(~pl.col("run").is_in(list(wrong))), lost


def _foreign_values(frame: pl.DataFrame, model: type[pa.DataFrameModel]) -> dict[str, str]:
    """Runs in whose table a value is missing that never is, or is no number."""
    declared = model.to_schema().columns
    tests: dict[str, pl.Expr] = {}
    for name in frame.columns[1:]:
        if not declared[name].nullable:
            tests[f"has rows without {name}"] = pl.col(name).is_null()
        if frame.schema[name].is_float():
            tests[f"has a {name} that is no number"] = ~pl.col(name).is_finite()
    return {
        run: reason
        for reason, test in tests.items()
        for run in frame.filter(test)["run"].unique(maintain_order=True)
    }


def _fault(path: Path, schema: dict[str, pl.DataType]) -> str | None:
    """What a table's footer already tells."""
    try:
        # By its name a file of `[ab]/` would be looked for in `a/` and `b/`.
        with path.open("rb") as file:
            found = pl.read_parquet_schema(file)
    except _FAILURES as error:
        return _reason(path, error)
    for name, dtype in schema.items():
        if found.get(name) != dtype:
            return f"has no column {name} of type {dtype}"
    return None


def _reason(path: Path, error: Exception) -> str:
    if not path.exists():
        return "is not there"
    return "cannot be read: " + str(error).split("\n", 1)[0]


def _together(
    names: dict[str, str], file: str, schema: dict[str, pl.DataType], lost: dict[str, str]
) -> pl.DataFrame:
    """One scan; run by run only where one of them turns out broken after all."""
    try:
        return _scan(names, schema)
    except _FAILURES:
        frames = [_scan({}, schema)]
    for path, run in names.items():
        try:
            frames.append(_scan({path: run}, schema))
        except _FAILURES as error:
            lost[run] = f"{file} {_reason(Path(path), error)}"
    return pl.concat(frames)


def _scan(names: dict[str, str], schema: dict[str, pl.DataType]) -> pl.DataFrame:
    if not names:
        return pl.DataFrame(schema={"run": pl.String, **schema})
    scanned = pl.scan_parquet(
        list(names),
        glob=False,
        hive_partitioning=False,
        include_file_paths="_path",
        extra_columns="ignore",
    )
    return (
        scanned.select("_path", *schema)
        .collect()
        .select(pl.col("_path").replace_strict(names, return_dtype=pl.String).alias("run"), *schema)
    )


def regressed_cases(
    comparison: StoredFolder, limit: int
) -> list[tuple[str, str | None, str | None]]:
    """The first regressed cases of a comparison: case, stage in the base run, in the candidate.

    None of them where its table cannot be read: the counts of its manifest still stand.
    """
    columns = ["case_id", "base_stage", "candidate_stage"]
    try:
        scanned = pl.scan_parquet(
            comparison.path / "cases.parquet", glob=False, hive_partitioning=False
        )
        regressed = scanned.filter(pl.col("change") == "regressed").select(
            pl.col(name).cast(pl.String) for name in columns
        )
        return regressed.head(limit).collect().rows()
    except _FAILURES:
        return []
