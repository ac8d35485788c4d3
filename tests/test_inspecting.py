"""`inspect`: why a file cannot be read, and commands that work as they are printed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.read.presets.kit import as_json, jsonl, parquet
from tests.support import Command, Record, Writer

# name, content, part of the reason
UNREADABLE: list[tuple[str, bytes, str]] = [
    ("cut.parquet", b"PAR1 and no more", "not a readable Parquet file"),
    ("none.parquet", b"", "not a readable Parquet file"),
    ("wide.jsonl", '{"case_id": "1"}\n'.encode("utf-16"), "the file is UTF-16"),
    ("wide.run", "q1 Q0 a 1 1 t\n".encode("utf-16"), "the file is UTF-16"),
    ("semicolons.csv", b"id;query\n1;a\n", "separated by ';'"),
    ("twice.csv", b"id,query,query\n1,a,b\n", "'query' is given twice"),
    ("ragged.csv", b"id,query\n1,a,b\n", "3 cells under 2 columns"),
    ("keys.jsonl", b'{"id": "1", "id": "2"}\n', "more than once"),
    ("half.jsonl", b'{"id": "\\ud800"}\n', "surrogate"),
    ("deep.jsonl", b"[" * 5000, "nested too deeply"),
    ("cut.json", b'{"results": [', "not valid JSON"),
    ("latin.run", "q1 Q0 é 1 1 t\n".encode("latin-1"), "not valid UTF-8 text"),
]


@pytest.mark.parametrize(("name", "content", "why"), UNREADABLE)
def test_why_a_file_cannot_be_read(
    cli: Command, written: Writer, name: str, content: bytes, why: str
) -> None:
    shown = cli("inspect", written(content, name))
    assert shown.code == 2
    assert why in shown.out
    assert "no case in it" not in shown.out


@pytest.mark.parametrize("name", ["none.csv", "none.jsonl", "none.run", "none.json"])
def test_an_empty_file_is_just_empty(cli: Command, written: Writer, name: str) -> None:
    shown = cli("inspect", written(b"", name))
    assert (shown.code, "no case in it" in shown.out) == (2, True)


def test_a_folder_is_told_from_a_file(cli: Command, written: Writer) -> None:
    shown = cli("inspect", written(b"{}\n", "mine/a.jsonl").parent)
    assert (shown.code, "inspect one of its files" in shown.out) == (2, True)


def test_a_table_without_rows_is_empty_too(cli: Command, written: Writer) -> None:
    import polars as pl  # noqa: PLC0415 - this test alone

    shown = cli("inspect", written(parquet([], qid=pl.String), "none.parquet"))
    assert (shown.code, "no case in it" in shown.out) == (2, True)


ATTRIBUTES = {
    "openinference": {"span": {"kind": "RETRIEVER"}},
    "input": {"value": "A?"},
    "retrieval": {"documents": [{"document": {"id": "a"}}]},
}
TEXTS_ONLY = {
    "event_id": "1",
    "record_attributes": {
        "ai.observability.span_type": "retrieval",
        "ai.observability.retrieval.query_text": "A?",
        "ai.observability.retrieval.retrieved_contexts": ["T"],
    },
}
# An output that is neither a list nor text: the labels alone are known.
NO_LIST = {
    "evalId": "e",
    "results": {
        "results": [
            {"vars": {"query": "A?", "correct_chunks": ["a"]}, "response": {"output": {"x": ["a"]}}}
        ]
    },
}
# name, content, what `inspect` must make of it, the end of its command
KNOWN: list[tuple[str, bytes, str | None, str]] = [
    ("results.json", as_json({"q1": {"a": 0.5, "b": 2}}), "beir", "--trace-from beir"),
    ("spans.jsonl", jsonl({"attributes": ATTRIBUTES}), "openinference", "openinference"),
    ("passages.jsonl", jsonl({"evidence_id": "a", "text": "T"}), None, "passages.jsonl"),
    (
        "nothing-returned.json",
        as_json(NO_LIST),
        "promptfoo",
        "nothing-returned.json --from promptfoo",
    ),
]


@pytest.mark.parametrize(("name", "content", "preset", "end"), KNOWN)
def test_what_is_known_by_more_than_its_first_bytes(
    cli: Command, written: Writer, name: str, content: bytes, preset: str | None, end: str
) -> None:
    found = _inspected(cli, written(content, name))
    assert (found["preset"], found["command"].endswith(end)) == (preset, True)


def test_reviews_are_no_corpus(cli: Command) -> None:
    assert "corpus" not in cli("inspect", "data/claims/reviews.jsonl").out


def test_the_printed_command_takes_the_file(cli: Command, written: Writer) -> None:
    command = shlex.split(_inspected(cli, written(as_json(NO_LIST), "p.json"))["command"])
    assert cli(*command[1:], "--no-write").code == 0


# The only ID that such records have is their place.
PLACES: list[tuple[str, Record]] = [
    ("azure", {"retrieval_ground_truth": [{"document_id": "a", "query_relevance_label": 1}]}),
    ("records", {"retrieved_ids": ["a"], "retrieval_f1": 0.5}),
]


@pytest.mark.parametrize(("preset", "record"), PLACES)
def test_places_join_nothing(cli: Command, written: Writer, preset: str, record: Record) -> None:
    path = written(jsonl(record))
    found = _inspected(cli, path)
    assert found["command"] == ""
    assert "no ID and no question" in found["reasons"][-1]
    both = ("--cases", path, "--trace", written(jsonl(record), "other.jsonl"))
    cli("evaluate", *both, "--from", preset, "--no-write").refuses("pair by ID, never by place")


def test_why_a_tool_s_file_is_refused_goes_before_a_guess(cli: Command, written: Writer) -> None:
    found = _inspected(cli, written(jsonl(TEXTS_ONLY)))
    assert (found["preset"], found["suggestions"]) == ("openinference", {})
    assert "--text-ids CORPUS" in found["reasons"][0]


def test_empty_lists_are_no_lists_of_ids(cli: Command, written: Writer) -> None:
    found = _inspected(cli, written(jsonl({"their_hits": [], "their_query": "A?"})))
    assert found["suggestions"] == {"their_query": "question"}


BARS = """id,question,expected_chunks,retrieved_chunks,answer,expected_answer,correct,team
1,"A, or B?",007|008,007 | 009,yes,yes,TRUE,north
2,C?,010,011,no,yes,false,south
"""


def test_a_home_grown_table_is_guessed_whole_and_its_command_works(
    cli: Command, written: Writer
) -> None:
    """One name nearly ours is no reason to know nothing; bars stand between IDs."""
    found = _inspected(cli, written(BARS.encode(), "golden.csv"))
    assert found["suggestions"] == {
        "expected_chunks": "required_ids",
        "retrieved_chunks": "retrieved_ids",
        "correct": "answer_correct",
    }
    assert found["dropped"] == {"team": 2}
    assert found["command"].endswith(" --list-separator '|'")
    shown = cli(*shlex.split(found["command"])[1:], "--no-write", "--format", "json")
    assert [case["missing"] for case in json.loads(shown.out)["cases"]] == [["008"], ["010"]]


NO_LISTS: list[tuple[str, Record]] = [
    ("a word", {"correct": "TRUE, or so", "results": "pass", "question": "A?"}),
    ("a sentence", {"passages": "Doors, windows and gates; all shut.", "question": "A?"}),
    ("an ID of no list", {"gold_chunks": "a", "question": "A?"}),
]


@pytest.mark.parametrize(("_what", "record"), NO_LISTS)
def test_what_is_no_list_of_ids_is_no_guess(
    cli: Command, written: Writer, _what: str, record: Record
) -> None:
    found = _inspected(cli, written(jsonl(record)))
    assert found["suggestions"] == {}
    assert "--list-separator" not in found["command"]


def _inspected(cli: Command, path: Path) -> Any:
    return json.loads(cli("inspect", path, "--format", "json").out)


LISTED = [
    # rows, and what separates the IDs
    ("case_id,required_ids,retrieved_ids", ["a,p1;p2,p1;p3;p2", "b,p4,p5;p6"], ";"),
    ("id,gold,hits", ["a,p1|p2,p1|p3|p2", "b,p4,p5|p6"], "|"),
    ("id,gold,hits", ['a,"p1, p2","p1, p3, p2"', 'b,p4,"p5, p6"'], ","),
    # A mark that every ID has is its own.
    ("case_id,required_ids,retrieved_ids", ["a,d|1,d|1", "b,d|2,d|3"], None),
    # Names with commas, which no other field knows the parts of.
    ("case_id,required_ids,retrieved_ids", ['a,"Smith, 2020",x', "b,y,y"], None),
    # Expected answers would be cut as well.
    (
        "case_id,required_ids,retrieved_ids,expected_answers",
        ["a,p1;p2,p1;p3;p2,yes; no", "b,p4,p5;p6,no"],
        None,
    ),
    # Nothing between two marks is no ID.
    ("case_id,required_ids,retrieved_ids", ["a,p1;;p2,p1;p3;p2", "b,p4,p5"], None),
    ("case_id,required_ids,retrieved_ids", ["a,p1,p1", "b,p4,p5"], None),
]


@pytest.mark.parametrize(("head", "rows", "mark"), LISTED)
def test_what_lies_between_ids_in_one_cell(
    cli: Command, written: Writer, head: str, rows: list[str], mark: str | None
) -> None:
    path = written("\n".join([head, *rows, ""]).encode(), "mine.csv")
    found = json.loads(cli("inspect", path, "--format", "json").out)
    assert found["list_separator"] == mark
    assert ("--list-separator" in found["command"]) is (mark is not None)
    if mark is None:
        return
    shown = cli(*shlex.split(found["command"])[1:], "--no-write", "--format", "json", "--all-cases")
    first, second = sorted(shown.report()["cases"], key=lambda case: str(case["case_id"]))
    assert first["metrics"]["recall_at_10"] == 1.0
    assert second["metrics"]["recall_at_10"] == 0.0


def test_what_is_mapped_and_then_refused_is_not_advised(cli: Command, written: Writer) -> None:
    good = {"id": "a", "gold_ids": ["x"], "claims": [{"claim_id": "c", "supported": True}]}
    bad = good | {"id": "b", "claims": [{"claim_id": "c", "note": 1}]}
    shown = cli("inspect", written(jsonl(good, bad)))
    assert "2 records: 1 can be mapped" in shown.out
    assert "claims: an item has the unknown key 'note'" in shown.out
    command = next(line for line in shown.out.splitlines() if line.startswith("run "))
    assert command.endswith("--from records --on-invalid quarantine")
    alone = cli("inspect", written(jsonl(bad)))
    assert alone.code == 2
    assert "unknown key 'note'" in alone.out
