"""The tables of a finished run, part by part: all there, of the types that are published.

Columns are read by whoever needs them; here only their names and types are looked at.
"""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from ragtriage.errors import InputError
from ragtriage.schemas import results
from ragtriage.schemas.inputs import dtypes

_PUBLISHED = {
    "cases": dtypes(results.CaseResults),
    "evidence": dtypes(results.Evidence),
    "claims": dtypes(results.Claims),
}
# Without these nothing can be said of a run; others may be of a later version.
_NEEDED: dict[str, tuple[str, ...]] = {
    "cases": (
        "case_id",
        "question",
        "answer",
        "error",
        "ambiguity",
        "answerable",
        "stage",
        "break_point",
    ),
    "evidence": (
        "case_id",
        "requirement",
        "ids",
        "retrieved_rank",
        "cited",
        "delivered",
        "lost_at",
    ),
    "claims": tuple(_PUBLISHED["claims"]),
}
_NAMED = 3


def scanned_tables(path: str) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Cases and evidence of the run in a folder, nothing read yet.

    Raises:
        InputError: a part is lost, torn or of another run, or a column is none of ours.
    """
    parts = {name: _parts(path, name) for name in ("cases", "evidence")}
    for name, found in parts.items():
        if not found:
            raise InputError(f"{path}: no {name}/part-*.parquet in it: not a whole run")
    _check_parts(parts, path)
    cases, evidence = (_scanned(name, found, path) for name, found in parts.items())
    return cases, evidence


def scanned_claims(path: str) -> pl.LazyFrame:
    """The claims of the run in a folder, nothing read yet; of no row where it has none.

    Raises:
        InputError: a part is torn or of another run, or a column is none of ours.
    """
    parts = _parts(path, "claims")
    return _scanned("claims", parts, path) if parts else pl.LazyFrame(schema=_PUBLISHED["claims"])


def _parts(path: str, name: str) -> list[Path]:
    found = sorted((Path(path) / name).glob("part-*.parquet"))
    if lost := [file for file in found if not os.path.isfile(file)]:
        raise InputError(f"{path}: {name}/{lost[0].name} is no file: not a whole run")
    return found


def _check_parts(parts: dict[str, list[Path]], path: str) -> None:
    """Each chunk leaves a part in every table: one that stands alone was lost or came in."""
    cases, evidence = ({file.name for file in found} for found in parts.values())
    alone = sorted(cases ^ evidence)
    if alone:
        where, lacks = ("cases", "evidence") if alone[0] in cases else ("evidence", "cases")
        raise InputError(
            f"{path}: {where}/{alone[0]} has no {lacks}/{alone[0]} beside it: not a whole run"
        )


def _scanned(name: str, parts: list[Path], path: str) -> pl.LazyFrame:
    try:
        frame = pl.scan_parquet(parts, glob=False, hive_partitioning=False)
        schema = frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).split("\n", 1)[0]
        raise InputError(f"{path}: {name}/ cannot be read: {reason}") from None
    lacking = [column for column in _NEEDED[name] if column not in schema]
    if lacking:
        raise InputError(f"{path}: {name}/ has no {', '.join(lacking)}: not a run of ours")
    check_types(schema, _PUBLISHED[name], f"{path}: {name}/")
    return frame


def check_types(
    found: pl.Schema | dict[str, pl.DataType], published: dict[str, pl.DataType], where: str
) -> None:
    """Do columns that are there have the types they are published with?

    Raises:
        InputError: naming the first that do not.
    """
    wrong = [
        f"{name} is {found[name]}, not {dtype}"
        for name, dtype in published.items()
        if name in found and found[name] != dtype
    ]
    if wrong:
        raise InputError(f"{where}: {'; '.join(wrong[:_NAMED])}: not a run of ours; evaluate again")
