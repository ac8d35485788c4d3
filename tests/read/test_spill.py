"""Rows put aside and asked for by place."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.errors import InputError
from ragtriage.read import spill
from ragtriage.read.spill import PLACE, Spill

SCHEMA = {"said": pl.String(), "ids": pl.List(pl.List(pl.String))}
LATEST = 12


def rows(*places: int) -> pl.DataFrame:
    said = [f"row at {place}" for place in places]
    ids = [[["a", ""], []] if place % 2 else None for place in places]
    placed = pl.Series(PLACE, places, dtype=pl.UInt32)
    return pl.DataFrame({"said": said, "ids": ids}, schema=SCHEMA).insert_column(0, placed)


@pytest.fixture(params=[1, 100, 1 << 20], ids=["all-written", "some", "none"])
def run_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    size: int = request.param
    monkeypatch.setattr(spill, "RUN_BYTES", size)
    return size


@given(
    st.lists(st.lists(st.integers(0, LATEST), max_size=5), max_size=6),
    st.sampled_from([1, 100, 1 << 20]),
    st.booleans(),
)
def test_a_range_holds_its_rows_and_pieces_make_up_the_whole(
    parts: list[list[int]], size: int, written: bool
) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "RUN_BYTES", size)
        patch.setattr(spill, "PIECE_BYTES", size)
        kept = Spill(Path(name) / "s" if written else None, "t", SCHEMA)
        for part in parts:
            kept.add(rows(*part))
        every = sorted(place for part in parts for place in part)
        pieces = list(kept.pieces(0, LATEST + 1))
        found = [kept.rows(*piece) for piece in pieces]
        assert [first for first, _ in pieces] == [0, *(end for _, end in pieces[:-1])]
        assert pieces[-1][1] == LATEST + 1
        for (first, end), part in zip(pieces, found, strict=True):
            wanted = [place for place in every if first <= place < end]
            assert part.sort(PLACE).equals(rows(*wanted))
            assert len(set(wanted)) <= 1 or size > 1
        on_disk = any(Path(name).glob("s/*.arrow"))
        assert on_disk == (written and bool(every)) or size > 1


def test_rows_of_a_place_come_in_the_order_they_were_added(tmp_path: Path, run_bytes: int) -> None:
    kept = Spill(tmp_path, "t", SCHEMA)
    for number in range(5):
        kept.add(rows(3, 1).with_columns(said=pl.lit(f"{number}")))
    assert kept.rows(3, 4)["said"].to_list() == list("01234")
    assert bool(list(tmp_path.iterdir())) == (run_bytes < 1 << 20)


def test_what_is_forgotten_leaves_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "RUN_BYTES", 1)
    kept = Spill(tmp_path, "t", SCHEMA)
    kept.add(rows(0, 1))
    kept.add(rows(1, 2))
    kept.forget(2)
    assert [path.name for path in tmp_path.iterdir()] == ["t-00001.arrow"]
    assert kept.rows(0, 9).sort(PLACE).equals(rows(1, 2))
    kept.forget(3)
    assert not list(tmp_path.iterdir())
    assert kept.rows(0, 9).equals(rows())


def test_at_most_so_many_places_in_a_piece(tmp_path: Path) -> None:
    kept = Spill(tmp_path, "t", SCHEMA)
    assert list(kept.pieces(5, 5)) == []
    assert list(kept.pieces(0, 10, 4)) == [(0, 3), (3, 6), (6, 10)]


def test_a_disk_that_takes_nothing_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "RUN_BYTES", 1)
    (tmp_path / "file").write_text("")
    kept = Spill(tmp_path / "file", "t", SCHEMA)
    with pytest.raises(InputError, match="rows cannot be put aside: File exists; check --out"):
        kept.add(rows(1))
    kept = Spill(tmp_path / "s", "t", SCHEMA)
    kept.add(rows(1))
    (tmp_path / "s" / "t-00000.arrow").write_bytes(b"")
    with pytest.raises(InputError, match="rows cannot be put aside"):
        kept.rows(0, 9)
