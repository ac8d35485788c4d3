"""Of many values of a slice, those that broke most are shown."""

from __future__ import annotations

import pytest

from ragtriage.publish import markdown, terminal
from ragtriage.publish.document import Report, StageRow
from ragtriage.publish.page.render import render
from ragtriage.publish.slice_words import most_broken
from ragtriage.publish.wording import SliceLine


def line(value: str, passed: int, of: int) -> SliceLine:
    return SliceLine(value, f"{passed:,} of {of:,}", [], "")


def test_few_values_keep_their_order() -> None:
    lines = [line("a", 9, 9), line("b", 0, 9)]
    assert most_broken(lines, 2) == (lines, "")


def test_of_many_those_with_most_failing_cases_come_first_and_equals_in_order() -> None:
    lines = [line("a", 1_999, 2_000), line("b", 0, 1_500), line("c", 4, 5), line("d", 3, 3)]
    shown, rest = most_broken(lines, 2)
    assert [one.value for one in shown] == ["b", "a"]
    assert rest == "and 2 more, with no more cases that did not pass,"


@pytest.mark.parametrize("place", ["html", "markdown", "terminal"])
def test_the_worst_value_is_shown_wherever_it_stands(report: Report, place: str) -> None:
    good: StageRow = {
        "slice": "topic",
        "slice_value": "",
        "stage": "pass",
        "break_point": None,
        "n": 1,
        "share": 1.0,
    }
    bad: StageRow = good | {"slice_value": "zz-worst", "stage": "generation"}  # type: ignore[assignment] # a row
    many = [StageRow(**good | {"slice_value": f"aa-{n:03}"}) for n in range(150)]  # type: ignore[typeddict-item] # rows
    report["stages"] += [*many, bad]
    if place == "html":
        text = render(report)
    elif place == "markdown":
        text = markdown.render(report)
    else:
        text = terminal.render(report, color=False, width=100, detail="verbose")
    assert "zz-worst" in text
    assert "aa-000" in text
    assert "aa-149" not in text
    assert "more, with no more cases that did not pass," in text
