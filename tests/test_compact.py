"""Kept rows are the same rows, and hold no more than their own texts."""

from __future__ import annotations

import pickle
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from ragtriage.compact import compact
from ragtriage.stages import PASS
from ragtriage.tally import Tally

ROWS = pl.DataFrame(
    {
        "text": ["a text that is longer than twelve", "", None],
        "list": [["an ID of more than twelve letters", None, ""], [], None],
        "lists": [[["a text in a list in a list"], None], [], None],
        "claims": [
            [
                {"name": "a claim of more than twelve", "cites": ["x"]},
                {"name": None, "cites": None},
            ],
            [],
            None,
        ],
        "pair": [{"a": "x", "b": 1}, {"a": None, "b": None}, {"a": "", "b": 0}],
        "number": [1, None, 3],
        "rate": [0.1, float("nan"), None],
        "known": [True, False, None],
    }
)


@pytest.mark.parametrize("height", [0, 1, 3])
def test_the_same_rows(height: int) -> None:
    rows = ROWS.head(height)
    assert_frame_equal(compact(rows), rows)


NAMES = [f"a passage with a long name: {i}" for i in range(20_000)]


@pytest.fixture
def group(tmp_path: Path) -> pl.DataFrame:
    """Rows that polars read from one row group."""
    made = pl.DataFrame(
        {
            "case_id": NAMES,
            "ids": [[name] for name in NAMES],
            "claims": [[{"claim_id": name}] for name in NAMES],
            "stage": ["retrieval" if i == 7 else PASS for i in range(len(NAMES))],
        }
    )
    made.write_parquet(tmp_path / "in.parquet")
    return pl.read_parquet(tmp_path / "in.parquet")


def size(rows: pl.DataFrame) -> int:
    """With all that it refers to."""
    return len(pickle.dumps(rows))


def test_a_row_of_a_row_group_refers_to_no_other(group: pl.DataFrame) -> None:
    assert size(group[[7]]) > 100_000
    row = compact(group[[7]])
    assert_frame_equal(row, group[[7]])
    assert size(row) < 5_000


def test_a_case_that_reports_show_keeps_no_other(group: pl.DataFrame) -> None:
    tally = Tally()
    kept, _ = tally._taken(group)
    assert kept["case_id"].to_list() == [NAMES[7]]
    assert size(kept) < 5_000
