"""Evidence sets that stand otherwise than one record a case, or as text."""

from __future__ import annotations

import json
from pathlib import Path

from tests.read.presets.kit import as_json
from tests.support import Command, Writer


def test_answers_and_facts_by_id_are_a_case_each(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    by_id = {
        "answer": {"q1": "yes", "q2": "no"},
        "sp": {"q1": [["T", 0], ["U", 1], ["T", 0]], "q3": []},
    }
    path, out = written(as_json(by_id), "predicted.json"), tmp_path / "ours.jsonl"
    shown = cli("convert", path, "--from", "evidence-sets", "--out", out)
    assert shown.code == 0, shown.err
    ours = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [(r["case_id"], r.get("expected_answers"), r.get("required_groups")) for r in ours] == [
        ("q1", ["yes"], [["T#0"], ["U#1"]]),
        ("q2", ["no"], None),
        ("q3", None, []),
    ]
    assert json.loads(cli("inspect", path, "--format", "json").out)["preset"] == "evidence-sets"
