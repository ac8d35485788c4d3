"""What an input takes of memory does not grow with its length."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

WORK = """
import resource, sys
import ragtriage
run = ragtriage.evaluate(sys.argv[1], write=True, out=sys.argv[2], on_invalid="quarantine")
print(run.report["run"]["n_cases"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak(path: Path, records: int) -> int:
    """Peak resident memory, in KiB, of a run over so many records of about 700 bytes."""
    with path.open("w", encoding="utf-8") as stream:
        for i in range(records):
            record = {
                "case_id": f"case-{i:07d}",
                "question": f"What is asked in {i}? " + "word " * 20,
                "split": "dev" if i % 2 else "test",
                "tags": [f"t{i % 7}"],
                "required_ids": [f"p{i}", f"p{i + 1}"],
                "retrieved_ids": [f"p{i + j}" for j in range(10)],
                "context_ids": [f"p{i + j}" for j in range(5)],
                "cited_ids": [f"p{i}"],
                "answer": "An answer. " * 10,
                "answer_correct": i % 3 != 0,
            }
            if i % 1000 == 999:
                record["weight"] = -1
            stream.write(json.dumps(record) + "\n")
    command = [sys.executable, "-c", WORK, str(path), str(path.parent / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    cases, kib = map(int, done.stdout.split())
    assert cases == records - records // 1000
    return kib


@pytest.mark.benchmark
def test_three_times_the_records_take_no_more_memory(tmp_path: Path) -> None:
    # How far the reading thread gets ahead differs from run to run: the lower of two runs each.
    small, large = (
        min(peak(tmp_path / f"{n}-{i}.jsonl", n) for i in range(2)) for n in (100_000, 300_000)
    )
    assert large <= 1.3 * small, f"{small:,} KiB, then {large:,} KiB"
