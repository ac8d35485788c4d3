"""`trec`: qrels as cases, a run as traces."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ragtriage.errors import InputError, UsageError
from ragtriage.read.files import InputFile, find_files
from ragtriage.read.index import Source
from ragtriage.read.presets.base import CASES, TRACE, Asked, Preset, Sample
from ragtriage.read.trec.qrels import qrels_source
from ragtriage.read.trec.reading import QRELS, RUN
from ragtriage.read.trec.runs import ORDERS, run_source
from ragtriage.read.trec.systems import systems_in

_FORMAT = "trec"


def trec_files(arguments: tuple[str, ...], role: str, spill: Path | None) -> list[InputFile]:
    """Files by any name; of a folder, all that are not hidden."""
    names: list[str] = []
    for argument in arguments:
        names += _in_folder(argument) if os.path.isdir(argument) else [argument]
    found = find_files(tuple(names), role, spill, otherwise=_FORMAT)
    return [replace(file, format=_FORMAT) for file in found]


def trec_sources(files: list[InputFile], asked: Asked) -> list[Source]:
    """Qrels as cases, runs as traces."""
    if asked.role == CASES:
        return [qrels_source(file) for file in files]
    return run_sources(files, asked)


def run_sources(files: list[InputFile], asked: Asked) -> list[Source]:
    """Runs as traces: all files, or the rows of the system that was named."""
    order = order_of(asked)
    if asked.system is None:
        return [run_source(file, None, order) for file in files]
    chosen = [system for system in systems_in(files) if system.name == asked.system]
    return [run_source(system.file, system.tag, order) for system in chosen]


def run_systems(file: InputFile, asked: Asked) -> Iterator[str]:
    """The systems whose runs are in a file; their names depend on the other files given."""
    if asked.role != TRACE:
        return
    files = trec_files(tuple(asked.options.get("trace") or (file.name,)), TRACE, None)
    for system in systems_in(files):
        if system.file.path == file.path:
            yield system.name


def order_of(asked: Asked) -> str:
    """What orders a run: its scores, or its ranks.

    Raises:
        UsageError: something else was asked for.
    """
    order = str(asked.options.get("trec_order") or ORDERS[0])
    if order not in ORDERS:
        raise UsageError(f"--trec-order: {order!r}: one of {', '.join(ORDERS)}")
    return order


def _in_folder(folder: str) -> list[str]:
    names = [
        os.path.join(folder, name)
        for name in sorted(os.listdir(folder))
        if not name.startswith(".") and os.path.isfile(os.path.join(folder, name))
    ]
    if not names:
        raise InputError(f"{folder}: the folder has no file; give the runs or qrels")
    return names


def _recognise(sample: Sample) -> str | None:
    lines = [line.split() for line in sample.head.split(b"\n") if line.strip()]
    for columns, number, what in ((RUN.columns, 4, "a run"), (QRELS.columns, 3, "qrels")):
        fitting = [c for c in lines if len(c) == len(columns) and _is_number(c[number])]
        # Its end may be cut, and a bad row does not make it another kind of file.
        if len(fitting) > len(lines) / 2:
            return f"{len(columns)} columns a line with a number in column {number + 1}: {what}"
    return None


def _is_number(cell: bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


PRESET = Preset(
    name="trec",
    about="TREC's qrels and runs",
    layout="qrels `topic iteration document grade`, run `topic Q0 document rank score tag`; "
    "columns between white space; also `.gz` and `.zst`",
    maps_to="grades; retrieved_ids",
    quirks=(
        "tabs, several blanks, blanks at the end, CRLF, no final line break",
        "the second column may hold anything",
        "ordered by score, equal scores by document ID, last first, as trec_eval does",
        "`--trec-order rank` takes the rank column instead",
        "rows of a topic may lie anywhere in the file",
        "several runs: a file each, or in one file a tag each; `--system NAME` takes one",
        "topics judged but not run count as empty",
        "topics run but not judged are an error unless `--unknown-trace ignore`",
        "qrels with the header of BEIR",
    ),
    roles=(CASES, TRACE),
    sources=trec_sources,
    files=trec_files,
    systems=run_systems,
    recognise=_recognise,
    missing_trace="empty",
)
