"""Each bar of the speed contract, measured side by side on this machine: `make bench`.

By default of 200,000 and a million cases, of comparing and of ten million;
`--cases 200000` measures the rows of that size alone, `--without-ten-million` leaves out the
longest.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.generate import multiply, write_cases

# Between two looks at a command's memory.
_EVERY_SECONDS = 0.02
MILLION = 1_000_000
FEW = 200_000
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


@dataclass(frozen=True)
class Row:
    """A row of the table: what was measured, and what it may be at most."""

    name: str
    value: float
    bar: float | None
    unit: str = "x"

    @property
    def over(self) -> bool:
        """Is the bar missed?"""
        return self.bar is not None and self.value > self.bar


def main() -> None:
    """Measure and print each figure beside its bar; exit 1 when one is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=MILLION)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-ten-million", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows = _all_rows(Path(name), options.cases, options.rounds, options.without_ten_million)
    sys.exit(any(row.over for row in rows))


def _all_rows(folder: Path, cases: int, rounds: int, without_ten_million: bool) -> list[Row]:
    """The rows of one size; of a million, all there are."""
    sizes = [FEW, cases] if cases >= MILLION else [cases]
    rows = []
    for size in sizes:
        place = folder / str(size)
        place.mkdir()
        figures = measured(place, size, rounds)
        rows += _printed(f"{size:,} cases", figures, _rows(size, figures))
    if cases >= MILLION:
        compared = compare_figures(place, cases, rounds)
        rows += _printed("comparing two runs", compared, _compared(compared))
        if not without_ten_million:
            rows += _printed("ten times as many", *_ten_times(place, figures))
    return rows


def _rows(cases: int, figures: Figures) -> list[Row]:
    whole, four = figures.median("cases.jsonl"), figures.median("four.jsonl")
    bare, trec = figures.median("bare"), figures.median("trec")
    from_parquet = figures.median("cases.parquet") / whole
    large = cases >= MILLION
    return [
        Row("whole run / bare read_ndjson", whole / bare, 3.5 if large else None),
        Row("the same without start-up", (whole - four) / bare, None if large else 6.0),
        Row("whole run / json.loads + trec_eval", whole / trec, 0.6 if large else 1.0),
        Row("from Parquet / from JSON lines", from_parquet, 0.6 if large else None),
        Row("4 cases / import pandera.polars", four / figures.median("import"), 2.0),
        Row("peak memory, JSON lines", figures.peak_mib, 0.8 * 1024 if large else None, "MiB"),
    ]


def compare_figures(
    folder: Path, cases: int, rounds: int, *asked: str, drift: float = 0.2
) -> Figures:
    """A run that drifted is evaluated, then compared with the first, round by round."""
    write_cases(folder / "drifted.jsonl", cases, drift=drift)
    figures, out = Figures(), folder / "compared"
    evaluated(folder / "cases.jsonl", out, "a")
    for i in range(rounds):
        seconds, _ = evaluated(folder / "drifted.jsonl", out, f"b{i}")
        figures.add("evaluate", seconds)
        runs = (str(out / "a"), str(out / f"b{i}"))
        seconds, peak = timed("compare", *runs, "--out", str(out), *asked)
        figures.add("compare", seconds)
        figures.peak_mib = max(figures.peak_mib, peak)
    return figures


def _compared(figures: Figures) -> list[Row]:
    share = figures.median("compare") / figures.median("evaluate")
    return [
        Row("comparing / evaluating one", share, 0.5),
        Row("peak memory, comparing", figures.peak_mib, 1024.0, "MiB"),
    ]


def _ten_times(folder: Path, of_one: Figures) -> tuple[Figures, list[Row]]:
    """The largest run once: it is memory that is looked at."""
    multiply(folder / "cases.jsonl", folder / "many.jsonl", 10)
    figures = Figures()
    given = ("evaluate", str(folder / "many.jsonl"), "--out", str(folder / "out"))
    start = time.perf_counter()
    figures.peak_mib = peak_of(*given, "--run-id", "many")
    figures.add("many.jsonl", time.perf_counter() - start)
    rows = [
        Row("peak memory / that of a tenth", figures.peak_mib / of_one.peak_mib, 1.3),
        Row("peak memory", figures.peak_mib, 2048.0, "MiB"),
    ]
    return figures, rows


def _printed(title: str, figures: Figures, rows: list[Row]) -> list[Row]:
    print(f"{title}, seconds of each round and their median")
    for name, values in figures.seconds.items():
        shown = " ".join(f"{value:6.2f}" for value in values)
        print(f"  {name:15}{statistics.median(values):8.2f}   ({shown})")
    for row in rows:
        bar = "" if row.bar is None else f"  bar {row.bar:g} {row.unit}"
        print(f"{row.name:38}{row.value:8.2f} {row.unit:4}{bar}{'  OVER' if row.over else ''}")
    print(flush=True)
    return rows


def measured(folder: Path, cases: int, rounds: int) -> Figures:
    """Each figure, round by round, on cases made in the folder."""
    figures = Figures()
    _inputs(folder, cases)
    evaluated(folder / "four.jsonl", folder / "out", "compiled")
    for i in range(rounds):
        _round(folder, i, figures)
    given = ("evaluate", str(folder / "cases.jsonl"), "--out", str(folder / "out"))
    figures.peak_mib = peak_of(*given, "--run-id", "peak")
    return figures


def _inputs(folder: Path, cases: int) -> None:
    write_cases(folder / "cases.jsonl", cases)
    write_cases(folder / "four.jsonl", 4)
    # By another process: a child's peak is at least what its parent has in memory.
    command = [sys.executable, "-m", "tests.benchmarks.peers", "parquet"]
    subprocess.run([*command, folder / "cases.jsonl"], check=True, stdout=subprocess.DEVNULL)


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
        figures.add(name, evaluated(folder / name, folder / "out", f"{name}-{i}")[0])


def evaluated(source: Path, out: Path, run_id: str, *more: str) -> tuple[float, float]:
    """Seconds of a whole evaluation, and its peak memory in MiB where it has no workers."""
    return timed("evaluate", str(source), "--out", str(out), "--run-id", run_id, *more)


def timed(*arguments: str) -> tuple[float, float]:
    """Seconds of a whole command of ours, and the peak memory in MiB of its own process."""
    os.sync()  # what an earlier process wrote is not written in this one's time
    start = time.perf_counter()
    process = _started(*arguments)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    _require_success(process, arguments)
    return seconds, usage.ru_maxrss / 1024


def peak_of(*arguments: str) -> float:
    """Peak memory in MiB of a whole command of ours and its workers, a shared page once.

    For a run of its own: to look so often takes time from what is looked at.
    """
    process = _started(*arguments)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(_proportional, [process.pid, *_children(process.pid)])))
        time.sleep(_EVERY_SECONDS)
    _require_success(process, arguments)
    return peak / 1024


def _started(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", _START, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_ENVIRONMENT,
    )


def _require_success(process: subprocess.Popen[bytes], arguments: tuple[str, ...]) -> None:
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")


def _children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(child) for child in _read(f"/proc/{pid}/task/{pid}/children").split()]
    return []


def _proportional(pid: int) -> int:
    """KiB of a process, of which a page that n processes share counts an nth; 0 once it is gone."""
    with suppress(OSError, StopIteration):
        lines = _read(f"/proc/{pid}/smaps_rollup").splitlines()
        return int(next(line for line in lines if line.startswith("Pss:")).split()[1])
    return 0


def _read(path: str) -> str:
    return Path(path).read_text(encoding="ascii")


if __name__ == "__main__":
    main()
