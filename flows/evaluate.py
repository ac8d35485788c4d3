"""The evaluate flow: read the inputs' digests, evaluate, leave an artifact, state the verdict."""

from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from ragtriage.flows.limit import Deadline
from ragtriage.flows.logs import keep_quiet
from ragtriage.pipeline import input_digests, run_folder
from ragtriage.publish import markdown, wording
from ragtriage.request import EvaluateRequest, TimeLimit
from ragtriage.run import stored_report

keep_quiet()


@task(cache_policy=NO_CACHE, persist_result=False, retries=2, retry_delay_seconds=2)
def read_inputs(request: EvaluateRequest, deadline: Deadline) -> dict[str, str]:
    """What is about to be read: each file's SHA-256."""
    return deadline.within("reading the inputs", request.out, input_digests, request)


@task(cache_policy=NO_CACHE, persist_result=False)
def evaluate_cases(request: EvaluateRequest, digests: dict[str, str], deadline: Deadline) -> Path:
    """The whole run; the folder it published."""
    return deadline.within("evaluating", request.out, run_folder, request, digests)


@task(cache_policy=NO_CACHE, persist_result=False)
def leave_artifacts(path: Path) -> None:
    """What the run came to, as Prefect shows it, and a link to the report."""
    report = stored_report(path)
    key = "ragtriage-evaluate"
    create_markdown_artifact(markdown.render(report), key=key, description=wording.verdict(report))
    create_link_artifact(
        (path / "report.html").resolve().as_uri(), key=f"{key}-report", link_text=path.name
    )


@flow(name="evaluate", persist_result=False)
def evaluate(request: EvaluateRequest, time_limit: TimeLimit = None) -> State[Any]:
    """Evaluate recorded cases; a failed gate is a Failed state that says which.

    Args:
        request: what is evaluated, with the options of `ragtriage evaluate`.
        time_limit: seconds after which the work is killed, whatever it is doing; none by default.
    """
    deadline = Deadline.after(time_limit)
    digests = read_inputs(request, deadline)
    return concluded(evaluate_cases(request, digests, deadline))


def concluded(path: Path) -> State[Any]:
    """A published run's artifacts, and the state that says its verdict."""
    leave_artifacts(path)
    report = stored_report(path)
    if report["failures"]:
        return Failed(message="; ".join(report["failures"]), data=path)
    return Completed(message=wording.verdict(report), data=path)
