"""What only the whole file tells, and names and kinds that change from record to record."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from ragtriage.read import batches
from ragtriage.read.files import InputFile
from tests.read.support import Record, gathered, read, source_of
from tests.support import lines_of

# A value whose text looks like a key is read by the exact path.
LOOKALIKE = '":'


def content(records: list[Record]) -> bytes:
    return lines_of(records).encode()


@pytest.fixture(params=[100_000, 7, 1])
def _batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_RECORDS", request.param)


@pytest.fixture(params=[100_000, 60])
def _large_batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_RECORDS", request.param)


@pytest.mark.usefixtures("_large_batches")
@pytest.mark.parametrize("at", [0, 1, 999])
def test_a_list_that_only_one_record_has_is_missing_from_all_others(at: int) -> None:
    records: list[Record] = [{"case_id": f"c{i}"} for i in range(1000)]
    records[at]["retrieved_ids"] = ["p"]
    found = read(content(records))
    assert found.lines == [at + 1]
    assert found.places == [
        (line, "retrieved_ids", "missing-field") for line in range(1, 1001) if line != at + 1
    ]


@pytest.mark.usefixtures("_large_batches")
@pytest.mark.parametrize("at", [0, 500, 999])
@pytest.mark.parametrize("given", [{}, {"retrieved": []}, {"retrieved_ids": None}])
def test_a_list_that_one_record_lacks(at: int, given: Record) -> None:
    records: list[Record] = [{"case_id": f"c{i}", "retrieved_ids": ["p"]} for i in range(1000)]
    records[at] = {"case_id": "x", **given}
    found = read(content(records))
    lacks = [] if given else [(at + 1, "retrieved_ids", "missing-field")]
    assert found.places == lacks
    assert found.frame.height == 1000 - len(lacks)


def test_a_list_that_only_a_faulty_record_has_is_asked_of_nobody() -> None:
    found = read(b'{"case_id": "a"}\n{"case_id": 7, "retrieved_ids": []}\n{"case_id": "b"}\n')
    assert found.places == [(2, "case_id", "type")]
    assert found.lines == [1, 3]


@pytest.mark.usefixtures("_batches")
def test_scalars_may_come_and_go() -> None:
    records = [
        {"case_id": f"c{i}"}
        | ({"weight": i + 0.5} if i % 3 == 0 else {})
        | ({"answer": LOOKALIKE} if i % 5 == 0 else {})
        | ({"tags": [f"t{i}"]} if i % 7 == 0 else {})
        for i in range(100)
    ]
    assert read(content(records)).rows == records


@pytest.mark.usefixtures("_batches")
def test_each_record_may_use_other_names() -> None:
    names = ("retrieved_ids", "retrieved", "retrieved_chunk_ids")
    ids = ("case_id", "id", "qid")
    records = [{ids[i // 3 % 3]: f"c{i}", names[i % 3]: [f"p{i}"]} for i in range(60)]
    found = read(content(records))
    assert found.rows == [{"case_id": f"c{i}", "retrieved_ids": [f"p{i}"]} for i in range(60)]


@pytest.mark.usefixtures("_batches")
def test_a_list_under_changing_names_is_still_missed() -> None:
    records: list[Record] = [
        {"case_id": "a", "retrieved_ids": ["p"]},
        {"case_id": "b", "retrieved": ["p"]},
        {"case_id": "c", "retrieved_ids": ["p"]},
    ]
    lacking = {"case_id": "d"}
    for at in range(4):
        found = read(content([*records[:at], lacking, *records[at:]]))
        assert found.places == [(at + 1, "retrieved_ids", "missing-field")]


@pytest.mark.usefixtures("_batches")
def test_an_id_under_changing_names_is_still_missed() -> None:
    records = [{"case_id": "a"}, {"id": "b"}, {"question": "q"}, {"case_id": "c"}, {"qid": None}]
    found = read(content(records + records))
    assert found.lines == [1, 2, 4, 6, 7, 9]
    assert found.places == [(n, "case_id", "missing-field") for n in (3, 5, 8, 10)]


KINDS: list[tuple[Any, Any]] = [(None, []), ("x", ["x"]), (["y", "z"], ["y", "z"])]


@pytest.mark.thorough
@pytest.mark.usefixtures("_batches")
@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("look", ["", LOOKALIKE])
def test_text_and_list_under_one_scalar_name(order: tuple[int, ...], look: str) -> None:
    # Three of each kind after another, so that a batch of each may come before the next is met.
    kinds = [KINDS[kind] for kind in order for _ in range(21)]
    records = [
        {"case_id": f"c{i}", "answer": look, "reference": given}
        for i, (given, _) in enumerate(kinds)
    ]
    assert [row["expected_answers"] for row in read(content(records)).rows] == [
        expected for _, expected in kinds
    ]


@pytest.mark.usefixtures("_batches")
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_tags_come_before_what_joins_them(order: tuple[int, ...]) -> None:
    members = [("difficulty", "hard"), ("tags", ["t"]), ("category", "fire")]
    shuffled = dict(members[i] for i in order)
    records: list[Record] = [
        {"case_id": "a", **shuffled},
        {"case_id": "b", **dict(members)},
        {"case_id": "c", "answer": LOOKALIKE, **shuffled},
        {"case_id": "d", "category": " "},
        {"case_id": "e", "category": None, "tags": None},
        {"case_id": "f", "answer": LOOKALIKE, "category": ""},
        {"case_id": "g", "category": ["x", "y"], "difficulty": 3},
        {"case_id": "h", "category": True},
    ]
    every = ["t", "category=fire", "difficulty=hard"]
    tags = {row["case_id"]: row.get("tags") for row in read(content(records)).rows}
    assert tags == {
        **dict.fromkeys("abc", every),
        "d": [],
        "e": None,
        "f": [],
        "g": ["x", "y", "difficulty=3"],
        "h": ["category=true"],
    }


@pytest.mark.usefixtures("_batches")
@pytest.mark.parametrize("look", ["", LOOKALIKE])
@pytest.mark.parametrize("first", [0, 1, 2])
def test_none_given_is_said_of_nulls_that_are_there(look: str, first: int) -> None:
    given: list[tuple[Record, bool, list[str] | None]] = [
        ({"source": "p", "expected_answer": "yes"}, False, ["yes"]),
        ({"source": None, "expected_answer": None}, True, []),
        ({"source": None}, False, None),
    ]
    given = given[first:] + given[:first]
    records = [{"case_id": f"c{i}", "context": look, **g} for i, (g, *_) in enumerate(given)]
    for record in records:
        record["context"] = [look]
    found = read(content(records), contract="diagnosis").frame
    assert found["none_given"].to_list() == [none for _, none, _ in given]
    assert found["expected_answers"].to_list() == [answers for *_, answers in given]


@pytest.mark.usefixtures("_batches")
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([None, "x", "y"], [[], ["x"], ["y"]]),
        (["x", None, "y"], [["x"], [], ["y"]]),
        (["x", ["y"], None], [["x"], ["y"], None]),
        ([["y"], None, ["x"]], [["y"], None, ["x"]]),
        ([None, ["y"], "x"], [None, ["y"], ["x"]]),
    ],
)
def test_null_under_a_mapped_name_means_none_where_it_only_ever_held_text(
    values: list[Any], expected: list[Any]
) -> None:
    records = [{"case_id": f"c{i}", "gold": value} for i, value in enumerate(values)]
    found = read(content(records), map={"gold": "required_ids"})
    assert found.frame["required_ids"].to_list() == expected


@pytest.mark.usefixtures("_batches")
def test_null_under_a_mapped_name_means_none_whichever_name_stands_first() -> None:
    records: list[Record] = [
        {"case_id": "a", "required_ids": ["p"]},
        {"case_id": "b", "gold": None},
        {"case_id": "c", "gold": "q"},
    ]
    for order in permutations(records):
        found = read(content(list(order)), map={"gold": "required_ids"}).frame
        ids = dict(found.select("case_id", "required_ids").iter_rows())
        assert ids == {"a": ["p"], "b": [], "c": ["q"]}


def test_null_under_a_mapped_alias_means_what_it_means_under_its_contract() -> None:
    records: list[Record] = [{"case_id": "a", "source": None}, {"case_id": "b", "source": ["p"]}]
    for some in (records[:1], records):
        found = read(content(some), map={"source": "required_ids"}).frame["required_ids"]
        assert found.to_list() == [[], ["p"]][: len(some)]


def test_names_that_polars_takes_for_patterns() -> None:
    line = b'{"^.*$": "a", "*": "b", "": "c", "case_id": "d", "a.b": "e"}\n'
    mapping = {"^.*$": "question", "*": "split", "": "group", "a.b": "filters"}
    row = {"question": "a", "split": "b", "group": "c", "case_id": "d", "filters": "e"}
    assert read(line, map=mapping).rows == [row]


def test_what_a_file_turned_out_to_hold() -> None:
    source = source_of(
        b'{"id": "a", "query": "q", "x": 1, "category": "c"}\n{"id": "b", "y": 1}\n',
        extra="ignore",
    )
    index = source.index()
    assert index.fields == {"case_id", "question", "tags"}
    assert index.mapping == {"id": "case_id", "query": "question", "category": "tags"}
    assert index.dropped == {"x": 1, "y": 1}


@pytest.mark.usefixtures("_batches")
def test_every_name_of_a_field_is_in_the_mapping_wherever_it_first_stands() -> None:
    records: list[Record] = [
        {"case_id": "a", "answer": "x"},
        {"case_id": "b", "response": "x"},
        {"qid": "c", "said": "x"},
    ]
    read_as = {"response": "answer", "said": "answer", "qid": "case_id"}
    for order in permutations(records):
        source = source_of(content(list(order)), map={"said": "answer"})
        assert source.index().mapping == read_as


def test_unknown_keys_without_end() -> None:
    records = [{"case_id": f"c{i}", f"x{i}": i} for i in range(300)]
    found = read(content(records), extra="ignore")
    assert found.rows == [{"case_id": f"c{i}"} for i in range(300)]


def test_records_of_one_line_are_told_apart() -> None:
    records = [
        {"case_id": "a", "weight": "x"},
        {"case_id": "b"},
        {"case_id": "c", "answer": LOOKALIKE},
        {"case_id": 4},
        {"case_id": "e", "weight": 1},
    ]
    found = read(json.dumps(records).encode(), "in.json")
    assert [row["case_id"] for row in found.rows] == ["b", "c", "e"]
    assert found.frame["record"].to_list() == [2, 3, 5]
    assert found.lines == [1, 1, 1]
    assert [(f.record, f.line, f.case_id) for f in found.faults] == [(1, 1, "a"), (4, 1, None)]
    (chunk,) = found.chunks
    assert json.loads(chunk.raw(5)) == records[4]


def test_a_file_that_changes_between_the_passes_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"case_id": "a"}\n')
    source = source_of(b"")
    source.file = InputFile(str(path), path, "jsonl")
    index = source.index()
    path.write_bytes(b'{"case_id": "a"}\n{"case_id": "b"}\n')
    with pytest.raises(Exception, match="changed while it was read; run again"):
        list(source.chunks(index))
    assert gathered(source).frame.height == 2
