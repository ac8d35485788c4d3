"""What `ragtriage evaluate` does with a request: one run, one a system, or one against another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ragtriage.cli_output import progress
from ragtriage.cli_telling import Telling
from ragtriage.errors import UsageError
from ragtriage.runner import Runner


def evaluated(told: Telling, request: Any, against: Any, runner: Runner) -> int:
    """Carry a request out and tell what it came to; of several runs the worst verdict counts."""
    from ragtriage.pipeline import system_requests

    requests = system_requests(request)
    if against is not None:
        if len(requests) > 1:
            raise UsageError(
                f"--baseline: the input holds {len(requests)} systems; name one with --system"
            )
        if runner.name == "direct" and not runner.prefect:
            return told.both(*_run_against(request, against, runner))
        return told.both(*_apart(request, against, runner))
    if len(requests) == 1:
        return told.run(*_run(request, runner))
    return told.several({str(each.system): _run(each, runner) for each in requests})


def _run(request: Any, runner: Runner) -> tuple[Any, Any, dict[str, float]]:
    """One evaluation: its report, its folder and its timings."""
    if runner.name == "dask":
        from ragtriage.flows.server import run_on_dask

        return *run_on_dask(request, runner), {}
    if runner.prefect:
        from ragtriage.flows.server import run_under_prefect

        return *run_under_prefect(request), {}
    with _evaluation(request, runner) as evaluated_here:
        run = evaluated_here()
    return run.report, run.path, run.manifest["timings"]


def _run_against(request: Any, against: Any, runner: Runner) -> tuple[Any, Any, Any, Any]:
    from ragtriage.comparing import evaluate_against

    with _evaluation(request, runner, keep=not request.write) as evaluated_here:
        run, done = evaluate_against(request, against, evaluated_here)
    return run.report, run.path, done.report, done.path


@contextmanager
def _evaluation(request: Any, runner: Runner, *, keep: bool = False) -> Iterator[Callable[[], Any]]:
    """What carries the request out: several processes where that is worth while, else this one.

    They are started first: nothing else may be at work then. `keep`: the run's frames in memory.
    """
    from ragtriage.pipeline import run_request
    from ragtriage.sharding.local import local_workers

    told = progress()
    with local_workers(request, runner.workers, progress=told) as workers:
        if workers is None:
            yield lambda: run_request(request, progress=told, keep_frames=keep)
        else:
            yield lambda: _shared(request, workers)


def _shared(request: Any, workers: Any) -> Any:
    from ragtriage.sharding.run import run_in_shards

    run = run_in_shards(request, workers, wanted=workers.shards, tapered=workers.tapered)
    # A comparison may follow, which has no use for them.
    workers.close()
    return run


def _apart(request: Any, against: Any, runner: Runner) -> tuple[Any, Any, Any, Any]:
    """Two steps, one after the other: the comparison is a flow where one was asked for."""
    from ragtriage.comparing import check_baseline, compare_request

    check_baseline(request, against)
    report, path, _ = _run(request, runner)
    against = against.model_copy(update={"candidate": str(path)})
    if runner.prefect:
        from ragtriage.flows.server import compare_under_prefect

        return report, path, *compare_under_prefect(against)
    done = compare_request(against, progress=progress())
    return report, path, done.report, done.path
