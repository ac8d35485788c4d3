"""What stands in a folder of runs: nothing is misread, nothing stops the look."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragtriage.errors import InputError
from ragtriage.read.folders import stored_folder, stored_folders
from ragtriage.read.stored import read_table, regressed_cases
from ragtriage.schemas import results
from tests.stored_runs import store_run

MEANS = ("metric", "mean", "n_scored")

# The manifest's entry that is changed (None: taken out), and words of the reason.
CHANGED: dict[str, tuple[dict[str, Any], str]] = {
    "an older schema": ({"schema_version": "0"}, "schema version '0'; this program reads '1'"),
    "a newer schema": ({"schema_version": "2"}, "schema version '2'"),
    "a number for a version": ({"schema_version": 1}, "schema version 1"),
    "refused": ({"status": "refused", "passed": None}, "its input was refused"),
    "not complete": ({"status": "running"}, "its status is 'running'"),
    "no verdict": ({"passed": None}, "lacks passed"),
    "a verdict in words": ({"passed": "yes"}, "lacks passed"),
    "no start": ({"started": None}, "lacks started"),
    "no time": ({"started": "yesterday"}, "lacks a time in `started`"),
    "no offset": ({"started": "2026-01-01T00:00:00"}, "lacks a time in `started`"),
    "no counts": ({"rows": {}}, "lacks rows.cases, rows.not_run"),
    "counts that are none": ({"rows": {"cases": True, "not_run": 0}}, "lacks rows.cases"),
    "another run": ({"run_id": "other"}, "a copy, or renamed: manifest.json names 'other'"),
    "an unknown kind": ({"kind": "audit"}, "of a kind this program does not know: 'audit'"),
    "a kind that is none": ({"kind": ["run"]}, "of a kind this program does not know"),
}
# What else may lie under the name of a manifest.
FOREIGN: dict[str, tuple[bytes, str]] = {
    "half a file": (b'{"run_id": "r"', "cannot be read"),
    "not UTF-8": (b'{"run_id": "\xff"}', "cannot be read"),
    "empty": (b"", "cannot be read"),
    "deep": (b"[" * 100_000, "cannot be read"),
    "a list": (b"[]", "is not one of ragtriage"),
    "a web app's": (b'{"name": "app", "icons": []}', "is not one of ragtriage"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_manifest_that_cannot_be_used(tmp_path: Path, name: str) -> None:
    change, words = CHANGED[name]
    found = stored_folder(store_run(tmp_path, "r", changes=change))
    assert found.reason is not None
    assert words in found.reason


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_that_is_no_manifest(tmp_path: Path, name: str) -> None:
    content, words = FOREIGN[name]
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "manifest.json").write_bytes(content)
    found = stored_folder(tmp_path / "f")
    assert (found.kind, found.manifest) == ("other", {})
    assert found.reason is not None
    assert words in found.reason


def test_every_folder_is_named_once(tmp_path: Path) -> None:
    store_run(tmp_path, "b")
    store_run(tmp_path, "a", gates=[])
    store_run(tmp_path, "agreement-x", kind="agreement", passed=None)
    store_run(tmp_path, "leakage-x", kind="leakage", passed=False)
    store_run(tmp_path / ".unfinished", "late")
    (tmp_path / "notes").mkdir()
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "manifest.json")
    (tmp_path / "index.html").write_text("a file, no folder")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    found = [
        (folder.name, folder.kind, folder.reason is None)
        for folder in stored_folders(str(tmp_path))
    ]
    assert found == [
        ("a", "run", True),
        ("agreement-x", "agreement", True),
        ("b", "run", True),
        ("leakage-x", "leakage", True),
        ("notes", "other", False),
        ("pipe", "other", False),
        ("late", "unfinished", False),
    ]


@pytest.mark.parametrize("name", ["missing", "file", "nu\0l"])
def test_no_folder_at_all(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=name):
        stored_folders(str(tmp_path / name))


def test_one_scan_knows_each_row_by_its_folder(tmp_path: Path) -> None:
    folders = [stored_folder(store_run(tmp_path, f"r{i}", n_cases=10 + i)) for i in range(3)]
    frame, lost = read_table(folders, "summary.parquet", results.Summary, ("n_cases",))
    assert lost == {}
    assert dict(frame.iter_rows()) == {"r0": 10, "r1": 11, "r2": 12}


def _truncated(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _damaged(path: Path) -> None:
    """The footer is whole, the data pages are not."""
    content = bytearray(path.read_bytes())
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    content[4:end] = b"\xff" * (end - 4)
    path.write_bytes(bytes(content))


def _of_other_type(path: Path) -> None:
    pl.read_parquet(path).with_columns(pl.col("n_scored").cast(pl.String)).write_parquet(path)


def _without_a_column(path: Path) -> None:
    pl.read_parquet(path).drop("mean").write_parquet(path)


def _without_a_value(path: Path) -> None:
    pl.read_parquet(path).with_columns(metric=pl.lit(None, pl.String)).write_parquet(path)


def _of_no_number(path: Path) -> None:
    pl.read_parquet(path).with_columns(mean=pl.lit(float("nan"))).write_parquet(path)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (_without_a_value, "has rows without metric"),
        (_of_no_number, "has a mean that is no number"),
        (Path.unlink, "is not there"),
        (_truncated, "cannot be read"),
        (_damaged, "cannot be read"),
        (_of_other_type, "has no column n_scored of type Int64"),
        (_without_a_column, "has no column mean of type Float64"),
    ],
)
def test_a_broken_table_costs_its_own_run_alone(tmp_path: Path, harm: Any, words: str) -> None:
    folders = [stored_folder(store_run(tmp_path, name)) for name in ("good", "harmed", "last")]
    harm(tmp_path / "harmed" / "summary.parquet")
    frame, lost = read_table(folders, "summary.parquet", results.Summary, MEANS)
    assert frame["run"].to_list() == ["good", "last"]
    assert list(lost) == ["harmed"]
    assert words in lost["harmed"]
    assert frame.columns == ["run", *MEANS]


def test_a_run_that_vanishes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [stored_folder(store_run(tmp_path, name)) for name in ("good", "gone")]
    look = pl.read_parquet_schema

    def then_gone(file: Any) -> Any:
        schema = look(file)
        path = Path(file.name)
        if path.parent.name == "gone":
            path.unlink()
        return schema

    monkeypatch.setattr(pl, "read_parquet_schema", then_gone)
    frame, lost = read_table(folders, "summary.parquet", results.Summary, MEANS)
    assert frame["run"].to_list() == ["good"]
    assert lost == {"gone": "summary.parquet is not there"}


def test_further_columns_of_a_table_are_let_be(tmp_path: Path) -> None:
    folder = stored_folder(store_run(tmp_path, "r"))
    path = folder.path / "summary.parquet"
    pl.read_parquet(path).with_columns(later=pl.lit(1)).write_parquet(path)
    frame, lost = read_table([folder], "summary.parquet", results.Summary, MEANS)
    assert (frame.height, lost) == (1, {})


def test_regressed_cases_of_a_comparison(tmp_path: Path) -> None:
    manifest = {"kind": "comparison", "base": {}, "candidate": {}, "changed": {"regressed": 2}}
    folder = store_run(tmp_path, "compare-a-b", rows={"paired": 3}, **manifest)
    stored = stored_folder(folder)
    assert (stored.kind, stored.reason) == ("comparison", None)
    assert regressed_cases(stored, 10) == []
    table = pl.DataFrame(
        {
            "case_id": ["x", "y", "z"],
            "change": ["regressed", "fixed", "regressed"],
            "base_stage": ["pass", "retrieval", "pass"],
            "candidate_stage": ["citation", "pass", None],
        }
    )
    table.write_parquet(folder / "cases.parquet")
    assert regressed_cases(stored, 10) == [("x", "pass", "citation"), ("z", "pass", None)]
    assert regressed_cases(stored, 1) == [("x", "pass", "citation")]
    (folder / "cases.parquet").write_text(json.dumps({}))
    assert regressed_cases(stored, 10) == []
