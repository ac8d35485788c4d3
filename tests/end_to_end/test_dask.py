"""Shards on Dask: a scheduler and workers on loopback, a Prefect server, workers that die."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.benchmarks.generate import write_cases
from tests.end_to_end.servers import posted, running_server, started
from tests.support import CONTRACTS, ROOT, lines_of, snapshot

pytestmark = pytest.mark.end_to_end

ANSWERS = CONTRACTS / "answer.jsonl"
# As the workers of these tests have it: a few cases make many batches.
SMALL = (
    "from ragtriage.read import batches; batches.BATCH_BYTES = 20_000; "
    "from ragtriage.cli import main; main()"
)
PINNED = {"SOURCE_DATE_EPOCH": "1700000000"}


def environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), **PINNED, **more}


def command(*arguments: object, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SMALL, *map(str, arguments)],
        env=environment(**more),
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=300,
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The settings that lead to a Prefect server of this module's own."""
    with running_server(tmp_path_factory.mktemp("prefect")) as settings:
        yield settings


class Cluster:
    """A scheduler, and the workers that a test adds to it."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self._folder = folder
        self._stack = stack
        self._start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")

    def add_worker(self, name: str, **more: str) -> subprocess.Popen[bytes]:
        """One more worker, with one thread and no nanny to start it again."""
        preload = str(ROOT / "tests" / "end_to_end" / "dask_preload.py")
        flags = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--preload", preload)
        place = ("--local-directory", str(self._folder), "--name", name)
        return self._start("worker", self.address, *flags, *place, **more)

    def _start(self, *words: str, **more: str) -> subprocess.Popen[bytes]:
        self._folder.mkdir(exist_ok=True)
        log = self._folder / f"{len(list(self._folder.iterdir()))}-{words[0]}.log"
        given = [sys.executable, "-m", "dask", *words]
        return self._stack.enter_context(started(given, log, environment(**more), self._folder))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler of the test's own."""
    with ExitStack() as stack:
        yield Cluster(tmp_path / "dask", stack)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """Two hundred cases in seven batches."""
    write_cases(tmp_path / "cases.jsonl", 200)
    return tmp_path / "cases.jsonl"


def on_dask(cluster: Cluster, *asked: object) -> tuple[object, ...]:
    return (*asked, "--runner", "dask", "--dask-address", cluster.address, "--shards", "3")


def same_folders(one: Path, other: Path) -> None:
    trees = []
    for folder in (one, other):
        found = snapshot(folder)
        trees.append({str(Path(path).relative_to(folder)): data for path, data in found.items()})
    assert sorted(trees[0]) == sorted(trees[1])
    for name, content in trees[0].items():
        assert content == trees[1][name], name


def test_two_workers_give_what_one_process_gives(
    cluster: Cluster, server: dict[str, str], cases: Path, tmp_path: Path
) -> None:
    # Another folder: workers must find inputs and output wherever they were started.
    for name in ("one", "two"):
        cluster.add_worker(name)
    asked = ("evaluate", cases.name, "--k", "5", "--intervals", "--run-id", "r", "--format", "json",
             "--gate", "recall@5 >= 0.99")  # fmt: skip
    direct = command(*asked, "--out", "direct", cwd=tmp_path)
    shards = command(*on_dask(cluster, *asked), "--out", "shards", cwd=tmp_path, **server)
    assert (direct.returncode, shards.returncode) == (1, 1), shards.stderr
    assert direct.stdout == shards.stdout
    assert [line for line in direct.stderr.splitlines() if line.startswith("gate failed")] == [
        line for line in shards.stderr.splitlines() if line.startswith("gate failed")
    ]
    same_folders(tmp_path / "direct", tmp_path / "shards")
    runs = posted(server, "flow_runs/filter", sort="START_TIME_DESC", limit=1)
    assert runs[0]["state"]["type"] == "FAILED"
    assert "recall@5 >= 0.99" in runs[0]["state"]["message"]
    tasks = posted(server, "task_runs/filter", limit=50)
    mine = [task["name"] for task in tasks if task["flow_run_id"] == runs[0]["id"]]
    assert sum(name.startswith("shard ") for name in mine) == 3


def test_a_far_repeat_is_refused_as_one_process_refuses_it(
    cluster: Cluster, server: dict[str, str], cases: Path, tmp_path: Path
) -> None:
    cluster.add_worker("one")
    first = {"case_id": "case-00000199", "required_ids": ["a"], "retrieved_ids": ["a"]}
    cases.write_text(lines_of([first]) + cases.read_text())
    asked = ("evaluate", cases.name, "--run-id", "r")
    direct = command(*asked, "--out", "direct", cwd=tmp_path)
    shards = command(*on_dask(cluster, *asked), "--out", "shards", cwd=tmp_path, **server)
    assert (direct.returncode, shards.returncode) == (2, 2), shards.stderr
    assert "cases.jsonl:201: case_id: 'case-00000199' is not unique, first at cases.jsonl:1" in (
        shards.stderr
    )
    said = [line for line in direct.stderr.splitlines() if "direct" not in line]
    assert said == [line for line in shards.stderr.splitlines() if line in said]
    assert "Traceback" not in shards.stderr
    same_folders(tmp_path / "direct", tmp_path / "shards")


