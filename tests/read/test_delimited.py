"""CSV and TSV: cells by the type of their field, records by the line where they start."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.errors import InputError
from ragtriage.read import batches
from tests.read.support import examples, read


def csv(*lines: str, name: str = "in.csv", **options: Any) -> Any:
    return read("\n".join(lines).encode("utf-8", "surrogateescape"), name, **options)


def cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def test_cells_by_type() -> None:
    found = csv(
        "case_id,weight,answerable,required_ids,grades,answer,category",
        '007,1.50,true,"[""a"", ""b""]","[{""id"": ""x"", ""grade"": 2}]",null,easy',
        "08,2e3,TRUE,[],,1,",
        "1e5, 3 , False ,,null,true,[x",
    )
    assert found.rows == [
        {
            "case_id": "007",
            "weight": 1.5,
            "answerable": True,
            "required_ids": ["a", "b"],
            "grades": [{"id": "x", "grade": 2}],
            "answer": "null",
            "tags": ["category=easy"],
        },
        {"case_id": "08", "weight": 2000.0, "answerable": True, "required_ids": [], "answer": "1"},
        {
            "case_id": "1e5",
            "weight": 3.0,
            "answerable": False,
            "answer": "true",
            "tags": ["category=[x"],
        },
    ]


BAD_CELLS = {
    ("answerable", "yes"): "answer-label",
    ("answerable", "1"): "answer-label",
    ("weight", "1,5"): "type",
    ("weight", "0x1"): "type",
    ("weight", "1_0"): "type",
    ("weight", "\u0663"): "type",
    ("weight", "NaN"): "type",
    ("weight", "inf"): "type",
    ("weight", "1e400"): "weight",
    ("required_ids", "a"): "type",
    ("required_ids", "a;b"): "type",
    ("required_ids", "['a', 'b']"): "type",
    ("required_ids", "5"): "type",
    ("required_ids", '["a", 5]'): "type",
    ("required_ids", '["a", null]'): "null-item",
    ("required_ids", '["a"'): "type",
    ("required_ids", '["a"],"x":["b"]'): "type",
    ("required_ids", "[NaN]"): "json-syntax",
    ("required_ids", '["\\ud800"]'): "encoding",
    ("required_ids", "[" * 3000): "type",
    ("grades", '[{"id": "x", "grade": 1, "grade": 2}]'): "duplicate-key",
    ("grades", '{"x": 1}'): "type",
    ("claims", '[{"claim_id": "c", "why": 1}]'): "unknown-field",
}


@pytest.mark.parametrize("at", BAD_CELLS, ids=lambda at: f"{at[0]}-{at[1][:20]}")
def test_bad_cells(at: tuple[str, str]) -> None:
    field, text = at
    found = csv(f"case_id,{field}", "good,", f"a,{cell(text)}")
    assert [(line, rule) for line, _, rule in found.places] == [(3, BAD_CELLS[at])]
    assert [row["case_id"] for row in found.rows] == ["good"]
    assert found.faults[0].raw == f"a,{cell(text)}"


def test_the_physical_line_after_quoted_newlines() -> None:
    found = csv(
        "case_id,question,required_ids",
        'a,"one',
        'two ""three""",',
        "",
        'b,"\r",[]',
        'c,"x","[',
        '""y""',
        ']"',
        "d,,nope",
        'e,"',
        "",
        '",[]',
    )
    assert [(row["case_id"], row.get("question")) for row in found.rows] == [
        ("a", 'one\ntwo "three"'),
        ("b", "\r"),
        ("c", "x"),
        ("e", "\n\n"),
    ]
    assert found.lines == [2, 5, 6, 10]
    assert found.places == [(9, "required_ids", "type")]
    assert found.blank == 1


def test_ragged_rows_are_faults_of_their_own() -> None:
    found = csv("case_id,answer", "a", "b,x,y", "c,x", ",,", '""', "d,")
    assert [row["case_id"] for row in found.rows] == ["c", "d"]
    assert found.places == [(line, "record", "json-syntax") for line in (2, 3, 5, 6)]
    assert "1 cells under 2 columns; correct the row" in found.faults[0].message


def test_quotes_that_do_not_close_or_go_on() -> None:
    found = csv("case_id,answer", "a,x", 'b,"y"z', "c,x", 'd,e"f', 'g,"no end', "h,x")
    assert [row["case_id"] for row in found.rows] == ["a", "c", "d"]
    assert found.places == [(3, "record", "json-syntax"), (6, "record", "json-syntax")]
    assert all("correct the quoting" in fault.message for fault in found.faults)
    assert found.faults[1].raw == 'g,"no end\nh,x'


