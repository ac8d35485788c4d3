"""Speed bars that hold on a quiet machine, as ratios in one run: `pytest -m benchmark`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.generate import write_cases, write_claims
from tests.benchmarks.whole_run import MILLION, Figures, compare_figures, evaluated, measured

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


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("million")
    write_cases(folder / "cases.jsonl", MILLION)
    return folder


def test_comparing_two_runs_of_a_million_takes_half_of_evaluating_one(million: Path) -> None:
    """Whole processes, tables and reports written; a fifth of the cases drifted."""
    figures = compare_figures(million, MILLION, rounds=3)
    print(figures)
    assert figures.median("compare") <= 0.5 * figures.median("evaluate")
    assert figures.peak_mib <= 1024


@pytest.mark.parametrize(("drift", "asked"), [(1.0, ()), (0.2, ("--test", "--intervals"))])
def test_whatever_changed_and_was_asked_it_stays_below_a_gibibyte(
    drift: float, asked: tuple[str, ...], tmp_path: Path
) -> None:
    write_cases(tmp_path / "cases.jsonl", MILLION)
    figures = compare_figures(tmp_path, MILLION, 1, *asked, drift=drift)
    print(figures)
    assert figures.peak_mib <= 1024
