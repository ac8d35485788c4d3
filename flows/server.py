"""From the command line to a flow run on a server that is there already.

Whether it is, is asked before Prefect is imported: without one Prefect would start a temporary
server behind the user's back, which is never wanted.
"""

import importlib.util
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from ragtriage.comparing import stored_comparison
from ragtriage.comparison.request import CompareRequest
from ragtriage.errors import UsageError
from ragtriage.publish.comparison.document import ComparisonReport
from ragtriage.publish.document import Report
from ragtriage.request import EvaluateRequest
from ragtriage.run import stored_report
from ragtriage.runner import DASK, Runner
from ragtriage.sharding.run import check_shardable

_SECONDS = 5
_HELP = """start a server and name it:
  prefect server start
  export PREFECT_API_URL=http://127.0.0.1:4200/api"""


def require_server(option: str = "--prefect") -> None:
    """Refuse unless the server at PREFECT_API_URL answers; keep Prefect quiet and offline.

    Raises:
        UsageError: no server is named, or it does not answer.
    """
    url = os.environ.get("PREFECT_API_URL", "")
    if not url:
        raise UsageError(f"{option}: PREFECT_API_URL is not set; {_HELP}")
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"{option}: PREFECT_API_URL {url!r} is no http address; {_HELP}")
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/health", timeout=_SECONDS):  # noqa: S310 - checked above
            pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise UsageError(f"{option}: no server answers at {url} ({reason}); {_HELP}") from None
    os.environ.setdefault("PREFECT_SERVER_ALLOW_EPHEMERAL_MODE", "false")
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("DO_NOT_TRACK", "1")


def run_under_prefect(request: EvaluateRequest) -> tuple[Report, Path]:
    """Evaluate as a flow; the report and the run's folder, as a direct run gives them.

    Raises:
        UsageError: Prefect or its server is not there, or the request cannot be a flow.
        InputError: what the direct run would raise.
    """
    names = (*request.inputs, *request.cases, *request.trace, *request.corpus)
    _require_flow(write=request.write, names=names)
    from ragtriage.flows.evaluate import evaluate  # noqa: PLC0415 - after the settings above

    path = _path_of(evaluate(request, return_state=True))
    return stored_report(path), path


def run_on_dask(request: EvaluateRequest, runner: Runner) -> tuple[Report, Path]:
    """Evaluate as a flow whose shards are tasks on Dask; the same as a direct run gives.

    Raises:
        UsageError: Prefect, Dask, a server or a scheduler is not there, or the request cannot be
            cut into shards.
        InputError: what the direct run would raise.
        ShardError: a shard failed.
    """
    if not all(importlib.util.find_spec(name) for name in ("prefect", "prefect_dask")):
        raise UsageError(f"{DASK}: Dask is not installed; pip install 'ragtriage[dask]'")
    check_shardable(request, DASK)
    require_server(DASK)
    from ragtriage.flows.sharded import evaluate_in_shards, task_runner  # noqa: PLC0415 - only with --runner dask, after the settings above

    flow = evaluate_in_shards.with_options(task_runner=task_runner(runner.address))
    path = _path_of(flow(request, runner.shards, return_state=True))
    return stored_report(path), path


def compare_under_prefect(request: CompareRequest) -> tuple[ComparisonReport, Path]:
    """Compare as a flow; the report and the folder, as a direct comparison gives them.

    Raises:
        UsageError: Prefect or its server is not there, or the request cannot be a flow.
        InputError: what the direct comparison would raise.
    """
    asked = (request.base, request.candidate, *request.cases, *request.evaluate.corpus)
    _require_flow(write=request.write, names=asked)
    from ragtriage.flows.compare import compare  # noqa: PLC0415 - after the settings above

    path = _path_of(compare(request, return_state=True))
    return stored_comparison(path), path


def _require_flow(*, write: bool, names: tuple[str, ...]) -> None:
    """Refuse what cannot be a flow, and any flow without a server."""
    if importlib.util.find_spec("prefect") is None:
        raise UsageError("--prefect: Prefect is not installed; pip install 'ragtriage[prefect]'")
    if not write:
        raise UsageError("--prefect: a flow leaves its run in a folder; drop --no-write")
    if "-" in names:
        raise UsageError("--prefect: standard input does not reach a flow; give a file")
    require_server()


def _path_of(state: Any) -> Path:
    """The folder a flow published, whatever its verdict; its refusal is raised here."""
    result = state.data if isinstance(state.data, Path) else state.result(raise_on_failure=False)
    if isinstance(result, BaseException):
        raise result
    return Path(result)
