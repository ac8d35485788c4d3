"""What a run touches: nothing outside its folder, no network; and the same bytes every time."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import ragtriage
from tests.support import HANDBOOK, ROOT, Command, Writer, snapshot

PINNED = {"SOURCE_DATE_EPOCH": "1790000000"}
HANDBOOK_RUN = (
    *("evaluate", "--cases", str(HANDBOOK / "cases.jsonl")),
    *("--trace", str(HANDBOOK / "run-a.jsonl"), "--corpus", str(HANDBOOK / "corpus.jsonl")),
    *("--about", str(HANDBOOK / "about-a.toml"), "--k", "5,1", "--slice", "group"),
)

# Runs the command line with the network forbidden and every file that Python opens for writing
# noted; `out` comes first among the arguments.
WATCHED = """
import os, sys
written = []
def watch(event, args):
    if event.startswith(("socket.", "urllib.", "http.", "ftplib.", "smtplib.")):
        raise RuntimeError("network: " + event)
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        written.append(str(args[0]))
    if event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"):
        written.append(str(args[0]))
sys.addaudithook(watch)
from ragtriage.cli import run
out = os.path.abspath(sys.argv[1])
code = run(sys.argv[2:])
stray = [path for path in written if not os.path.abspath(path).startswith(out)]
sys.exit(f"written outside: {stray}" if stray else code)
"""


def process(*arguments: object, env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *(str(argument) for argument in arguments)],
        capture_output=True,
        check=False,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"} | env,
    )


def records(n: int) -> list[dict[str, object]]:
    """Many cases with weights and values whose sums depend on their order in floating point."""
    dice = random.Random(7)  # noqa: S311 - a fixed sequence
    ids = [f"p{i}" for i in range(12)]
    return [
        {
            "case_id": f"c{i}",
            "split": dice.choice(["a", "b"]),
            "tags": dice.sample(["x", "y", "z"], 2),
            "weight": dice.choice([0.1, 0.7, 1e-3, 333.3]),
            "required_ids": dice.sample(ids, dice.randint(0, 4)),
            "retrieved_ids": dice.choices(ids, k=dice.randint(0, 9)),
            "context_ids": dice.sample(ids, 3),
            "cited_ids": dice.sample(ids, 2),
            "answer": dice.choice(["yes", "no", None]),
            "expected_answers": ["yes"],
        }
        for i in range(n)
    ]


def test_nothing_is_touched_outside_the_folder_and_no_network(tmp_path: Path) -> None:
    places = {name: tmp_path / name for name in ("home", "tmp", "cwd")}
    for place in places.values():
        place.mkdir()
    env = {"HOME": str(places["home"]), "TMPDIR": str(places["tmp"])}
    env |= {f"XDG_{name}_HOME": str(places["home"]) for name in ("CACHE", "CONFIG", "DATA")}
    before = snapshot(*places.values()), snapshot(HANDBOOK)
    out = tmp_path / "out"
    shown = process(
        *("-c", WATCHED, out, *HANDBOOK_RUN, "--out", out, "--run-id", "r"),
        *("--min-recall", "0.1", "--format", "table"),
        env=env,
        cwd=places["cwd"],
    )
    assert shown.returncode == 0, shown.stderr
    assert (snapshot(*places.values()), snapshot(HANDBOOK)) == before
    assert [path.name for path in out.iterdir()] == ["r"]


def test_the_watch_itself_sees_network_and_stray_files(tmp_path: Path) -> None:
    for deed, word in (
        ("import socket; socket.socket()", "network: socket"),
        (f"open({str(tmp_path / 'stray')!r}, 'w').close()", "written outside"),
    ):
        code = WATCHED.replace("code = run(sys.argv[2:])", f"{deed}; code = 0")
        shown = process("-c", code, tmp_path / "out", env={}, cwd=tmp_path)
        assert shown.returncode == 1
        assert word in shown.stderr


def relative(folder: Path) -> dict[str, bytes | None]:
    found = snapshot(folder)
    return {str(Path(path).relative_to(folder)): content for path, content in found.items()}


def test_twice_into_two_folders_gives_the_same_bytes(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", PINNED["SOURCE_DATE_EPOCH"])
    shown = [cli(*HANDBOOK_RUN, "--out", tmp_path / name) for name in ("one", "two")]
    assert [printed.code for printed in shown] == [0, 0]
    assert shown[0].out == shown[1].out
    one, two = relative(tmp_path / "one"), relative(tmp_path / "two")
    assert one == two
    assert sum(content is not None for content in one.values()) == 10


@pytest.mark.end_to_end
def test_the_same_bytes_on_one_thread_and_many(written: Writer, tmp_path: Path) -> None:
    path = written(records(3000))
    trees = []
    for threads in ("1", "4"):
        out = tmp_path / f"threads-{threads}"
        shown = process(
            *("-m", "ragtriage.cli", "evaluate", path, "--k", "3,10", "--out", out),
            env=PINNED | {"POLARS_MAX_THREADS": threads},
            cwd=tmp_path,
        )
        assert shown.returncode == 0, shown.stderr
        trees.append(relative(out))
    assert trees[0] == trees[1]


def test_frames_in_python_are_the_tables_on_disk(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "cases": str(HANDBOOK / "cases.jsonl"),
        "trace": str(HANDBOOK / "run-a.jsonl"),
        "run_id": "r",
    }
    kept = ragtriage.evaluate(None, write=False, **options)
    run = ragtriage.evaluate(None, out=str(tmp_path), **options)
    assert run.path == tmp_path / "r"
    for name in ("cases", "evidence", "summary", "stages", "findings", "gates", "rejects"):
        assert_frame_equal(getattr(kept, name), getattr(run, name))
    for name in ("cases", "evidence"):
        assert_frame_equal(getattr(run, name), pl.read_parquet(run.path / name / "*.parquet"))
    for name in ("summary", "stages", "findings", "gates"):
        assert_frame_equal(getattr(run, name), pl.read_parquet(run.path / f"{name}.parquet"))


def test_two_runs_differ_only_by_id_and_time(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    reports = []
    for run_id in ("one", "two"):
        assert cli(*HANDBOOK_RUN, "--out", tmp_path, "--run-id", run_id).code == 0
        report = json.loads((tmp_path / run_id / "report.json").read_text("utf-8"))
        for key in ("run_id", "started"):
            del report["run"][key]
        for part in ("summary", "stages", "findings", "gates"):
            for row in report[part]:
                row.pop("run_id", None)
        reports.append(report)
    assert reports[0] == reports[1]


@pytest.mark.parametrize("epoch", ["yesterday", "1.5", "1" * 30])
def test_a_senseless_epoch_is_refused(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, epoch: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    cli(*HANDBOOK_RUN, "--out", tmp_path).refuses("SOURCE_DATE_EPOCH")
