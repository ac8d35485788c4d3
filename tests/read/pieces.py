"""Sizes so small that a handful of records crosses every boundary a join has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl
import pytest

from ragtriage.read import batches, case_ids, index, join, spill, text


@contextmanager
def tiny(*, one_hash: bool = False) -> Iterator[None]:
    """Two records a batch, a file for every run, a range for every case.

    `one_hash`: all IDs collide, so that only the IDs themselves tell records apart.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "BATCH_RECORDS", 2)
        patch.setattr(join, "CHUNK_ROWS", 1)
        patch.setattr(spill, "RUN_BYTES", 1)
        patch.setattr(spill, "PIECE_BYTES", 1)
        if one_hash:
            for module in (index, text, case_ids):
                patch.setattr(module, "hash_ids", _same_for_all)
        yield


def _same_for_all(ids: list[str] | pl.Series) -> pl.Series:
    return pl.Series([7] * len(ids), dtype=pl.UInt64)
