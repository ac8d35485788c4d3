"""Lists laid out flat, against looking through them one by one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.relevance import flat
from ragtriage.relevance.flat import Flat, by_way
from ragtriage.relevance.frames import beside, gathered
from ragtriage.relevance.lists import _distinct

IDS = st.sampled_from(["a", "b", "c", "a long ID that is not kept in place", "é"])
LISTS = st.lists(st.none() | st.lists(IDS, max_size=5), max_size=6)
DISTINCT = st.lists(st.none() | st.lists(IDS, max_size=5, unique=True), max_size=6)


def column(lists: list[list[str] | None]) -> pl.Series:
    return pl.Series("ids", lists, dtype=pl.List(pl.String))


def padded(lists: list[list[str] | None], cases: int) -> list[list[str] | None]:
    return [*lists, *[None] * (cases - len(lists))]


def places_in(asked: list[list[str] | None], listed: list[list[str] | None]) -> list[int]:
    """Which item of all that is listed each one asked for is; -1 where it is not of its case."""
    found = []
    before = 0
    for mine, theirs in zip(asked, listed, strict=True):
        where = {item: before + place for place, item in enumerate(theirs or [])}
        found += [where.get(item, -1) for item in mine or []]
        before += len(theirs or [])
    return found


@pytest.mark.parametrize(
    ("cheaper", "one_key"),
    [(0, False), (0, True), (1_000_000, False)],
    ids=["by-join", "by-join-all-keys-collide", "by-place"],
)
@given(asked=LISTS, listed=DISTINCT)
def test_where_each_id_stands(
    cheaper: int,
    one_key: bool,
    asked: list[list[str] | None],
    listed: list[list[str] | None],
) -> None:
    cases = max(len(asked), len(listed))
    these, those = (Flat.of(column(padded(lists, cases))) for lists in (asked, listed))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(flat, "_CHEAPER", cheaper)
        if one_key:
            patched.setattr(Flat, "keys", property(lambda one: np.zeros_like(one.hashes)))
        found = these.where(those)
        some = these.where(those, np.arange(0, len(these.rows), 2))
        from_start = these.where_from_start(those)
    expected = places_in(padded(asked, cases), padded(listed, cases))
    assert found.tolist() == from_start.tolist() == expected
    assert some.tolist() == expected[::2]
    hits = [sum(item in (theirs or []) for item in mine or []) for mine, theirs in zip(
        padded(asked, cases), padded(listed, cases), strict=True)]  # fmt: skip
    assert these.count(found >= 0).tolist() == hits


@given(asked=LISTS, listed=DISTINCT, third=DISTINCT)
def test_what_is_sought_by_way_of_a_third_list(
    asked: list[list[str] | None], listed: list[list[str] | None], third: list[list[str] | None]
) -> None:
    cases = max(len(asked), len(listed), len(third))
    all_of_them = [padded(lists, cases) for lists in (asked, listed, third)]
    these, those, way = (Flat.of(column(lists)) for lists in all_of_them)
    found = by_way(these, these.where(way), those, those.where(way), len(way.rows))
    assert found.tolist() == places_in(all_of_them[0], all_of_them[1])


@pytest.mark.parametrize("at_once", [1, 3])
def test_no_text_is_met_behind_a_list(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    # Every hash is that of the room behind a short list: only texts and places can tell.
    monkeypatch.setattr(Flat, "hashes", property(lambda one: np.zeros(len(one.rows), np.uint64)))
    monkeypatch.setattr(flat, "_AT_ONCE", at_once)
    lists: list[list[str] | None] = [["a", "b"], ["c"], None, ["a"], ["b", "c"]]
    asked: list[list[str] | None] = [["b"], ["a", "c"], ["c"], None, ["b", "a", "c"]]
    found = Flat.of(column(asked)).where(Flat.of(column(lists)))
    assert found.tolist() == places_in(asked, lists)


@pytest.mark.parametrize("short", [0, 32], ids=["by-hash", "by-place"])
@given(lists=LISTS)
def test_which_lists_repeat_an_id(short: int, lists: list[list[str] | None]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(flat, "_SHORT", short)
        found = Flat.of(column(lists)).repeating().tolist()
    assert found == [row for row, ids in enumerate(lists) if ids and len(set(ids)) < len(ids)]


@given(LISTS)
def test_repeats_collapse_to_their_first_place(lists: list[list[str] | None]) -> None:
    collapsed, laid_out = _distinct(column(lists))
    expected = [None if ids is None else list(dict.fromkeys(ids)) for ids in lists]
    assert collapsed.to_list() == expected
    assert laid_out.ids.to_list() == [item for ids in expected for item in ids or []]


@given(LISTS)
def test_rows_and_places(lists: list[list[str] | None]) -> None:
    laid_out = Flat.of(column(lists))
    expected = [(row, place) for row, ids in enumerate(lists) for place in range(len(ids or []))]
    assert list(zip(laid_out.rows.tolist(), laid_out.places.tolist(), strict=True)) == expected
    again = Flat.of_rows(laid_out.ids, pl.Series(laid_out.rows, dtype=pl.Int64), len(lists))
    assert again.starts.tolist() == laid_out.starts.tolist()
    assert laid_out.longest == max((len(ids or []) for ids in lists), default=0)


def test_rows_put_beside_cases() -> None:
    cases = pl.DataFrame({"row": [0, 1, 2], "case_id": ["a", "b", "c"]})
    more = pl.DataFrame({"row": [2, 0], "n": [7, 8], "ids": [["x"], []]})
    told = beside(cases, more)
    assert told["n"].to_list() == [8, None, 7]
    assert told["ids"].to_list() == [[], None, ["x"]]
    assert beside(cases, more.clear())["n"].to_list() == [None] * 3
    whole = pl.DataFrame({"row": [1, 0, 2], "n": [1, 0, 2]})
    assert beside(cases, whole)["n"].to_list() == [0, 1, 2]


def test_two_rows_of_one_case_are_a_mistake_of_ours() -> None:
    cases = pl.DataFrame({"row": [0, 1]})
    with pytest.raises(AssertionError, match="not one a case"):
        beside(cases, pl.DataFrame({"row": [1, 1], "n": [1, 2]}))


def test_a_place_below_nought_is_none() -> None:
    found = gathered(pl.DataFrame({"n": [5, 6]}), np.array([1, -1, 0]))
    assert found["n"].to_list() == [6, None, 5]
