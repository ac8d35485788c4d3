"""A file tried with each preset, on its first records. Nothing is kept, nothing evaluated."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from ragtriage.errors import InputError, RagtriageError
from ragtriage.format_options import OWN
from ragtriage.read.aliases import KeyResolver
from ragtriage.read.batches import Batch, skip_bom
from ragtriage.read.examine import Examiner
from ragtriage.read.faults import Fault
from ragtriage.read.files import InputFile, find_files, open_bytes
from ragtriage.read.presets import PRESETS, Preset, preset
from ragtriage.read.presets.base import CORPUS, RECORDS, Asked, Sample
from ragtriage.read.presets.foreign import foreign_records
from ragtriage.read.presets.guess import guesses, separator_in
from ragtriage.read.presets.rows import FOREIGN, NUMBERED
from ragtriage.read.sources import preset_sources, source_for, texts_in
from ragtriage.schemas.contracts import CONTRACTS
from ragtriage.schemas.corpus import Corpus
from ragtriage.schemas.inputs import Cases, dtypes, infos

RECORDS_PRESET = OWN
A_CORPUS = "a corpus: passages by their ID"
_A_FOLDER = "a folder that is no data set of a tool known here; inspect one of its files"
_HEAD = 1 << 16
_TWICE = "case IDs are not unique"
# Enough to know a file by; a JSON document larger than this is known by its head alone.
_FIRST = 200
_LARGEST_DOCUMENT = 64 << 20


@dataclass
class Trial:
    """What one preset makes of a file's first records; `preset` None: our own format.

    `numbered`: the only ID of a record is its place. `refused`: not one record was looked at.
    """

    preset: str | None
    why: str
    records: int = 0
    mapped: int = 0
    reasons: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)
    systems: list[str] = field(default_factory=list)
    suggestions: dict[str, str] = field(default_factory=dict)
    separator: str | None = None
    broken_ids: bool = False
    numbered: bool = False
    refused: bool = False


def trials(name: str, text_ids: tuple[str, ...] = ()) -> list[Trial]:
    """Every preset that recognises the file, and the one for anything.

    Raises:
        InputError: the file cannot be read at all.
    """
    sample = _sample(name)
    texts = texts_in(text_ids) if text_ids else None
    done = []
    own = _own(sample)
    if own is not None:
        done.append(own)
    for known in PRESETS:
        chosen = preset(known)
        why = chosen.recognise(sample)
        if why is not None or (known == RECORDS_PRESET and sample.records):
            roles = (
                [RECORDS] if RECORDS in chosen.roles else [r for r in chosen.roles if r != CORPUS]
            )
            tried = [_tried(chosen, why or "", sample, Asked(r, texts=texts)) for r in roles]
            done.append(min(tried, key=lambda trial: (not trial.mapped, trial.refused)))
    return done


def holds_nothing(name: str) -> bool:
    """Whether a file is empty: blank, an array of none, or a header line alone."""
    sample = _sample(name)
    if sample.records or sample.file.format in ("folder", "parquet"):
        return sample.file.format == "parquet" and not (sample.records or sample.problems)
    text = sample.head.removeprefix(b"\xef\xbb\xbf").strip()
    if sample.file.format in ("csv", "tsv"):
        return b"\n" not in text and b"\r" not in text
    return "".join(text.decode("utf-8", "replace").split()) in ("", "[]")


def problems_of(name: str) -> list[str]:
    """Why the first records of a file, or all of it, cannot be read; empty where they can."""
    return _sample(name).problems[:5]


def _sample(name: str) -> Sample:
    if os.path.isdir(name):
        return Sample(InputFile(name, Path(name), "folder"), b"", [], [_A_FOLDER])
    file = find_files((name,), RECORDS, None, "text")[0]
    with open_bytes(file) as stream:
        head = stream.read(_HEAD)
    sample = Sample(file, head, [])
    try:
        if file.format == "text":
            skip_bom(head[:4], file)
        else:
            _take_first(sample)
    except InputError as error:
        sample.problems.append(str(error))
    return sample


def _take_first(sample: Sample) -> None:
    """The first records, and why some are none.

    Raises:
        InputError: the file cannot be read.
    """
    file, head = sample.file, sample.head
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if file.format == "json" and text[:1] == b"{" and _size(file) > _LARGEST_DOCUMENT:
        return
    with open_bytes(file) as stream:
        for each in islice(foreign_records(stream, file), _FIRST):
            if isinstance(each.value, dict):
                sample.records.append(each.value)
            elif each.problem:
                sample.problems.append(f"{file.name}:{each.line}: {_reason(each.problem)}")


def _size(file: InputFile) -> int:
    return file.path.stat().st_size if file.content is None else len(file.content)


@dataclass(frozen=True)
class _Strict:
    """Our own formats as they must be."""

    extra: Any = "fail"
    contract: str = "auto"
    mapping: dict[str, str] = field(default_factory=dict)


def _own(sample: Sample) -> Trial | None:
    """Our own format, where the first records keep its rules."""
    by_title = {"title", "text"} < sample.keys and sample.keys & {"_id", "id"}
    # Reviews name evidence, too, each of a case.
    if by_title or ("evidence_id" in sample.keys and "case_id" not in sample.keys):
        n = len(sample.records)
        fields = sorted({"evidence_id", *({*dtypes(Corpus)} & sample.keys)})
        return Trial(None, A_CORPUS, n, n, keys=_paths(sample.records), fields=fields)
    if sample.file.format in ("text", "folder", "parquet") or not sample.records:
        return None
    whole = sample.head.rfind(b"\n") + 1
    if sample.file.format != "jsonl" or not whole:
        content = sample.head if _size(sample.file) <= len(sample.head) else None
    else:
        content = sample.head if _size(sample.file) <= len(sample.head) else sample.head[:whole]
    if content is None or sample.file.compression is not None:
        return None
    file = InputFile(sample.file.name, sample.file.path, sample.file.format, content=content)
    try:
        source = source_for(file, RECORDS, _Strict())
        index = source.index()
        chunks = list(source.chunks(index))
    except RagtriageError:
        return None
    rows = sum(chunk.frame.height for chunk in chunks)
    faults = [fault for chunk in chunks for fault in chunk.faults]
    if faults or not rows:
        return None
    return Trial(None, "", rows, rows, keys=_paths(sample.records), fields=sorted(index.fields))


def _tried(chosen: Preset, why: str, sample: Sample, asked: Asked) -> Trial:
    trial = _looked(chosen, why, sample, asked)
    return _guessed(chosen, sample, asked, trial) if chosen.name == RECORDS_PRESET else trial


def _looked(chosen: Preset, why: str, sample: Sample, asked: Asked) -> Trial:
    trial = Trial(chosen.name, why, keys=_paths(sample.records))
    try:
        if chosen.reader is None:
            _by_sources(chosen, sample.file, asked, trial)
        else:
            with open_bytes(sample.file) as stream:
                batch = next(chosen.reader(asked)(stream, sample.file), None)
            _by_batch(batch, trial, asked)
        if chosen.systems is not None:
            systems = list(dict.fromkeys(chosen.systems(sample.file, asked)))
            if len(systems) > 1:
                # The same case once a system is no repeat.
                trial.systems, trial.reasons = (
                    systems,
                    [r for r in trial.reasons if _TWICE not in r],
                )
                trial.broken_ids = trial.mapped < trial.records
    except RagtriageError as error:
        trial.reasons.append(str(error))
        trial.refused = not trial.records
    return trial


def _guessed(chosen: Preset, sample: Sample, asked: Asked, trial: Trial) -> Trial:
    """The trial once more, with a guess at what it left; itself where that gives nothing."""
    known, free = set(trial.fields), set(trial.dropped)
    if not trial.mapped:
        # A name that is nearly one of ours is refused: what is there besides?
        lenient = replace(asked, options={**asked.options, "extra": "ignore"})
        seen = _looked(chosen, trial.why, sample, lenient)
        # Where no record was taken, nothing counts as dropped, and every key is free.
        known, free = set(seen.fields), set(seen.dropped) if seen.mapped else sample.keys
    separator = separator_in(sample.records)
    suggested = guesses(sample.records, known, free, separator)
    if not (suggested or separator):
        return trial
    again = replace(asked, mapping=suggested, separator=separator)
    better = _looked(chosen, trial.why, sample, again)
    if better.mapped < max(trial.mapped, 1):
        return trial
    better.suggestions, better.separator = suggested, separator
    return better


def _by_sources(chosen: Preset, file: InputFile, asked: Asked, trial: Trial) -> None:
    systems = list(dict.fromkeys(chosen.systems(file, asked))) if chosen.systems else []
    if len(systems) > 1:
        asked = replace(asked, system=systems[0])
    names = chosen.files((file.name,), asked.role, None)
    for source in preset_sources(chosen, names, asked, asked.role):
        index = source.index()
        trial.fields = sorted({*trial.fields, *index.fields})
        trial.records += sum(part.len() for part in index.hashes)
        if not trial.records:
            faults = [fault for chunk in source.chunks(index) for fault in chunk.faults]
            trial.reasons += [f"{f.source_file}:{f.line}: {f.message}" for f in faults[:5]]
    trial.mapped = trial.records


def _by_batch(batch: Batch | None, trial: Trial, asked: Asked) -> None:
    if batch is None:
        return
    _hold(batch, asked)
    trial.records = len(batch.lines)
    trial.mapped = trial.records - len(batch.broken)
    trial.dropped = dict(sorted(batch.dropped.items()))
    fields: Counter[str] = Counter()
    ids: Counter[str] = Counter()
    for i, line in enumerate(batch.lines):
        if i not in batch.broken:
            record = json.loads(line)
            fields.update(batch.mapping.get(key, key) for key in record)
            ids[str(record.get("case_id"))] += 1
    trial.fields = sorted(fields)
    reasons = dict.fromkeys(_reason(p) for p in batch.broken.values())
    # That no key is known is what the keys tell.
    trial.reasons = [reason for reason in reasons if FOREIGN not in reason][:5]
    trial.numbered = bool(ids) and all(name.startswith(NUMBERED) for name in ids)
    repeated = [name for name, n in ids.items() if n > 1]
    if repeated:
        alone = len(repeated) < len(ids)
        left = "" if alone else "; none is, so that nothing would be left to evaluate"
        trial.reasons.append(
            f"{len(repeated):,} {_TWICE}, {repeated[0]!r} for one: of repeated trials keep one"
            + left
        )
    # Where every row would be set aside, nobody is told to do so.
    trial.broken_ids = len(repeated) < len(ids) and bool(batch.broken or repeated)


def _hold(batch: Batch, asked: Asked) -> None:
    """Note what a preset maps to no record of ours: evaluating it would be refused."""
    if asked.role == CORPUS:
        return
    resolver = KeyResolver(Cases, CONTRACTS["auto"], dict(asked.mapping), RECORDS)
    examiner = Examiner(resolver, dtypes(Cases), infos(Cases), "case_id", ignore_unknown=False)
    for i, line in enumerate(batch.lines):
        if i not in batch.broken and (faults := examiner.examine(line).faults):
            batch.broken[i] = faults[0]


def _reason(problem: str | Fault) -> str:
    return problem if isinstance(problem, str) else f"{problem.field}: {problem.message}"


def _paths(records: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for record in records[:20] for key in record))[:40]
