"""What a run costs by step, how that grows, what crosses the wire, and what a second worker brings.

`python -m tests.benchmarks.scaling --cases 200000` prints the tables of `docs/scaling.md`;
`--only steps|growth|wire|workers` one of them. `workers` starts a Prefect server, a scheduler and
workers of its own, on loopback.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.benchmarks.generate import write_cases
from tests.benchmarks.whole_run import timed

_STEPS = ("index", "score", "sum", "write")
_MILLION = 1_000_000


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=list(_TABLES))
    asked = parser.parse_args()
    for name, table in _TABLES.items():
        if asked.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                table(Path(folder), asked.cases, asked.rounds)


def steps(folder: Path, cases: int, rounds: int) -> None:
    """Seconds per million cases, by step, over all threads; the wall beside them."""
    write_cases(folder / "cases.jsonl", cases)
    _print_head("step by step", cases, rounds)
    _print_row("JSON lines", *_measured(folder, folder / "cases.jsonl", cases, rounds))


def growth(folder: Path, cases: int, rounds: int) -> None:
    """The same for more cases, longer lists, more cutoffs, more slices."""
    _print_head("growth", cases, rounds)
    source = folder / "cases.jsonl"
    for times in (1, 2, 4):
        write_cases(source, cases * times)
        _print_row(f"{cases * times:,} cases", *_measured(folder, source, cases * times, rounds))
    for depth in (10, 20, 50, 100):
        _write_deep(source, cases, depth)
        _print_row(f"{depth} retrieved IDs", *_measured(folder, source, cases, rounds))
    write_cases(source, cases)
    for cutoffs in ("10", "1,5,10", "1,2,3,5,8,10"):
        asked = ("--k", cutoffs)
        row = _measured(folder, source, cases, rounds, *asked)
        _print_row(f"{cutoffs.count(',') + 1} cutoffs", *row)
    for count, fields in enumerate(((), ("group",), ("group", "question"))):
        asked = tuple(word for field in fields for word in ("--slice", field))
        _print_row(f"{count} further slices", *_measured(folder, source, cases, rounds, *asked))


def wire(folder: Path, cases: int, _rounds: int) -> None:
    """Bytes of each kind of job and of its result, per shard."""
    from ragtriage.request import build_request  # noqa: PLC0415 - processes above start without it
    from ragtriage.sharding.run import run_in_shards  # noqa: PLC0415 - the same

    write_cases(folder / "cases.jsonl", cases)
    pool = _WeighingPool()
    asked = {"inputs": [str(folder / "cases.jsonl")], "out": str(folder / "out"), "intervals": True}
    run_in_shards(build_request(asked), pool, wanted=4)
    print(f"\nwhat crosses the wire: {cases:,} cases in 4 shards, bytes a shard, largest")
    print(f"{'job':14}{'shards':>8}{'there':>10}{'back':>10}")
    for work, weights in pool.weights.items():
        there, back = (max(sizes) for sizes in zip(*weights, strict=True))
        print(f"{work:14}{len(weights):8}{there:10,}{back:10,}")


def workers(folder: Path, cases: int, rounds: int) -> None:
    """Seconds of a whole command on one worker and on two, start-up taken off."""
    from tests.end_to_end.servers import running_server  # noqa: PLC0415 - loads pytest

    write_cases(folder / "cases.jsonl", cases)
    write_cases(folder / "four.jsonl", 4)
    (folder / "home").mkdir()
    print(f"\nworkers: {cases:,} cases in 8 shards, medians of {rounds} rounds, seconds of work")
    found: dict[int, float] = {}
    with running_server(folder / "home") as settings:
        for count in (1, 2):
            with _cluster(count, folder) as address:
                work = []
                # Workers load libraries at their first task: that is no part of the work.
                _on_dask(folder / "cases.jsonl", address, f"warm-{count}", settings)
                for i in range(rounds):
                    seconds = [
                        _on_dask(folder / f"{name}.jsonl", address, f"{name}-{count}-{i}", settings)
                        for name in ("four", "cases")
                    ]
                    work.append(seconds[1] - seconds[0])
                found[count] = statistics.median(work)
                print(f"{count} worker(s){found[count]:10.2f}")
    print(f"speed-up{found[1] / found[2]:12.2f} x")


_TABLES: dict[str, Callable[[Path, int, int], None]] = {
    "steps": steps,
    "growth": growth,
    "wire": wire,
    "workers": workers,
}


class _WeighingPool:
    """Carries out calls in turn, and weighs what would travel."""

    def __init__(self) -> None:
        self.weights: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def __call__(self, calls: Sequence[Any]) -> list[Any]:
        outcomes = []
        for work, job in calls:
            there = pickle.dumps(job)
            back = pickle.dumps(work(pickle.loads(there)))  # noqa: S301 - our own
            self.weights[work.__name__].append((len(there), len(back)))
            outcomes.append(pickle.loads(back))  # noqa: S301 - our own
        return outcomes


def _measured(
    folder: Path, source: Path, cases: int, rounds: int, *asked: str
) -> tuple[float, dict[str, float]]:
    """Medians: the wall in seconds, and seconds per million cases by step."""
    walls: list[float] = []
    found: dict[str, list[float]] = defaultdict(list)
    for i in range(rounds):
        run_id = f"r-{time.time_ns()}-{i}"
        given = ("evaluate", str(source), "--out", str(folder / "out"), "--run-id", run_id)
        walls.append(timed(*given, *asked)[0])
        manifest = json.loads((folder / "out" / run_id / "manifest.json").read_text())
        for step, seconds in manifest["timings"].items():
            found[step].append(seconds * _MILLION / cases)
    return statistics.median(walls), {s: statistics.median(v) for s, v in found.items()}


def _print_head(title: str, cases: int, rounds: int) -> None:
    print(f"\n{title}: {cases:,} cases, medians of {rounds} rounds, seconds per million by step")
    print(f"{'':22}" + "".join(f"{step:>9}" for step in _STEPS) + f"{'wall, s':>10}")


def _print_row(name: str, wall: float, by_step: dict[str, float]) -> None:
    print(
        f"{name:22}" + "".join(f"{by_step[s]:9.2f}" for s in _STEPS) + f"{wall:10.2f}", flush=True
    )


def _write_deep(path: Path, cases: int, depth: int) -> None:
    """Cases whose rankings have so many IDs; labels as they were."""
    write_cases(path, cases)
    lines = path.read_text(encoding="utf-8").splitlines()
    with path.open("w", encoding="utf-8") as target:
        for i, line in enumerate(lines):
            case = json.loads(line)
            more = [f"deep-{(i * 7 + n * 13) % 50_000}#{n}" for n in range(depth - 10)]
            case["retrieved_ids"] += more
            target.write(json.dumps(case) + "\n")


@contextmanager
def _cluster(count: int, folder: Path) -> Iterator[str]:
    """A scheduler and so many workers of one core each."""
    from tests.end_to_end.servers import started  # noqa: PLC0415 - loads pytest

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-m", "dask"]
    environment = _environment({"POLARS_MAX_THREADS": "1"})
    with ExitStack() as stack:
        listening = ["scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
        stack.enter_context(started([*dask, *listening], folder / "scheduler.log", environment))
        time.sleep(3)
        for i in range(count):
            flags = ["--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]
            log = folder / f"worker-{count}-{i}.log"
            command = [*dask, "worker", address, *flags]
            stack.enter_context(started(command, log, environment))
        time.sleep(5)
        yield address


def _on_dask(source: Path, address: str, run_id: str, settings: dict[str, str]) -> float:
    """Seconds of one command."""
    command = [sys.executable, "-m", "ragtriage.cli", "evaluate", str(source), "--run-id", run_id]
    command += ["--out", str(source.parent / "out"), "--runner", "dask", "--shards", "8"]
    start = time.perf_counter()
    subprocess.run(
        [*command, "--dask-address", address],
        env=_environment(settings),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def _environment(more: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **more}


if __name__ == "__main__":
    main()
