"""A run under way: its ID, when it started, and the folder that appears whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from ragtriage.agreement_request import AgreementRequest
from ragtriage.leakage_request import LeakageRequest
from ragtriage.publish.folder import RunFolder
from ragtriage.publish.identity import new_run_id, started_at
from ragtriage.request import EvaluateRequest

Asked = EvaluateRequest | AgreementRequest | LeakageRequest


@contextmanager
def opened_run(
    request: Asked, prefix: str = ""
) -> Iterator[tuple[str, datetime, RunFolder | None]]:
    """A run's ID, when it started, and its folder, of which nothing is left unless published."""
    started = started_at()
    run_id = prefix + run_id_of(request, started)
    folder = RunFolder(request.out, run_id) if request.write else None
    if folder is not None:
        folder.open()
    try:
        yield run_id, started, folder
    finally:
        if folder is not None:
            folder.close()


def run_id_of(request: Asked, started: datetime) -> str:
    """As asked for, or a new one."""
    configuration = repr(request.model_dump(exclude={"out", "run_id"}))
    return request.run_id or new_run_id(started, configuration)