HEADERS = {
    "": "the file is empty; give a header line",
    "\ufeff": "the file is empty; give a header line",
    "\ncase_id\na": "the first line is blank; give a header line",
    "case_id,answer,case_id\na,b,c": "column 'case_id' is given twice; keep one",
    "case_id,answer\ra,b\rc,d\r": "end lines in LF",
    'case_id,"answer\na,b': "correct the quoting",
    "case_id,\udcff\na,b": "not valid UTF-8 text; save the file as UTF-8",
}


@pytest.mark.parametrize("content", HEADERS)
def test_headers_that_cannot_be_used(content: str) -> None:
    with pytest.raises(InputError) as refused:
        csv(content)
    assert str(refused.value).startswith("in.csv:1: header: ")
    assert HEADERS[content] in str(refused.value)


def test_two_names_for_one_field() -> None:
    found = csv("case_id,id", "a,a", "b,")
    assert found.places == [(line, "case_id", "duplicate-key") for line in (2, 3)]


def test_unknown_columns() -> None:
    lines = ("case_id,why", "a,b", "c,")
    assert csv(*lines).places == [(line, "why", "unknown-field") for line in (2, 3)]
    assert csv(*lines, extra="ignore").rows == [{"case_id": "a"}, {"case_id": "c"}]


@pytest.mark.parametrize("content", ["case_id", "case_id\n", "case_id,answer\r\n"])
def test_a_header_only(content: str) -> None:
    found = csv(content)
    assert (found.frame.height, found.read) == (0, 0)


@pytest.mark.parametrize("header", ["id", "qid", "_id", " id "])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_short_headers_marks_and_line_ends(header: str, bom: str, end: str) -> None:
    found = csv(bom + end.join([header, "abc", "d", "", "x"]))
    assert [row["case_id"] for row in found.rows] == ["abc", "d", "x"]
    assert found.lines == [2, 3, 5]
    assert found.blank == 1


def test_bytes_that_are_no_text_spoil_their_own_row() -> None:
    found = csv("case_id,answer,tags", "a,\udcff,", 'b,"\udcff\n",', "c,\x00,", 'd,,"[""\udcff""]"')
    assert found.rows == [{"case_id": "c", "answer": "\x00"}]
    assert found.places == [(line, "record", "encoding") for line in (2, 3, 6)]
    assert found.faults[0].raw == "a,\\xff,"


def test_tabs() -> None:
    found = csv("case_id\tanswer\ttags", 'a\tx,y\t["t"]', "\t\t", "b\t\t", name="in.tsv")
    assert found.rows == [{"case_id": "a", "answer": "x,y", "tags": ["t"]}, {"case_id": "b"}]


def test_lists_or_text_under_a_scalar_name() -> None:
    found = csv(
        "case_id,source,expected_answer,context",
        'a,p1,"[""x"", ""y""]",[]',
        'b,"[""p1""]",,[]',
        "c,,,[]",
        "d,p2,[maybe] not,[]",
        contract="diagnosis",
    ).frame
    assert found["required_ids"].to_list() == [["p1"], ["p1"], [], ["p2"]]
    assert found["expected_answers"].to_list() == [["x", "y"], [], [], ["[maybe] not"]]
    assert found["none_given"].to_list() == [False, False, True, False]


@pytest.mark.thorough
def test_a_cell_of_five_megabytes() -> None:
    text = 'é,"\n' * 1_250_000
    found = csv("case_id,answer", f"a,{cell(text)}", "b,x")
    assert [row["answer"] for row in found.rows] == [text, "x"]
    assert found.lines == [2, 1_250_003]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.sampled_from(
    ("\r\n", "\n", '"', '""', ",", "\t", "a,b", '":', "\\", " x ", "\x85", "\u2028")
)


@examples(40)
@given(
    st.lists(st.tuples(TEXTS, st.none() | st.lists(TEXTS, max_size=3), st.booleans()), min_size=1),
    st.sampled_from((",", "\t")),
    st.integers(1, 100),
)
def test_what_was_written_is_what_is_read(
    rows: list[tuple[str, list[str] | None, bool]], delimiter: str, size: int
) -> None:
    records, lines, number = [], ["case_id", "answer", "tags"], 2
    text = delimiter.join(lines) + "\n"
    starts = []
    for i, (answer, tags, ascii_) in enumerate(rows):
        listed = "" if tags is None else json.dumps(tags, ensure_ascii=ascii_)
        line = delimiter.join((f"c{i}", cell(answer), cell(listed))) + "\n"
        starts.append(number)
        number += line.count("\n")
        text += line
        full = {"case_id": f"c{i}", "answer": answer or None, "tags": tags}
        records.append({name: value for name, value in full.items() if value is not None})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "BATCH_BYTES", size)
        found = read(text.encode(), "in.csv" if delimiter == "," else "in.tsv")
    assert found.rows == records
    assert found.lines == starts
