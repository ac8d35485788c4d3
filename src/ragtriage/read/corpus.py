"""The corpus file: read whole, since every chunk of cases is held against it."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from ragtriage.read.chunk import Chunk
from ragtriage.read.files import find_files, fingerprint
from ragtriage.read.index import Duplicates, find_duplicates
from ragtriage.read.input import entry_of, index_all
from ragtriage.read.sources import sources_for
from ragtriage.request import EvaluateRequest
from ragtriage.schemas.corpus import CorpusRows
from ragtriage.schemas.inputs import dtypes


class CorpusInput(NamedTuple):
    """The corpus as read, not yet held against its model."""

    chunks: list[Chunk]
    duplicates: Duplicates
    files: list[dict[str, object]]


def open_corpus(request: EvaluateRequest) -> CorpusInput | None:
    """The rows of `--corpus`, or None where none is given."""
    if not request.corpus:
        return None
    sources = sources_for(request.corpus, "corpus", request, None)
    pairs = index_all(sources)
    chunks = [chunk for source, index in pairs for chunk in source.chunks(index)]
    for chunk in chunks:
        chunk.frame = chunk.frame.select(list(dtypes(CorpusRows)))
    return CorpusInput(chunks, find_duplicates(pairs), [entry_of(index) for _, index in pairs])


def text_id_files(request: EvaluateRequest) -> list[dict[str, object]]:
    """The files in which texts were looked up, for the manifest."""
    entries: list[dict[str, object]] = []
    for file in find_files(request.text_ids, "text-ids", None):
        seen = fingerprint(file)
        entries.append(
            {"role": file.role, "path": file.name, "sha256": seen.sha256, "bytes": seen.size}
        )
    return entries


def joined_rows(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """All accepted corpus rows."""
    return pl.concat(frames) if frames else pl.DataFrame(schema=dtypes(CorpusRows))
