"""Markdown within a limit: nothing is left out unsaid, and what is said adds up."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.publish import markdown
from ragtriage.publish.comparison import markdown as compared
from ragtriage.publish.document import Report
from ragtriage.publish.fitting import COMMENT, Part, cut, fitted, shared, utf8, utf16

TABLE = "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"


def parts(cases: int) -> list[Part]:
    return [
        Part("# Head", ["x" * 50], firm=True),
        Part("## Cases", [f"### case {n}\n\n{'y' * 80}" for n in range(cases)], "case", first=True),
        Part("## Rest", [TABLE, "a line\nand another"]),
    ]


def test_what_fits_is_untouched() -> None:
    text = fitted(parts(2), 1_000)
    assert text.count("### case") == 2
    assert text.endswith("and another\n")
    assert "Left out" not in text


def test_cases_go_first_from_the_end_and_are_counted() -> None:
    text = fitted(parts(20), 1_000)
    kept = text.count("### case")
    assert 0 < kept < 20
    assert f"_Left out to stay within 1,000: {20 - kept} cases._" in text
    assert TABLE in text
    # One case more would not have fitted.
    assert len(text) + len("### case 10\n\n") + 80 + 2 > 1_000


def test_then_tables_and_lines_of_the_last_part() -> None:
    text = fitted(parts(1), 175)
    assert "_Left out to stay within 175: 1 case._" in text
    assert "_Left out to stay within 175: 2 lines, 2 rows._" in text
    assert "x" * 50 in text


def test_headings_alone_that_are_too_long_are_cut_by_lines() -> None:
    text = fitted([Part(f"# {n}", []) for n in range(1_000)], 300)
    kept = len(re.findall("^# ", text, re.MULTILINE))
    assert re.search(r"_Cut: [\d,]+ lines left out\._", text)
    assert len(text) <= 300
    assert kept > 10


@given(st.integers(0, 60), st.integers(120, 5_000))
def test_never_longer_than_the_limit_and_every_case_accounted_for(cases: int, limit: int) -> None:
    text = fitted(parts(cases), limit)
    assert utf16(text) <= limit
    if "_Cut: " not in text:
        out = re.search(r": (\d+) cases?\._", text)
        assert text.count("### case") + (int(out[1]) if out else 0) == cases


@given(st.text(max_size=2_000), st.integers(150, 1_000))
def test_a_cut_text_is_within_the_limit_in_either_measure(text: str, limit: int) -> None:
    for measure in (utf8, utf16):
        assert measure(cut(text, limit, measure)) <= limit


def test_lengths_are_of_utf16_and_of_bytes() -> None:
    assert (utf16("a😀"), utf8("a😀")) == (3, 5)


@pytest.fixture
def huge(report: Report) -> Report:
    """A hundred requirements and long texts in every case, hundreds of slices."""
    for case in report["cases"]:
        case["question"] = "💥" * 400
        case["evidence"] = [
            row | {"requirement": n, "ids": ["p" * 290 + str(n)]}
            for row in case["evidence"][:1]
            for n in range(40)
        ]
    row: Any = report["stages"][-1]
    report["stages"] += [row | {"slice": f"s{n}", "slice_value": "v" * 290} for n in range(300)]
    return report


def test_a_huge_report_fits_a_comment(huge: Report) -> None:
    text = markdown.render(huge)
    assert COMMENT * 0.9 < utf16(text) <= COMMENT
    total = huge["run"]["n_cases"] - huge["run"]["n_pass"]
    shown = len(re.findall(r"^### \d+\. ", text, re.MULTILINE))
    out = re.search(r"_Left out to stay within 65,536: (\d+) cases?\._", text)
    more = re.search(r"(\d+) more cases did not pass", text)
    assert out is not None
    assert more is not None
    assert shown + int(out[1]) + int(more[1]) == total


def test_the_same_report_may_be_longer_where_there_is_room(huge: Report) -> None:
    assert len(markdown.render(huge, limit=2_000_000)) > COMMENT
    assert compared.COMMENT == COMMENT


@given(st.lists(st.integers(0, 300), min_size=1, max_size=8))
def test_texts_below_each_other_share_one_limit(sizes: list[int]) -> None:
    made = shared([lambda room, n=n: "x" * min(n, room) for n in sizes], 400)  # type: ignore[misc] # n is bound
    assert sum(map(len, made)) <= 400
    assert all(
        len(text) == n for text, n in zip(made, sizes, strict=True) if n <= 400 // len(sizes)
    )
    if sum(sizes) <= 400:
        assert [len(text) for text in made] == sizes
