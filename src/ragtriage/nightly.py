"""The steps of a night, in the order in which the flow runs them; paths go from one to the next.

Once the run is published nothing takes it back: what goes wrong later is a failure of the night.
"""

from __future__ import annotations

from pathlib import Path

from ragtriage.accepting import accept_run, accepted_run
from ragtriage.comparing import compare_request, stored_comparison
from ragtriage.history_run import build_history
from ragtriage.nightly_request import NightlyRequest
from ragtriage.publish.nightly import Night
from ragtriage.run import stored_report


def compare_with_accepted(request: NightlyRequest, run: Path) -> Path | None:
    """The published comparison of a run with the accepted one; None where none was accepted yet.

    Raises:
        InputError: the accepted run is not there, or differs in what was not allowed to.
        UsageError: a gate makes no sense for these two.
    """
    accepted = accepted_run(request.out)
    if accepted is None:
        return None
    return compare_request(request.comparison(str(accepted.path), str(run))).path


def failures_of(run: Path, comparison: Path | None) -> list[str]:
    """Which gates failed, of the run and then of the comparison; empty where none did."""
    told = stored_report(run)["failures"]
    return told if comparison is None else told + stored_comparison(comparison)["failures"]


def settle_acceptance(request: NightlyRequest, run: Path, failures: list[str]) -> str | None:
    """Mark the night's run as the accepted one where it may be; its ID if so.

    Raises:
        InputError: `accepted.json` cannot be read or written.
    """
    if failures or request.accept == "never":
        return None
    if request.accept == "first" and accepted_run(request.out) is not None:
        return None
    return accept_run(run).run_id


def rebuild_history(out: str) -> Path:
    """The page over all runs, written anew.

    Raises:
        UsageError: there is another `index.html`.
    """
    return build_history(out).path


def night_of(
    run: Path,
    comparison: Path | None,
    *,
    accepted: str | None,
    history: Path | None,
    failures: list[str],
) -> Night:
    """What a night came to, from what it published."""
    return Night(
        report=stored_report(run),
        comparison=None if comparison is None else stored_comparison(comparison),
        accepted=accepted,
        failures=failures,
        pages={
            "report": run / "report.html",
            **({} if comparison is None else {"comparison": comparison / "report.html"}),
            **({} if history is None else {"history": history}),
        },
    )
