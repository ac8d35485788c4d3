"""Good records to frames in the model's columns. Nothing is checked here: see `gate`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from ragtriage.read.aliases import Key
from ragtriage.read.batches import JsonLines
from ragtriage.read.gate import Gate, takes_text
from ragtriage.schemas.fields import is_blank
from ragtriage.schemas.inputs import LABEL_FIELDS

# The pieces of a batch that are decoded one after another.
_PIECES = 16


def direct_frame(
    lines: list[bytes],
    gate: Gate,
    dtypes: dict[str, pl.DataType],
    fields: set[str],
) -> pl.DataFrame:
    """Records as they stand in the file, keys translated to fields."""
    return _translated(_read(lines, _schema(gate, dtypes)), gate, dtypes, fields)


def whole_frame(
    batch: JsonLines, gate: Gate, dtypes: dict[str, pl.DataType], fields: set[str]
) -> pl.DataFrame:
    """A block whose every line is a good record, without cutting it up."""
    texts = pl.read_lines(batch.block).to_series()
    if texts.len() != batch.physical_lines:
        raise AssertionError(f"{batch.physical_lines} lines became {texts.len()} records")
    return _translated(_decoded(texts, _schema(gate, dtypes)), gate, dtypes, fields)


def canonical_frame(
    lines: list[bytes],
    none_given: list[bool],
    dtypes: dict[str, pl.DataType],
    fields: set[str],
) -> pl.DataFrame:
    """Records that were rewritten with our own names."""
    raw = _read(lines, dtypes)
    return raw.with_columns(pl.Series("none_given", none_given, dtype=pl.Boolean), *_given(fields))


def _nothing(dtypes: dict[str, pl.DataType]) -> pl.DataFrame:
    flags = ("none_given", "answer_given", "required_given")
    return pl.DataFrame(schema={**dtypes, **dict.fromkeys(flags, pl.Boolean)})


def _read(lines: list[bytes], schema: dict[str, pl.DataType]) -> pl.DataFrame:
    if not lines:
        return pl.DataFrame(schema=schema)
    return _decoded(pl.Series(lines, dtype=pl.Binary).cast(pl.String), schema)


def _decoded(texts: pl.Series, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """One good record a text; half the cost of `read_ndjson`, which sets up anew for each line.

    A broken text would shift its neighbours, so this is for texts that the gate let through.
    """
    frame = pl.concat([_piece(part, schema) for part in _pieces(texts)], rechunk=True)
    if frame.height != texts.len():
        raise AssertionError(f"{texts.len()} records became {frame.height} rows")
    return frame


def _piece(texts: pl.Series, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    return texts.str.json_decode(pl.Struct(schema)).struct.unnest()


def _pieces(texts: pl.Series) -> Iterator[pl.Series]:
    """A few texts at a time: the decoder holds all it is given as a tree first."""
    step = -(-texts.len() // _PIECES)
    for start in range(0, texts.len(), step):
        yield texts.slice(start, step)


def _schema(gate: Gate, dtypes: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
    return {key.name: gate.dtype(key, dtypes) for key in gate.keys}


def _translated(
    raw: pl.DataFrame,
    gate: Gate,
    dtypes: dict[str, pl.DataType],
    fields: set[str],
) -> pl.DataFrame:
    if raw.is_empty():
        return _nothing(dtypes)
    columns = [_column(field, gate, dtypes) for field in dtypes]
    return raw.select(*columns, _none_given(gate), *_given(fields))


def column(name: str) -> pl.Expr:
    """The column of exactly this name: polars takes some names for patterns."""
    return pl.col(f"^{re.escape(name)}$" if name.startswith("^") or name == "*" else name)


def _given(fields: set[str]) -> list[pl.Expr]:
    return [
        pl.lit("answer" in fields).alias("answer_given"),
        pl.lit(not fields.isdisjoint(LABEL_FIELDS)).alias("required_given"),
    ]


def _column(field: str, gate: Gate, dtypes: dict[str, pl.DataType]) -> pl.Expr:
    keys = [key for key in gate.keys if key.field == field]
    if not keys:
        return pl.lit(None, dtypes[field]).alias(field)
    if any(key.joins for key in keys):
        # The list itself first, then what joins it: whatever the order of the keys in the file.
        return _joined(sorted(keys, key=lambda k: (k.joins, k.name)), gate).alias(field)
    key = keys[0]
    if not takes_text(key) or key.name in gate.lists:
        values = column(key.name)
        return (values.fill_null([]) if key.null_is_none else values).alias(field)
    one = pl.concat_list(column(key.name))
    none = pl.lit([], pl.List(pl.String)) if key.null_is_none else pl.lit(None, pl.List(pl.String))
    return pl.when(column(key.name).is_null()).then(none).otherwise(one).alias(field)


def _joined(keys: list[Key], gate: Gate) -> pl.Expr:
    """Tags from a list and from scalars, the latter as `name=value`; null where none is given."""
    parts: list[pl.Expr] = []
    for key in keys:
        values = column(key.name)
        if key.joins and key.name not in gate.lists:
            blank = values.is_null() | is_blank(values)
            text = pl.concat_list(pl.lit(f"{key.name}=") + values)
            values = pl.when(blank).then(pl.lit([], pl.List(pl.String))).otherwise(text)
        parts.append(values)
    given = pl.any_horizontal([column(key.name).is_not_null() for key in keys])
    joined = pl.concat_list([part.fill_null([]) for part in parts])
    return pl.when(given).then(joined).otherwise(pl.lit(None, pl.List(pl.String)))


def _none_given(gate: Gate) -> pl.Expr:
    """True where a scalar source and the expected answer are both given as null."""
    by_field = {key.field: key for key in gate.keys if key.null_is_none}
    source = by_field.get("required_ids")
    expected = by_field.get("expected_answers")
    if source is None or expected is None:
        return pl.lit(False).alias("none_given")
    return (column(source.name).is_null() & column(expected.name).is_null()).alias("none_given")
