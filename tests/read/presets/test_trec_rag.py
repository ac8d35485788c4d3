"""TREC RAG: what counts of nuggets and answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.read.presets.kit import jsonl
from tests.support import Command, manifest_of


def nuggets(*assignments: str) -> dict[str, Any]:
    listed = [{"text": "a", "importance": "vital", "assignment": one} for one in assignments]
    return {"qid": "1", "query": "?", "run_id": "ours", "nuggets": listed}


@pytest.mark.parametrize(
    ("assignments", "covered"),
    [
        (["support", "support"], 1.0),
        (["support", "not_support"], 0.5),
        # half a nugget is none: TREC's strict score
        (["support", "partial_support"], 0.5),
        (["partial_support"], 0.0),
    ],
)
def test_vital_nuggets_are_covered_strictly(
    cli: Command, tmp_path: Path, assignments: list[str], covered: float
) -> None:
    (tmp_path / "n.jsonl").write_bytes(jsonl(nuggets(*assignments)))
    given = ("evaluate", tmp_path / "n.jsonl", "--from", "trec-rag", "--contract", "claims")
    shown = cli(*given, "--out", tmp_path / "o", "--run-id", "r", "--format", "json")
    means = {row["metric"]: row["mean"] for row in shown.report()["summary"]}
    assert means["required_claim_coverage"] == covered
    partly = [
        n for name, n in manifest_of(tmp_path / "o" / "r")["dropped"].items() if "partial" in name
    ]
    assert partly == [1] * ("partial_support" in assignments)


def test_citations_are_held_against_qrels(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 d1 1\n1 0 d2 1\n1 0 d3 0\n", encoding="utf-8")
    sentences = [{"text": "A.", "citations": [0, 1]}, {"text": "B.", "citations": [0]}]
    record = {"topic_id": "1", "references": ["d1", "d3"], "answer": sentences}
    (tmp_path / "a.jsonl").write_bytes(jsonl(record))
    shown = cli(
        *("evaluate", "--cases", tmp_path / "q", "--cases-from", "trec"),
        *("--trace", tmp_path / "a.jsonl", "--trace-from", "trec-rag", "--no-write"),
        *("--format", "json"),
    )
    means = {row["metric"]: row["mean"] for row in shown.report()["summary"]}
    # d1 of {d1, d2} is cited; of {d1, d3} only d1 is relevant
    assert (means["citation_coverage"], means["citation_precision"]) == (0.5, 0.5)
