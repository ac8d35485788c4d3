"""A finished run from its folder: its manifest, and those columns of its tables that are asked for.

Refuses what is not a finished run of a schema version we know. Nothing is computed here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragtriage.compact import compact
from ragtriage.errors import InputError
from ragtriage.request_parts import RUN_ID
from ragtriage.schemas.results import SCHEMA_VERSION

_UNFINISHED = ".unfinished"
_TRACES = ("cases", "evidence", "summary.parquet", "rejects", "report.json")
_NEEDED: dict[str, type] = {
    "run_id": str,
    "contract": str,
    "cutoffs": list,
    "normalizer": str,
    "config": dict,
    "about": dict,
    "fields": list,
    "inputs": list,
    "rows": dict,
}


@dataclass(frozen=True)
class StoredRun:
    """One side of a comparison: what was run, and its tables, read when asked for.

    `cases` and `evidence` are lazy: only the columns selected are read.
    """

    run_id: str
    manifest: dict[str, Any]
    cases: pl.LazyFrame
    evidence: pl.LazyFrame
    columns: frozenset[str]

    @classmethod
    def of(cls, manifest: dict[str, Any], cases: pl.LazyFrame, evidence: pl.LazyFrame) -> StoredRun:
        """From a manifest and both tables."""
        names = frozenset(cases.collect_schema().names())
        return cls(str(manifest["run_id"]), manifest, cases, evidence, names)

    def column(self, name: str) -> pl.Series:
        """One column of the case table, in the order of the run.

        Raises:
            InputError: the table cannot be read.
        """
        return self.read(self.cases.select(name)).to_series()

    def read(self, wanted: pl.LazyFrame, *, streaming: bool = False) -> pl.DataFrame:
        """Collect a query over one of its tables, or say what is wrong with the run.

        `streaming`: in less memory, and in no order.
        """
        with self._readable():
            return wanted.collect(engine="streaming" if streaming else "auto")

    def few(self, wanted: pl.LazyFrame) -> pl.DataFrame:
        """The same where few of many rows are wanted: no text of the others stays; in no order."""
        with self._readable():
            nothing = pl.DataFrame(schema=wanted.collect_schema())
            parts = wanted.collect_batches(chunk_size=1, maintain_order=False)
            return pl.concat([nothing, *map(compact, parts)])

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).split("\n", 1)[0]
            raise InputError(
                f"run {self.run_id}: its tables cannot be read: {reason}; evaluate again"
            ) from None


def looks_like_run(path: str) -> bool:
    """Is this a run's folder, finished or not, rather than an input?"""
    folder = Path(path)
    if not folder.is_dir():
        return False
    traces = ("manifest.json", *_TRACES)
    return _UNFINISHED in folder.parts or any((folder / name).exists() for name in traces)


def open_run(path: str) -> StoredRun:
    """The finished run in a folder.

    Raises:
        InputError: there is no such folder, or it holds no finished run of this schema version.
    """
    folder = Path(path)
    manifest = _manifest(folder, path)
    _check(manifest, path)
    tables = []
    for name in ("cases", "evidence"):
        parts = sorted((folder / name).glob("part-*.parquet"))
        if not parts:
            raise InputError(f"{path}: no {name}/part-*.parquet in it: not a whole run")
        tables.append(_scanned(parts, path))
    run = StoredRun.of(manifest, *tables)
    _check_rows(run, path)
    return run


def _manifest(folder: Path, path: str) -> dict[str, Any]:
    if not folder.exists():
        raise InputError(f"{path}: no such run; give a finished run's folder")
    if not folder.is_dir():
        raise InputError(f"{path}: not a run; give a finished run's folder, DIR/<run_id>")
    file = folder / "manifest.json"
    if _UNFINISHED in folder.absolute().parts or not file.is_file():
        raise InputError(f"{path}: not a finished run: it has no manifest.json that is in force")
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: cannot be read as a manifest: {error}") from None
    if not isinstance(manifest, dict):
        raise InputError(f"{file}: not a run's manifest")
    return manifest


def _check(manifest: dict[str, Any], path: str) -> None:
    if manifest.get("kind") == "comparison":
        raise InputError(f"{path}: a comparison of two runs, not a run")
    version = manifest.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(
            f"{path}: schema version {version!r}; this program reads {SCHEMA_VERSION!r}; "
            "evaluate its input again"
        )
    if manifest.get("status") != "complete":
        raise InputError(
            f"{path}: the run is {manifest.get('status')!r}, not complete: nothing was evaluated"
        )
    lacking = [name for name, kind in _NEEDED.items() if not isinstance(manifest.get(name), kind)]
    if lacking:
        raise InputError(f"{path}: manifest.json lacks {', '.join(lacking)}: not a run of ours")
    if not RUN_ID.fullmatch(str(manifest["run_id"])):
        raise InputError(f"{path}: manifest.json: {manifest['run_id']!r} names no run of ours")


def _scanned(parts: list[Path], path: str) -> pl.LazyFrame:
    try:
        frame = pl.scan_parquet(parts, glob=False)
        frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).split("\n", 1)[0]
        raise InputError(f"{path}: {parts[0].parent.name}/ cannot be read: {reason}") from None
    return frame


def _check_rows(run: StoredRun, path: str) -> None:
    """As many cases as the manifest says: a part may be lost."""
    if "case_id" not in run.columns:
        raise InputError(f"{path}: cases/ has no case_id: not a run of ours")
    found = int(run.read(run.cases.select(pl.len())).item())
    said = run.manifest["rows"].get("cases")
    if found != said:
        raise InputError(f"{path}: {found:,} cases where manifest.json says {said:,}: not whole")
