"""From a request to sources that can be read twice: the place where formats are registered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Protocol

import pandera.polars as pa
import polars as pl

from ragtriage.read.aliases import KeyResolver
from ragtriage.read.batches import Reader
from ragtriage.read.delimited import delimited_reader
from ragtriage.read.files import InputFile, find_files
from ragtriage.read.index import Source
from ragtriage.read.json_array import read_json_array
from ragtriage.read.jsonl import read_jsonl
from ragtriage.read.tables import TableSource
from ragtriage.read.text import TextSource
from ragtriage.schemas.contracts import CONTRACTS
from ragtriage.schemas.inputs import Cases, Corpus, dtypes
from ragtriage.schemas.reviews import Reviews

FRAME_NAME = "<frame>"
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
    """A source for each file the arguments name."""
    return [source_for(file, role, request) for file in find_files(arguments, role, spill)]


def frame_source(frame: pl.DataFrame, request: Reading) -> Source:
    """A frame given from Python as a source."""
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
