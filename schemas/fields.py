"""Shared column types and value rules: evidence IDs, labels, aliases. No tables here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandera.polars as pa
import polars as pl

# Polars loads numpy when it first meets an array, which breaks if two threads do so at once.
pl.Series(np.empty(0))

META = "ragtriage"

# Exploding leaves the items alone: an empty list and a null hold none.
ITEMS_ALONE = {"empty_as_null": False, "keep_nulls": False}

ID_LIST = pl.List(pl.String)
ID_GROUPS = pl.List(pl.List(pl.String))
GRADES = pl.List(pl.Struct({"id": pl.String, "grade": pl.Int64}))
CLAIMS = pl.List(
    pl.Struct(
        {
            "claim_id": pl.String,
            "supported": pl.Boolean,
            "cited_ids": pl.List(pl.String),
            "text": pl.String,
        }
    )
)

# White space at either end, control characters anywhere, and characters that take no room:
# two IDs that look the same must be the same.
_INVISIBLE = r"[\p{Cc}\u{AD}\u{180E}\u{200B}-\u{200F}\u{2028}-\u{202E}\u{2060}-\u{206F}\u{FEFF}]"
UNCLEAN_ID = rf"^\s|\s$|{_INVISIBLE}"


@dataclass(frozen=True)
class Alias:
    """Another name for a field.

    `scalar`: a string under this name is a list of one, and null means "none".
    `restricted`: often holds something else in the wild; counts only under a contract that
    names it, or by a mapping.
    `joins`: the scalar's value joins a list of tags as `name=value`.
    `role`: counts only in a file of this role (`cases`), None in any.
    """

    name: str
    scalar: bool = False
    restricted: bool = False
    joins: bool = False
    role: str | None = None


@dataclass(frozen=True)
class FieldInfo:
    """What the model says of a field beyond its type.

    `evidence`: in every record of a file or in none; a record that lacks it is an error.
    `label`: a Boolean given by a person or a system; anything else is no label.
    `null`: what null means in a written table, where `about` does not say so.
    """

    about: str
    aliases: tuple[Alias, ...] = ()
    evidence: bool = False
    label: bool = False
    null: str = ""


class Table(pa.DataFrameModel):
    """A table that the program writes."""

    class Config:
        """Exactly these columns, in this order."""

        strict = True
        ordered = True


def field(
    about: str,
    *aliases: Alias | str,
    evidence: bool = False,
    label: bool = False,
    required: bool = False,
    inner: Any = None,
    null: str = "",
) -> Any:
    """A model field: nullable unless `required`, with its aliases and meaning as metadata."""
    info = FieldInfo(
        about=about,
        aliases=tuple(Alias(alias) if isinstance(alias, str) else alias for alias in aliases),
        evidence=evidence,
        label=label,
        null=null,
    )
    return pa.Field(
        nullable=not required,
        metadata={META: info},
        dtype_kwargs=None if inner is None else {"inner": inner},
    )


def ids_in(column: str, dtype: pl.DataType | type[pl.DataType]) -> pl.Expr:
    """Every evidence or claim ID of a column as one flat list per row, whatever its nesting."""
    values = pl.col(column)
    if dtype == pl.String:
        return pl.concat_list(values)
    if dtype == ID_GROUPS:
        return values.list.eval(pl.element().list.explode())
    if dtype == GRADES:
        return values.list.eval(pl.element().struct.field("id"))
    if dtype == CLAIMS:
        return values.list.eval(pl.element().struct.field("claim_id"))
    return values


def any_item(items: pl.Expr, test: pl.Expr) -> pl.Expr:
    """True where some item of a list meets `test`, an expression over `pl.element()`."""
    return items.list.eval(test).list.any()


def is_blank(text: pl.Expr) -> pl.Expr:
    """Empty, or nothing but white space, of which the separators U+001C to U+001F are."""
    return text.str.contains(r"^[\s\x1c-\x1f]*$")


def is_unclean(text: pl.Expr) -> pl.Expr:
    """Not blank, yet not clean: see `UNCLEAN_ID`."""
    return text.str.contains(UNCLEAN_ID) & ~is_blank(text)
