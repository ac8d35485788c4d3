"""Speed bars that hold on a quiet machine, as ratios in one run: `pytest -m benchmark`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.whole_run import Figures, measured

pytestmark = pytest.mark.benchmark


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    folder: Path = tmp_path_factory.mktemp("bars")
    return measured(folder, cases=200_000, rounds=3)


def test_200_000_cases_take_at_most_six_bare_reads_and_start_up(figures: Figures) -> None:
    whole, start_up = figures.median("cases.jsonl"), figures.median("four.jsonl")
    assert whole - start_up <= 6 * figures.median("bare")
