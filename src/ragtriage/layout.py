"""What a request means once the layout of its files is known: mappings, defaults, systems."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ragtriage.errors import UsageError, nearest
from ragtriage.read.presets import CORPUS, Preset
from ragtriage.read.sources import asked_of, files_for, preset_of
from ragtriage.request import EvaluateRequest, build_request, read_toml

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 60


def settled(request: EvaluateRequest) -> EvaluateRequest:
    """The request with its mapping file read, and what its presets imply.

    Raises:
        UsageError: no such preset, or the mapping file makes no sense.
    """
    update: dict[str, Any] = {}
    if request.map_file is not None:
        update["mapping"] = {**_map_file(request.map_file), **request.mapping}
    traces = preset_of(request, "trace") if request.trace else None
    if traces and traces.missing_trace and "missing_trace" not in request.model_fields_set:
        update["missing_trace"] = traces.missing_trace
    cases = preset_of(request, "cases") if request.cases else None
    if cases and not request.corpus and _brings_corpus(cases, request):
        update |= {"corpus": request.cases, "corpus_from": cases.name}
    elif cases and CORPUS in cases.roles and _same_corpus(request):
        update["corpus_from"] = cases.name
    return request.model_copy(update=update) if update else request


def _same_corpus(request: EvaluateRequest) -> bool:
    """What also holds the cases in another tool's layout holds no corpus in ours."""
    return request.corpus_from is None and bool(set(request.corpus) & set(request.cases))


def _brings_corpus(cases: Preset, request: EvaluateRequest) -> bool:
    if not cases.brings_corpus or CORPUS not in cases.roles or "-" in request.cases:
        return False
    return all(cases.corpus_in(file) for file in cases.files(request.cases, "cases", None))


def presets_of(request: EvaluateRequest) -> dict[str, Preset]:
    """The preset of each role that has one and is given."""
    given = {"records": request.inputs, "cases": request.cases, "trace": request.trace}
    given["corpus"] = request.corpus
    found = {role: preset_of(request, role) for role, names in given.items() if names}
    return {role: chosen for role, chosen in found.items() if chosen is not None}


def systems_of(request: EvaluateRequest, spill: Path | None = None) -> list[str]:
    """The systems whose runs the input holds, in the order they are met; none where one is.

    Raises:
        UsageError: the system that was asked for is not among them.
    """
    names: dict[str, None] = {}
    for role, chosen in presets_of(request).items():
        if chosen.systems is None or role in ("cases", "corpus"):
            continue
        arguments = request.trace if role == "trace" else request.inputs
        if "-" in arguments:
            continue  # standard input can be read once only: it is taken for one system's
        asked = asked_of(request, role)
        for file in files_for(arguments, role, request, spill):
            names |= dict.fromkeys(chosen.systems(file, asked))
    if request.system is not None and request.system not in names:
        near = nearest(request.system, list(names))
        known = ", ".join(names) or "none: nothing in the input names a system"
        raise UsageError(f"--system: no {request.system!r} in the input{near}; it holds {known}")
    return list(names)


def for_each_system(request: EvaluateRequest, run_id: str) -> dict[str, EvaluateRequest]:
    """A request for each system, its folder named after run and system.

    A request for one run of one system alone stays as it is, under the name `""`.
    """
    systems = [] if request.system is not None else systems_of(request)
    if len(systems) < 2:  # noqa: PLR2004 - several
        return {"": request}
    slugs: dict[str, str] = {}
    for name in systems:
        slug = _UNSAFE.sub("-", name).strip("-.")[:_LONGEST] or "system"
        slugs[name] = slug if slug not in slugs.values() else f"{slug}-{len(slugs) + 1}"
    return {
        name: build_request(
            {**_options(request), "system": name, "run_id": f"{run_id}-{slug}"[-200:]}
        )
        for name, slug in slugs.items()
    }


def check_one_system(request: EvaluateRequest) -> None:
    """Does the request name one run?

    Raises:
        UsageError: the input holds several systems' and none is named, or another is.
    """
    systems = systems_of(request)
    if request.system is None and len(systems) > 1:
        raise UsageError(
            f"the input holds {len(systems)} systems: {', '.join(systems)}; name one with --system "
            "(system=…), or take ragtriage.evaluate_systems for a run of each"
        )


def _options(request: EvaluateRequest) -> dict[str, Any]:
    return request.model_dump(by_alias=True, exclude_unset=True)


def _map_file(path: str) -> dict[str, str]:
    """Theirs to ours, from a TOML file; dotted keys may stand without quotes."""
    table = read_toml(path)
    table = table.get("map", table) if isinstance(table.get("map"), dict) else table
    mapping = dict(_flat(table, "", path))
    try:
        return build_request({"map": mapping}).mapping
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _flat(table: dict[str, Any], before: str, path: str) -> list[tuple[str, str]]:
    pairs = []
    for key, value in table.items():
        if isinstance(value, dict):
            pairs += _flat(value, f"{before}{key}.", path)
        elif isinstance(value, str):
            pairs.append((before + key, value))
        else:
            raise UsageError(f"{path}: {before}{key}: write 'their.path' = 'our_field'")
    return pairs
