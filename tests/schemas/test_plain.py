from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.findings import _folded
from ragtriage.schemas.fields import is_blank, is_unclean
from ragtriage.schemas.plain import all_plain, is_folded

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
