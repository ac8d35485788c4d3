"""The evaluation flow whose shards are tasks: one a shard, on Dask. The merge is done here."""

import logging
import os
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import distributed
from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.futures import PrefectFuture
from prefect.task_runners import TaskRunner
from prefect_dask.task_runners import DaskTaskRunner

from ragtriage.errors import RagtriageError, ShardError, UsageError
from ragtriage.flows.evaluate import concluded
from ragtriage.flows.logs import keep_quiet
from ragtriage.request import EvaluateRequest
from ragtriage.sharding import jobs
from ragtriage.sharding.run import Call, run_in_shards

keep_quiet()

# Workers of our own cluster are ended when the flow is over, at work or not.
logging.getLogger("distributed.nanny").setLevel(logging.ERROR)
_SECONDS = 5
_LOGGER = logging.getLogger("prefect.flow_runs")


# A job and its result travel as bytes, which Prefect does not look into.
@task(name="learn", task_run_name="learn {shard}", cache_policy=NO_CACHE, persist_result=False)
def learn_shard(shard: str, job: bytes) -> bytes:  # noqa: ARG001 - names the task's run
    """First pass over a shard: its keys, and its IDs' hashes on disk."""
    return _carried_out(jobs.learn_shard, job)


@task(name="digest", task_run_name="{shard}", cache_policy=NO_CACHE, persist_result=False)
def take_digest(shard: str, job: bytes) -> bytes:  # noqa: ARG001 - names the task's run
    """SHA-256 of a file that is cut."""
    return _carried_out(jobs.take_digest, job)


@task(name="find", task_run_name="find {shard}", cache_policy=NO_CACHE, persist_result=False)
def find_ids(shard: str, job: bytes) -> bytes:  # noqa: ARG001 - names the task's run
    """Where IDs stand that may not be unique."""
    return _carried_out(jobs.find_ids, job)


@task(name="evaluate", task_run_name="{shard}", cache_policy=NO_CACHE, persist_result=False)
def fold_shard(shard: str, job: bytes) -> bytes:  # noqa: ARG001 - names the task's run
    """Second pass over a shard: checked, scored, written; its sums."""
    return _carried_out(jobs.fold_shard, job)


_TASKS: dict[Callable[[Any], Any], Any] = {
    jobs.learn_shard: learn_shard,
    jobs.take_digest: take_digest,
    jobs.find_ids: find_ids,
    jobs.fold_shard: fold_shard,
}


@flow(name="evaluate-in-shards", persist_result=False)
def evaluate_in_shards(request: EvaluateRequest, shards: int | None = None) -> State[Any]:
    """Evaluate recorded cases, one task a shard; a failed gate is a Failed state that says which.

    Args:
        request: what is evaluated, with the options of `ragtriage evaluate`.
        shards: about how many parts the input is cut into; by default one for 256 MiB.
    """
    return concluded(run_in_shards(request, _on_workers, wanted=shards).folder)


def task_runner(address: str | None) -> TaskRunner[Any]:
    """Workers at an address, or a cluster on this machine, a worker a core.

    Raises:
        UsageError: no scheduler answers there.
    """
    if address is None:
        cores = len(os.sched_getaffinity(0))
        # Each worker has a core: polars need not start as many threads as there are.
        return DaskTaskRunner(
            cluster_kwargs={
                "n_workers": cores,
                "threads_per_worker": 1,
                "dashboard_address": None,
                "env": {"POLARS_MAX_THREADS": "1"},
            }
        )
    try:
        client = distributed.Client(address, timeout=_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
        with client:
            if not client.scheduler_info()["workers"]:
                _LOGGER.warning("the scheduler at %s has no worker yet: shards wait", address)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--dask-address: no scheduler answers at {address} ({error}); start a scheduler and "
            "name it:\n"
            "  dask scheduler\n  dask worker tcp://127.0.0.1:8786 --nthreads 1"
        ) from None
    return DaskTaskRunner(address=address)


def _on_workers(calls: Sequence[Call]) -> list[Any]:
    """Every call as a task; all are waited for, so that none is at work when the flow is over."""
    futures = [_TASKS[work].submit(job.name, pickle.dumps(job)) for work, job in calls]
    return [_outcome(future, job.name) for future, (_, job) in zip(futures, calls, strict=True)]


def _outcome(future: PrefectFuture[bytes], name: str) -> Any:
    try:
        return pickle.loads(future.result())  # noqa: S301 - written by our own task
    except RagtriageError as error:
        return error
    except Exception as error:  # noqa: BLE001 - whatever became of the worker, the shard is named
        why = f"{type(error).__name__}: {error}"
        return ShardError(f"{name} failed: {why}; nothing was published")


def _carried_out(work: Callable[[Any], Any], job: bytes) -> bytes:
    return pickle.dumps(work(pickle.loads(job)))  # noqa: S301 - written by our own flow
