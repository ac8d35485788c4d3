"""The same records combined and in files of their own: `python -m tests.benchmarks.apart FOLDER N`.

In a process of its own: the peak memory of a child counts from what its parent holds.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from tests.benchmarks.generate import write_cases

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


if __name__ == "__main__":
    write_apart(Path(sys.argv[1]), int(sys.argv[2]))
