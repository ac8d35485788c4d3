"""What becomes of a run whose shards fail, are lost, or cannot be cut at all."""

from __future__ import annotations

import errno
import importlib.util
import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.exceptions import PanicException

from ragtriage import folding
from ragtriage.errors import InputError, ShardError, UsageError
from ragtriage.flows import server
from ragtriage.request import EvaluateRequest, build_request
from ragtriage.run import stored_report
from ragtriage.runner import Runner
from ragtriage.sharding import jobs
from ragtriage.sharding.run import check_shardable, in_turn, run_in_shards
from tests.benchmarks.generate import write_cases
from tests.sharding.support import assert_same, directly, in_shards, small_batches
from tests.support import CONTRACTS, HANDBOOK, ROOT, Command, snapshot

ANSWERS = CONTRACTS / "answer.jsonl"


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    small_batches(monkeypatch)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """Twenty cases in five batches."""
    write_cases(tmp_path / "cases.jsonl", 20)
    return tmp_path / "cases.jsonl"


def request_for(path: Path, **options: Any) -> EvaluateRequest:
    return build_request({"inputs": [str(path)], "out": str(path.parent / "out"), **options})


def score_unless(fails: Callable[[Any], bool], error: type[BaseException]) -> Any:
    score = folding.score

    def broken(cases: Any, *arguments: Any) -> Any:
        if fails(cases):
            raise error("no more of it")
        return score(cases, *arguments)

    return broken


def from_the_second_on() -> Callable[[Any], bool]:
    seen: list[Any] = []

    def fails(chunk: Any) -> bool:
        seen.append(chunk)
        return len(seen) > 1

    return fails


