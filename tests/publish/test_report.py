from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

import ragtriage
from ragtriage.publish.report import MOST_PATHS
from tests.support import Writer


def report_of(written: Writer, records: list[dict[str, Any]], folder: Path) -> Any:
    path = written(records)
    return ragtriage.evaluate(path, out=folder, run_id="r").report


def test_rows_are_those_of_the_tables_with_their_run(written: Writer, tmp_path: Path) -> None:
    record = {"case_id": "a", "required_ids": ["x"], "retrieved_ids": ["x"], "split": "test"}
    report = report_of(written, [record], tmp_path)
    for name in ("summary", "stages"):
        table = pl.read_parquet(tmp_path / "r" / f"{name}.parquet")
        rows = [{key: row[key] for key in table.columns} for row in report[name]]
        assert rows == table.to_dicts()


def test_exact_match_is_said_to_be_narrow_in_json_too(written: Writer, tmp_path: Path) -> None:
    report = report_of(written, [{"case_id": "a", "retrieved_ids": ["x"]}], tmp_path)
    assert any("exact match" in limit and "narrow" in limit for limit in report["limits"])


def test_of_many_requirements_the_lost_ones_come_first_and_the_rest_are_counted(
    written: Writer, tmp_path: Path
) -> None:
    required = [f"d{i:03}" for i in range(MOST_PATHS + 20)]
    found = required[:70]  # 50 are lost: they are shown, and of what was found the first
    many = {"case_id": "b", "required_ids": required, "retrieved_ids": found, "context_ids": found}
    few = {"case_id": "a", "required_ids": ["x", "d000"], "retrieved_ids": ["x"]}
    report = report_of(written, [many, few | {"context_ids": ["x"]}], tmp_path)
    cases = {case["case_id"]: case for case in report["cases"]}
    assert [row["requirement"] for row in cases["a"]["evidence"]] == [0, 1]
    assert cases["a"]["evidence_omitted"] == 0
    shown = [row["requirement"] for row in cases["b"]["evidence"]]
    assert shown == [*range(50), *range(70, 120)]
    assert cases["b"]["evidence_omitted"] == 20
    page = (tmp_path / "r" / "report.html").read_text("utf-8")
    assert "110 more requirements in " in page
