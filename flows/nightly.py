"""The nightly flow: evaluate, compare with the accepted run, accept, tell the history, say it.

From the moment the run is published, what fails is collected and the rest goes on.
"""

from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from ragtriage import nightly as steps
from ragtriage.errors import RagtriageError
from ragtriage.flows.evaluate import evaluate_cases, read_inputs
from ragtriage.flows.limit import Deadline
from ragtriage.flows.logs import keep_quiet
from ragtriage.nightly_request import NightlyRequest
from ragtriage.publish import nightly as page

keep_quiet()


@task(cache_policy=NO_CACHE, persist_result=False)
def compare_with_accepted(request: NightlyRequest, run: Path, deadline: Deadline) -> Path | None:
    """The comparison with the accepted run; None where there is none yet."""
    work = steps.compare_with_accepted
    return deadline.within("comparing", request.out, work, request, run)


@task(cache_policy=NO_CACHE, persist_result=False)
def settle_acceptance(request: NightlyRequest, run: Path, failures: list[str]) -> str | None:
    """The run's ID if it became the accepted one."""
    return steps.settle_acceptance(request, run, failures)


@task(cache_policy=NO_CACHE, persist_result=False)
def rebuild_history(out: str, deadline: Deadline) -> Path:
    """The page over all runs."""
    return deadline.within("rebuilding the history", out, steps.rebuild_history, out)


@task(cache_policy=NO_CACHE, persist_result=False)
def leave_artifacts(night: page.Night) -> None:
    """The night in a screenful, as Prefect shows it, and links to the pages."""
    key = "ragtriage-nightly"
    create_markdown_artifact(page.render(night), key=key, description=page.verdict(night))
    for name, path in night.pages.items():
        uri = path.resolve().as_uri()
        create_link_artifact(uri, key=f"{key}-{name}", link_text=f"{name}: {path}")


@flow(name="nightly", persist_result=False)
def nightly(request: NightlyRequest) -> State[Any]:
    """Evaluate and compare with the accepted run; any failed gate is a Failed state that says so.

    The parameters are one model; its descriptions say what each means.
    """
    deadline = Deadline.after(request.time_limit)
    digests = read_inputs(request.evaluate, deadline)
    run = evaluate_cases(request.evaluate, digests, deadline)
    wrong = _Collected()
    comparison = wrong.unless(compare_with_accepted, request, run, deadline)
    failures = steps.failures_of(run, comparison) + wrong.told
    accepted = wrong.unless(settle_acceptance, request, run, failures)
    history = wrong.unless(rebuild_history, request.out, deadline)
    failures = steps.failures_of(run, comparison) + wrong.told
    night = steps.night_of(run, comparison, accepted=accepted, history=history, failures=failures)
    leave_artifacts(night)
    if failures:
        return Failed(message="; ".join(failures), data=run)
    return Completed(message=page.verdict(night), data=run)


class _Collected:
    """What went wrong in steps that must not keep the next ones from running."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def unless(self, step: Any, *arguments: Any) -> Any:
        """The step's result, or None and its refusal noted."""
        try:
            return step(*arguments)
        except RagtriageError as error:
            self.told.append(str(error))
            return None
