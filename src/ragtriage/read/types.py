"""The decoder's types, derived from the models: one msgspec annotation for each polars type."""

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
