"""What Python hands over besides paths and polars frames, and what a run says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragtriage

RECORD = {"case_id": "a", "required_ids": ["x"], "retrieved_ids": ["x"]}


class Foreign:
    """A frame of another library: it iterates over its column names."""

    def __dataframe__(self) -> None: ...

    def __iter__(self) -> Iterator[str]:
        return iter(RECORD)


@pytest.mark.parametrize(
    ("source", "kind", "hint"),
    [
        ([RECORD], "got list of dict; ", "polars.DataFrame(records)"),
        (RECORD.items(), "got dict_items of tuple; ", "polars.DataFrame(records)"),
        (RECORD, "got dict; ", "polars.DataFrame(records)"),
        (7, "got int; ", "polars.DataFrame(records)"),
        (Foreign(), "got Foreign; ", "polars.from_dataframe"),
    ],
)
def test_another_kind_of_source_is_named_and_not_shown(source: Any, kind: str, hint: str) -> None:
    for entry in (ragtriage.evaluate, ragtriage.evaluate_systems):
        with pytest.raises(ragtriage.UsageError) as caught:
            entry(source, write=False)
        assert kind in str(caught.value)
        assert hint in str(caught.value)
        assert "case_id" not in str(caught.value)


def test_a_run_says_what_broke_and_where_it_lies(tmp_path: Path) -> None:
    frame = pl.DataFrame([RECORD])
    run = ragtriage.evaluate(frame, write=False, run_id="r")
    assert repr(run) == "<Run r: passed, The only case did not pass: unprepared>"
    written = ragtriage.evaluate(frame, out=tmp_path, run_id="r")
    assert repr(written).endswith(f"unprepared; {tmp_path / 'r'}>")
