"""Cases and traces from files of their own: pairs, faults on either side, and their lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragtriage.read import join, pairs
from tests.read.joining import Run, case, trace
from tests.support import Command, Record, Writer, lines_of


@pytest.fixture
def run(cli: Command, written: Writer, tmp_path: Path) -> Run:
    return Run(cli, written, tmp_path)


def test_pairs_in_any_order_over_several_files(run: Run) -> None:
    found = run(
        [case("a", split="dev"), case("b"), case("c")],
        [trace("c", answer="C"), trace("a", answer="A")],
        [{"qid": "b", "retrieved": ["q"], "response": "B"}],
    )
    assert list(found.cases) == ["a", "b", "c"]
    assert {i: (c["answer"], c["retrieved_ids"]) for i, c in found.cases.items()} == {
        "a": ("A", ["p"]),
        "b": ("B", ["q"]),
        "c": ("C", ["p"]),
    }
    assert found.cases["a"]["split"] == "dev"
    assert not found.rejects


def test_answer_in_a_cases_file_is_the_expected_answer(run: Run) -> None:
    found = run(
        [case("a", answer="Yes"), case("b", answer=None)],
        [trace("a", answer="yes"), trace("b", answer=None)],
    ).cases
    assert found["a"]["expected_answers"] == ["Yes"]
    assert found["a"]["answer_match"] is True
    assert (found["b"]["expected_answers"], found["b"]["answer"]) == ([], None)


EQUAL: dict[str, Any] = {
    "question": "q",
    "tags": ["x", "y"],
    "weight": 0.1,
    "required_ids": ["p"],
    "required_groups": [["p", "q"]],
    "grades": [{"id": "p", "grade": 2}],
    "answerable": True,
    "context_text": "\x00\u2028",
}
OTHER: dict[str, Any] = {
    "question": "Q",
    "tags": ["y", "x"],
    "weight": 0.1 + 2**-55,
    "required_ids": ["p", "p"],
    "required_groups": [["q", "p"]],
    "grades": [{"id": "p", "grade": 3}],
    "answerable": None,
    "context_text": "\u2028\x00",
}


@pytest.mark.parametrize("field", EQUAL)
def test_a_field_of_both_files_must_be_equal(run: Run, field: str) -> None:
    same, other = {field: EQUAL[field]}, {field: OTHER[field]}
    found = run(
        [case("a") | same, case("b") | same, case("c") | {field: None}],
        [trace("a") | same, trace("b") | other, trace("c") | same],
    )
    assert found.cases["a"][field] == found.cases["c"][field] == EQUAL[field]
    if OTHER[field] is None:
        assert found.cases["b"][field] == EQUAL[field]
        return
    assert set(found.cases) == {"a", "c"}
    assert found.rejects == [
        ("cases.jsonl", 2, "b", field, "field-conflict"),
        ("trace.jsonl", 2, "b", "case_id", "field-conflict"),
    ]
    assert found.messages[0].startswith("differs from its trace (trace.jsonl:2)")
    assert found.messages[1] == "set aside with its case (cases.jsonl:2)"
    assert json.loads(found.raws[0]) == case("b") | same
    assert json.loads(found.raws[1]) == trace("b") | other
    assert found.lines == {
        "cases.jsonl": {"read": 3, "accepted": 2, "set_aside": 1, "blank": 0},
        "trace.jsonl": {"read": 3, "accepted": 2, "set_aside": 1, "blank": 0},
    }


def test_repeats_on_either_side(run: Run) -> None:
    found = run(
        [case("a"), case("a"), case("b"), case("c")],
        [trace("a"), trace("b")],
        [trace("b"), trace("c")],
    )
    assert set(found.cases) == {"c"}
    assert sorted(found.rejects) == [
        ("cases.jsonl", 1, "a", "case_id", "duplicate-case-id"),
        ("cases.jsonl", 2, "a", "case_id", "duplicate-case-id"),
        ("cases.jsonl", 3, "b", "case_id", "missing-trace"),
        ("trace.jsonl", 1, "a", "case_id", "unknown-case"),
        ("trace.jsonl", 2, "b", "case_id", "duplicate-case-id"),
        ("trace1.jsonl", 1, "b", "case_id", "duplicate-case-id"),
    ]
    assert found.lines["cases.jsonl"] == {"read": 4, "accepted": 1, "set_aside": 3, "blank": 0}
    assert found.lines["trace1.jsonl"] == {"read": 2, "accepted": 1, "set_aside": 1, "blank": 0}


STRUCTURE = '{"case_id": "b", "%s": "x"}'


def test_a_broken_record_takes_its_partner_along(run: Run) -> None:
    found = run(
        f"{lines_of([case('a')])}\n{STRUCTURE % 'required_ids'}\n{lines_of([case('c')])}",
        f"{lines_of([trace('a'), trace('b')])}{STRUCTURE.replace('b', 'c') % 'retrieved_ids'}\n\n",
    )
    assert set(found.cases) == {"a"}
    assert sorted(found.rejects) == [
        ("cases.jsonl", 3, "b", "required_ids", "type"),
        ("cases.jsonl", 4, "c", "case_id", "missing-trace"),
        ("trace.jsonl", 2, "b", "case_id", "unknown-case"),
        ("trace.jsonl", 3, "c", "retrieved_ids", "type"),
    ]
    assert "set aside with its case (cases.jsonl:3)" in found.messages
    assert "set aside with its trace (trace.jsonl:3)" in found.messages
    assert found.lines == {
        "cases.jsonl": {"read": 4, "accepted": 1, "set_aside": 2, "blank": 1},
        "trace.jsonl": {"read": 4, "accepted": 1, "set_aside": 2, "blank": 1},
    }


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
@pytest.mark.parametrize("chunk_rows", [25_000, 1])
def test_a_broken_rule_is_told_where_the_field_was_given(
    run: Run, monkeypatch: pytest.MonkeyPatch, suffix: str, chunk_rows: int
) -> None:
    monkeypatch.setattr(join, "CHUNK_ROWS", chunk_rows)
    cases = [
        case("a", weight=-1),
        case("b", required_ids=["p "]),
        case("c"),
        case("d"),
        case("e", weight=None),
        case("f", weight=2),
    ]
    traces = [
        *(trace("f", weight=None), trace("e", weight=-2), trace("d")),
        *(trace("c", retrieved_ids=[""]), trace("b", retrieved_ids=[""]), trace("a")),
    ]
    # As one line, every record of an array is at line 1.
    write = json.dumps if suffix == "json" else lines_of
    found = run(write(cases), write(traces), suffixes=(suffix, suffix))
    assert set(found.cases) == {"d", "f"}
    line = (lambda n: n) if suffix == "jsonl" else (lambda _n: 1)
    c, t = f"cases.{suffix}", f"trace.{suffix}"
    assert sorted(found.rejects) == sorted(
        [
            (c, line(1), "a", "weight", "weight"),
            (t, line(6), "a", "case_id", "weight"),
            (c, line(2), "b", "required_ids", "id-whitespace"),
            (t, line(5), "b", "retrieved_ids", "blank-id"),
            (c, line(3), "c", "case_id", "blank-id"),
            (t, line(4), "c", "retrieved_ids", "blank-id"),
            (c, line(5), "e", "case_id", "weight"),
            (t, line(2), "e", "weight", "weight"),
        ]
    )
    for (file, _, case_id, *_), raw in zip(found.rejects, found.raws, strict=True):
        side = cases if file == c else traces
        assert json.loads(raw) == next(r for r in side if r["case_id"] == case_id)


MISSING: dict[str, Record | None] = {
    "fail": None,
    "empty": {"retrieved_ids": [], "error": None, "stage": "retrieval"},
    "not-run": {
        "retrieved_ids": None,
        "error": "no trace was recorded for this case",
        "stage": "not_run",
    },
}


@pytest.mark.parametrize("choice", MISSING)
def test_cases_without_a_trace(run: Run, choice: str) -> None:
    found = run([case("a"), case("b")], [trace("a", answer="x")], missing_trace=choice)
    expected = MISSING[choice]
    if expected is None:
        assert found.rejects == [("cases.jsonl", 2, "b", "case_id", "missing-trace")]
        assert set(found.cases) == {"a"}
    else:
        assert not found.rejects
        assert {name: found.cases["b"][name] for name in expected} == expected
        assert found.cases["b"]["answer"] is None
        assert any(note.startswith("cases without a trace: 1,") for note in found.notes)


@pytest.mark.parametrize("choice", ["fail", "ignore"])
def test_traces_without_a_case(run: Run, choice: str) -> None:
    found = run([case("a")], [trace("z"), trace("a"), trace("y")], unknown_trace=choice)
    assert set(found.cases) == {"a"}
    assert found.rejects == [
        ("trace.jsonl", 1, "z", "case_id", "unknown-case"),
        ("trace.jsonl", 3, "y", "case_id", "unknown-case"),
    ]
    left_out = [note for note in found.notes if "traces of unknown cases left out: 2" in note]
    assert bool(left_out) == (choice == "ignore")
    assert found.lines["trace.jsonl"]["set_aside"] == 2


def test_a_faulty_record_repeats_an_id_all_the_same(run: Run) -> None:
    found = run(
        [case("a"), case("b")],
        [trace("a", weight="x"), trace("a"), trace("b")],
    )
    assert set(found.cases) == {"b"}
    assert sorted(found.rejects) == [
        ("cases.jsonl", 1, "a", "case_id", "missing-trace"),
        ("trace.jsonl", 1, "a", "case_id", "duplicate-case-id"),
        ("trace.jsonl", 1, "a", "weight", "type"),
        ("trace.jsonl", 2, "a", "case_id", "duplicate-case-id"),
    ]
    assert found.lines["trace.jsonl"] == {"read": 3, "accepted": 1, "set_aside": 2, "blank": 0}


EMPTY = {"jsonl": ("", "\n\n"), "json": ("[]",), "csv": ("case_id\n",)}


@pytest.mark.parametrize(("suffix", "empty"), [(s, e) for s, es in EMPTY.items() for e in es])
def test_a_side_without_records(
    cli: Command, written: Writer, run: Run, suffix: str, empty: str
) -> None:
    cases, traces = written([case("a")], "c.jsonl"), written([trace("a")], "t.jsonl")
    nothing = written(empty, f"nothing.{suffix}")
    cli("validate", "--cases", cases, "--trace", nothing).refuses("c.jsonl:1", "[missing-trace]")
    cli("validate", "--cases", nothing, "--trace", traces).refuses("t.jsonl:1", "[unknown-case]")
    cli("validate", "--cases", nothing, "--trace", nothing).refuses("no case in it")
    found = run([case("a")], empty, suffixes=("jsonl", suffix), missing_trace="empty")
    assert found.cases["a"]["stage"] == "unprepared"


def test_many_broken_pairs_take_no_long_time(run: Run) -> None:
    number = 4000
    found = run(
        [case(f"c{i}", weight=-1) for i in range(number)] + [case("good")],
        [trace(f"c{i}") for i in range(number)] + [trace("good")],
    )
    assert set(found.cases) == {"good"}
    assert len(found.rejects) == 2 * number


@pytest.mark.parametrize("items", [1, 7, 10**6])
def test_long_lists_make_small_chunks_and_nothing_else(
    run: Run, monkeypatch: pytest.MonkeyPatch, items: int
) -> None:
    monkeypatch.setattr(pairs, "CHUNK_ITEMS", items)
    cases = [case(f"q{i}", required_ids=["p"] * (i % 4)) for i in range(9)]
    traces = [trace(f"q{i}", retrieved_ids=["x"] * (5 * (i % 3)) + ["p"]) for i in range(8, -1, -1)]
    found = run(cases, traces)
    assert list(found.cases) == [f"q{i}" for i in range(9)]
    assert [len(row["retrieved_ids"]) for row in found.cases.values()] == [1, 6, 11] * 3
