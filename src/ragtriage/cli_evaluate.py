"""How `evaluate` gets its runs: here, as a flow, or on Dask; and held against another run."""

from __future__ import annotations

from typing import Any

from ragtriage.cli_output import (
    compared_verdict,
    print_report,
    progress,
    rendered,
    rendered_comparison,
    say_mapping,
    say_where,
    verdict,
)
from ragtriage.runner import Runner


def evaluated(request: Any, runner: Runner) -> tuple[Any, Any]:
    """One evaluation: its report and folder."""
    if runner.name == "dask":
        from ragtriage.flows.server import run_on_dask  # noqa: PLC0415 - only with --runner dask

        return run_on_dask(request, runner)
    if runner.prefect:
        from ragtriage.flows.server import run_under_prefect  # noqa: PLC0415 - only with --prefect

        return run_under_prefect(request)
    from ragtriage.pipeline import run_request  # noqa: PLC0415 - polars loads only for real work

    run = run_request(request, progress=progress())
    return run.report, run.path


def evaluated_against(request: Any, against: Any, shown: str, runner: Runner) -> int:
    """Evaluate and compare as one step; the worse of both verdicts."""
    here = runner.name == "direct" and not runner.prefect
    report, path, comparison, where = (
        _run_against(request, against) if here else _apart(request, against, runner)
    )
    if shown == "json":
        print_report(rendered({**report, "baseline": comparison}, shown))
    else:
        print_report(rendered_comparison(comparison, shown) + "\n" + rendered(report, shown))
    say_mapping(report["run"])
    say_where(path)
    return max(verdict(report), compared_verdict(comparison, where))


def _run_against(request: Any, against: Any) -> tuple[Any, Any, Any, Any]:
    from ragtriage.comparing import evaluate_against  # noqa: PLC0415 - as above

    run, done = evaluate_against(request, against, progress=progress())
    return run.report, run.path, done.report, done.path


def _apart(request: Any, against: Any, runner: Runner) -> tuple[Any, Any, Any, Any]:
    """Two steps, one after the other: the comparison is a flow where one was asked for."""
    from ragtriage.comparing import check_baseline, compare_request  # noqa: PLC0415 - as above

    check_baseline(request, against)
    report, path = evaluated(request, runner)
    against = against.model_copy(update={"candidate": str(path)})
    if runner.prefect:
        from ragtriage.flows.server import compare_under_prefect  # noqa: PLC0415 - with --prefect

        return report, path, *compare_under_prefect(against)
    done = compare_request(against, progress=progress())
    return report, path, done.report, done.path
