"""Workers on this machine: the same bytes as one process, and nothing left of those that die."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from multiprocessing.connection import Pipe
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragtriage.errors import ShardError
from ragtriage.request import EvaluateRequest, build_request
from ragtriage.sharding import local
from ragtriage.sharding.workers import Workers, _Worker
from tests.benchmarks.generate import write_cases
from tests.support import ROOT, lines_of, snapshot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux alone")

# A few cases make many batches, and are worth more than one process.
SMALL = """
import sys
from ragtriage.read import batches, tables
from ragtriage.sharding import local, workers
batches.BATCH_BYTES, tables.CHUNK_ROWS = 20_000, 50
local._SHARD_BYTES = dict.fromkeys(local._SHARD_BYTES, 10_000)
forked = workers.Workers.forked
def noted(*given, **more):
    started = forked(*given, **more)
    print("workers", *(w.pid for w in started._workers), file=sys.stderr, flush=True)
    return started
workers.Workers.forked = noted
"""
MAIN = "from ragtriage.cli import main; main()"
# The same, but nothing is loaded before the command line loads it.
UNTOUCHED = """
from ragtriage import cli_runs
evaluated = cli_runs.evaluated
def patched(*given):
    exec(SMALL, {})
    return evaluated(*given)
cli_runs.evaluated = patched
"""


def started(*arguments: object, cwd: Path, before: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SMALL + before + MAIN, *map(str, arguments)],
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path]),
            "SOURCE_DATE_EPOCH": "1700000000",
            # Where numpy is imported first, as here.
            "OPENBLAS_NUM_THREADS": "1",
        },
        cwd=cwd,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def command(*arguments: object, cwd: Path, before: str = "") -> tuple[int, str, str, list[int]]:
    """Exit code, both streams, and the workers that there were."""
    process = started(*arguments, cwd=cwd, before=before)
    out, told = process.communicate(timeout=120)
    first, _, rest = told.partition("\n")
    if not first.startswith("workers "):
        return process.returncode, out, told, []
    return process.returncode, out, rest, [int(pid) for pid in first.split()[1:]]


def folder(path: Path) -> dict[str, bytes | None]:
    return {name.removeprefix(f"{path}/"): data for name, data in snapshot(path).items()}


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids: list[int]) -> bool:
    deadline = time.monotonic() + 20
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(alive, pids))


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """Some 300 cases in ten batches."""
    write_cases(tmp_path / "cases.jsonl", 300)
    return tmp_path / "cases.jsonl"


def both(given: tuple[object, ...], cwd: Path) -> list[tuple[int, str, str]]:
    """What one process and two workers came to; their folders must be the same."""
    ends = []
    for workers in (1, 2):
        asked = ("evaluate", *given, "--run-id", "r", "--workers", workers)
        *end, pids = command(*asked, "--out", f"out-{workers}", cwd=cwd)
        assert len(pids) == (workers if workers > 1 else 0)
        assert gone(pids)
        ends.append((end[0], end[1], end[2].replace("out-2", "out-1")))
    assert folder(cwd / "out-1") == folder(cwd / "out-2")
    return ends


def test_the_same_bytes_as_one_process(cases: Path) -> None:
    options = ("--k", "5,1", "--slice", "split", "--intervals", "--gate", "recall@5 >= 1")
    one, two = both((cases.name, *options), cases.parent)
    assert one == two
    assert one[0] == 1
    parts = [name for name in folder(cases.parent / "out-2") if "cases/part-" in name]
    assert len(parts) == 10


@pytest.mark.thorough
def test_two_are_taken_where_nobody_says(cases: Path) -> None:
    code, _, _, pids = command("evaluate", cases.name, "--out", "out", cwd=cases.parent)
    assert code == 0
    assert len(pids) == (2 if local._cores() > 1 else 0)


@pytest.mark.thorough
def test_nothing_is_at_work_when_the_command_line_forks(cases: Path) -> None:
    env = {name: value for name, value in os.environ.items() if "THREADS" not in name}
    asked = ["evaluate", cases.name, "--out", "out", "--workers", "2"]
    done = subprocess.run(
        [sys.executable, "-c", f"SMALL = {SMALL!r}\n{UNTOUCHED}{MAIN}", *asked],
        env=env | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])},
        cwd=cases.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.startswith("workers ")


@pytest.mark.thorough
def test_records_set_aside_and_repeats_far_apart(cases: Path) -> None:
    rows = cases.read_text().splitlines(keepends=True)
    rows[10] = rows[10].replace('"question"', '"qestion"')
    rows[290] = rows[3]
    cases.write_text("".join(rows))
    one, two = both((cases.name,), cases.parent)
    assert one == two
    assert one[0] == 2
    assert (
        "cases.jsonl:291: case_id: 'case-00000003' is not unique, first at cases.jsonl:4"
        in (one[2])
    )


@pytest.mark.thorough
def test_against_a_baseline(cases: Path) -> None:
    first = command("evaluate", cases.name, "--out", "runs", "--run-id", "a", cwd=cases.parent)
    assert first[0] == 0
    one, two = both((cases.name, "--baseline", "runs/a"), cases.parent)
    assert one == two
    assert one[0] == 0


@pytest.mark.thorough
def test_without_text_and_with_records_set_aside(cases: Path) -> None:
    rows = cases.read_text().splitlines(keepends=True)
    rows[10] = rows[10].replace('"question"', '"qestion"')
    cases.write_text("".join(rows))
    one, two = both((cases.name, "--on-invalid", "quarantine", "--no-text"), cases.parent)
    assert one == two
    assert one[0] == 0


@pytest.mark.parametrize("killed", [0, 1])
def test_a_worker_that_is_killed_is_named_and_nothing_is_published(
    cases: Path, killed: int
) -> None:
    dies = (
        "from ragtriage.sharding import jobs; import os, signal\n"
        "fold = jobs.Fold.run\n"
        f"def run(self): os.kill(os.getpid(), signal.SIGKILL) if {killed} else os._exit(7)\n"
        "jobs.Fold.run = run\n"
    )
    code, out, told, pids = command(
        "evaluate", cases.name, "--out", "out", "--workers", "2", cwd=cases.parent, before=dies
    )
    assert code == 3
    assert not out
    assert "shard 1 (cases.jsonl, bytes 0-" in told
    assert ("was ended by SIGKILL" if killed else "ended with code 7") in told
    assert "Traceback" not in told
    assert not (cases.parent / "out").exists()
    assert gone(pids)


@pytest.mark.thorough
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_workers_end_with_whoever_started_them(cases: Path, sent: signal.Signals) -> None:
    slow = (
        "import time\nfrom ragtriage.sharding import jobs\n"
        "jobs.Fold.run = lambda _: time.sleep(60)\n"
    )
    process = started(
        "evaluate", cases.name, "--out", "out", "--workers", "2", cwd=cases.parent, before=slow
    )
    assert process.stderr is not None
    pids = [int(pid) for pid in process.stderr.readline().split()[1:]]
    assert len(pids) == 2
    time.sleep(0.5)
    process.send_signal(sent)
    process.communicate(timeout=30)
    assert gone(pids)


def test_whoever_writes_is_ended_before_what_was_written_is_cleared_away(cases: Path) -> None:
    writes = (
        "from ragtriage.sharding import jobs\nfrom ragtriage.publish.shards import ShardFolder\n"
        "def run(self):\n"
        "    attempts = self._parts._folder.path.parent\n"
        "    while True: ShardFolder(attempts, 'more', 'r')\n"
        "jobs.Fold.run = run\n"
    )
    process = started(
        "evaluate", cases.name, "--out", "out", "--workers", "2", cwd=cases.parent, before=writes
    )
    deadline = time.monotonic() + 60
    while not list(cases.parent.glob("out/.unfinished/*~shards/more-*")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert "Traceback" not in told
    assert process.returncode == 3
    assert not (cases.parent / "out").exists()


@pytest.mark.thorough
def test_one_process_does_all_where_there_is_no_room_for_two(cases: Path) -> None:
    full = (
        "import os\nfork, left = os.fork, [1]\n"
        "def no_second():\n"
        "    if not left: raise BlockingIOError\n"
        "    left.pop()\n"
        "    return fork()\n"
        "os.fork = no_second\n"
    )
    code, _, told, pids = command(
        "evaluate", cases.name, "--out", "out", "--workers", "2", cwd=cases.parent, before=full
    )
    assert (code, pids) == (0, [])
    assert told.startswith("report: ")


@pytest.mark.parametrize("reaped", [False, True])
def test_a_worker_that_ends_in_the_midst_of_its_answer(reaped: bool) -> None:
    ended = subprocess.Popen([sys.executable, "-c", "raise SystemExit(7)"])
    if reaped:
        # As it is where whoever started us ignores that children end.
        ended.wait()
    ours, theirs = Pipe()
    os.write(theirs.fileno(), struct.pack("!i", 1000) + b"the beginning")
    theirs.close()
    pool = Workers([_Worker(ended.pid, ours)], 1, None, tapered=False)
    job: Any = SimpleNamespace(name="shard 1")
    (outcome,) = pool([(len, job)])
    assert isinstance(outcome, ShardError)
    expected = "its process ended;" if reaped else "its process ended with code 7;"
    assert str(outcome).startswith(f"shard 1 failed: {expected}")
    ended.wait()


@pytest.mark.parametrize(("most", "expected"), [("1", 1), ("0", 8), ("", 8), ("x", 8), ("99", 8)])
def test_no_more_cores_than_polars_may_take(
    most: str, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setenv("POLARS_MAX_THREADS", most)
    assert local._cores() == expected


LIMITS = """
import os
from types import SimpleNamespace
import polars
from ragtriage.sharding.workers import Workers
def limits(job):
    polars.select(1).lazy().collect()
    return polars.thread_pool_size(), os.environ["POLARS_ROW_GROUP_PREFETCH_SIZE"]
