"""What tests of the whole program share: files to read, the command line, results by case."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ragtriage import Run

ROOT = Path(__file__).resolve().parents[1]
CONTRACTS = ROOT / "data" / "contracts"
HANDBOOK = ROOT / "data" / "handbook"
INVALID = ROOT / "data" / "invalid"

Record = dict[str, Any]


class Printed(NamedTuple):
    """What one command came to."""

    code: int
    out: str
    err: str

    def report(self) -> dict[str, Any]:
        """Standard output as the one JSON document it must be."""
        document = json.loads(self.out)
        assert isinstance(document, dict)
        return document

    def refuses(self, *words: str) -> None:
        """Exit code 2, nothing on stdout, one message with these words and no traceback."""
        assert self.code == 2, (self.code, self.err[-400:])
        assert not self.out, self.out[:400]
        assert "Traceback" not in self.err
        for word in words:
            assert word in self.err, (word, self.err)


Command = Callable[..., Printed]
Writer = Callable[..., Path]
Evaluate = Callable[..., Run]


def lines_of(records: Iterable[Mapping[str, Any]]) -> str:
    """Records as JSON lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def by_case(run: Run) -> dict[str, Record]:
    """The case table's rows by case ID."""
    return {row["case_id"]: row for row in run.cases.iter_rows(named=True)}


def cases_in(report: Mapping[str, Any]) -> dict[str, Record]:
    """A JSON report's cases by ID, metrics beside the rest."""
    return {case["case_id"]: {**case, **case["metrics"]} for case in report["cases"]}


def summary_row(
    summary: Any, metric: str, k: int | None = None, slice_: str = "all", value: str = "all"
) -> Record:
    """The one summary row of a metric, from a frame or from a JSON report's list."""
    rows = summary.to_dicts() if isinstance(summary, pl.DataFrame) else summary
    wanted = (slice_, value, metric, k)
    found = [
        row for row in rows if (row["slice"], row["slice_value"], row["metric"], row["k"]) == wanted
    ]
    assert len(found) == 1, (wanted, found)
    return dict(found[0])


def snapshot(*folders: Path) -> dict[str, bytes | None]:
    """Every path below the folders with its bytes (None for a folder)."""
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for folder in folders
        for path in sorted(folder.rglob("*"))
    }


def manifest_of(run: Path) -> Record:
    """A run's manifest, whose lines must add up."""
    manifest: Record = json.loads((run / "manifest.json").read_text("utf-8"))
    lines = manifest["lines"]
    assert lines["read"] == lines["accepted"] + lines["set_aside"] + lines["blank"]
    return manifest


def rejects_of(run: Path) -> list[Record]:
    """What a run set aside."""
    rows = pl.read_parquet(run / "rejects" / "*.parquet").to_dicts()
    assert {row["run_id"] for row in rows} == {run.name}
    return rows
