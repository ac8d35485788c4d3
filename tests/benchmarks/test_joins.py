"""Cases, traces and reviews from files of their own at size: `pytest -m benchmark`."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.whole_run import MILLION, evaluated, timed

pytestmark = pytest.mark.benchmark


def joined(folder: Path, traces: str, run_id: str, *more: str) -> tuple[float, float]:
    """Seconds and peak MiB of a run over separate files."""
    sides = ("--cases", f"{folder}/cases.jsonl", "--trace", f"{folder}/{traces}.jsonl")
    return timed("evaluate", *sides, *more, "--out", f"{folder}/out", "--run-id", run_id)


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Folders of one and of two million records."""
    folders = {n: tmp_path_factory.mktemp(f"joins{n}") for n in (MILLION, 2 * MILLION)}
    for n, folder in folders.items():
        command = [sys.executable, "-m", "tests.benchmarks.apart", str(folder), str(n)]
        subprocess.run(command, check=True)
    return folders


def test_a_join_takes_at_most_1_6_of_the_combined_file(sizes: dict[int, Path]) -> None:
    """Medians of interleaved rounds, whole processes."""
    folder = sizes[MILLION]
    whole, apart = [], []
    for i in range(3):
        seconds, _ = evaluated(folder / "all.jsonl", folder / "out", f"all{i}")
        whole.append(seconds)
        apart.append(joined(folder, "traces", f"apart{i}")[0])
    print(f"combined {whole}, joined {apart}")
    assert statistics.median(apart) <= 1.6 * statistics.median(whole)


@pytest.mark.parametrize(
    ("traces", "reviewed"), [("traces", False), ("shuffled", False), ("traces", True)]
)
def test_memory_of_a_join_does_not_grow_with_its_input(
    sizes: dict[int, Path], traces: str, reviewed: bool
) -> None:
    peaks = []
    for folder in sizes.values():
        more = ("--reviews", f"{folder}/reviews.jsonl") if reviewed else ()
        peaks.append(joined(folder, traces, f"{traces}{reviewed}", *more)[1])
    print(f"{traces}, reviews {reviewed}: {peaks[0]:.0f} MiB at 1M, {peaks[1]:.0f} MiB at 2M")
    assert peaks[0] <= 0.8 * 1024
    assert peaks[1] <= 1.3 * peaks[0]


def test_a_million_strangers_take_no_minutes(sizes: dict[int, Path]) -> None:
    """A thousand cases, and the traces of a million others."""
    folder = sizes[MILLION]
    few = folder / "few.jsonl"
    with (folder / "cases.jsonl").open() as cases:
        few.write_text("".join(next(cases) for _ in range(1000)))
    sides = ("--cases", str(few), "--trace", f"{folder}/shuffled.jsonl")
    more = ("--unknown-trace", "ignore", "--out", f"{folder}/out", "--run-id", "strangers")
    seconds, peak = timed("evaluate", *sides, *more)
    print(f"a million unknown traces: {seconds:.1f} s, {peak:.0f} MiB")
    assert seconds <= 60
    assert peak <= 0.8 * 1024
