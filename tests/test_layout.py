"""What the layout of files implies for the rest of a request."""

from __future__ import annotations

from pathlib import Path

from tests.read.presets.kit import as_json, jsonl
from tests.support import Command, Writer

SHOWN = ("--no-write", "--format", "json")


def test_a_corpus_that_also_holds_the_cases_is_of_their_layout(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    written("query-id\tcorpus-id\tscore\nq1\td1\t1\n", "set/qrels/test.tsv")
    written(jsonl({"_id": "q1", "text": "A?"}), "set/queries.jsonl")
    written(jsonl({"_id": "d2", "title": "", "text": "T"}), "set/corpus.jsonl")
    one = {"queries": {"q1": "A?"}, "corpus": {"d2": "T"}, "relevant_docs": {"q1": ["d1"]}}
    file = written(as_json(one), "one.json")
    trace = ("--trace", written("q1 Q0 d1 1 1 t\n", "a.run"), "--trace-from", "trec")
    for preset, path in (("beir", folder), ("llamaindex", file)):
        given = ("--cases", path, "--cases-from", preset, "--corpus", path)
        findings = cli("evaluate", *given, *trace, *SHOWN).report()["findings"]
        # d1 is required, and only d2 is in either corpus
        assert "dangling-required" in {found["finding"] for found in findings}
