"""A million reviews in one run, in a process of its own: `pytest -m benchmark`."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmark

ITEMS = 250_000
VOICES = (("ann", "human", 0.05), ("bob", "human", 0.1), ("cy", "human", 0.2))
JUDGE = ("judge", "judge", 0.15)
BAR_MIB = 0.8 * 1024


def write_reviews(path: Path, seed: int = 7) -> None:
    """Four labels of each claim, notes on a tenth; the same seed gives the same bytes."""
    chance = random.Random(seed)  # noqa: S311 - data, not secrets
    with path.open("w", encoding="utf-8") as target:
        for i in range(ITEMS):
            truth = chance.random() < 0.7
            for name, kind, error in (*VOICES, JUDGE):
                row = {
                    "case_id": f"case-{i // 3:07d}",
                    "claim_id": f"claim-{i % 3}",
                    "reviewer": name,
                    "kind": kind,
                    "label": truth ^ (chance.random() < error),
                    "note": "the second sentence says so" if chance.random() < 0.1 else None,
                }
                target.write(json.dumps(row) + "\n")


def test_a_million_reviews_stay_within_the_memory_bar(tmp_path: Path) -> None:
    source = tmp_path / "reviews.jsonl"
    write_reviews(source)
    out = str(tmp_path / "out")
    arguments = ["agreement", str(source), "--out", out, "--run-id", "r", "--format", "json"]
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "ragtriage.cli", *arguments], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    peak = usage.ru_maxrss / 1024
    print(f"{4 * ITEMS:,} reviews: {seconds:.1f} s, {peak:,.0f} MiB (bar {BAR_MIB:.0f})")
    report = json.loads((tmp_path / "out" / "agreement-r" / "report.json").read_text("utf-8"))
    assert report["run"]["n_reviews"] == 4 * ITEMS
    assert report["overall"][0]["n_pairs"] == 3 * ITEMS
    assert peak <= BAR_MIB
