"""Each structural fault by its rule, with all others of the same record."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from tests.read.support import read

GOOD = b'{"case_id": "good"}\n'
DEEP = "[" * 5000 + "]" * 5000

ONE: dict[str, tuple[str, str, str]] = {
    # line: field, rule, words
    '{"case_id": "a"': ("record", "json-syntax", "at character 16"),
    "{'case_id': 'a'}": ("record", "json-syntax", "correct the syntax"),
    '{"case_id": "a",}': ("record", "json-syntax", "correct the syntax"),
    '{"case_id": "a"} {"case_id": "b"}': ("record", "json-syntax", "Extra data"),
    '{"case_id": "a", "weight": NaN}': ("record", "json-syntax", "NaN is not JSON"),
    '{"case_id": "a", "weight": -Infinity}': ("record", "json-syntax", "-Infinity is not JSON"),
    '{"case_id": "a", "weight": 01}': ("record", "json-syntax", "correct the syntax"),
    '{"case_id": "a", "answer": "\t"}': ("record", "json-syntax", "Invalid control character"),
    f'{{"case_id": "a", "answer": {DEEP}}}': ("record", "json-syntax", "nested too deeply"),
    "\x0b": ("record", "json-syntax", "correct the syntax"),
    "[]": ("record", "not-an-object", "got a list"),
    "null": ("record", "not-an-object", "got null"),
    '"a"': ("record", "not-an-object", "got a string"),
    "{}": ("case_id", "missing-field", "give the field"),
    '{"case_id": null}': ("case_id", "missing-field", "give the field"),
    '{"case_id": 7}': ("case_id", "type", "write IDs as strings"),
    '{"case_id": "a", "question": 7}': ("question", "type", "got 7; write text as a string"),
    '{"case_id": "a", "tags": "x; y"}': ("tags", "type", 'write ["x", "y"] if these are several'),
    '{"case_id": "a", "tags": "[x, y]"}': ("tags", "type", "got a string that begins like a list"),
    '{"case_id": "a", "tags": [7]}': ("tags", "type", "holds 7; write text as a string"),
    '{"case_id": "a", "cited_ids": [7]}': ("cited_ids", "type", "holds 7; write IDs as strings"),
    '{"case_id": 1e400}': ("case_id", "type", "expected a string"),
    '{"case_id": "a", "case_id": "a"}': ("case_id", "duplicate-key", "keep one"),
    '{"case_id": "a", "c\\u0061se_id" : "a"}': ("case_id", "duplicate-key", "keep one"),
    '{"case_id": "a", "case_id"\t: "a"}': ("case_id", "duplicate-key", "keep one"),
    '{"case_id": "a", "case_id"\r: "a"}': ("case_id", "duplicate-key", "keep one"),
    '{"case_id": "a", "id": "a"}': ("case_id", "duplicate-key", "as `case_id` and as `id`"),
    '{"case_id": "a", "tags": [], "category": "x", "slices": []}': (
        *("tags", "duplicate-key"),
        "as `tags` and as `slices`",
    ),
    '{"case_id": "a", "retreived_ids": []}': (
        *("retreived_ids", "unknown-field"),
        "did you mean `retrieved_ids`?",
    ),
    '{"case_id": "a", "source": "p"}': (
        *("source", "unknown-field"),
        "--contract diagnosis or answer",
    ),
    '{"case_id": "\\ud800"}': ("case_id", "encoding", "lone surrogate"),
    '{"case_id": "a", "tags": ["\\udc00\\ud800"]}': ("tags", "encoding", "lone surrogate"),
    '{"case_id": "a", "\\ud800": 1}': ("'\\ud800'", "encoding", "lone surrogate"),
    '{"case_id": "a", "weight": 1e400}': ("weight", "weight", "finite"),
    '{"case_id": "a", "weight": "1"}': ("weight", "type", 'got "1"'),
    f'{{"case_id": "a", "weight": {"1" * 400}}}': ("weight", "type", "finite number"),
    f'{{"case_id": "a", "weight": {"1" * 5000}}}': ("weight", "weight", "finite"),
    '{"case_id": "a", "tags": "x"}': ("tags", "type", 'write ["x"]'),
    '{"case_id": "a", "tags": [null]}': ("tags", "null-item", "remove it"),
    '{"case_id": "a", "category": {}}': ("category", "type", "got an object"),
    '{"case_id": "a", "category": 1e400}': ("category", "type", "expected text"),
    '{"case_id": "a", "abstained": "no"}': ("abstained", "answer-label", 'got "no"'),
    '{"case_id": "a", "grades": [{"id": "x", "grade": 9223372036854775808}]}': (
        *("grades", "type"),
        "at most 64 bits",
    ),
    '{"case_id": "a", "grades": [{"id": "x", "grade": true}]}': ("grades", "type", "`grade`"),
    '{"case_id": "a", "grades": [{"id": "x"}]}': ("grades", "missing-field", "lacks `grade`"),
    '{"case_id": "a", "grades": [{"id": null, "grade": 1}]}': ("grades", "null-item", "null `id`"),
    '{"case_id": "a", "grades": [{"id": "x", "grade": 1, "grade": 1}]}': (
        *("grade", "duplicate-key"),
        "keep one",
    ),
    '{"case_id": "a", "claims": [{"claim_id": "x", "why": 1}]}': (
        *("claims", "unknown-field"),
        "unknown key 'why'",
    ),
    '{"case_id": "a", "claims": [{"claim_id": "x", "supported": 1}]}': (
        *("claims", "answer-label"),
        "`supported`",
    ),
    '{"case_id": "a", "claims": [{"claim_id": "x", "cited_ids": [3]}]}': (
        *("claims", "type"),
        "write IDs as strings",
    ),
    '{"case_id": "a", "required_groups": ["x"]}': ("required_groups", "type", "got a string"),
}


@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
@pytest.mark.parametrize("line", ONE, ids=lambda line: line[:60])
def test_one_fault(line: str, first: bool) -> None:
    field, rule, words = ONE[line]
    faulty = line.encode() + b"\n"
    found = read(faulty + GOOD if first else GOOD + faulty)
    assert found.places == [(1 if first else 2, field, rule)]
    assert words in found.faults[0].message
    assert "; " in found.faults[0].message, "says what to do"
    assert len(found.faults[0].message) < 500
    assert found.faults[0].raw == line
    assert [row["case_id"] for row in found.rows] == ["good"]


def test_every_fault_of_a_record_is_told() -> None:
    line = (
        '{"case_id": 1, "weight": "x", "tags": [null, 3], "zzz": 1, "answerable": "yes", '
        '"grades": [{"id": 2}, 5], "question": ["q"], "question": "q"}'
    )
    assert sorted(read(line.encode()).places) == sorted(
        (1, field, rule)
        for field, rule in (
            *(("case_id", "type"), ("weight", "type"), ("tags", "null-item"), ("tags", "type")),
            *(("zzz", "unknown-field"), ("answerable", "answer-label")),
            *(("grades", "type"), ("grades", "missing-field"), ("grades", "type")),
            *(("question", "duplicate-key"), ("question", "type")),
        )
    )


# Values of which each has very many faults, and the rule of these.
VERY_MANY: dict[str, tuple[dict[str, Any], str, str]] = {
    "items": ({"required_ids": list(range(5_000))}, "required_ids", "type"),
    "grades": (
        {"grades": [{"id": f"d{i}", "grade": f"x{i}"} for i in range(5_000)]},
        "grades",
        "type",
    ),
    "members": (
        {"claims": [{"claim_id": "c", f"k{i}": 1} for i in range(5_000)]},
        "record",
        "unknown-field",
    ),
    "names": ({f"k{i}": 1 for i in range(5_000)}, "record", "unknown-field"),
    "halves": ({f"k{i}\ud800": 1 for i in range(5_000)}, "record", "encoding"),
}


@pytest.mark.parametrize(("record", "field", "rule"), VERY_MANY.values(), ids=VERY_MANY)
def test_of_very_many_faults_alike_a_few_are_told_and_the_rest_counted(
    record: dict[str, Any], field: str, rule: str
) -> None:
    line = json.dumps({"case_id": "a", "weight": "x"} | record).encode()
    told = [fault for fault in read(line).faults if fault.rule == rule and fault.field != "weight"]
    # Each is kept beside all of the record.
    assert len(told) == 11
    assert len({fault.message + fault.field for fault in told}) == 11
    assert (told[-1].field, told[-1].message[:6]) == (field, "4,990 ")
    assert ("weight", "type") in {(fault.field, fault.rule) for fault in read(line).faults}


def test_an_empty_object_lacks_what_the_file_has() -> None:
    found = read(b'{"case_id": "a", "retrieved_ids": []}\n{}\n')
    assert found.places == [
        (2, "case_id", "missing-field"),
        (2, "retrieved_ids", "missing-field"),
    ]


def test_a_mark_of_utf8_counts_at_the_head_only() -> None:
    found = read(b"\xef\xbb\xbf" + GOOD + b"\xef\xbb\xbf" + GOOD)
    assert found.lines == [1]
    assert found.places == [(2, "record", "json-syntax")]


def test_invalid_utf8_names_the_byte() -> None:
    found = read(GOOD + b'{"case_id": "\xff"}\n')
    assert found.places == [(2, "record", "encoding")]
    assert "byte 14 of the record is 0xff" in found.faults[0].message
    assert found.faults[0].raw == '{"case_id": "\\xff"}'


NUMBERS = {
    "-0.0": -0.0,
    "0.1": 0.1,
    "5e-324": 5e-324,
    "2.2250738585072011e-308": 2.225073858507201e-308,
    "1.7976931348623157e308": 1.7976931348623157e308,
    "9007199254740993": 2.0**53,
    "18446744073709551616": 2.0**64,
    "1" * 300: float("1" * 300),
    "0e99999999999999999999999": 0.0,
    "1E5": 1e5,
    "1e-400": 0.0,
    "0." + "3" * 400: 1 / 3,
}


@pytest.mark.parametrize("text", NUMBERS, ids=lambda text: text[:30])
@pytest.mark.parametrize("answer", ["plain", '":'], ids=["fast", "exact"])
def test_numbers_are_what_python_reads(text: str, answer: str) -> None:
    record = f'{{"case_id": "a", "answer": {json.dumps(answer)}, "weight": {text}}}\n'
    found = read(2 * record.encode())
    assert not found.faults
    for row in found.rows:
        assert row["weight"] == NUMBERS[text] == float(text)
        assert math.copysign(1, row["weight"]) == math.copysign(1, NUMBERS[text])


UNKNOWN = {
    "1": True,
    '{"a": [{"b": "\\":"}]}': True,
    "1e999": True,
    "1" * 400: True,
    "1" * 5000: True,
    '"\\ud800"': True,
    "[" * 99 + "]" * 99: True,
    "[" * 101 + "]" * 101: False,
    "[" * 700 + "]" * 700: False,
    "[" * 100_000 + "]" * 100_000: False,
    '{"a": 1, "a": 2}': False,
    '[{"a": {"b": 1, "\\u0062": 2}}]': False,
    "NaN": False,
    "01": False,
    '"\t"': False,
    '"\\x"': False,
    '"\udcff"': False,
}


@pytest.mark.parametrize("value", UNKNOWN, ids=lambda value: value[:30].encode("utf-8", "replace"))
def test_a_field_set_aside_is_still_json_wherever_it_comes(value: str) -> None:
    line = f'{{"case_id": "a", "x": {value}}}\n'.encode("utf-8", "surrogateescape")
    good = b'{"case_id": "g", "x": 0}\n'
    for content in (line + good, good + line, good + good + line + line + good):
        found = read(content, extra="ignore")
        taken = [row["case_id"] for row in found.rows].count("a")
        assert taken == (content.count(line) if UNKNOWN[value] else 0), content
        assert all(set(row) == {"case_id"} for row in found.rows)
