"""Values as others write them: IDs as text, lists as text, labels, grades, paths, documents."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.errors import InputError
from ragtriage.read.files import InputFile
from ragtriage.read.presets import values
from ragtriage.read.presets.base import UnmappableError
from ragtriage.read.presets.evidence_sets import as_groups
from ragtriage.read.presets.foreign import parse
from ragtriage.read.presets.nested import read_nested
from ragtriage.read.presets.paths import dig
from ragtriage.read.presets.typed import typed

# JSON text of an ID, and the ID
WRITTEN = {
    "9007199254740993": "9007199254740993",
    "340282366920938463463374607431768211456": "340282366920938463463374607431768211456",
    "-0": "-0",
    "1.50": "1.50",
    "1e3": "1e3",
    '"007"': "007",
}


@pytest.mark.parametrize("text", WRITTEN)
def test_an_id_is_text_exactly_as_it_is_written(text: str) -> None:
    assert values.text_of("case_id", parse(text)) == WRITTEN[text]
    assert values.ids_of("required_ids", f"[{text}]") == [WRITTEN[text]]


@given(st.lists(st.integers() | st.text()))
def test_lists_come_back_from_json_and_from_python(items: list[int | str]) -> None:
    expected = [str(item) for item in items]
    assert values.ids_of("required_ids", json.dumps(items)) == expected
    assert values.ids_of("required_ids", repr(items)) == expected


LISTS: list[tuple[Any, str | None, Any]] = [
    (None, None, None),
    ("", None, None),
    ("a", None, ["a"]),
    (7, None, ["7"]),
    ("a | b", None, ["a", "b"]),
    ("a|b", None, ["a|b"]),
    ("a | ", None, ["a"]),
    ("a | b;c", ";", ["a | b", "c"]),
    (["a | b"], None, ["a | b"]),
    ("a | b", "|", ["a", "b"]),
    ("a;b;", ";", ["a", "b"]),
    ("('a', 2)", None, ["a", "2"]),
    ("[]", None, []),
    ("{a}", None, ["{a}"]),
    ("[a, b]", ",", ["a", "b"]),
    ("(a|b)", "|", ["a", "b"]),
    ("[a]|[b]", "|", ["[a]", "[b]"]),
    ("['a', 'b']", "|", ["a", "b"]),
]


@pytest.mark.parametrize(("value", "separator", "expected"), LISTS)
def test_lists_however_they_are_written(value: Any, separator: str | None, expected: Any) -> None:
    assert values.ids_of("required_ids", value, separator) == expected


HOSTILE = [
    "{'a', 'b'}",
    "[open('/etc/passwd').read()]",
    "[x for x in (1, 2)]",
    "['a' + 'b']",
    "[1, 2",
    "[f'{1}']",
    "(" * 5000 + ")" * 5000,
    "[" * 50_000 + "]" * 50_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_literal_is_parsed_and_never_evaluated(text: str) -> None:
    try:
        found = values.ids_of("required_ids", text)
    except UnmappableError:
        return
    assert found == [text]  # what is no list of ours stays one text


WRONG: list[tuple[str, Any]] = [
    ("required_ids", [None]),
    ("required_ids", [["a"]]),
    ("required_ids", [True]),
    ("required_ids", [1.5]),  # a float of a typed table may have lost digits
    ("required_groups", [["a", {}]]),
    ("answerable", "maybe"),
    ("answerable", 2),
    ("grades", [{"id": "a"}]),
    ("grades", [{"grade": 1}]),
    ("grades", {"a": "1.5"}),
    ("grades", {"a": True}),
    ("grades", {"a": float("nan")}),
    ("weight", "heavy"),
    ("question", ["a", "b"]),
    ("question", {"a": 1}),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_cannot_be_a_value_is_refused(name: str, value: Any) -> None:
    with pytest.raises(UnmappableError) as caught:
        typed(name, value)
    assert caught.value.field == name


RIGHT: list[tuple[str, Any, Any]] = [
    ("required_groups", [["a"], ["b", 3]], [["a"], ["b", "3"]]),
    ("required_groups", ["a", "b"], [["a", "b"]]),
    ("required_groups", "a", [["a"]]),
    ("required_groups", [[]], []),
    ("required_groups", "[['a', 'b']]", [["a", "b"]]),
    ("answerable", "Yes", True),
    ("answerable", 0, False),
    ("answerable", "", None),
    ("grades", {"a": "2", "b": 0}, [{"id": "a", "grade": 2}, {"id": "b", "grade": 0}]),
    ("grades", [{"doc_id": 1, "relevance": "3.0"}], [{"id": "1", "grade": 3}]),
    ("retrieved_ids", [{"id": 1}, {"document_id": "b"}], ["1", "b"]),
    ("weight", "0.5", 0.5),
    ("question", ["only one"], "only one"),
]


@pytest.mark.parametrize(("name", "value", "expected"), RIGHT)
def test_mapped_values_take_the_type_of_our_field(name: str, value: Any, expected: Any) -> None:
    assert typed(name, value) == expected


RECORD = {
    "a": {"b": [1, {"c": 2}], "d.e": 3},
    "f.g": 4,
    "hits": [{"doc": {"id": "x"}}, {"doc": {}}, {"doc": {"id": "y"}}],
    "rows": [[1, 2], [3]],
    "none": None,
}
PATHS: dict[str, tuple[bool, Any]] = {
    "f.g": (True, 4),
    "a.d.e": (True, 3),
    "a.b[0]": (True, 1),
    "a.b[1].c": (True, 2),
    "a.b[9]": (False, None),
    "hits[].doc.id": (True, ["x", None, "y"]),
    "rows[][0]": (True, [1, 3]),
    "none": (True, None),
    "none[].x": (True, None),
    "a.x": (False, None),
    "x": (False, None),
    "a.b.c": (False, None),
}


@pytest.mark.parametrize("path", PATHS)
def test_paths_lead_into_records(path: str) -> None:
    assert dig(RECORD, path) == PATHS[path]


@pytest.mark.parametrize(
    ("sets", "groups"),
    [
        ([], []),
        ([[]], []),
        ([["a"]], [["a"]]),
        ([["a", "b"]], [["a"], ["b"]]),
        ([["a"], ["b"], ["a"]], [["a", "b"]]),
        ([["a", "b"], ["a", "b"]], [["a"], ["b"]]),
    ],
)
def test_sets_that_groups_can_say(sets: list[list[str]], groups: list[list[str]]) -> None:
    assert as_groups(sets) == groups


def test_sets_that_groups_cannot_say() -> None:
    with pytest.raises(UnmappableError, match="2 alternative sets, of up to 2 members"):
        as_groups([["a", "b"], ["c"]])


DOCUMENT = (
    b'{"x": {"rows": [9]},\n "k": "]}\\"[",\n "results": {"rows": [\n{"a": [1]},\n\n7]}, "z": 1}'
)


def _nested(content: bytes, *paths: str) -> list[tuple[int, bytes]]:
    file = InputFile("f.json", Path("f.json"), "json", content=content)
    batches = list(read_nested(io.BytesIO(content), file, paths))
    return [(n, line) for b in batches for n, line in zip(b.numbers, b.lines, strict=True)]


def test_records_within_a_document_have_their_lines() -> None:
    assert _nested(DOCUMENT, "results.rows") == [(4, b'{"a": [1]}'), (6, b"7")]
    assert _nested(DOCUMENT, "nowhere", "x.rows") == [(1, b"9")]


@pytest.mark.parametrize("end", range(0, DOCUMENT.rindex(b"]"), 3))
def test_a_document_that_is_cut_short_is_refused(end: int) -> None:
    with pytest.raises(InputError, match=r"no list at|does not end"):
        _nested(DOCUMENT[:end], "results.rows")


def test_a_document_comes_in_pieces() -> None:
    rows = ",".join(f'{{"n": {n}}}' for n in range(1000))
    content = f'{{"head": "{"x" * (2 << 20)}", "rows": [{rows}]}}'.encode()
    assert [line for _, line in _nested(content, "rows")][::999] == [b'{"n": 0}', b'{"n": 999}']


def test_a_place_that_no_list_has_leads_nowhere() -> None:
    assert dig({"a": [1]}, f"a[{'9' * 5000}]") == (False, None)


def test_a_literal_of_many_numbers_keeps_their_spelling() -> None:
    # Without the None this is JSON; with it each number was looked for from the start.
    read = values.opened("required_ids", f"[{'1.50, ' * 20_000}None]")
    assert (str(read[0]), str(read[-2]), read[-1]) == ("1.50", "1.50", None)


@pytest.mark.parametrize("value", ["1_0", "٣", "0x1", "nan", "inf", "", "1e999", True, None])
def test_a_score_is_a_number_as_people_write_it(value: Any) -> None:
    with pytest.raises(UnmappableError, match="no finite score"):
        values.score_of("retrieved_ids", value)


@pytest.mark.parametrize("text", ["1", " 2.50 ", "-.5", "+1.", "1e-3"])
def test_and_is_read_from_text(text: str) -> None:
    assert values.score_of("retrieved_ids", text) == float(text)
