"""What to try next where not one record could be taken, in a sentence."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from ragtriage.request import EvaluateRequest

_STREAM = "-"


def advice(request: EvaluateRequest, rules: Mapping[str, int], accepted: int) -> str:
    """A command that tells more, or the options that were meant; "" where neither is likely.

    `rules`: how many faults of each rule there are. A record or two with a fault have its
    message; where all are refused, the whole file is another than we take it for.
    """
    if accepted:
        return ""
    broken = {rule for rule, n in rules.items() if n}
    if broken == {"duplicate-case-id"} and len(request.inputs) > 1:
        first, second, *_ = (shlex.quote(name) for name in request.inputs)
        return f"labels and traces in files of their own? --cases {first} --trace {second}"
    file = _foreign(request)
    if "unknown-field" in broken and file:
        return f"another layout? ragtriage inspect {shlex.quote(file)} says how to read it"
    return ""


def _foreign(request: EvaluateRequest) -> str:
    """The first file that is read as our own format."""
    roles = {"records": request.inputs, "cases": request.cases, "trace": request.trace}
    files = [
        name for role, names in roles.items() if not request.preset_for(role) for name in names
    ]
    return next((name for name in files if name != _STREAM), "")
