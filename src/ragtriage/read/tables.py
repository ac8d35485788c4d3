"""Typed tables, Parquet files and frames in memory: columns are held against the model at once.

A wrong column type is one fault of the whole file, not one a row.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pandera.polars as pa
import polars as pl
import polars.exceptions

from ragtriage.errors import InputError, RagtriageError, no_room
from ragtriage.read.aliases import Key, KeyResolver
from ragtriage.read.chunk import Chunk, RowFault, bounded, by_itself
from ragtriage.read.faults import shown_key
from ragtriage.read.files import Fingerprint, InputFile, fingerprint, open_bytes, unchanged
from ragtriage.read.frame import column
from ragtriage.read.index import FileIndex, hash_ids
from ragtriage.read.types import fits, in_model_order
from ragtriage.schemas.fields import is_blank
from ragtriage.schemas.inputs import LABEL_FIELDS, dtypes, infos

# Rows a chunk, at most.
CHUNK_ROWS = 50_000
# Where rows are large, fewer: so many bytes of them as they are stored.
CHUNK_BYTES = 6 << 20
# A frame takes about so many times the room of the same rows in a file.
_LARGER_IN_MEMORY = 4
# Polars panics, rather than raises, at some damage.
DAMAGED = (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError)


def chunk_rows(size: int, rows: int) -> int:
    """How many rows of a table are a chunk; `size`: its bytes where it is stored, `rows`: its."""
    return max(1, min(CHUNK_ROWS, CHUNK_BYTES * rows // max(size, 1)))


def table_height(stored: Path | io.BytesIO) -> int:
    """The rows of a Parquet file; no row is read."""
    lazy = pl.scan_parquet(stored, hive_partitioning=False, glob=False)
    return int(lazy.select(pl.len()).collect().item())


class TableSource:
    """A Parquet file, or a frame given from Python, under one model."""

    def __init__(
        self,
        file: InputFile,
        model: type[pa.DataFrameModel],
        resolver: KeyResolver,
        *,
        ignore_unknown: bool,
        frame: pl.DataFrame | None = None,
        rows: range | None = None,
    ) -> None:
        """`rows`: of the file, where not all of them are wanted."""
        self.file = file
        self._rows = rows
        self._dtypes = dtypes(model)
        self._infos = infos(model)
        self._id_field = next(iter(self._dtypes))
        self._resolver = resolver
        self._ignore_unknown = ignore_unknown
        self._frame = frame

    def index(self) -> FileIndex:
        """Resolve the columns and hash the IDs.

        Raises:
            InputError: a column is unknown, given twice, or of another type than the model's.
        """
        # The digest first: whatever changes later is noticed.
        seen = fingerprint(self.file) if self._frame is None else Fingerprint("", 0, 0)
        index = self.learn()
        self.settle(index)
        index.fingerprint = seen
        return index

    def learn(self) -> FileIndex:
        """The same of the wanted rows, without the digest; nothing is concluded."""
        index = FileIndex(self.file, Fingerprint("", 0, 0))
        keys = self._resolve()
        for key in keys:
            index.profile.keys[key.name] = key
        index.fields = {key.field for key in keys}
        index.mapping = {key.name: key.field for key in keys if key.name != key.field}
        id_key = next((key for key in keys if key.field == self._id_field), None)
        if id_key is None:
            raise InputError(
                f"{self.file.name}: {self._id_field}: missing; give the column [missing-field]"
            )
        for part in self._slices([id_key.name]):
            ids = part[id_key.name].cast(pl.String)
            index.hashes.append(hash_ids(ids.drop_nulls()))
        rows = sum(part.len() for part in index.hashes)
        taken = {key.name for key in keys}
        index.profile.records = rows
        index.profile.dropped.update({name: rows for name in self._schema() if name not in taken})
        return index

    def settle(self, index: FileIndex) -> None:
        """Conclude from what all rows of the file told."""
        index.dropped = dict(sorted(index.profile.dropped.items()))

    def chunks(self, index: FileIndex) -> Iterator[Chunk]:
        """The rows in the model's columns; `line` is the 1-based row."""
        keys = list(index.profile.keys.values())
        columns = [self._column(field, keys) for field in self._dtypes]
        first = self._first
        for part in self._slices([key.name for key in keys]):
            yield self._chunk(part, columns, keys, first, index)
            first += part.height
        if self._frame is None and not unchanged(self.file, index.fingerprint):
            raise InputError(f"{self.file.name}: changed while it was read; run again")

    def positions(self, index: FileIndex, wanted: pl.Series) -> Iterator[tuple[str, int]]:
        """IDs whose hash is wanted, with their rows."""
        name = next(k.name for k in index.profile.keys.values() if k.field == self._id_field)
        first = self._first
        for part in self._slices([name]):
            ids = part[name].cast(pl.String)
            hits = ids.hash(seed=0).is_in(wanted.implode()) & ids.is_not_null()
            for row in hits.arg_true():
                yield str(ids[row]), first + int(row)
            first += part.height

    @property
    def _first(self) -> int:
        return 1 if self._rows is None else 1 + self._rows.start

    def _schema(self) -> dict[str, pl.DataType]:
        if self._frame is not None:
            return dict(self._frame.schema)
        try:
            with open_bytes(self.file) as stream:
                return dict(pl.read_parquet_schema(stream))
        except DAMAGED as error:
            raise self._unread(error, "not a Parquet file") from None

    def _unread(self, error: BaseException, what: str) -> RagtriageError:
        return no_room(error) or InputError(f"{self.file.name}: {what} ({_first_line(error)})")

    def _size(self) -> int:
        content = self.file.content
        return self.file.path.stat().st_size if content is None else len(content)

    def _bytes(self) -> Path | io.BytesIO:
        if self.file.content is not None:
            return io.BytesIO(self.file.content)
        try:
            str(self.file.path).encode()
        except UnicodeEncodeError:
            # Polars takes no path that is not UTF-8; memory is the price of an odd name.
            return io.BytesIO(self.file.path.read_bytes())
        return self.file.path

    def _slices(self, columns: list[str]) -> Iterator[pl.DataFrame]:
        wanted = [column(name) for name in columns]
        if self._frame is not None:
            size = int(self._frame.estimated_size())
            rows = chunk_rows(size // _LARGER_IN_MEMORY, self._frame.height)
            yield from self._frame.select(wanted).iter_slices(rows)
            return
        try:
            rows = chunk_rows(self._size(), table_height(self._bytes()))
            lazy = pl.scan_parquet(self._bytes(), hive_partitioning=False, glob=False)
            if self._rows is not None:
                lazy = lazy.slice(self._rows.start, len(self._rows))
            # In one go: to ask for slices would decode a large row group once for each of them.
            batches = lazy.select(wanted).collect_batches(chunk_size=rows, maintain_order=True)
            for batch in batches:
                yield from map(by_itself, bounded(batch))
        except DAMAGED as error:
            raise self._unread(error, "damaged Parquet file") from None

    def _resolve(self) -> list[Key]:
        keys: list[Key] = []
        problems: list[str] = []
        for name, dtype in self._schema().items():
            key, shown = self._resolver.resolve(name), shown_key(name)
            if key is None:
                if not self._ignore_unknown:
                    problems.append(f"{shown}: {self._resolver.why_unknown(name)} [unknown-field]")
                continue
            rival = next((k for k in keys if k.field == key.field and not k.joins), None)
            if rival and not key.joins:
                problems.append(
                    f"{key.field}: given twice, as `{shown_key(rival.name)}` and as `{shown}`; "
                    "keep one of them [duplicate-key]"
                )
            if not self._fits(dtype, key):
                label = self._infos[key.field].label
                rule = "answer-label" if label else "type"
                what = f"the column is {dtype}, expected {self._dtypes[key.field]}; cast it"
                problems.append(f"{shown}: {what} [{rule}]")
            keys.append(key)
        if problems:
            raise InputError("\n".join(f"{self.file.name}: {problem}" for problem in problems))
        return keys

    def _fits(self, dtype: pl.DataType, key: Key) -> bool:
        expected = self._dtypes[key.field]
        if (key.scalar or key.joins) and fits(dtype, pl.String()):
            return True
        if key.joins and (dtype.is_integer() or dtype == pl.Boolean):
            return True
        return fits(dtype, expected)

    def _column(self, field: str, keys: list[Key]) -> pl.Expr:
        # The list itself first, then what joins it: whatever the order of the columns.
        mine = sorted((k for k in keys if k.field == field), key=lambda k: (k.joins, k.name))
        dtype = self._dtypes[field]
        if not mine:
            return pl.lit(None, dtype).alias(field)
        schema = self._schema()
        parts = [self._values(key, schema[key.name], dtype) for key in mine]
        if len(parts) == 1:
            return parts[0].alias(field)
        given = pl.any_horizontal([column(key.name).is_not_null() for key in mine])
        joined = pl.concat_list([part.fill_null([]) for part in parts])
        return pl.when(given).then(joined).otherwise(pl.lit(None, dtype)).alias(field)

    def _values(self, key: Key, stored: pl.DataType, dtype: pl.DataType) -> pl.Expr:
        values = column(key.name)
        takes_list = isinstance(dtype, pl.List)
        if not takes_list or isinstance(stored, pl.List | pl.Null):
            values = in_model_order(values, stored, dtype).cast(dtype, strict=True)
            return values.fill_null([]) if key.null_is_none else values
        text = values.cast(pl.String)
        if not key.joins:
            none = pl.lit([], dtype)
            return pl.when(text.is_null()).then(none).otherwise(pl.concat_list(text))
        tag = pl.concat_list(pl.lit(f"{key.name}=") + text)
        return (
            pl.when(is_blank(text))
            .then(pl.lit([], dtype))
            .when(text.is_not_null())
            .then(tag)
            .otherwise(pl.lit(None, dtype))
        )

    def _chunk(
        self,
        part: pl.DataFrame,
        columns: list[pl.Expr],
        keys: list[Key],
        first: int,
        index: FileIndex,
    ) -> Chunk:
        by_field = {key.field: key.name for key in keys if key.null_is_none}
        both = [by_field[f] for f in ("required_ids", "expected_answers") if f in by_field]
        none_given = pl.all_horizontal(pl.col(both).is_null()) if len(both) > 1 else pl.lit(False)
        try:
            frame = part.select(
                *columns,
                none_given.alias("none_given"),
                pl.lit("answer" in index.fields).alias("answer_given"),
                pl.lit(not index.fields.isdisjoint(LABEL_FIELDS)).alias("required_given"),
            )
        except polars.exceptions.PolarsError as error:
            raise InputError(f"{self.file.name}: type: {_first_line(error)} [type]") from None
        numbers = pl.int_range(first, first + part.height, eager=True, dtype=pl.Int64)
        frame = frame.with_columns(
            line=numbers, record=numbers, source_file=pl.lit(self.file.name, pl.String)
        )
        lacking = frame.filter(pl.col(self._id_field).is_null())
        faults = [
            RowFault(
                self.file.name,
                line,
                line,
                None,
                self._id_field,
                "missing-field",
                "missing; give the field",
                _row_text(part, line - first),
            )
            for line in lacking["line"]
        ]
        return Chunk(
            frame=frame.filter(pl.col(self._id_field).is_not_null()),
            faults=faults,
            counts=[(self.file.name, part.height, 0)],
            raw=lambda line: _row_text(part, line - first),
        )


def _row_text(part: pl.DataFrame, row: int) -> str:
    return json.dumps(part.row(row, named=True), ensure_ascii=False, default=str)


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0][:200]
