"""Values under mapped names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.read.presets.kit import jsonl
from tests.support import Command, Writer


@pytest.mark.parametrize("ours", ["retrieved_ids", "context_ids", "cited_ids", "required_ids"])
@pytest.mark.parametrize(("theirs", "text"), [("a", "a"), (7, "7"), (["a"], "a")])
def test_one_id_under_a_mapped_name_is_a_list_of_one(
    cli: Command, written: Writer, tmp_path: Path, theirs: Any, text: str, ours: str
) -> None:
    records = [{"id": "1", "their": {"one": theirs}}, {"id": "2", "their": {"one": ["b", "c"]}}]
    out = tmp_path / "ours.jsonl"
    shown = cli("convert", written(jsonl(*records)), "--map", f"their.one={ours}", "--out", out)
    assert shown.code == 0, shown.err
    found = [json.loads(line)[ours] for line in out.read_text("utf-8").splitlines()]
    assert found == [[text], ["b", "c"]]
