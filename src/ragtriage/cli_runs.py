"""What `ragtriage evaluate` does with a request: one run, one a system, or one against another."""

from __future__ import annotations

from typing import Any

from ragtriage.cli_output import progress
from ragtriage.cli_telling import Telling
from ragtriage.errors import UsageError


def evaluated(told: Telling, request: Any, against: Any, *, under_prefect: bool) -> int:
    """Carry a request out and tell what it came to; of several runs the worst verdict counts."""
    from ragtriage.pipeline import system_requests  # noqa: PLC0415 - only for real work

    requests = system_requests(request)
    if against is not None:
        if len(requests) > 1:
            raise UsageError(
                f"--baseline: the input holds {len(requests)} systems; name one with --system"
            )
        runs = _flows_against if under_prefect else _run_against
        return told.both(*runs(request, against))
    if len(requests) == 1:
        return told.run(*_run(request, under_prefect=under_prefect))
    return told.several(
        {str(each.system): _run(each, under_prefect=under_prefect) for each in requests}
    )


def _run(request: Any, *, under_prefect: bool) -> tuple[Any, Any, dict[str, float]]:
    """One evaluation: its report, its folder and its timings."""
    if under_prefect:
        from ragtriage.flows.server import run_under_prefect  # noqa: PLC0415 - only with --prefect

        return *run_under_prefect(request), {}
    from ragtriage.pipeline import run_request  # noqa: PLC0415 - looked up at each use

    run = run_request(request, progress=progress())
    return run.report, run.path, run.manifest["timings"]


def _run_against(request: Any, against: Any) -> tuple[Any, Any, Any, Any]:
    from ragtriage.comparing import evaluate_against  # noqa: PLC0415 - only with --baseline

    run, done = evaluate_against(request, against, progress=progress())
    return run.report, run.path, done.report, done.path


def _flows_against(request: Any, against: Any) -> tuple[Any, Any, Any, Any]:
    """Two flows, one after the other."""
    from ragtriage.comparing import check_baseline  # noqa: PLC0415 - only with --baseline
    from ragtriage.flows.server import compare_under_prefect  # noqa: PLC0415 - with --prefect

    check_baseline(request, against)
    report, path, _ = _run(request, under_prefect=True)
    against = against.model_copy(update={"candidate": str(path)})
    return report, path, *compare_under_prefect(against)
