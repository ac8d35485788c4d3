"""The compare flow: two finished runs, compare, leave an artifact, state the verdict."""

from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from ragtriage.comparing import compare_request, finished_sides, stored_comparison
from ragtriage.comparison.request import CompareRequest
from ragtriage.flows.logs import keep_quiet
from ragtriage.publish.comparison import markdown, words

keep_quiet()


@task(cache_policy=NO_CACHE, persist_result=False)
def finish_sides(request: CompareRequest) -> CompareRequest:
    """The same request over finished runs: a side that is an input is evaluated first."""
    return finished_sides(request)


@task(cache_policy=NO_CACHE, persist_result=False)
def compare_sides(request: CompareRequest) -> Path:
    """The whole comparison; the folder it published."""
    return compare_request(request).folder


@task(cache_policy=NO_CACHE, persist_result=False)
def leave_artifacts(path: Path) -> None:
    """What the comparison came to, as Prefect shows it, and a link to the report."""
    report = stored_comparison(path)
    key = "ragtriage-compare"
    create_markdown_artifact(markdown.render(report), key=key, description=words.verdict(report))
    create_link_artifact(
        (path / "report.html").resolve().as_uri(), key=f"{key}-report", link_text=path.name
    )


@flow(name="compare", persist_result=False)
def compare(request: CompareRequest) -> State[Any]:
    """Compare two runs; a failed gate or lost coverage is a Failed state that says which."""
    path = compare_sides(finish_sides(request))
    leave_artifacts(path)
    report = stored_comparison(path)
    if report["failures"]:
        return Failed(message="; ".join(report["failures"]), data=path)
    return Completed(message=words.verdict(report), data=path)
