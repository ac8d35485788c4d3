"""Cases as the pure steps take them, and near duplicates by brute force."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from ragtriage.splits.words import keys_of

SCHEMA = {
    "case_id": pl.String,
    "split": pl.String,
    "group": pl.String,
    "question": pl.String,
    "expected_answers": pl.List(pl.String),
    "tags": pl.List(pl.String),
}


def cases_of(records: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Records with their keys, in order of case ID."""
    frame = pl.DataFrame([dict.fromkeys(SCHEMA) | dict(r) for r in records], schema=SCHEMA)
    return frame.with_columns(keys_of(frame["question"])).sort("case_id")


def distinct(cases: pl.DataFrame) -> pl.Series:
    """The keys there are."""
    return cases["key"].drop_nulls().unique().sort()


def grams(key: str) -> set[tuple[str, ...]]:
    """Word 3-grams, the plain way."""
    words = key.split(" ")
    return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}


def similar(keys: list[str], threshold: float) -> dict[tuple[int, int], float]:
    """Every pair at or above the threshold, each compared with each."""
    sets = [grams(key) for key in keys]
    found = {}
    for i, a in enumerate(sets):
        for j in range(i + 1, len(sets)):
            b = sets[j]
            if a and b and len(a & b) / len(a | b) >= threshold:
                found[i, j] = len(a & b) / len(a | b)
    return found
