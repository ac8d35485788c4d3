"""A whole run against bare polars on the same file, interleaved: `make bench N=200000`."""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.generate import write_cases

# A whole run may take this many times polars' bare read of the same file, besides start-up.
BAR = 6.0

_BARE = """
import sys, time
import polars as pl
from ragtriage.schemas.inputs import Cases, dtypes
names = ("case_id question split tags required_ids retrieved_ids context_ids cited_ids answer "
         "expected_answers answer_correct").split()
schema = {name: dtypes(Cases)[name] for name in names}
start = time.perf_counter()
pl.read_ndjson(sys.argv[1], schema=schema)
print(time.perf_counter() - start)
"""


def main() -> None:
    """Measure and print; exit 1 when over the bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, tiny = Path(folder) / "cases.jsonl", Path(folder) / "tiny.jsonl"
        write_cases(source, options.cases)
        write_cases(tiny, 4)
        figures = [_round(source, tiny, Path(folder), i) for i in range(options.rounds)]
    bare, start_up, whole = (statistics.median(column) for column in zip(*figures, strict=True))
    ratio = (whole - start_up) / bare
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{options.cases:,} cases, medians of {options.rounds} interleaved rounds")  # noqa: T201
    print(f"bare read_ndjson    {bare:7.2f} s")  # noqa: T201
    print(f"start-up (4 cases)  {start_up:7.2f} s")  # noqa: T201
    print(f"whole run           {whole:7.2f} s")  # noqa: T201
    print(f"ratio               {ratio:7.2f} x  (bar {BAR} x)")  # noqa: T201
    print(f"largest process     {peak:7.0f} MiB")  # noqa: T201
    sys.exit(ratio > BAR)


def _round(source: Path, tiny: Path, folder: Path, i: int) -> tuple[float, float, float]:
    bare = subprocess.run(
        [sys.executable, "-c", _BARE, str(source)], capture_output=True, text=True, check=True
    )
    return float(bare.stdout), _run(tiny, folder, f"tiny-{i}"), _run(source, folder, f"whole-{i}")


def _run(source: Path, folder: Path, run_id: str) -> float:
    command = [sys.executable, "-m", "ragtriage.cli", "evaluate", str(source)]
    start = time.perf_counter()
    subprocess.run(
        [*command, "--out", str(folder / "out"), "--run-id", run_id],
        capture_output=True,
        check=True,
    )
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