def test_a_killed_workers_shard_is_evaluated_again(
    cluster: Cluster, server: dict[str, str], cases: Path, tmp_path: Path
) -> None:
    flag = tmp_path / "doomed"
    doomed = cluster.add_worker("doomed", DOOMED=str(flag))
    asked = ("evaluate", cases.name, "--run-id", "r", "--format", "json")
    direct = command(*asked, "--out", "direct", cwd=tmp_path)
    given = [sys.executable, "-c", SMALL, *on_dask(cluster, *asked), "--out", "shards"]
    with subprocess.Popen(
        given, cwd=tmp_path, env=environment(**server), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as run:  # fmt: skip
        deadline = time.monotonic() + 120
        while not flag.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert flag.exists()
        half = list((tmp_path / "shards").glob(".unfinished/r~shards/00*/cases/part-*"))
        assert half, "the worker was killed before it wrote a part"
        doomed.send_signal(signal.SIGKILL)
        cluster.add_worker("other")
        shown, told = run.communicate(timeout=200)
    assert run.returncode == direct.returncode == 0, told
    assert shown == direct.stdout
    same_folders(tmp_path / "direct", tmp_path / "shards")
    assert not list((tmp_path / "shards").glob(".*"))


def test_a_shard_that_fails_names_itself_and_nothing_is_published(
    cluster: Cluster, server: dict[str, str], cases: Path, tmp_path: Path
) -> None:
    cluster.add_worker("one", BROKEN="case-00000199")
    asked = ("evaluate", cases.name, "--run-id", "r")
    shards = command(*on_dask(cluster, *asked), "--out", "shards", cwd=tmp_path, **server)
    assert shards.returncode == 3, shards.stderr
    last = [line for line in shards.stderr.splitlines() if line.startswith("shard 3 (cases.jsonl")]
    assert last
    assert "failed: LookupError: nobody foresaw it; nothing was published" in last[-1]
    assert f"-{cases.stat().st_size:,}) failed" in last[-1]
    assert not (tmp_path / "shards").exists()
    assert shards.stdout == ""


def test_a_cluster_of_its_own(server: dict[str, str], tmp_path: Path) -> None:
    asked = ("evaluate", ANSWERS, "--contract", "answer", "--run-id", "r", "--format", "json")
    done = command(*asked, "--runner", "dask", "--out", "shards", cwd=tmp_path, **server)
    direct = command(*asked, "--out", "direct", cwd=tmp_path)
    assert done.returncode == direct.returncode == 0, done.stderr
    assert done.stdout == direct.stdout
    same_folders(tmp_path / "direct", tmp_path / "shards")


def test_no_scheduler_is_one_message_with_the_commands(
    server: dict[str, str], tmp_path: Path
) -> None:
    asked = ("evaluate", ANSWERS, "--runner", "dask", "--dask-address", "tcp://127.0.0.1:9")
    done = command(*asked, cwd=tmp_path, **server)
    assert done.returncode == 2
    assert "no scheduler answers at tcp://127.0.0.1:9" in done.stderr
    assert "dask worker" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["", "http://127.0.0.1:9/api"])
def test_no_server_is_one_message_with_the_two_commands(url: str, tmp_path: Path) -> None:
    asked = ("evaluate", ANSWERS, "--runner", "dask")
    done = command(*asked, cwd=tmp_path, HOME=str(tmp_path), PREFECT_API_URL=url)
    assert done.returncode == 2
    assert done.stderr.startswith("--runner dask: ")
    assert "prefect server start" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_whatever_becomes_of_a_worker_its_shard_is_named() -> None:
    from ragtriage.flows import sharded  # noqa: PLC0415 - loads Prefect and Dask

    class Lost:
        def result(self) -> bytes:
            raise ConnectionError("4 workers died while they had it")

    told = sharded._outcome(Lost(), "shard 2 (a.jsonl)")  # type: ignore[arg-type] - enough of a future
    assert str(told) == (
        "shard 2 (a.jsonl) failed: ConnectionError: 4 workers died while they had it; "
        "nothing was published"
    )


def test_dask_brings_no_pandas() -> None:
    """With pandas beside it pandera loads it: that would slow every start."""
    code = "import sys, prefect_dask, ragtriage.flows.sharded; print('pandas' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False"]
