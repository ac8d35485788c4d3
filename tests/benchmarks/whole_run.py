"""A whole run against its peers on the same file, interleaved: `make bench N=200000`."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from ragtriage.schemas.inputs import Cases, dtypes
from tests.benchmarks.generate import write_cases

MILLION = 1_000_000
# As where it is installed: modules are compiled beforehand, and pandera finds no Hypothesis,
# which it would load at its first check.
_ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}
_START = "import sys; sys.modules['hypothesis'] = None; from ragtriage.cli import main; main()"


@dataclass
class Figures:
    """Seconds of each round, and the largest process of our own."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    peak_mib: float = 0.0

    def add(self, name: str, value: float) -> None:
        """One more round."""
        self.seconds.setdefault(name, []).append(value)

    def median(self, name: str) -> float:
        """The middle round."""
        return statistics.median(self.seconds[name])


def main() -> None:
    """Measure and print each figure beside its bar; exit 1 when one is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        figures = measured(Path(name), options.cases, options.rounds)
    over = _print(options.cases, options.rounds, figures)
    sys.exit(over)


def measured(folder: Path, cases: int, rounds: int) -> Figures:
    """Each figure, round by round, on cases made in the folder."""
    figures = Figures()
    _inputs(folder, cases)
    evaluated(folder / "four.jsonl", folder / "out", "compiled")
    for i in range(rounds):
        _round(folder, i, figures)
    return figures


def _inputs(folder: Path, cases: int) -> None:
    write_cases(folder / "cases.jsonl", cases)
    write_cases(folder / "four.jsonl", 4)
    lazy = pl.scan_ndjson(folder / "cases.jsonl", schema=dict(dtypes(Cases)))
    given = [name for name in dtypes(Cases) if name in _first_keys(folder / "cases.jsonl")]
    lazy.select(given).collect().write_parquet(folder / "cases.parquet", row_group_size=50_000)


def _first_keys(path: Path) -> set[str]:
    return set(pl.read_ndjson(path, n_rows=1, infer_schema_length=1).columns)


def _round(folder: Path, i: int, figures: Figures) -> None:
    for peer in ("bare", "trec"):
        command = [sys.executable, "-m", "tests.benchmarks.peers", peer]
        done = subprocess.run(
            [*command, str(folder / "cases.jsonl")], capture_output=True, text=True, check=True
        )
        figures.add(peer, float(done.stdout))
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import pandera.polars"], check=True, env=_ENVIRONMENT)
    figures.add("import", time.perf_counter() - start)
    for name in ("four.jsonl", "cases.jsonl", "cases.parquet"):
        seconds, peak = evaluated(folder / name, folder / "out", f"{name}-{i}")
        figures.add(name, seconds)
        if name == "cases.jsonl":
            figures.peak_mib = max(figures.peak_mib, peak)


def evaluated(source: Path, out: Path, run_id: str, *more: str) -> tuple[float, float]:
    """Seconds of a whole evaluation, and its peak memory in MiB."""
    return timed("evaluate", str(source), "--out", str(out), "--run-id", run_id, *more)


def timed(*arguments: str) -> tuple[float, float]:
    """Seconds of a whole process of ours, and its peak memory in MiB."""
    os.sync()  # what an earlier process wrote is not written in this one's time
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", _START, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_ENVIRONMENT,
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")
    return seconds, usage.ru_maxrss / 1024


def _print(cases: int, rounds: int, figures: Figures) -> bool:
    whole, four = figures.median("cases.jsonl"), figures.median("four.jsonl")
    work = whole - four
    large = cases >= MILLION
    rows = [
        ("whole run ÷ bare read_ndjson", whole / figures.median("bare"), 3.5 if large else None),
        ("the same without start-up", work / figures.median("bare"), None if large else 6.0),
        (
            "whole run ÷ json.loads + trec_eval",
            whole / figures.median("trec"),
            0.6 if large else 1.0,
        ),
        ("from Parquet ÷ from JSON lines", figures.median("cases.parquet") / whole, 0.6),
        ("4 cases ÷ import pandera.polars", four / figures.median("import"), 2.0),
    ]
    print(f"{cases:,} cases, medians of {rounds} interleaved rounds, seconds")
    for name, values in figures.seconds.items():
        shown = " ".join(f"{value:6.2f}" for value in values)
        print(f"  {name:15}{statistics.median(values):8.2f}   ({shown})")
    over = False
    for name, ratio, bar in rows:
        verdict = "" if bar is None else f"  bar {bar} x" + ("  OVER" if ratio > bar else "")
        over |= bar is not None and ratio > bar
        print(f"{name:38}{ratio:6.2f} x{verdict}")
    bar_mib = 0.8 * 1024
    over |= large and figures.peak_mib > bar_mib
    note = f"  bar {bar_mib:.0f} MiB" if large else ""
    print(f"{'peak memory, JSON lines':38}{figures.peak_mib:6.0f} MiB{note}")
    return over


if __name__ == "__main__":
    main()
