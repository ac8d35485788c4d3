"""TREC at size: ten million judgements and ten million rows of a run, a thousand a topic."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.trec import write_trec
from tests.benchmarks.whole_run import timed

pytestmark = pytest.mark.benchmark

TOPICS = 10_000


@pytest.mark.parametrize("mixed", [False, True], ids=["by topic", "mixed"])
def test_a_whole_run_takes_no_longer_than_trec_eval(tmp_path: Path, *, mixed: bool) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    write_trec(qrels, run, TOPICS, mixed=mixed)
    ours, theirs, peaks = [], [], []
    for i in range(3):
        peer = [sys.executable, "-m", "tests.benchmarks.peers", "trec-files", qrels, run]
        done = subprocess.run(peer, capture_output=True, text=True, check=True)
        theirs.append(float(done.stdout))
        given = ("--from", "trec", "--cases", str(qrels), "--trace", str(run), "--k", "10,1000")
        seconds, peak = timed("evaluate", *given, "--out", str(tmp_path / "o"), "--run-id", f"r{i}")
        ours.append(seconds)
        peaks.append(peak)
    print(f"ragtriage {ours}, pytrec_eval {theirs}, peak {max(peaks):.0f} MiB")
    assert max(peaks) <= 4 * 1024
    assert statistics.median(ours) <= statistics.median(theirs)
