"""Cases, traces and reviews from files of their own at size: `pytest -m benchmark`."""

from __future__ import annotations

import json
import random
import statistics
from pathlib import Path

import pytest

from tests.benchmarks.generate import write_cases
from tests.benchmarks.whole_run import MILLION, evaluated, timed

pytestmark = pytest.mark.benchmark

LABELS = ("question", "split", "tags", "required_ids", "expected_answers")


def write_apart(folder: Path, n: int) -> None:
    """The same records combined, as cases and traces (in order and shuffled), and reviews."""
    write_cases(folder / "all.jsonl", n)
    names = ("all", "cases", "traces", "shuffled", "reviews")
    files = {name: folder / f"{name}.jsonl" for name in names}
    traces = []
    with (
        files["all"].open() as whole,
        files["cases"].open("w") as cases,
        files["reviews"].open("w") as said,
    ):
        for line in whole:
            row = json.loads(line)
            labels = {name: row.pop(name) for name in LABELS}
            cases.write(json.dumps({"case_id": row["case_id"]} | labels) + "\n")
            review = {"case_id": row["case_id"], "reviewer": "ana", "kind": "human"}
            said.write(json.dumps(review | {"label": row["answer_correct"]}) + "\n")
            traces.append(json.dumps(row) + "\n")
    files["traces"].write_text("".join(traces))
    random.Random(7).shuffle(traces)  # noqa: S311 - data, not secrets
    files["shuffled"].write_text("".join(traces))


def joined(folder: Path, traces: str, run_id: str, *more: str) -> tuple[float, float]:
    """Seconds and peak MiB of a run over separate files."""
    sides = ("--cases", f"{folder}/cases.jsonl", "--trace", f"{folder}/{traces}.jsonl")
    return timed("evaluate", *sides, *more, "--out", f"{folder}/out", "--run-id", run_id)


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Folders of one and of two million records."""
    folders = {n: tmp_path_factory.mktemp(f"joins{n}") for n in (MILLION, 2 * MILLION)}
    for n, folder in folders.items():
        write_apart(folder, n)
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
