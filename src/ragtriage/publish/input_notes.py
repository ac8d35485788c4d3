"""What must be said of an input beside its numbers: what was left out, whose records were read."""

from __future__ import annotations

from ragtriage.read.input import Input
from ragtriage.read.presets.texts import without_ids
from ragtriage.read.sources import preset_of
from ragtriage.request import EvaluateRequest
from ragtriage.without_text import names_without_text

# Characters of a field's name in a note.
_NAME = 80


def input_notes(given: Input, request: EvaluateRequest) -> list[str]:
    """Whatever was set aside of the input and is no rejected record, line by line."""
    dropped = told_dropped(given, request)
    # What readers leave out beside fields stands in brackets.
    beside = {name for name in dropped if name[:1] == "(" and name[-1:] == ")"}
    notes = [f"set aside: {name[1:-1]} ({dropped[name]:,})" for name in sorted(beside)]
    fields = {name: n for name, n in dropped.items() if name not in beside}
    presets = ", ".join(dict.fromkeys(presets_by_role(given, request).values()))
    notes += unknown_fields(fields, f"--from {presets}" if presets else "--extra ignore")
    texts = without_ids(fields, given.fields) if presets else []
    if texts and not request.text_ids:
        notes.append(f"texts without IDs: {', '.join(texts)}; --text-ids CORPUS finds their IDs")
    if request.system is not None:
        notes.append(f"system: {request.system}")
    return notes + given.notes


def told_dropped(given: Input, request: EvaluateRequest) -> dict[str, int]:
    """Keys that were set aside, and in how many records; as far as they may be told."""
    return names_without_text(given.dropped) if request.no_text else given.dropped


def presets_by_role(given: Input, request: EvaluateRequest) -> dict[str, str]:
    """The preset that read each role's files."""
    roles = {str(entry["role"]) for entry in given.files} | {"records"}
    named = {role: request.preset_for(role) for role in sorted(roles)}
    if "trace" in roles:
        traces = preset_of(request, "trace")
        named["trace"] = None if traces is None else traces.name
    return {role: name for role, name in named.items() if name is not None}


def unknown_fields(dropped: dict[str, int], why: str = "--extra ignore") -> list[str]:
    """The note on fields that were set aside, if any were."""
    names = ", ".join(f"{name[:_NAME]} ({n:,})" for name, n in list(dropped.items())[:10])
    return [f"unknown fields set aside ({why}): {names}"] if dropped else []
