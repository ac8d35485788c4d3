"""Who does the work of an evaluation: no part of what is evaluated, nor of any result."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from ragtriage.errors import UsageError

DASK = "--runner dask"
_NAMES = ("direct", "dask")


@dataclass(frozen=True)
class Runner:
    """`address`: of Dask's scheduler, None for a cluster of our own. `shards`: about how many.

    `workers`: processes that share the work on this machine, None for as many as are worth it.
    """

    name: Literal["direct", "dask"] = "direct"
    prefect: bool = False
    address: str | None = None
    shards: int | None = None
    workers: int | None = None


def runner_apart(options: dict[str, Any], *, prefect: bool) -> Runner:
    """The runner that the options name, which are taken out of them.

    Raises:
        UsageError: no such runner, or an option that means nothing to it.
    """
    name = options.pop("runner", "direct")
    address, shards = options.pop("dask_address", None), options.pop("shards", None)
    workers = options.pop("workers", None)
    if name not in _NAMES:
        raise UsageError(f"--runner: {name!r} is not one of {', '.join(_NAMES)}")
    for option, value in (("--dask-address", address), ("--shards", shards)):
        if value is not None and name != "dask":
            raise UsageError(f"{option}: means something with {DASK} only")
    if workers is not None and (name == "dask" or prefect):
        raise UsageError(f"--workers: means nothing with {'--prefect' if prefect else DASK}")
    if workers is not None and not re.fullmatch("0*[1-9][0-9]?", str(workers)):
        raise UsageError(f"--workers: {workers!r} is not a whole number from 1 to 99")
    if address is not None and not re.fullmatch(r"[a-z]+://\S+:[0-9]+", str(address)):
        raise UsageError(f"--dask-address: {address!r} is no address; for example tcp://host:8786")
    if shards is not None and not re.fullmatch("0*[1-9][0-9]{0,5}", str(shards)):
        raise UsageError(f"--shards: {shards!r} is not a whole number from 1 to 999999")
    shards, workers = (None if given is None else int(given) for given in (shards, workers))
    return Runner(name, prefect, address, shards, workers)
