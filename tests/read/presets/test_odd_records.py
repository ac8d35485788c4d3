"""Records that no tool should write and some do: refused with their line, or read as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.read.presets.kit import asked, jsonl
from tests.support import Command, Record, Writer, manifest_of

CORPUS = jsonl({"evidence_id": "c1", "text": "T1"})
RETRIEVER = {"openinference.span.kind": "RETRIEVER", "input.value": "A?"}


def span(**attributes: Any) -> Record:
    return {"attributes": RETRIEVER | {k.replace("__", "."): v for k, v in attributes.items()}}


# preset, record, where the fault is, part of the reason
REFUSED: list[tuple[str, Any, str, str]] = [
    ("ragas", {"user_input": "A?", "retrieved_contexts": 5}, "retrieved_ids", "list of texts"),
    ("ragas", {"user_input": "A?", "retrieved_contexts": {"T1": 1}}, "retrieved_ids", "of texts"),
    ("ragas", {"id": "\ud800", "retrieved_context_ids": [{}]}, "record", "surrogate"),
    ("ragas", {"user_input": "A?", "theirs\ud800": 1}, "record", "surrogate"),
    ("mtrag", {"task_id": "a::1", "contexts": "\ud800"}, "record", "surrogate"),
    ("mtrag", {"task_id": "a::1", "input": 5}, "question", "expected turns"),
    ("deepeval", {"input": "A?", "context": 5}, "required_ids", "list of texts"),
    ("evidence-sets", {"id": 1, "supporting_facts": 5}, "required_groups", "supporting facts"),
    ("evidence-sets", {"id": 1, "supporting_facts": [[None, 3]]}, "required_groups", "names no"),
    (
        "evidence-sets",
        {"id": 1, "evidence": {"d": [{"sentences": [None]}]}},
        "required_groups",
        "no `sentences`",
    ),
    ("ragchecker", {"query_id": "1", "response_claims": "said"}, "claims", "list of claims"),
    ("openinference", 5, "record", "not an object"),
    ("openinference", {"resourceSpans": [5]}, "record", "`resourceSpans` is no list of objects"),
    ("openinference", {"resourceSpans": [{"scopeSpans": [{"spans": 5}]}]}, "record", "`spans`"),
    ("openinference", {"attributes": "[a b]"}, "question", "looks like a list"),
    ("openinference", {"context": "[a b]", **span()}, "case_id", "looks like a list"),
    ("openinference", span(retrieval__documents=[None]), "retrieved_ids", "no document.id"),
    (
        "records",
        {"id": "1", "gold_chunk_id": None, "also_acceptable": ["a"]},
        "required_groups",
        "",
    ),
    (
        "azure",
        {"retrieved_documents": [{"document_id": "a", "relevance_score": "1_0"}]},
        "retrieved_ids",
        "no finite score",
    ),
    ("records", {"id": "1", "claims": "none"}, "claims", "list of claims"),
    ("records", {"id": "1", "required_ids": f"[{'-' * 2000}1]"}, "required_ids", "looks like"),
]


@pytest.mark.parametrize(("preset", "record", "field", "why"), REFUSED)
def test_what_cannot_be_mapped_is_refused_with_its_line(
    cli: Command, written: Writer, preset: str, record: Any, field: str, why: str
) -> None:
    path = written(b"\n" + (json.dumps(record) + "\n").encode())
    texts = ("--text-ids", written(CORPUS, "corpus.jsonl"))
    shown = cli("evaluate", path, "--from", preset, *texts, "--no-write")
    assert shown.code == 2
    assert f"{path}:2: {field}: " in shown.err
    assert why in shown.err


# preset, record, what of ours it comes to
READ: list[tuple[str, Record, Record]] = [
    (
        "evidence-sets",
        {"id": 1, "claim": "A.", "evidence": '[[[1, 2, "P", 0]]]'},
        {"required_groups": [["P#0"]]},
    ),
    (
        "evidence-sets",
        {"id": 1, "question": "A?", "supporting_facts": "[['T', 0], ['U', 2]]"},
        {"required_groups": [["T#0"], ["U#2"]]},
    ),
    (
        "ragas",
        {"user_input": "A?", "reference": "(0, 1)", "response": "(none)"},
        {"expected_answers": ["(0, 1)"], "answer": "(none)"},
    ),
    ("ragas", {"user_input": "A?", "reference": "(see B)"}, {"expected_answers": ["(see B)"]}),
    ("ragas", {"user_input": "A?", "reference": "[1, 2]"}, {"expected_answers": ["[1, 2]"]}),
    (
        "ragas",
        {"user_input": "A?", "ground_truths": "['x', 'y']"},
        {"expected_answers": ["x", "y"]},
    ),
    (
        "mtrag",
        {"task_id": "a::1", "collection": None, "targets": [{"text": 1.50}, {"text": None}]},
        {"expected_answers": ["1.5"]},
    ),
    (
        "records",
        {"id": "1", "tags": "easy", "category": "x"},
        {"tags": ["easy", "category=x"]},
    ),
    (
        "records",
        {"id": "1", "expected_ids": "['x', 'y']", "required_support_groups": "[[0, 1]]"},
        {"required_groups": [["x", "y"]]},
    ),
    (
        "records",
        {"id": "1", "claims": [{"claim_id": 1.5, "supported": "yes", "cited_ids": [7]}]},
        {"claims": [{"claim_id": "1.5", "supported": True, "cited_ids": ["7"], "text": None}]},
    ),
    (
        "promptfoo",
        {"vars": {"query": "A?"}, "response": {"output": '{"x": 1}'}},
        {"answer": '{"x": 1}'},
    ),
    (
        "trec-rag",
        {"qid": 1, "nuggets": [{"text": "x", "importance": None}]},
        {"required_claims": ["nugget-1"]},
    ),
]


@pytest.mark.parametrize(("preset", "record", "ours"), READ)
def test_what_can_be_mapped_is_read_as_it_is(
    cli: Command, written: Writer, tmp_path: Path, preset: str, record: Record, ours: Record
) -> None:
    out = tmp_path / "ours.jsonl"
    shown = cli("convert", written(jsonl(record)), "--from", preset, "--out", out)
    assert shown.code == 0, shown.err
    converted = json.loads(out.read_text("utf-8"))
    assert {name: converted.get(name) for name in ours} == ours
    assert not [tag for tag in converted.get("tags") or () if "None" in tag]


def test_a_collection_without_spans_is_counted(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    documents = [{"document.id": "a"}]
    path = written(jsonl({"resourceSpans": []}, span(retrieval__documents=documents)))
    out = tmp_path / "runs"
    shown = cli("evaluate", path, "--from", "openinference", "--out", out, "--run-id", "r")
    assert shown.code == 0, shown.err
    assert manifest_of(out / "r")["dropped"] == {
        "(records left out: of other systems, or within others)": 1
    }
    shown = cli("convert", path, "--from", "openinference", "--out", tmp_path / "ours.jsonl")
    assert json.loads((tmp_path / "ours.jsonl").read_text("utf-8"))["case_id"] == asked("A?")
