"""A run over cases and traces, and what it came to."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from tests.support import Command, Record, Writer, manifest_of, rejects_of


class Joined(NamedTuple):
    """What a run over cases and traces came to."""

    cases: dict[str, Record]
    rejects: list[tuple[str, int, str | None, str, str]]
    messages: list[str]
    raws: list[str]
    lines: dict[str, dict[str, int]]
    notes: list[str]


class Run:
    """Runs cases and traces of this test with `--on-invalid quarantine`."""

    def __init__(self, cli: Command, written: Writer, folder: Path) -> None:
        self._cli, self._written, self._folder = cli, written, folder

    def __call__(
        self,
        cases: Any,
        *traces: Any,
        suffixes: tuple[str, str] = ("jsonl", "jsonl"),
        **options: str,
    ) -> Joined:
        arguments = ["--cases", str(self._written(cases, f"cases.{suffixes[0]}"))]
        for i, trace in enumerate(traces):
            arguments += ["--trace", str(self._written(trace, f"trace{i or ''}.{suffixes[1]}"))]
        for name, value in options.items():
            arguments += ["--" + name.replace("_", "-"), value]
        out = self._folder / "out"
        fixed = ("--out", str(out), "--on-invalid", "quarantine", "--format", "json")
        shown = self._cli("evaluate", *arguments, *fixed)
        assert shown.code in (0, 1), shown.err
        report = shown.report()
        run = out / report["run"]["run_id"]
        rejects = rejects_of(run) if (run / "rejects").exists() else []
        cases_of = pl.read_parquet(run / "cases" / "*.parquet")
        counts = ("accepted", "set_aside", "blank")
        return Joined(
            {row["case_id"]: row for row in cases_of.iter_rows(named=True)},
            [
                (Path(r["source_file"]).name, r["line"], r["case_id"], r["field"], r["rule"])
                for r in rejects
            ],
            [r["message"].replace(str(self._folder) + "/", "") for r in rejects],
            [r["raw"] for r in rejects],
            {
                Path(file["path"]).name: {"read": file["lines"]} | {n: file[n] for n in counts}
                for file in manifest_of(run)["inputs"]
            },
            report["run"]["notes"],
        )


def case(case_id: str, **more: Any) -> Record:
    return {"case_id": case_id, "required_ids": ["p"], **more}


def trace(case_id: str, **more: Any) -> Record:
    return {"case_id": case_id, "retrieved_ids": ["p"], **more}
