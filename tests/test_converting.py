"""`convert` says what it leaves behind, and refuses what holds nothing that its preset knows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.read.presets.kit import as_json, jsonl
from tests.support import Command, Writer


def test_what_is_left_behind_is_said(cli: Command, written: Writer, tmp_path: Path) -> None:
    record = {"user_input": "A?", "retrieved_context_ids": ["a"], "theirs": 1, "said": "b"}
    options = ("--from", "ragas", "--map", "said=answer", "--out", tmp_path / "ours.jsonl")
    shown = cli("convert", written(jsonl(record)), *options)
    assert shown.code == 0, shown.err
    assert "fields as read: said = answer" in shown.err
    assert "unknown fields set aside (--from ragas): theirs (1)" in shown.err


@pytest.mark.parametrize("command", ["convert", "evaluate"])
def test_texts_without_ids_are_said_with_the_option_that_helps(
    cli: Command, written: Writer, tmp_path: Path, command: str
) -> None:
    texts = {"user_input": "A?", "retrieved_contexts": ["T"], "response": "yes"}
    ids = texts | {"retrieved_context_ids": ["t"], "reference_context_ids": ["t"]}
    corpus = written(jsonl({"evidence_id": "t", "text": "T"}), "corpus.jsonl")
    hint = "texts without IDs: retrieved_contexts; --text-ids CORPUS finds their IDs"
    told = {}
    for name, record, more in (
        ("texts", texts, ()),
        ("ids", ids, ()),
        ("found", texts, ("--text-ids", corpus)),
    ):
        path = written(jsonl(record), f"{name}.jsonl")
        shown = cli(command, path, "--from", "ragas", *more, "--out", tmp_path / name)
        assert shown.code == 0, shown.err
        told[name] = hint in shown.err
    assert told == {"texts": True, "ids": False, "found": False}


def test_other_systems_left_out_are_said(cli: Command, written: Writer, tmp_path: Path) -> None:
    rows = [
        {"vars": {"query": "A?"}, "provider": name, "response": {"output": ["a"]}}
        for name in ("one", "two")
    ]
    path = written(as_json({"evalId": "e", "results": {"results": rows}}), "p.json")
    options = ("--from", "promptfoo", "--system", "two", "--out", tmp_path / "ours.jsonl")
    shown = cli("convert", path, *options)
    assert "set aside: records left out: of other systems, or within others (1)" in shown.err
    assert "system: two" in shown.err


@pytest.mark.parametrize(
    "preset", ["records", "ragas", "azure", "deepeval", "ragchecker", "mtrag", "evidence-sets"]
)
@pytest.mark.parametrize("command", ["convert", "evaluate"])
def test_a_record_of_another_layout_is_no_empty_case(
    cli: Command, written: Writer, tmp_path: Path, command: str, preset: str
) -> None:
    path, out = written(jsonl({"theirs": 1, "more": [2]})), tmp_path / "ours.jsonl"
    options = ("--out", out) if command == "convert" else ("--no-write",)
    shown = cli(command, path, "--from", preset, *options)
    shown.refuses("none of its keys is known here (theirs, more)", "right preset?")
    assert not out.exists()


@pytest.mark.parametrize(
    "name", ["out.json", "out.jsonl.gz", "OUT.CSV", "out.tsv.zst", "o.parquet"]
)
def test_the_name_must_not_say_that_it_is_another_format(
    cli: Command, written: Writer, tmp_path: Path, name: str
) -> None:
    path = written([{"case_id": "a"}])
    cli("convert", path, "--out", tmp_path / name).refuses(name, "JSON lines; name it .jsonl")
    assert not (tmp_path / name).exists()


def test_what_is_no_file_is_not_replaced(cli: Command, written: Writer, tmp_path: Path) -> None:
    path, pipe, folder = written([{"case_id": "a"}]), tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    for there in (pipe, folder):
        cli("convert", path, "--out", there, "--force").refuses(str(there), "not a regular file")
    assert pipe.is_fifo()
    assert folder.is_dir()


def test_a_case_without_a_trace_does_not_become_a_silence(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    cases = written(jsonl({"case_id": "a", "answerable": False}, {"case_id": "b"}), "c.jsonl")
    trace = written(jsonl({"case_id": "b", "answer": "yes"}), "t.jsonl")
    given = ("convert", "--cases", cases, "--trace", trace, "--out", tmp_path / "ours.jsonl")
    cli(*given, "--missing-trace", "empty").refuses("pass --missing-trace not-run")
    assert not (tmp_path / "ours.jsonl").exists()
    assert cli(*given, "--missing-trace", "not-run").code == 0
    shown = cli(
        "evaluate", tmp_path / "ours.jsonl", "--no-write", "--format", "json", "--all-cases"
    )
    stages = {case["case_id"]: case["stage"] for case in shown.report()["cases"]}
    assert stages["a"] == "not_run"
    # Where no answer is recorded at all, nothing is mistaken for one.
    bare = written(jsonl({"case_id": "b", "retrieved_ids": ["x"]}), "bare.jsonl")
    plain = ("convert", "--cases", cases, "--trace", bare, "--out", tmp_path / "bare-ours.jsonl")
    assert cli(*plain, "--missing-trace", "empty").code == 0
