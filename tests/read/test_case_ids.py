"""The place of each case."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.read.case_ids import CaseIds
from ragtriage.read.index import hash_ids

NAMES = st.lists(st.text("ab\u00e9/.", max_size=3), max_size=20)


def ids_of(names: list[str]) -> CaseIds:
    return CaseIds([hash_ids(names[:3]), hash_ids(names[3:])])


@given(NAMES, NAMES)
def test_an_id_stands_where_its_first_record_does(there: list[str], asked: list[str]) -> None:
    ids = ids_of(there)
    places = ids.places(pl.Series(asked, dtype=pl.String)).tolist()
    assert len(ids) == len(there)
    for name, place in zip(asked, places, strict=True):
        if name in there:
            assert place == there.index(name)
        else:
            assert len(ids) <= place < ids.end
    assert ids.lack(ids_of(asked)) == bool(set(asked) - set(there))


def test_one_hash_for_two_ids_is_odd_and_a_repeated_id_is_not() -> None:
    hashes = pl.Series([1, 2, 2, 3, 3], dtype=pl.UInt64)
    ids = CaseIds([hashes], {"d": ("f", 4)})
    names = pl.Series(["a", "b", "c", "d", "d"])
    odd = ids.odd(pl.Series([0, 1, 1, 3, 3], dtype=pl.UInt32).to_numpy(), names)
    assert odd.tolist() == [False, True, True, False, False]
    assert [ids.repeated_at(name) for name in "cd"] == [None, "f:4"]
