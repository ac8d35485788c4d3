"""Types between polars, msgspec and stored tables: a decoder's, and what a column may stand for."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import msgspec
import polars as pl

# Members without which an item of `grades` or `claims` says nothing.
ITEM_MUST_HAVE = ("id", "grade", "claim_id")

Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


@cache
def annotation(dtype: pl.DataType) -> Any:
    """The annotation of a value of this type; null is allowed at the top only."""
    return _bare(dtype) | None


def _bare(dtype: Any) -> Any:
    if dtype == pl.String:
        return str
    if dtype == pl.Boolean:
        return bool
    if dtype == pl.Int64:
        return Int64
    if dtype == pl.Float64:
        return float
    if isinstance(dtype, pl.List):
        return list[_bare(dtype.inner)]  # type: ignore[misc]
    if isinstance(dtype, pl.Struct):
        return _struct(dtype)
    raise TypeError(f"no decoder for {dtype}")


@cache
def _struct(dtype: pl.Struct) -> type[msgspec.Struct]:
    members = [(member.name, _member_type(member), *_default(member)) for member in dtype.fields]
    return msgspec.defstruct(
        "Item", members, forbid_unknown_fields=True, gc=False, module=__name__, kw_only=True
    )


def _member_type(member: pl.Field) -> Any:
    bare = _bare(member.dtype)
    return bare if _must_be_given(member) else bare | None | msgspec.UnsetType


def _must_be_given(member: pl.Field) -> bool:
    return member.name in ITEM_MUST_HAVE


def _default(member: pl.Field) -> tuple[Any, ...]:
    return () if _must_be_given(member) else (msgspec.UNSET,)


# Stored otherwise, and text all the same.
_TEXTS = (pl.Categorical, pl.Enum)


def fits(stored: Any, expected: Any) -> bool:
    """May a stored column be taken for the expected type without changing a value?"""
    if stored in (pl.Null, expected):
        return True
    if expected == pl.String:
        return isinstance(stored, _TEXTS)
    if expected == pl.Float64:
        return bool(stored.is_float() or stored.is_integer())
    if expected == pl.Int64:
        return bool(stored.is_integer())
    if isinstance(expected, pl.List):
        return isinstance(stored, pl.List) and fits(stored.inner, expected.inner)
    if isinstance(expected, pl.Struct) and isinstance(stored, pl.Struct):
        wanted = {member.name: member.dtype for member in expected.fields}
        given = {member.name: member.dtype for member in stored.fields}
        if "claim_id" not in wanted and set(wanted) != set(given):
            return False
        return set(given) <= set(wanted) and all(fits(given[n], wanted[n]) for n in given)
    return False


def in_model_order(values: pl.Expr, stored: pl.DataType, dtype: pl.DataType) -> pl.Expr:
    """Objects with their members in the model's order, which a cast of text members expects."""
    if not (isinstance(stored, pl.List) and isinstance(stored.inner, pl.Struct)):
        return values
    if not (isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.Struct)):
        return values
    given = {member.name for member in stored.inner.fields}
    item = pl.element()
    members = [
        (item.struct.field(member.name) if member.name in given else pl.lit(None))
        .cast(member.dtype, strict=True)
        .alias(member.name)
        for member in dtype.inner.fields
    ]
    return values.list.eval(pl.when(item.is_not_null()).then(pl.struct(members)))
