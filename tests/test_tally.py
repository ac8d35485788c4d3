"""The cases that reports show: the first that failed, then the first that passed."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.stages import PASS
from ragtriage.tally import Shown, Tally

Chunks = list[list[bool]]


def frames(chunks: Chunks) -> list[pl.DataFrame]:
    """A row a case; its ID tells chunk and place."""
    return [
        pl.DataFrame(
            {
                "row": range(len(passed)),
                "case_id": [f"{number}.{place}" for place in range(len(passed))],
                "stage": [PASS if case else "retrieval" for case in passed],
            },
            schema={"row": pl.UInt32, "case_id": pl.String, "stage": pl.String},
        )
        for number, passed in enumerate(chunks)
    ]


def kept(cases: list[pl.DataFrame], shown: int | None) -> Tally:
    tally = Tally(shown=shown)
    for chunk in cases:
        tally._keep(chunk, chunk.select("row", "case_id"))
    return tally


@given(
    st.lists(st.lists(st.booleans(), max_size=6), max_size=6),
    st.sampled_from([0, 1, 2, 3, 7, 100, None]),
    st.integers(1, 3),
)
def test_as_many_as_there_is_room_for_whoever_saw_them(
    chunks: Chunks, shown: int | None, shards: int
) -> None:
    cases = frames(chunks)
    every = pl.concat([pl.DataFrame(schema=frames([[]])[0].schema), *cases])
    failed = every.filter(pl.col("stage") != PASS)["case_id"].to_list()
    passed = every.filter(pl.col("stage") == PASS)["case_id"].to_list()
    expected = [*failed, *passed][:shown]

    together = kept(cases, shown)
    apart = Tally(shown=shown)
    for start in range(0, len(cases), shards):
        part = kept(cases[start : start + shards], shown).take_shown()
        if part is not None and apart.has_room():
            apart.merge_shown(Shown(*part))
    for tally in (together, apart):
        told, ledger = tally.showcase()
        assert (told["case_id"].to_list() if told.width else []) == expected
        assert sorted(ledger["case_id"].to_list() if ledger.width else []) == sorted(expected)
