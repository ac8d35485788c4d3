from __future__ import annotations

from pathlib import Path
from typing import Any

import ragtriage
from ragtriage.publish.report import MOST_PATHS
from tests.support import Writer


def report_of(written: Writer, records: list[dict[str, Any]], folder: Path) -> Any:
    path = written(records)
    return ragtriage.evaluate(path, out=folder, run_id="r").report


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
