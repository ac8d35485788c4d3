"""What schedules do to programs: killed, crowded, without space, with the input pulled away."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragtriage.errors import InputError
from ragtriage.pipeline import run_request
from ragtriage.read import batches
from ragtriage.request import build_request
from tests.benchmarks.generate import write_cases
from tests.support import CONTRACTS

pytestmark = pytest.mark.end_to_end

KILLS = 50
WHOLE = {
    "cases",
    "evidence",
    "findings.parquet",
    "gates.parquet",
    "manifest.json",
    "report.html",
    "report.json",
    "report.md",
    "stages.parquet",
    "summary.parquet",
}


def start(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "ragtriage.cli", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, said = process.communicate(timeout=120)
    return process.returncode, said


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("input") / "cases.jsonl"
    write_cases(path, 20_000)
    return path


def _seconds(*arguments: object) -> float:
    began = time.monotonic()
    assert finish(start(*arguments))[0] == 0
    return time.monotonic() - began


def test_killed_at_any_moment_nothing_half_is_ever_seen(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    lasts = min(_seconds("evaluate", source, "--out", out) for _ in range(3))
    finished = set(out.iterdir())
    moments = random.Random(11)  # noqa: S311 - moments, not secrets
    killed = 0
    for _ in range(KILLS):
        process = start("evaluate", source, "--out", out)
        time.sleep(moments.uniform(0.0, lasts))
        process.send_signal(signal.SIGKILL)
        code, _ = finish(process)
        killed += code == -signal.SIGKILL
        seen = {path for path in out.iterdir() if path.name != ".unfinished"}
        for run in seen - finished:
            assert {path.name for path in run.iterdir()} == WHOLE
        finished |= seen
        assert set(out.glob("*/*.parquet")) == {
            run / f"{name}.parquet"
            for run in finished
            for name in ("summary", "stages", "findings", "gates")
        }
        assert not list(out.glob(".*/*.parquet"))
    assert killed >= KILLS // 4
    assert finish(start("evaluate", source, "--out", out, "--run-id", "after"))[0] == 0
    assert not (out / ".unfinished").exists()
    summaries = pl.read_parquet(out / "*" / "summary.parquet")
    assert summaries["run_id"].n_unique() == len(finished) + 1


def test_two_runs_at_once(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    processes = [start("evaluate", source, "--out", out, "--run-id", f"r{i}") for i in range(2)]
    assert [finish(process)[0] for process in processes] == [0, 0]
    assert {path.name for path in out.iterdir()} == {"r0", "r1"}


def test_two_runs_of_one_name(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    processes = [start("evaluate", source, "--out", out, "--run-id", "same") for _ in range(2)]
    ended = sorted((finish(process) for process in processes), key=lambda end: end[0])
    assert [code for code, _ in ended] == [0, 2]
    assert "--run-id" in ended[1][1]
    assert {path.name for path in (out / "same").iterdir()} == WHOLE


def test_no_space_left(source: Path, tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    out = tmp_path / "out"
    code, said = finish(start("evaluate", source, "--out", out, preexec_fn=small_files))
    assert code == 2
    assert "cannot be written" in said
    assert "nothing was published" in said
    assert "Traceback" not in said
    assert not out.exists() or not list(out.iterdir())


@pytest.mark.parametrize("out", ["/proc/nowhere", "/dev/null", "/dev/null/out"])
def test_a_folder_that_cannot_be_written(out: str) -> None:
    answers = CONTRACTS / "answer.jsonl"
    code, said = finish(start("evaluate", answers, "--contract", "answer", "--out", out))
    assert code == 2
    assert f"{out}" in said
    assert "cannot be written" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("what", ["changed", "removed", "replaced"])
def test_an_input_that_does_not_hold_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(batches, "BATCH_RECORDS", 50)
    path = tmp_path / "cases.jsonl"
    write_cases(path, 1000)
    done = []

    def meddle(step: str, _lines: int) -> None:
        if step != "evaluating" or done:
            return
        done.append(step)
        if what == "changed":
            with path.open("a") as stream:
                stream.write("{}\n")
        elif what == "removed":
            path.unlink()
        else:
            other = tmp_path / "other"
            other.write_text("other")
            other.rename(path)

    request = build_request({"inputs": [str(path)], "out": str(tmp_path / "out")})
    with pytest.raises(InputError, match="changed while it was read"):
        run_request(request, progress=meddle)
    assert done
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name", ["a b.jsonl", "-.jsonl", "ü 日本.jsonl", "a'b\"c.jsonl", "[x].jsonl"]
)
def test_odd_names_and_links(tmp_path: Path, name: str) -> None:
    real = tmp_path / "real" / name
    real.parent.mkdir()
    write_cases(real, 5)
    link = tmp_path / "link.jsonl"
    link.symlink_to(real)
    for i, path in enumerate((real, link)):
        code, said = finish(start("evaluate", path, "--out", tmp_path / "out", "--run-id", f"r{i}"))
        assert code == 0, said


def test_a_link_as_output_folder_and_a_run_id_that_wants_out(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    answers = CONTRACTS / "answer.jsonl"
    asked = ("evaluate", answers, "--contract", "answer", "--out", tmp_path / "out")
    assert finish(start(*asked, "--run-id", "one"))[0] == 0
    assert {path.name for path in (tmp_path / "elsewhere").iterdir()} == {"one"}
    for run_id in ("../two", "a/b", "..", ".", "/three"):
        code, said = finish(start(*asked, "--run-id", run_id))
        assert code == 2
        assert "cannot name a run" in said
    assert {path.name for path in tmp_path.iterdir()} == {"elsewhere", "out"}
