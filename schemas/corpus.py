"""What may be read of a corpus: one record an evidence ID, with its aliases and value rules."""

from __future__ import annotations

import pandera.polars as pa
import polars as pl
from pandera.api.polars.types import PolarsData

from ragtriage.schemas.fields import field, is_blank, is_unclean
from ragtriage.schemas.rules import message


class Corpus(pa.DataFrameModel):
    """One passage, chunk or document that can be required; one row an evidence ID."""

    evidence_id: pl.String = field("unique in the corpus", "_id", "id", required=True)
    document_id: pl.String = field("the document it is part of")
    location: pl.String = field("where in the document")
    text: pl.String = field("what it says")
    title: pl.String = field("its heading")
    revision: pl.String = field("revision in the source")
    indexed_revision: pl.String = field("revision in the index; another one: not indexed")
    equivalence_group: pl.String = field("passages that say the same: any of them will do")
    in_source: pl.Boolean = field("is it in the source at all?", label=True)
    in_index: pl.Boolean = field("is it indexed?", label=True)
    in_chunks: pl.Boolean = field("did a chunk keep it whole?", label=True)

    class Config:
        """Exactly these columns, in no particular order."""

        strict = True

    @pa.check("evidence_id", title="blank-id", error=message("blank-id"))
    def no_blank_id(cls, data: PolarsData) -> pl.LazyFrame:
        """No ID is empty or white space."""
        return data.lazyframe.select(~is_blank(pl.col(data.key)))

    @pa.check("evidence_id", title="id-whitespace", error=message("id-whitespace"))
    def clean_ids(cls, data: PolarsData) -> pl.LazyFrame:
        """No ID carries what cannot be seen."""
        return data.lazyframe.select(~is_unclean(pl.col(data.key)))


class CorpusRows(Corpus):
    """The corpus record as it travels, with where it stood."""

    source_file: pl.String = field("the input file", required=True)
    line: pl.Int64 = field("physical line where the record starts", required=True)
    record: pl.Int64 = field("its place among the file's records, from 1", required=True)
