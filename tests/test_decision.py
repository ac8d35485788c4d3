"""Passed or not, and why: one answer for every format and the exit code."""

from __future__ import annotations

import pytest

from ragtriage.decision import NOTHING_RUN, Decision, decide
from ragtriage.gates import Verdict

HOLDS = Verdict("recall@5 >= 0.5", 0.7, 0.5, passed=True, reason="0.7 meets >= 0.5")
FAILS = Verdict("recall@5 >= 0.9", 0.7, 0.9, passed=False, reason="0.7 does not meet >= 0.9")
WHY = "gate failed: recall@5 >= 0.9: 0.7 does not meet >= 0.9"


@pytest.mark.parametrize(
    ("verdicts", "n_run", "failures"),
    [
        ([], 3, ()),
        ([HOLDS], 3, ()),
        ([HOLDS, FAILS], 3, (WHY,)),
        ([HOLDS], 0, (NOTHING_RUN,)),
        ([FAILS], 0, (WHY, NOTHING_RUN)),
    ],
)
def test_a_run_passes_where_nothing_failed(
    verdicts: list[Verdict], n_run: int, failures: tuple[str, ...]
) -> None:
    found = decide(verdicts, n_run)
    assert found == Decision(failures)
    assert (found.passed, found.status, found.exit_code) == (
        (False, "failed", 1) if failures else (True, "passed", 0)
    )
