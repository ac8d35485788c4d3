"""`beir`: a folder of queries, judgements and passages; a run beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ragtriage.errors import InputError
from ragtriage.read.aliases import KeyResolver
from ragtriage.read.batches import Reader
from ragtriage.read.files import COMPRESSED, InputFile, find_files, format_of
from ragtriage.read.index import Source
from ragtriage.read.presets.base import CASES, CORPUS, TRACE, Asked, Preset, Sample
from ragtriage.read.presets.rows import Record, Row, row_reader
from ragtriage.read.presets.trec import run_sources, run_systems, trec_files
from ragtriage.read.presets.values import text_of
from ragtriage.read.text import TextSource
from ragtriage.read.trec.queries import judged_source
from ragtriage.read.trec.results import results_source
from ragtriage.schemas.contracts import CONTRACTS
from ragtriage.schemas.corpus import Corpus

_DEFAULT_SPLIT = "test"


def _files(arguments: tuple[str, ...], role: str, spill: Path | None) -> list[InputFile]:
    if role == TRACE:
        found = trec_files(arguments, role, spill)
        return [replace(file, format="json") if _is_json(file) else file for file in found]
    names: list[str] = []
    for argument in arguments:
        names += _in_folder(argument, role) if os.path.isdir(argument) else [argument]
    found = find_files(tuple(names), role, spill, otherwise="trec")
    return [file if file.format == "jsonl" else replace(file, format="trec") for file in found]


def _is_json(file: InputFile) -> bool:
    known = format_of(file.name)
    return known is not None and known[0] == "json"


def _in_folder(folder: str, role: str) -> list[str]:
    """The parts of a folder that a role is made of."""
    if role == CORPUS:
        return [_part(folder, "corpus", needed=True)]
    queries = _part(folder, "queries", needed=False)
    judged = os.path.join(folder, "qrels")
    if not os.path.isdir(judged):
        raise InputError(
            f"{folder}: no folder `qrels` in it; give a folder with queries.jsonl and qrels/*.tsv"
        )
    names = [
        os.path.join(judged, name)
        for name in sorted(os.listdir(judged))
        if not name.startswith(".") and os.path.isfile(os.path.join(judged, name))
    ]
    if not names:
        raise InputError(f"{judged}: no file in it; give qrels, for example qrels/test.tsv")
    return [*([queries] if queries else []), *names]


def _part(folder: str, stem: str, *, needed: bool) -> str:
    suffixes = [f".jsonl{packed}" for packed in ("", *COMPRESSED)]
    found = [os.path.join(folder, stem + suffix) for suffix in (*suffixes, ".tsv")]
    name = next((path for path in found if os.path.isfile(path)), "")
    if needed and not name:
        raise InputError(f"{folder}: no {stem}.jsonl in it; check the folder")
    return name


def _sources(files: list[InputFile], asked: Asked) -> list[Source]:
    if asked.role == CORPUS:
        return [_corpus(file, asked) for file in files]
    if asked.role == TRACE:
        results = [file for file in files if file.format == "json"]
        if not results:
            return run_sources(files, asked)
        return [results_source(file) for file in results if _chosen(file, asked)]
    queries = [file for file in files if _holds_queries(file)]
    judged = [file for file in files if not _holds_queries(file)]
    if len(queries) > 1:
        raise InputError(f"{queries[1].name}: a second file of queries; give one folder")
    return [judged_source(_of_split(judged, asked), queries[0] if queries else None)]


def _holds_queries(file: InputFile) -> bool:
    return file.format == "jsonl" or "queries" in Path(file.name).name


def _of_split(judged: list[InputFile], asked: Asked) -> InputFile:
    """The judgements of one split.

    Raises:
        InputError: there are none, or several without one of the name asked for.
    """
    if not judged:
        raise InputError("--cases: no judgements; give a folder with qrels/*.tsv, or the file")
    wanted = asked.options.get("qrels_split")
    if wanted is None and len(judged) == 1:
        return judged[0]
    name = str(wanted or _DEFAULT_SPLIT)
    splits = {_stem(file): file for file in judged}
    if name in splits:
        return splits[name]
    known = ", ".join(splits)
    raise InputError(f"--qrels-split: no judgements of {name!r}; there are {known}")


def _stem(file: InputFile) -> str:
    return Path(file.name).name.split(".")[0]


def _chosen(file: InputFile, asked: Asked) -> bool:
    return asked.system is None or asked.system == _stem(file)


def _systems(file: InputFile, asked: Asked) -> Iterator[str]:
    if asked.role == TRACE and file.format == "json":
        yield _stem(file)
    else:
        yield from run_systems(file, asked)


def _passage(row: Row) -> Record:
    return {
        "evidence_id": text_of("evidence_id", row.get("_id", "id")),
        "title": text_of("title", row.get("title")) or None,
        "text": text_of("text", row.get("text")),
    }


def _corpus(file: InputFile, asked: Asked) -> Source:
    reader: Reader = row_reader(_passage)(asked)
    resolver = KeyResolver(Corpus, CONTRACTS["auto"], {}, CORPUS)
    return TextSource(file, reader, Corpus, resolver, ignore_unknown=False, sparse=True)


def _recognise(sample: Sample) -> str | None:
    if sample.file.format == "folder":
        judged = os.path.isdir(sample.file.path / "qrels")
        return "a folder with `qrels`" if judged else None
    if {"_id", "text"} <= sample.keys <= {"_id", "text", "title", "metadata"}:
        return "`_id` and `text`: BEIR's queries or corpus"
    if sample.file.format == "json" and _is_results(sample.records):
        return "`{query: {document: score}}`: results"
    first = sample.head.split(b"\n", 1)[0].strip().split(b"\t")
    return "the header of BEIR's qrels" if first[:2] == [b"query-id", b"corpus-id"] else None


def _is_results(records: list[Record]) -> bool:
    return len(records) == 1 and all(
        isinstance(scores, dict)
        and scores
        and all(isinstance(score, int | float) for score in scores.values())
        for scores in records[0].values()
    )


PRESET = Preset(
    name="beir",
    about="BEIR's folders",
    layout="a folder with `queries.jsonl` (`_id`, `text`), `qrels/*.tsv` (a header, then query, "
    "document and grade between tabs) and `corpus.jsonl` (`_id`, `title`, `text`); a TREC run, or "
    "results as JSON `{query: {document: score}}`",
    maps_to="question, grades; retrieved_ids; corpus",
    quirks=(
        "CRLF",
        "several splits: `test`, or `--qrels-split NAME`",
        "qrels that are TREC's four columns after all",
        "queries without a judgement are no cases",
        "query IDs with a prefix in one file only are refused with both spellings",
        "results are ordered as trec_eval does",
        "passages are read where asked for: `--corpus FOLDER`, another with `--corpus-from beir`",
    ),
    roles=(CASES, TRACE, CORPUS),
    sources=_sources,
    files=_files,
    systems=_systems,
    recognise=_recognise,
    missing_trace="empty",
)
