"""Rows of qrels and runs: how they are separated, what they hold, what is rejected and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.errors import InputError
from ragtriage.read.files import InputFile
from ragtriage.read.trec import columns
from ragtriage.read.trec.qrels import qrels_source
from ragtriage.read.trec.runs import run_source
from tests.read.support import Read, examples, gathered


def qrels(content: bytes) -> Read:
    return gathered(qrels_source(InputFile("q", Path("q"), "trec", None, "cases", content)))


def run(content: bytes, system: str | None = None, order: str = "score") -> Read:
    file = InputFile("r", Path("r"), "trec", None, "trace", content)
    return gathered(run_source(file, system, order))


def grades(found: Read) -> dict[str, dict[str, int]]:
    return {
        row["case_id"]: {grade["id"]: grade["grade"] for grade in row["grades"]}
        for row in found.rows
    }


def rankings(found: Read) -> dict[str, list[str]]:
    return {row["case_id"]: row["retrieved_ids"] for row in found.rows}


ONE = {"q": {"d": 1}}
SEPARATED = {
    "a blank": b"q 0 d 1\n",
    "no final line break": b"q 0 d 1",
    "tabs": b"q\t0\td\t1\n",
    "several blanks": b"q  0   d 1\n",
    "tabs and blanks": b" q \t0\td \t 1\n",
    "blanks around": b"  q 0 d 1  \n",
    "crlf": b"q 0 d 1\r\n",
    "vertical space": b"q\x0b0\x0cd 1\n",
    "byte order mark": b"\xef\xbb\xbfq 0 d 1\n",
    "blank lines": b"\n \r\nq 0 d 1\n\n\t\n",
    "a sign and zeros": b"q 0 d +01\n",
    "a whole float": b"q 0 d 1.0\n",
    "iteration is text": b"q Q0 d 1\n",
    "twice the same": b"q 0 d 1\nq 1 d 1\n",
}


@pytest.mark.parametrize("name", SEPARATED)
def test_however_columns_are_separated(name: str) -> None:
    found = qrels(SEPARATED[name])
    assert (grades(found), found.faults) == (ONE, [])
    assert found.read == SEPARATED[name].count(b"\n") + (name == "no final line break")


def test_ids_are_text_exactly_as_written() -> None:
    ids = ["007", "1e3", "1.0", "-0", "#1", '"x"', "null", "NaN", "a,b", "ä", "9" * 30, "Q0"]
    content = "".join(f"{one} 0 {one} 1\n" for one in ids).encode()
    assert grades(qrels(content)) == {one: {one: 1} for one in ids}


REJECTED: list[tuple[Any, bytes, list[tuple[int, str, str]]]] = [
    (qrels, b"q 0 d 1\nx 0 d\n", [(2, "row", "unmapped")]),
    (qrels, b"q 0 d 1\nx 0 d 1 1\n", [(2, "row", "unmapped")]),
    (qrels, b"q 0 d 1\nx 0 d high\n", [(2, "grade", "unmapped")]),
    (qrels, b"q 0 d 1\nx 0 d 1.5\n", [(2, "grade", "unmapped")]),
    (qrels, b"q 0 d 1\nx 0 d 99999999999999999999\n", [(2, "grade", "unmapped")]),
    (qrels, b"q 0 d 1\nx 0 \xff 1\n", [(2, "row", "encoding")]),
    (run, b"q Q0 d 1 1 t\nx Q0 d 1 nan t\n", [(2, "score", "unmapped")]),
    (run, b"q Q0 d 1 1 t\nx Q0 d 1 -inf t\n", [(2, "score", "unmapped")]),
    (run, b"q Q0 d 1 1 t\nx Q0 d 1 1e999 t\n", [(2, "score", "unmapped")]),
    (run, b"q Q0 d 1 1 t\n\nx Q0 d 1 0x1 t\n", [(3, "score", "unmapped")]),
    (run, b"q Q0 d 1 1 t\nx Q0 d 1 1,5 t\n", [(2, "score", "unmapped")]),
    (run, b"q Q0 d 1 1 t\nx Q0 d 1 1\n", [(2, "row", "unmapped")]),
    (run, b"q Q0 d 1 1 t\nx Q0 a d 1 1 t\n", [(2, "row", "unmapped")]),
]


@pytest.mark.parametrize(("read", "content", "places"), REJECTED)
def test_rejected_by_its_line(
    read: Any, content: bytes, places: list[tuple[int, str, str]]
) -> None:
    found = read(content)
    assert found.places == places
    assert found.faults[0].raw == content.splitlines()[-1].decode("utf-8", "backslashreplace")
    assert [row["case_id"] for row in found.rows] == ["q"]


def test_a_topic_with_a_faulty_row_is_set_aside_whole() -> None:
    found = run(b"q Q0 a 1 2 t\nq Q0 b 2 x t\np Q0 a 1 1 t\nq Q0 c 3 1 t\n")
    assert rankings(found) == {"p": ["a"]}
    assert [(f.line, f.refuses) for f in found.faults] == [(2, True), (1, False)]
    assert "set aside with the row of its topic at r:2" in found.faults[1].message


def test_one_document_with_two_grades_is_a_conflict() -> None:
    found = qrels(b"q 0 a 1\np 0 a 1\nq 0 b 1\nq 0 a 2\nq 0 b 1\n")
    assert grades(found) == {"p": {"a": 1}}
    assert found.places == [(4, "grade", "grade-conflict"), (1, "grade", "grade-conflict")]
    assert "'a' has grade 2 here and 1 at q:1" in found.faults[0].message


ORDERED = {
    "by score": (b"q Q0 a 1 1 t\nq Q0 b 2 3 t\nq Q0 c 3 2 t\n", "score", ["b", "c", "a"]),
    "as text": (b"q Q0 a 1 9 t\nq Q0 b 2 10 t\n", "score", ["b", "a"]),
    "ties": (b"q Q0 b 1 1 t\nq Q0 c 2 1 t\nq Q0 a 3 1 t\n", "score", ["c", "b", "a"]),
    "ties by bytes": ("q Q0 é 1 1 t\nq Q0 z 2 1 t\nq Q0 Z 3 1 t\n".encode(), "score", list("ézZ")),
    "single precision": (b"q Q0 a 1 0.30000001 t\nq Q0 b 2 0.3 t\n", "score", ["b", "a"]),
    "too large for it": (b"q Q0 a 1 1e300 t\nq Q0 b 2 1e299 t\n", "score", ["b", "a"]),
    "by rank": (b"q Q0 a 3 9 t\nq Q0 b 1 1 t\nq Q0 c 2 5 t\n", "rank", ["b", "c", "a"]),
    "equal ranks": (b"q Q0 b 1 1 t\nq Q0 a 1 5 t\n", "rank", ["b", "a"]),
    "repeats stay": (b"q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n", "score", ["a", "b", "a"]),
    "topics apart": (
        b"q Q0 a 1 1 t\np Q0 x 1 1 t\nq Q0 b 1 2 t\np Q0 y 1 2 t\n",
        *("score", ["b", "a"]),
    ),
}


@pytest.mark.parametrize("name", ORDERED)
def test_order(name: str) -> None:
    content, order, expected = ORDERED[name]
    assert rankings(run(content, order=order))["q"] == expected


def test_a_rank_must_be_one_where_it_counts() -> None:
    content = b"q Q0 a first 1 t\n"
    assert run(content, order="rank").places == [(1, "rank", "unmapped")]
    assert rankings(run(content)) == {"q": ["a"]}


def notes(content: bytes) -> list[str]:
    file = InputFile("r", Path("r"), "trec", None, "trace", content)
    return run_source(file, None, "score").index().notes


def test_how_a_run_was_ordered_is_noted_only_where_it_matters() -> None:
    assert notes(b"q Q0 a 1 2 t\nq Q0 b 2 1 t\np Q0 b 1 1 t\n") == []
    tied, narrow, against = notes(
        b"q Q0 a 1 1 t\nq Q0 b 2 1 t\np Q0 b 2 0.30000001 t\np Q0 a 1 0.3 t\ns Q0 a 1 1 t\n"
    )
    assert "equal scores in 2 of 3 topics" in tied
    assert "single precision only" in narrow
    assert "1 of 3 topics" in narrow
    # p: b comes first, its rank is 2
    assert "the rank column orders 2 of 3 topics otherwise" in against


def test_a_run_of_several_systems_must_name_one() -> None:
    content = b"q Q0 a 1 1 A\nq Q0 b 1 1 B\np Q0 b 1 1 B\n"
    with pytest.raises(InputError, match="2 systems: 'A', 'B'; choose one with --system"):
        run(content)
    found = run(content, "B")
    assert (rankings(found), found.read) == ({"q": ["b"], "p": ["b"]}, 2)


def test_tags_that_differ_between_topics_are_one_run() -> None:
    assert len(run(b"q Q0 a 1 1 t1\np Q0 b 1 1 t2\n").rows) == 2


@pytest.mark.parametrize(
    ("read", "content", "why"),
    [
        (qrels, b"q Q0 d 1 1 t\n", "6 columns are a run's"),
        (run, b"q 0 d 1\n", "4 columns are of qrels"),
        (run, b"query-id\tcorpus-id\tscore\n", "3 columns are of qrels"),
        (qrels, "q 0 d 1\n".encode("utf-16"), "UTF-16"),
    ],
)
def test_the_wrong_kind_of_file_is_named(read: Any, content: bytes, why: str) -> None:
    with pytest.raises(InputError, match=why):
        read(content)


def test_qrels_of_beir_are_told_by_their_header() -> None:
    found = qrels(b"query-id\tcorpus-id\tscore\r\nq 1\td 1\t2\r\n")
    assert (grades(found), found.lines, found.read) == ({"q 1": {"d 1": 2}}, [2], 1)


WORDS = st.text("ab#0é", min_size=1, max_size=3)
ROWS = st.lists(st.tuples(WORDS, WORDS, st.integers(-2, 3)), max_size=30)


@examples(60)
@given(
    rows=ROWS, bad=st.sets(st.integers(0, 29)), block=st.integers(1, 60), small=st.integers(1, 60)
)
def test_blocks_change_nothing(
    rows: list[tuple[str, str, int]], bad: set[int], block: int, small: int
) -> None:
    """Wherever blocks end: sound rows are read, bad ones rejected, each by its line."""
    unique = {(topic, document): grade for topic, document, grade in rows}
    lines = [f"{topic} 0 {document} {grade}" for (topic, document), grade in unique.items()]
    for place in bad & set(range(len(lines))):
        lines[place] = f"broken{place}"
    whole = {topic for i, (topic, _) in enumerate(unique) if i not in bad}
    expected: dict[str, dict[str, int]] = {topic: {} for topic in whole}
    for i, ((topic, document), grade) in enumerate(unique.items()):
        if i not in bad:
            expected[topic][document] = grade
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(columns, "BLOCK_BYTES", block)
        patched.setattr(columns, "_SMALL", small)
        found = qrels("\n".join(lines).encode())
    assert grades(found) == expected
    assert {f.line for f in found.faults} == {i + 1 for i in bad if i < len(lines)}
    assert found.read == len(lines)
