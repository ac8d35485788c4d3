"""What a file is: which preset fits, what would be observed, and the command to run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from ragtriage.metrics import columns_for
from ragtriage.publish.escape import visible
from ragtriage.read.presets import preset as known_preset
from ragtriage.read.presets.base import CASES, RECORDS, TRACE
from ragtriage.read.presets.texts import TEXT_KEYS
from ragtriage.read.trial import (
    A_CORPUS,
    RECORDS_PRESET,
    Trial,
    holds_nothing,
    problems_of,
    trials,
)
from ragtriage.schemas.contracts import CONTRACTS

# What stands in a command for the file that goes with this one.
JOINED = "YOUR_"
_NO_ID = (
    "no ID and no question, which a file of its own needs: name one with --map their.path=case_id"
)
_LABELS = {"required_ids", "required_groups", "grades"}
_OF_CASES = {*_LABELS, "expected_answers", "answerable", "required_claims"}
_OF_RUN = {"retrieved_ids", "context_ids", "cited_ids", "answer", "abstained", "claims", "error"}

# What a stage needs: any of the first, and any of the second where there is one.
_STAGES: tuple[tuple[str, set[str], set[str]], ...] = (
    ("authorization", {"allowed_ids", "forbidden_ids"}, _OF_RUN),
    ("not_run", {"error"}, set()),
    ("abstention", {"answerable", *_LABELS}, {"answer", "abstained"}),
    ("retrieval", _LABELS, {"retrieved_ids", "context_ids"}),
    ("generation", _LABELS, {"answer_correct", "claims", "answer"}),
    ("citation", _LABELS, {"cited_ids"}),
)


@dataclass
class Inspection:
    """What was found. `command` is empty where nothing fits."""

    file: str
    preset: str | None = None
    why: str = ""
    records: int = 0
    mapped: int = 0
    reasons: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)
    systems: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)
    contracts: list[str] = field(default_factory=list)
    suggestions: dict[str, str] = field(default_factory=dict)
    also: list[str] = field(default_factory=list)
    command: str = ""
    empty: bool = False

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def inspected(name: str, text_ids: tuple[str, ...] = ()) -> Inspection:
    """Look at the start of a file: what fits, or what nearly does and why not.

    Raises:
        InputError: it cannot be read at all.
    """
    tried = trials(name, text_ids)
    best = max(tried, key=_merit, default=None)
    if best is None:
        return Inspection(name, empty=holds_nothing(name), reasons=problems_of(name))
    fields = set(best.fields)
    command = _command(name, best, fields, text_ids) if _gives(best) else ""
    reasons = best.reasons or ([] if command else problems_of(name))
    if best.numbered and JOINED in command:
        command, reasons = "", [*reasons, _NO_ID]
    metrics = dict.fromkeys(c.metric.name for c in columns_for((10,)) if c.metric.observed(fields))
    return Inspection(
        file=name,
        preset=best.preset if best.preset != RECORDS_PRESET or command else None,
        why=best.why,
        records=best.records,
        mapped=best.mapped,
        reasons=reasons,
        keys=best.keys,
        fields=sorted(fields),
        dropped=best.dropped,
        systems=best.systems,
        metrics=list(metrics) if fields & _OF_RUN else [],
        stages=_stages(fields),
        contracts=[name for name, each in CONTRACTS.items() if _allows(each, fields)],
        suggestions=best.suggestions,
        also=[e.preset for e in tried if e is not best and e.preset and _gives(e)],
        command=command,
    )


def _gives(trial: Trial) -> bool:
    """Does it give anything but IDs of its own making?"""
    return trial.mapped > 0 and bool(set(trial.fields) - {"case_id"} or trial.suggestions)


def _merit(trial: Trial) -> tuple[int, bool, float, int]:
    """What gives something first; then a tool's own preset before the one for anything.

    Why a tool's preset can take nothing says more than a guess at its fields.
    """
    share = trial.mapped / trial.records if trial.records else 0.0
    known = trial.preset != RECORDS_PRESET
    given = len(set(trial.fields) - {"case_id"})
    sure = 2 if given and not trial.suggestions else int(known or given > 0)
    return (sure, known, share, given)


def _stages(fields: set[str]) -> list[str]:
    return [s for s, first, then in _STAGES if fields & first and (not then or fields & then)]


def _allows(contract: Any, fields: set[str]) -> bool:
    return set(contract.requires) <= fields and (
        not contract.any_of or bool(set(contract.any_of) & fields)
    )


def _command(name: str, trial: Trial, fields: set[str], text_ids: tuple[str, ...]) -> str:
    file = shlex.quote(name)
    if trial.why == A_CORPUS:
        return f"ragtriage evaluate YOUR_CASES --corpus {file}"
    preset = trial.preset
    extras = "".join(f" --map {shlex.quote(f'{a}={b}')}" for a, b in trial.suggestions.items())
    if trial.separator is not None:
        extras += f" --list-separator {shlex.quote(trial.separator)}"
    extras += "".join(f" --text-ids {shlex.quote(each)}" for each in text_ids)
    if trial.broken_ids:
        extras += " --on-invalid quarantine"
    fields = fields | set(trial.suggestions.values())
    roles = known_preset(preset).roles if preset else (RECORDS, CASES, TRACE)
    whole = fields & _OF_CASES - {"answerable"} and fields & (_OF_RUN - {"error"})
    role = TRACE if fields & _OF_RUN else CASES
    if whole or (RECORDS in roles and role not in roles):
        chosen = f" --from {preset}" if preset else ""
        return f"ragtriage evaluate {file}{chosen}{extras}"
    if role == TRACE:
        chosen = f" --trace-from {preset}" if preset else ""
        return f"ragtriage evaluate --cases {JOINED}CASES --trace {file}{chosen}{extras}"
    chosen = f" --cases-from {preset}" if preset else ""
    return f"ragtriage evaluate --cases {file} --trace {JOINED}TRACE{chosen}{extras}"


def told(found: Inspection) -> str:
    """The inspection as text, line by line."""
    return "\n".join(visible(line) for line in _lines(found)) + "\n"


def _lines(found: Inspection) -> Iterator[str]:
    yield f"file        {found.file}"
    if found.empty:
        yield "fits        no case in it"
        return
    if not found.command:
        why = f"{found.preset}, {found.why}; yet no record can be mapped" if found.preset else ""
        yield f"fits        {why or 'nothing we know'}"
        yield from (f"            {reason}" for reason in found.reasons[:5])
        if found.keys:
            yield f"keys        {', '.join(found.keys)}"
        if not found.preset:
            yield "next        say where fields are: --map their.path=our_field (ragtriage schema)"
        return
    form = found.preset or "our own format"
    yield f"fits        {form}{f': {found.why}' if found.why else ''}"
    if found.also:
        yield f"also        {', '.join(found.also)}"
    yield f"looked at   {found.records:,} records: {found.mapped:,} can be mapped"
    yield from (f"            {reason}" for reason in found.reasons[:5])
    yield f"observed    {', '.join(found.fields)}"
    if found.dropped:
        yield f"dropped     {', '.join(found.dropped)}"
    if texts := sorted(TEXT_KEYS & set(found.dropped)):
        yield f"texts       {', '.join(texts)}: no IDs; --text-ids CORPUS finds them"
    if found.systems:
        yield f"systems     {', '.join(found.systems)} (one run each, or --system NAME)"
    yield f"stages      {', '.join(found.stages) or 'none: labels and a run are both needed'}"
    yield f"metrics     {', '.join(found.metrics) or 'none from this file alone'}"
    yield f"contracts   {', '.join(found.contracts)}"
    for theirs, ours in found.suggestions.items():
        yield f"guess       {theirs} = {ours}: look at it before you trust it"
    yield f"run         {found.command}"