workers = Workers.forked(1, polars_threads=3, shards=1)
print(*workers([(limits, SimpleNamespace(name="shard 1"))])[0])
workers.close()
"""


@pytest.mark.parametrize(("chosen", "expected"), [({}, "1"), ({"PREFETCH_SIZE": "7"}, "7")])
def test_a_worker_has_the_limits_it_is_given(chosen: dict[str, str], expected: str) -> None:
    mine = {name: v for name, v in os.environ.items() if not name.startswith("POLARS_")}
    mine |= {f"POLARS_ROW_GROUP_{name}": value for name, value in chosen.items()}
    command = [sys.executable, "-c", LIMITS]
    done = subprocess.run(command, env=mine, capture_output=True, text=True, check=True)
    assert done.stdout == f"3 {expected}\n"


@pytest.mark.parametrize(
    ("size", "expected"), [(0.5, 1), (2.7, 1), (7.9, 1), (8, 2), (27, 6), (1_000, 6)]
)
def test_few_shards_a_worker_of_parquet(size: float, expected: int) -> None:
    assert local._each(size) == expected


def request_of(tmp_path: Path, **options: Any) -> EvaluateRequest:
    (tmp_path / "a.jsonl").write_text(lines_of([{"case_id": "1"}]) * 4)
    given = {"inputs": [str(tmp_path / "a.jsonl")], "out": str(tmp_path / "out"), **options}
    return build_request(given)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_SHARD_BYTES", {"jsonl": 1, "parquet": 1})


@pytest.mark.usefixtures("tiny")
def test_no_fork_once_polars_is_at_work(tmp_path: Path) -> None:
    with local.local_workers(request_of(tmp_path), 2) as workers:
        assert workers is None


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    "options",
    [
        {"cases": ["a.jsonl"], "trace": ["a.jsonl"], "inputs": []},
        {"reviews": ["a.jsonl"]},
        {"write": False},
        {"inputs": ["-"]},
        {"inputs": ["nowhere.jsonl"]},
        {"from": "ragas"},
    ],
)
def test_what_cannot_be_cut_is_left_to_one_process(
    tmp_path: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "_may_fork", lambda: True)
    with local.local_workers(request_of(tmp_path, **options), 2) as workers:
        assert workers is None


def test_a_small_input_is_left_to_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "_may_fork", lambda: True)
    with local.local_workers(request_of(tmp_path), 2) as workers:
        assert workers is None
