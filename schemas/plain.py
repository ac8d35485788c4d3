"""Looks at all bytes of many texts at once, which costs a fraction of looking at each text.

True answers are certain; a false one only means that the texts have to be looked at one by one.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import numpy as np
import polars as pl

from ragtriage.schemas.fields import ID_LIST, ITEMS_ALONE

_NO_NULL = "null-item"
# Rules of single items, none of which visible ASCII can break.
_OF_ITEMS = frozenset({_NO_NULL, "blank-id", "id-whitespace"})
# What visible ASCII lies between.
_SPACE, _DELETE = 0x20, 0x7F
_A, _Z = 0x41, 0x5A


def all_plain(texts: pl.Series) -> bool:
    """Is every text visible ASCII, and none empty? Then none is blank, and none unclean."""
    if not texts.str.len_bytes().min():
        return texts.null_count() == len(texts)
    return _visible(_bytes(texts))


def none_breaks(rules: AbstractSet[str | None], values: pl.Series) -> bool:
    """Can it be seen at once that no text, or item of a list of texts, breaks these rules?

    False where it cannot: then the rules have to be tried.
    """
    if not rules <= _OF_ITEMS:
        return False
    items = values
    if values.dtype == ID_LIST:
        items = values.explode(**ITEMS_ALONE)
        if items.null_count():
            return False
    if items.dtype != pl.String:
        return False
    return rules <= {_NO_NULL} or all_plain(items.drop_nulls())


def is_folded(texts: pl.Series) -> bool:
    """Is every text visible ASCII without a capital? Then folding changes none of them."""
    found = _bytes(texts)
    if not found.size:
        return True
    return _visible(found) and not ((found >= _A) & (found <= _Z)).any()


def _bytes(texts: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    joined = texts.str.join("").cast(pl.Binary).item()
    return np.frombuffer(joined or b"", dtype=np.uint8)


def _visible(found: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> bool:
    return bool(found.min() > _SPACE and found.max() < _DELETE)
