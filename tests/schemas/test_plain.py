from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.findings import _folded
from ragtriage.schemas.fields import is_blank, is_unclean
from ragtriage.schemas.plain import all_plain, is_folded, none_breaks

TEXTS = st.lists(
    st.none() | st.text(st.sampled_from("aAzZ09#-_ \t\x7f\u200béK"), max_size=4) | st.text(),
    max_size=6,
)


def texts(values: list[str | None]) -> pl.Series:
    return pl.Series("id", values, dtype=pl.String)


@given(TEXTS)
def test_plain_texts_break_neither_rule_of_ids(values: list[str | None]) -> None:
    column = texts(values)
    broken = column.to_frame().select((is_blank(pl.col("id")) | is_unclean(pl.col("id"))).any())
    assert not (all_plain(column) and broken.item())


RULES = (frozenset({"null-item"}), frozenset({"null-item", "blank-id", "id-whitespace"}))


@pytest.mark.parametrize("rules", RULES)
@given(st.lists(st.none() | TEXTS, max_size=4))
def test_what_is_seen_at_once_holds_of_each_item(
    rules: frozenset[str | None], lists: list[list[str | None] | None]
) -> None:
    column = pl.Series("ids", lists, dtype=pl.List(pl.String))
    items = texts([item for ids in lists for item in ids or []])
    element = pl.col("id")
    unfit = element.is_null()
    if len(rules) > 1:
        unfit |= is_blank(element).fill_null(False) | is_unclean(element).fill_null(False)
    broken = bool(items.to_frame().select(unfit.any()).item())
    assert not (none_breaks(rules, column) and broken)
    # A rule of null items needs no second look.
    assert len(rules) > 1 or none_breaks(rules, column) is not broken


@pytest.mark.parametrize(
    ("rules", "values"),
    [
        ({"null-item", "grade-conflict"}, pl.Series([["a"]])),
        ({"null-item", None}, pl.Series([["a"]])),
        ({"null-item"}, pl.Series([[["a"]]])),
        ({"blank-id"}, pl.Series([1])),
    ],
)
def test_other_rules_and_types_are_tried(rules: set[str | None], values: pl.Series) -> None:
    assert not none_breaks(rules, values)


@given(TEXTS)
def test_folded_texts_are_what_folding_makes_of_them(values: list[str | None]) -> None:
    column = texts(values)
    folded = column.to_frame().select(_folded("id", plain=False)).to_series()
    assert not is_folded(column) or folded.equals(column)


@pytest.mark.parametrize(
    ("values", "plain", "folded"),
    [
        (["doc-1#c2", "!~"], True, True),
        (["doc-1", "DOC-1"], True, False),
        (["a", ""], False, True),
        (["a b"], False, False),
        (["é"], False, False),
        (["a\x7f"], False, False),
        (["a", None], True, True),
        ([], True, True),
        ([None], True, True),
    ],
)
def test_what_is_seen_at_a_glance(values: list[str | None], plain: bool, folded: bool) -> None:
    assert all_plain(texts(values)) is plain
    assert is_folded(texts(values)) is folded
