"""The page on other tools: its numbers are theirs, and ours are right."""

from __future__ import annotations

import pytest

from tests.other_tools import INPUTS, Input, Measure, by_ragtriage, page
from tests.support import ROOT


@pytest.fixture(scope="module")
def written() -> str:
    return page()


def test_the_page_is_what_the_tools_answer_today(written: str) -> None:
    committed = (ROOT / "docs" / "other-tools.md").read_text(encoding="utf-8")
    assert committed == written


@pytest.mark.parametrize(
    ("given", "measure"),
    [(given, measure) for given in INPUTS for measure in given.measures],
    ids=lambda item: item.title if isinstance(item, Input) else item.ours[0],
)
def test_ours_is_the_value_worked_out_by_hand(given: Input, measure: Measure) -> None:
    mean, _ = by_ragtriage(given, *measure.ours)
    if measure.right is None:
        assert mean is None
    else:
        assert mean == pytest.approx(measure.right, abs=1e-12)


def test_the_tools_do_not_always_agree(written: str) -> None:
    rows = [line.split("|")[2:5] for line in written.splitlines() if line.startswith("| `")]
    assert len(INPUTS) == 10
    apart = [row for row in rows if len({cell.strip() for cell in row} - {"not asked"}) > 1]
    assert len(apart) >= 5
