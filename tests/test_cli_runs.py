"""Runs without cases, run IDs, and what stays on disk when a run ends otherwise than well."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from tests.support import CONTRACTS, ROOT, Command, Writer, snapshot

ANSWER = CONTRACTS / "answer.jsonl"
EVALUATE = ("evaluate", ANSWER, "--contract", "answer")
FAILED = {"required_ids": ["p1"], "retrieved_ids": [], "error": "timed out"}


@pytest.mark.parametrize("gates", [(), ("--gate", "n.recall@10 <= 0")])
def test_a_run_in_which_no_case_was_run_fails(
    cli: Command, written: Writer, gates: tuple[str, ...]
) -> None:
    path = written([FAILED | {"case_id": name} for name in "ab"])
    shown = cli("evaluate", path, "--no-write", "--format", "json", *gates)
    assert shown.code == 1
    assert "no case was run" in shown.err
    report = shown.report()
    assert (report["run"]["n_cases"], report["run"]["n_not_run"]) == (2, 2)
    assert {case["stage"] for case in report["cases"]} == {"not_run"}


def test_one_case_that_was_run_is_enough(cli: Command, written: Writer) -> None:
    records = [FAILED | {"case_id": "a"}, FAILED | {"case_id": "b", "error": " "}]
    shown = cli("evaluate", written(records), "--no-write", "--format", "json")
    assert shown.code == 0
    assert shown.report()["run"]["n_not_run"] == 1  # a blank error counts as unset


@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff", "\r\n"])
def test_an_input_without_a_case_is_refused(
    cli: Command, written: Writer, tmp_path: Path, content: str
) -> None:
    path = written(content)
    cli("evaluate", path, "--out", tmp_path / "out").refuses(str(path), "no case")
    assert not (tmp_path / "out").exists()
    cli("validate", path).refuses(str(path), "no case")


@pytest.mark.parametrize("run_id", ["r", "A.b_c-1", "-r", "_", "2026.11.30", "compare", "r" * 200])
def test_run_ids(cli: Command, tmp_path: Path, run_id: str) -> None:
    shown = cli(*EVALUATE, "--out", tmp_path, f"--run-id={run_id}")
    assert shown.code == 0, shown.err
    assert [path.name for path in tmp_path.iterdir()] == [run_id]
    summary = pl.read_parquet(tmp_path / run_id / "summary.parquet")
    assert summary["run_id"].unique().to_list() == [run_id]


@pytest.mark.parametrize(
    "run_id",
    [".r", "..", "compare-r", "a/b", "a b", "a\n", "é", "", "r" * 201, "/tmp/r", "a\\b", "x:y"],  # noqa: S108 - refused
)
def test_run_ids_refused(cli: Command, tmp_path: Path, run_id: str) -> None:
    cli(*EVALUATE, "--out", tmp_path, "--run-id", run_id).refuses("--run-id")
    assert not list(tmp_path.iterdir())


def test_an_existing_run_is_left_alone(cli: Command, tmp_path: Path) -> None:
    arguments = (*EVALUATE, "--out", tmp_path, "--run-id", "r")
    assert cli(*arguments).code == 0
    before = snapshot(tmp_path)
    cli(*arguments).refuses("exists already")
    cli(*arguments, "--no-write", "--k", "0").refuses("--k")
    assert snapshot(tmp_path) == before


def test_what_a_run_writes(cli: Command, tmp_path: Path) -> None:
    assert cli(*EVALUATE, "--out", tmp_path, "--run-id", "r", "--min-recall", "0").code == 0
    run = tmp_path / "r"
    files = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    assert files == {
        *("cases/part-00000.parquet", "evidence/part-00000.parquet"),
        *("summary.parquet", "stages.parquet", "findings.parquet", "gates.parquet"),
        *("report.html", "report.md", "report.json", "manifest.json"),
    }
    for name in files:
        if name.endswith(".parquet"):
            assert pl.read_parquet(run / name)["run_id"].unique().to_list() == ["r"], name
    manifest = json.loads((run / "manifest.json").read_text("utf-8"))
    assert (manifest["status"], manifest["passed"]) == ("complete", True)


def test_a_failed_gate_is_written_down(cli: Command, tmp_path: Path) -> None:
    assert cli(*EVALUATE, "--out", tmp_path, "--run-id", "r", "--min-recall", "1").code == 1
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text("utf-8"))
    assert (manifest["status"], manifest["passed"]) == ("complete", False)
    gates = pl.read_parquet(tmp_path / "r" / "gates.parquet").to_dicts()
    assert [(gate["threshold"], gate["passed"]) for gate in gates] == [(1.0, False)]


def test_a_killed_run_leaves_no_folder_and_is_cleared_away(cli: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "ragtriage.cli", "evaluate", "-", "--out", out, "--run-id", "dead"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    try:
        deadline = time.monotonic() + 30
        while not (out / ".unfinished" / "dead").is_dir() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert (out / ".unfinished" / "dead").is_dir()
        assert not (out / "dead").exists()
        # Alive, it is left alone; and its name is taken.
        assert cli(*EVALUATE, "--out", out, "--run-id", "other").code == 0
        assert (out / ".unfinished" / "dead").is_dir()
        cli(*EVALUATE, "--out", out, "--run-id", "dead").refuses("dead")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        if process.stdin is not None:
            process.stdin.close()
    assert not (out / "dead").exists()
    assert cli(*EVALUATE, "--out", out, "--run-id", "next").code == 0
    assert sorted(path.name for path in out.iterdir()) == ["next", "other"]


def test_an_internal_error_leaves_nothing(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr("ragtriage.folding.score", broken)
    assert cli(*EVALUATE, "--out", tmp_path, "--run-id", "r").code == 3
    assert not list(tmp_path.iterdir())