def test_a_shard_that_fails_names_itself_and_nothing_is_published(
    cases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def last(chunk: Any) -> bool:
        return "case-00000019" in chunk["case_id"]

    monkeypatch.setattr(folding, "score", score_unless(last, LookupError))
    with pytest.raises(ShardError) as caught:
        run_in_shards(request_for(cases), in_turn, wanted=3)
    size = cases.stat().st_size
    assert str(caught.value).startswith(f"shard 3 ({cases}, bytes ")
    assert f"-{size:,}) failed: LookupError: no more of it; nothing was published" in (
        str(caught.value)
    )
    assert caught.value.exit_code == 3
    assert not (cases.parent / "out").exists()


def test_a_shard_that_cannot_be_read_says_why_and_where(cases: Path) -> None:
    def pool(calls: Any) -> list[Any]:
        if calls and calls[0][0] is jobs.fold_shard:
            os.utime(cases, ns=(1, 1))
        return in_turn(calls)

    with pytest.raises(InputError) as caught:
        run_in_shards(request_for(cases), pool, wanted=2)
    first, second = str(caught.value).splitlines()
    assert first == f"{cases}: changed while it was read; run again"
    assert second.startswith(f"in shard 1 ({cases}, bytes 0-")
    assert not (cases.parent / "out").exists()


@pytest.mark.parametrize("wanted", [1, 3])
def test_an_input_that_changes_between_two_looks_is_noticed(
    cases: Path, monkeypatch: pytest.MonkeyPatch, wanted: int
) -> None:
    """The same size, and nobody reads the old bytes again: only the time tells."""
    learn = jobs.shards.learn

    def changed_behind(*given: Any) -> Any:
        learnt = learn(*given)
        cases.write_bytes(cases.read_bytes().replace(b"case-0000000", b"case-1111111"))
        os.utime(cases, ns=(0, 1_000_000_000))
        return learnt

    def learning_first(calls: Any) -> list[Any]:
        ended = in_turn(calls[::-1])
        return ended[::-1]

    monkeypatch.setattr(jobs.shards, "learn", changed_behind)
    with pytest.raises(InputError, match="changed while it was read; run again"):
        run_in_shards(request_for(cases), learning_first, wanted=wanted)
    assert not (cases.parent / "out").exists()


def no_space(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_said_once_and_in_a_users_words(
    cases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(jobs, "write_hashes", no_space)
        with pytest.raises(InputError, match="out: cannot be written: No space left") as caught:
            run_in_shards(request_for(cases), in_turn, wanted=2)
    assert ".unfinished" not in str(caught.value)
    monkeypatch.setattr(pl.DataFrame, "write_parquet", no_space)
    with pytest.raises(InputError, match="cannot be written: No space left") as caught:
        run_in_shards(request_for(cases), in_turn, wanted=2)
    assert str(caught.value).count("nothing was published") == 1
    assert str(caught.value).endswith(")")
    assert not (cases.parent / "out").exists()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (PanicException("OS can't spawn worker thread: unavailable"), "no room for another thread"),
        (RuntimeError("can't start new thread"), "no room for another thread"),
        (MemoryError(), "out of memory"),
        (PanicException("index out of bounds"), "PanicException: index out of bounds"),
    ],
)
def test_a_shard_that_the_system_has_no_room_for_says_so(
    cases: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, expected: str
) -> None:
    def gives_up(_: object) -> None:
        raise error

    monkeypatch.setattr(jobs.Fold, "run", gives_up)
    with pytest.raises(ShardError) as caught:
        run_in_shards(request_for(cases), in_turn, wanted=2)
    assert str(caught.value).startswith(f"shard 1 ({cases}, bytes 0-")
    assert f" failed: {expected}" in str(caught.value)


def test_a_system_that_the_input_does_not_name_is_refused(cases: Path) -> None:
    one = directly([cases], system="bm25")
    assert "no 'bm25' in the input" in one.refused
    assert_same(one, in_shards([cases], 2, system="bm25"))


def test_what_a_lost_worker_half_wrote_is_not_in_the_run(
    cases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[Path] = []

    def lost(work: Any, job: Any) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(folding, "score", score_unless(from_the_second_on(), SystemExit))
            with pytest.raises(SystemExit):
                work(job)
        left.extend(job.setting.attempts.glob(f"{job.known.shard.number:05d}-*/cases/*"))

    def pool(calls: Any) -> list[Any]:
        for work, job in calls:
            if work is jobs.fold_shard:
                lost(work, job)
        return in_turn(calls)

    assert_same(directly([cases]), in_shards([cases], 2, pool))
    assert len(left) == 2


def test_a_worker_that_comes_back_after_the_run_writes_nothing(cases: Path) -> None:
    late: list[Any] = []

    def pool(calls: Any) -> list[Any]:
        late.extend(calls)
        return in_turn(calls)

    run_in_shards(request_for(cases, run_id="r"), pool, wanted=2)
    before = snapshot(cases.parent)
    outcomes = in_turn([call for call in late if call[0] is not jobs.take_digest])
    assert all("not there on worker" in str(outcome) for outcome in outcomes)
    assert snapshot(cases.parent) == before


def test_a_worker_with_another_version_is_refused(cases: Path) -> None:
    def pool(calls: Any) -> list[Any]:
        older = replace(calls[0][1].setting, versions="ragtriage 0.1 with polars 1")
        return in_turn([(work, replace(job, setting=older)) for work, job in calls])

    with pytest.raises(ShardError, match="install the same everywhere"):
        run_in_shards(request_for(cases), pool)


def test_standard_input_is_cut_too(cases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = []
    for carried_out in (directly, lambda paths: in_shards(paths, 3)):
        stdin = type("Stdin", (), {"buffer": io.BytesIO(cases.read_bytes())})
        monkeypatch.setattr("sys.stdin", stdin)
        outcomes.append(carried_out([Path("-")]))
    assert_same(*outcomes)


def test_what_cannot_be_cut(cases: Path) -> None:
    apart = build_request({"cases": [str(cases)], "trace": [str(cases)]})
    with pytest.raises(UsageError, match="--cases and --trace are joined by one process"):
        check_shardable(apart, "--runner dask")
    with pytest.raises(UsageError, match="--reviews are settled by one process"):
        check_shardable(request_for(cases, reviews=[str(cases)]), "--runner dask")
    for asked in ({"from": "ragas"}, {"map": {"a.b": "answer"}}, {"text_ids": [str(cases)]}):
        with pytest.raises(UsageError, match="write them first with ragtriage convert"):
            check_shardable(request_for(cases, **asked), "--runner dask")
    with pytest.raises(UsageError, match="drop --no-write"):
        check_shardable(request_for(cases, write=False), "--runner dask")
    with pytest.raises(UsageError, match="no input"):
        check_shardable(build_request({}), "--runner dask")


class TestTheCommandLine:
    """Options of the runner."""

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--runner", "slurm"), ("--runner: 'slurm'", "direct, dask")),
            (("--dask-address", "tcp://a:1"), ("--dask-address", "--runner dask only")),
            (("--shards", "3"), ("--shards", "--runner dask only")),
            (("--runner", "dask", "--shards", "0"), ("--shards: '0'",)),
            (("--runner", "dask", "--shards", "x"), ("--shards: 'x'",)),
            (("--runner", "dask", "--dask-address", "here"), ("--dask-address: 'here'",)),
        ],
    )
    def test_what_makes_no_sense(
        self, cli: Command, options: tuple[str, ...], words: tuple[str, ...]
    ) -> None:
        cli("evaluate", ANSWERS, *options).refuses(*words)

    @pytest.mark.parametrize("lacking", ["prefect", "prefect_dask"])
    def test_without_dask_the_command_that_installs_it(
        self, cli: Command, monkeypatch: pytest.MonkeyPatch, lacking: str
    ) -> None:
        found = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name == lacking else found(name)
        )
        cli("evaluate", ANSWERS, "--runner", "dask").refuses("pip install 'ragtriage[dask]'")

    def test_without_a_server_the_commands_that_start_it(
        self, cli: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("PREFECT_API_URL", raising=False)
        shown = cli("evaluate", ANSWERS, "--runner", "dask")
        shown.refuses("--runner dask: PREFECT_API_URL is not set", "prefect server start")

    def test_cases_and_traces_apart_are_refused(self, cli: Command) -> None:
        asked = ("--cases", HANDBOOK / "cases.jsonl", "--trace", HANDBOOK / "run-a.jsonl")
        cli("evaluate", *asked, "--runner", "dask").refuses("--runner dask: --cases and --trace")

    def test_a_run_on_dask_is_held_against_another(
        self, cli: Command, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[Runner] = []

        def run_here(request: EvaluateRequest, runner: Runner) -> Any:
            asked.append(runner)
            path = run_in_shards(request, in_turn, wanted=runner.shards).folder
            return stored_report(path), path

        monkeypatch.setattr(server, "run_on_dask", run_here)
        assert cli("evaluate", cases, "--out", tmp_path, "--run-id", "a").code == 0
        (tmp_path / "asked.toml").write_text('runner = "dask"\nshards = 2\n')
        done = cli(
            *("evaluate", cases, "--out", tmp_path, "--run-id", "b", "--baseline", tmp_path / "a"),
            *("--config", tmp_path / "asked.toml", "--dask-address", "tcp://a:1"),
        )
        assert done.code == 0, done.err
        assert "No difference: 20 cases" in done.out
        assert asked == [Runner("dask", prefect=False, address="tcp://a:1", shards=2)]


THREADS = """
import sys
from pathlib import Path
from ragtriage.pipeline import run_request
from ragtriage.read import batches
from ragtriage.request import build_request
from ragtriage.sharding.run import in_turn, run_in_shards
batches.BATCH_BYTES = 30_000
options = {"inputs": [sys.argv[1]], "run_id": "r", "slice": ["group"], "intervals": True}
run_request(build_request({**options, "out": f"direct-{sys.argv[2]}"}))
run_in_shards(build_request({**options, "out": f"shards-{sys.argv[2]}"}), in_turn, wanted=3)
"""


@pytest.mark.end_to_end
def test_one_thread_or_eight_one_process_or_three_shards(tmp_path: Path) -> None:
    write_cases(tmp_path / "many.jsonl", 200)
    trees = []
    for threads in ("1", "8"):
        subprocess.run(
            [sys.executable, "-c", THREADS, "many.jsonl", threads],
            env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "POLARS_MAX_THREADS": threads},
            check=True,
            cwd=tmp_path,
        )
        for name in ("direct", "shards"):
            folder = tmp_path / f"{name}-{threads}"
            found = snapshot(folder)
            trees.append({str(Path(p).relative_to(folder)): data for p, data in found.items()})
    assert sum(name.startswith("r/cases/part-") for name in trees[0]) == 4
    assert all(tree == trees[0] for tree in trees[1:])
