"""Speed bars that hold on a quiet machine, as ratios in one run: `pytest -m benchmark`."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from tests.benchmarks.generate import write_cases, write_claims
from tests.benchmarks.whole_run import MILLION, Figures, evaluated, measured, timed

pytestmark = pytest.mark.benchmark


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    folder: Path = tmp_path_factory.mktemp("bars")
    return measured(folder, cases=200_000, rounds=3)


def test_200_000_cases_take_at_most_six_bare_reads_and_start_up(figures: Figures) -> None:
    whole, start_up = figures.median("cases.jsonl"), figures.median("four.jsonl")
    assert whole - start_up <= 6 * figures.median("bare")


@pytest.mark.parametrize("reviewed", [False, True])
def test_a_million_claims_stay_within_the_memory_bar(tmp_path: Path, reviewed: bool) -> None:
    cases, reviews = tmp_path / "cases.jsonl", tmp_path / "reviews.jsonl"
    write_claims(cases, reviews, 250_000)
    more = ["--reviews", str(reviews)] if reviewed else []
    seconds, peak_mib = evaluated(cases, tmp_path / "out", "r", *more)
    print(f"1,000,000 claims, reviews {reviewed}: {seconds:.1f} s, {peak_mib:.0f} MiB")
    assert peak_mib <= 0.8 * 1024


def test_comparing_two_runs_of_a_million_takes_half_of_evaluating_one(
    million: Path, tmp_path: Path
) -> None:
    """Whole processes, tables and reports written; a fifth of the cases drifted."""
    evaluating, comparing, peak = _compared(million, tmp_path, drift=0.2)
    assert comparing <= 0.5 * evaluating
    assert peak <= 1024


@pytest.mark.parametrize(("drift", "asked"), [(1.0, ()), (0.2, ("--test", "--intervals"))])
def test_whatever_changed_and_was_asked_it_stays_below_a_gibibyte(
    drift: float, asked: tuple[str, ...], million: Path, tmp_path: Path
) -> None:
    _, _, peak = _compared(million, tmp_path, *asked, drift=drift, rounds=1)
    assert peak <= 1024


def _compared(
    million: Path, tmp_path: Path, *asked: str, drift: float, rounds: int = 3
) -> tuple[float, float, float]:
    """Seconds of evaluating a run that drifted and of comparing it; peak memory of the latter.

    Medians of interleaved rounds.
    """
    write_cases(tmp_path / "b.jsonl", MILLION, drift=drift)
    out = str(tmp_path / "out")
    evaluated, compared, peaks = [], [], []
    for i in range(rounds):
        run = f"b{i}"
        seconds, _ = timed("evaluate", str(tmp_path / "b.jsonl"), "--out", out, "--run-id", run)
        evaluated.append(seconds)
        runs = (str(million / "out" / "a"), f"{out}/{run}")
        seconds, peak = timed("compare", *runs, "--out", out, *asked)
        compared.append(seconds)
        peaks.append(peak)
    evaluating, comparing = statistics.median(evaluated), statistics.median(compared)
    print(f"evaluate {evaluated}, compare {compared}, peak {max(peaks):.0f} MiB")
    return evaluating, comparing, max(peaks)


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("million")
    write_cases(folder / "a.jsonl", MILLION)
    timed("evaluate", str(folder / "a.jsonl"), "--out", str(folder / "out"), "--run-id", "a")
    return folder
