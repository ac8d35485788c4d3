"""The one decision on a run or a comparison, which every format and the exit code follow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ragtriage.errors import EXIT_GATE_FAILED, EXIT_PASSED
from ragtriage.gates import Verdict

NOTHING_RUN = "no case was run: nothing was measured"


@dataclass(frozen=True)
class Decision:
    """Passed where there is no failure; `failures`: why not, one line a reason."""

    failures: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Is there no failure?"""
        return not self.failures

    @property
    def status(self) -> str:
        """`passed` or `failed`."""
        return "passed" if self.passed else "failed"

    @property
    def exit_code(self) -> int:
        """0 or 1."""
        return EXIT_PASSED if self.passed else EXIT_GATE_FAILED


def decide(verdicts: Iterable[Verdict], n_run: int) -> Decision:
    """On one run: its gates, and whether any case was run."""
    failures = failed_gates(verdicts)
    return Decision(tuple(failures if n_run else [*failures, NOTHING_RUN]))


def failed_gates(verdicts: Iterable[Verdict]) -> list[str]:
    """A line for each gate that does not hold."""
    return [
        f"gate failed: {verdict.gate}: {verdict.reason}"
        for verdict in verdicts
        if not verdict.passed
    ]
