"""A finished run from its folder: its manifest, and those columns of its tables that are asked for.

Refuses what is not a finished run of a schema version we know. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragtriage.compact import compact
from ragtriage.errors import InputError
from ragtriage.read.folders import UNFINISHED
from ragtriage.read.run_manifest import read_manifest
from ragtriage.read.run_tables import scanned_tables

# Rows whose texts are taken out of those of others together.
_FEW = 50
_TRACES = ("cases", "evidence", "summary.parquet", "rejects", "report.json")


@dataclass(frozen=True)
class StoredRun:
    """One side of a comparison: what was run, and its tables, read when asked for.

    `cases` and `evidence` are lazy: only the columns selected are read. `types`: of the case table.
    """

    run_id: str
    manifest: dict[str, Any]
    cases: pl.LazyFrame
    evidence: pl.LazyFrame
    types: dict[str, pl.DataType]

    @classmethod
    def of(cls, manifest: dict[str, Any], cases: pl.LazyFrame, evidence: pl.LazyFrame) -> StoredRun:
        """From a manifest and both tables."""
        types = dict(cases.collect_schema())
        return cls(str(manifest["run_id"]), manifest, cases, evidence, types)

    @property
    def columns(self) -> frozenset[str]:
        """What the case table has."""
        return frozenset(self.types)

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
            parts = wanted.collect_batches(chunk_size=_FEW, maintain_order=False)
            return pl.concat([nothing, *(compact(part) for part in parts if part.height)])

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
    traces = ("manifest.json", *_TRACES)
    try:
        if not folder.is_dir():
            return False
        return UNFINISHED in folder.parts or any((folder / name).exists() for name in traces)
    except PermissionError:
        # What nobody may look into is refused as a run, with that reason.
        return True


def open_run(path: str) -> StoredRun:
    """The finished run in a folder.

    Raises:
        InputError: there is no such folder, or it holds no finished run of this schema version.
    """
    manifest = read_manifest(path)
    run = StoredRun.of(manifest, *scanned_tables(path))
    _check_rows(run, path)
    return run


def _check_rows(run: StoredRun, path: str) -> None:
    """As many cases as the manifest says: a part may be lost."""
    found = int(run.read(run.cases.select(pl.len())).item())
    said = run.manifest["rows"].get("cases")
    if found != said:
        raise InputError(f"{path}: {found:,} cases where manifest.json says {said:,}: not whole")
