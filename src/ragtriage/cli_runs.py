"""What `ragtriage evaluate` does with a request: one run, one a system, or one against another."""

from __future__ import annotations

from typing import Any

from ragtriage.cli_output import progress
from ragtriage.cli_telling import Telling
from ragtriage.errors import UsageError
from ragtriage.runner import Runner


def evaluated(told: Telling, request: Any, against: Any, runner: Runner) -> int:
    """Carry a request out and tell what it came to; of several runs the worst verdict counts."""
    from ragtriage.pipeline import system_requests  # noqa: PLC0415 - only for real work

    requests = system_requests(request)
    if against is not None:
        if len(requests) > 1:
            raise UsageError(
                f"--baseline: the input holds {len(requests)} systems; name one with --system"
            )
        if runner.name == "direct" and not runner.prefect:
            return told.both(*_run_against(request, against))
        return told.both(*_apart(request, against, runner))
    if len(requests) == 1:
        return told.run(*_run(request, runner))
    return told.several({str(each.system): _run(each, runner) for each in requests})


def _run(request: Any, runner: Runner) -> tuple[Any, Any, dict[str, float]]:
    """One evaluation: its report, its folder and its timings."""
    if runner.name == "dask":
        from ragtriage.flows.server import run_on_dask  # noqa: PLC0415 - only with --runner dask

        return *run_on_dask(request, runner), {}
    if runner.prefect:
        from ragtriage.flows.server import run_under_prefect  # noqa: PLC0415 - only with --prefect

        return *run_under_prefect(request), {}
    run = _run_here(request, runner)
    return run.report, run.path, run.manifest["timings"]


def _run_here(request: Any, runner: Runner) -> Any:
    """On this machine: by several processes where that is worth while, else by this one."""
    from ragtriage.pipeline import run_request  # noqa: PLC0415 - looked up at each use
    from ragtriage.sharding.local import local_workers  # noqa: PLC0415 - as above

    with local_workers(request, runner.workers, progress=progress()) as workers:
        if workers is not None:
            from ragtriage.sharding.run import run_in_shards  # noqa: PLC0415 - as above

            return run_in_shards(request, workers, wanted=workers.shards)
        return run_request(request, progress=progress())


def _run_against(request: Any, against: Any) -> tuple[Any, Any, Any, Any]:
    from ragtriage.comparing import evaluate_against  # noqa: PLC0415 - only with --baseline

    run, done = evaluate_against(request, against, progress=progress())
    return run.report, run.path, done.report, done.path


def _apart(request: Any, against: Any, runner: Runner) -> tuple[Any, Any, Any, Any]:
    """Two steps, one after the other: the comparison is a flow where one was asked for."""
    from ragtriage.comparing import check_baseline, compare_request  # noqa: PLC0415 - as above

    check_baseline(request, against)
    report, path, _ = _run(request, runner)
    against = against.model_copy(update={"candidate": str(path)})
    if runner.prefect:
        from ragtriage.flows.server import compare_under_prefect  # noqa: PLC0415 - with --prefect

        return report, path, *compare_under_prefect(against)
    done = compare_request(against, progress=progress())
    return report, path, done.report, done.path
