"""From a request to sources that can be read twice: the place where formats are registered."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import pandera.polars as pa
import polars as pl

from ragtriage.errors import InputError, UsageError
from ragtriage.format_options import FormatOptions
from ragtriage.read.aliases import KeyResolver
from ragtriage.read.batches import Reader
from ragtriage.read.delimited import delimited_reader
from ragtriage.read.files import InputFile, find_files, format_of
from ragtriage.read.index import Source
from ragtriage.read.json_array import read_json_array
from ragtriage.read.jsonl import read_jsonl
from ragtriage.read.presets import preset
from ragtriage.read.presets.base import CASES, RECORDS, TRACE, Asked, Preset
from ragtriage.read.presets.texts import TextIds
from ragtriage.read.tables import TableSource
from ragtriage.read.text import TextSource
from ragtriage.schemas.contracts import CONTRACTS
from ragtriage.schemas.corpus import Corpus
from ragtriage.schemas.inputs import Cases, dtypes
from ragtriage.schemas.reviews import Reviews

FRAME_NAME = "<frame>"
# How a run over questions of another layout is read, unless its name says that it is ours.
_OF_RUNS = "trec"


@dataclass(frozen=True)
class _Plain:
    """Our own formats, whatever else is in them."""

    extra: Literal["fail", "ignore"] = "ignore"
    contract: str = "auto"
    mapping: Mapping[str, str] = field(default_factory=dict)


_PLAIN = _Plain()
_MODELS: dict[str, type[pa.DataFrameModel]] = {"corpus": Corpus, "reviews": Reviews}


class Reading(Protocol):
    """How files are to be read: the part of a request that this room knows."""

    @property
    def extra(self) -> Literal["fail", "ignore"]:
        """Unknown fields: an error, or set aside."""
        ...

    @property
    def contract(self) -> str:
        """The contract whose aliases count."""
        ...

    @property
    def mapping(self) -> Mapping[str, str]:
        """Their names for fields of the case record."""
        ...


def sources_for(
    arguments: tuple[str, ...], role: str, request: Reading, spill: Path | None
) -> list[Source]:
    """A source for each file the arguments name, read by the preset of their role if it has one."""
    files = files_for(arguments, role, request, spill)
    chosen = preset_of(request, role, arguments)
    if chosen is None:
        return [source_for(file, role, request) for file in files]
    return preset_sources(chosen, files, asked_of(request, role), role)


def files_for(
    arguments: tuple[str, ...], role: str, request: Reading, spill: Path | None
) -> list[InputFile]:
    """The files that the arguments name, as the preset of their role takes them."""
    chosen = preset_of(request, role, arguments)
    return (find_files if chosen is None else chosen.files)(arguments, role, spill)


def preset_of(request: object, role: str, named: tuple[str, ...] = ()) -> Preset | None:
    """The preset that reads files of this role; None for our own formats.

    A layout of questions alone leaves the run over them to others: unless another preset is given
    for it, it is read by its name, as our own records or as TREC's.

    Args:
        request: what was asked; without format options everything is ours.
        role: records, cases, trace or corpus.
        named: the traces' names, where the request does not hold them.

    Raises:
        UsageError: there is none of that name, or it does not read this role.
    """
    name = request.preset_for(role) if isinstance(request, FormatOptions) else None
    if name is None or not isinstance(request, FormatOptions):
        return None
    chosen = preset(name)
    if role == TRACE and not request.trace_from and {CASES, TRACE} & set(chosen.roles) == {CASES}:
        traces = named or getattr(request, "trace", ())
        return None if all(map(_is_ours, traces)) else preset(_OF_RUNS)
    if role not in chosen.roles:
        taken = ", ".join("a positional input" if r == RECORDS else f"--{r}" for r in chosen.roles)
        given = "a positional input" if role == RECORDS else f"--{role}"
        raise UsageError(f"--from {name}: not for {given}; it reads {taken}")
    return chosen


def _is_ours(name: str) -> bool:
    return name == "-" or os.path.isdir(name) or format_of(name) is not None


def asked_of(request: object, role: str) -> Asked:
    """What the request says that a preset may need."""
    if not isinstance(request, FormatOptions):
        return Asked(role)
    return Asked(
        role=role,
        system=request.system,
        mapping=request.mapping,
        separator=request.list_separator,
        texts=texts_in(request.text_ids) if request.text_ids else None,
        by_question=request.id_from == "question",
        options=request.model_dump(by_alias=True),
    )


def preset_sources(chosen: Preset, files: list[InputFile], asked: Asked, role: str) -> list[Source]:
    """Files as sources of canonical records."""
    if chosen.sources is not None:
        return chosen.sources(files, asked)
    if chosen.reader is None:
        raise AssertionError(f"preset {chosen.name}: neither reader nor sources")
    return [preset_source(file, chosen.reader(asked), asked, role) for file in files]


def preset_source(file: InputFile, reader: Reader, asked: Asked, role: str) -> Source:
    """One file as a source, by a reader that gives canonical records."""
    model = _MODELS.get(role, Cases)
    mapping = dict(asked.mapping) if model is Cases else {}
    # Canonical names mean the same in any role.
    resolver = KeyResolver(model, CONTRACTS["auto"], mapping, RECORDS)
    return TextSource(file, reader, model, resolver, ignore_unknown=False, sparse=True)


def texts_in(names: tuple[str, ...]) -> TextIds:
    """The passages of corpus files by their text.

    Raises:
        InputError: a file cannot be read, or a passage has no text.
    """
    texts = TextIds()
    for source in [
        source_for(file, "corpus", _PLAIN) for file in find_files(names, "corpus", None)
    ]:
        for chunk in source.chunks(source.index()):
            if chunk.faults:
                fault = chunk.faults[0]
                where = f"{fault.source_file}:{fault.line}: {fault.field}"
                raise InputError(f"{where}: {fault.message} [{fault.rule}]")
            for evidence_id, text in chunk.frame.select("evidence_id", "text").iter_rows():
                if text is not None:
                    texts.add(evidence_id, text)
    return texts


def frame_source(frame: pl.DataFrame, request: Reading) -> Source:
    """A frame given from Python as a source."""
    chosen = preset_of(request, RECORDS)
    if chosen is not None:
        stored = io.BytesIO()
        frame.write_parquet(stored)
        name = InputFile(FRAME_NAME, Path(FRAME_NAME), "parquet", None, RECORDS, stored.getvalue())
        return preset_sources(chosen, [name], asked_of(request, RECORDS), RECORDS)[0]
    file = InputFile(FRAME_NAME, Path(FRAME_NAME), "parquet", None, "records", b"")
    return TableSource(
        file,
        Cases,
        _resolver(Cases, request, "records"),
        ignore_unknown=request.extra == "ignore",
        frame=frame,
    )


def source_for(file: InputFile, role: str, request: Reading) -> TextSource | TableSource:
    """One file as a source, by its format."""
    model = _MODELS.get(role, Cases)
    resolver = _resolver(model, request, role)
    ignore = request.extra == "ignore"
    if file.format == "parquet":
        return TableSource(file, model, resolver, ignore_unknown=ignore)
    reader = _reader(file.format, resolver, model)
    return TextSource(file, reader, model, resolver, ignore_unknown=ignore)


def lines_source(file: InputFile, request: Reading, reader: Reader, before: int) -> TextSource:
    """Some of a file's lines: `before` of its records come before what the reader reads."""
    resolver, ignore = _resolver(Cases, request, "records"), request.extra == "ignore"
    return TextSource(file, reader, Cases, resolver, ignore_unknown=ignore, before=before)


def rows_source(file: InputFile, request: Reading, rows: range) -> TableSource:
    """Some rows of a Parquet file."""
    resolver, ignore = _resolver(Cases, request, "records"), request.extra == "ignore"
    return TableSource(file, Cases, resolver, ignore_unknown=ignore, rows=rows)


def _resolver(model: type[pa.DataFrameModel], request: Reading, role: str) -> KeyResolver:
    mapping = dict(request.mapping) if model is Cases else {}
    return KeyResolver(model, CONTRACTS[request.contract], mapping, role)


def _reader(name: str, resolver: KeyResolver, model: type[pa.DataFrameModel]) -> Reader:
    """Formats by name; a new one is one more line here and one module beside this."""
    if name == "jsonl":
        return read_jsonl
    if name == "json":
        return read_json_array
    delimiter = "\t" if name == "tsv" else ","
    return delimited_reader(delimiter, resolver, dtypes(model))
