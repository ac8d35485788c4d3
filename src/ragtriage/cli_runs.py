"""What `ragtriage evaluate` does with a request: one run, one a system, or one against another."""

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
from ragtriage.errors import UsageError
from ragtriage.pipeline import system_requests


def evaluated(request: Any, against: Any, shown: str, *, under_prefect: bool) -> int:
    """Carry a request out and print what it came to; of several runs the worst verdict counts."""
    requests = system_requests(request)
    if against is not None:
        if len(requests) > 1:
            raise UsageError(
                f"--baseline: the input holds {len(requests)} systems; name one with --system"
            )
        return _evaluated_against(request, against, shown, under_prefect=under_prefect)
    if len(requests) == 1:
        report, path = _run(request, under_prefect=under_prefect)
        print_report(rendered(report, shown))
        return _told(report, path)
    return _evaluated_each(requests, shown, under_prefect=under_prefect)


def _evaluated_each(requests: list[Any], shown: str, *, under_prefect: bool) -> int:
    """A run for each system: all reports on stdout, under their systems' names."""
    done = {each.system: _run(each, under_prefect=under_prefect) for each in requests}
    if shown == "json":
        from ragtriage.publish.folder import to_json  # noqa: PLC0415 - only here

        print_report(to_json({"systems": {name: report for name, (report, _) in done.items()}}))
    codes = []
    for name, (report, path) in done.items():
        if shown != "json":
            print_report(headed(name, rendered(report, shown), shown))
        codes.append(_told(report, path))
    return max(codes)


def headed(system: str, text: str, shown: str) -> str:
    """A report under the name of its system."""
    from ragtriage.publish.escape import prose, terminal  # noqa: PLC0415 - only here

    if shown == "markdown":
        return f"**System:** {prose(system)}\n\n{text}\n"
    return f"== system: {terminal(system)}\n{text}\n\n"


def _told(report: Any, path: Any) -> int:
    say_mapping(report["run"])
    say_where(path)
    return verdict(report)


def _run(request: Any, *, under_prefect: bool) -> tuple[Any, Any]:
    """One evaluation: its report and folder."""
    if under_prefect:
        from ragtriage.flows.server import run_under_prefect  # noqa: PLC0415 - only with --prefect

        return run_under_prefect(request)
    from ragtriage.pipeline import run_request  # noqa: PLC0415 - looked up at each use

    run = run_request(request, progress=progress())
    return run.report, run.path


def _evaluated_against(request: Any, against: Any, shown: str, *, under_prefect: bool) -> int:
    """Evaluate and compare as one step; the worse of both verdicts."""
    report, path, comparison, where = (
        _flows_against(request, against) if under_prefect else _run_against(request, against)
    )
    if shown == "json":
        print_report(rendered({**report, "baseline": comparison}, shown))
    else:
        print_report(rendered_comparison(comparison, shown) + "\n" + rendered(report, shown))
    say_mapping(report["run"])
    say_where(path)
    return max(verdict(report), compared_verdict(comparison, where))


def _run_against(request: Any, against: Any) -> tuple[Any, Any, Any, Any]:
    from ragtriage.comparing import evaluate_against  # noqa: PLC0415 - only with --baseline

    run, done = evaluate_against(request, against, progress=progress())
    return run.report, run.path, done.report, done.path


def _flows_against(request: Any, against: Any) -> tuple[Any, Any, Any, Any]:
    """Two flows, one after the other."""
    from ragtriage.comparing import check_baseline  # noqa: PLC0415 - only with --baseline
    from ragtriage.flows.server import compare_under_prefect  # noqa: PLC0415 - with --prefect

    check_baseline(request, against)
    report, path = _run(request, under_prefect=True)
    against = against.model_copy(update={"candidate": str(path)})
    return report, path, *compare_under_prefect(against)
