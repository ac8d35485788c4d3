"""A run's rows in the order of its ranking, and what was met on the way. No file is read here.

As trec_eval has it: by score, highest first, scores taken in single precision; ties by document
ID, last first. Or by the rank column, as far as the user says that it is the ranking.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from ragtriage.read.trec.topics import Topics


class Ranked(NamedTuple):
    """Topics with their rows in ranking order, and in how many topics what was met.

    `tied`: two documents have one score. `narrow`: their scores differ, but not in single
    precision. `against_rank`: the rank column gives another order.
    """

    topics: Topics
    tied: int
    narrow: int
    against_rank: int


def by_score(topics: Topics) -> Ranked:
    """Rows by score and document; they have `document`, `score` and `rank`, which may be null."""
    places = topics.places
    rows = topics.rows
    single = rows["score"].cast(pl.Float32).to_numpy()
    order = _falling(places, single)
    if order is not None:
        rows, single = rows[pl.Series(order)], single[order]
    beside = places[1:] == places[:-1]
    equal = beside & (single[1:] == single[:-1])
    tied = _count(places, equal)
    narrow = 0
    if tied:
        exact = rows["score"].to_numpy()
        narrow = _count(places, equal & (exact[1:] != exact[:-1]))
        rows = _ties_by_document(rows, equal)
    against = _against_rank(rows, places, beside)
    return Ranked(Topics(topics.table, rows), tied, narrow, against)


def by_rank(topics: Topics) -> Ranked:
    """Rows by the rank column; equal ranks in file order."""
    places = topics.places
    ranks = topics.rows["rank"].to_numpy()
    order = _falling(places, -ranks)
    rows = topics.rows if order is None else topics.rows[pl.Series(order)]
    return Ranked(Topics(topics.table, rows), 0, 0, 0)


def _falling(places: np.ndarray, values: np.ndarray) -> np.ndarray | None:
    """The order in which values fall within each place; None where they do already."""
    rises = (places[1:] == places[:-1]) & (values[1:] > values[:-1])
    if not rises.any():
        return None
    # Only the places that are out of order are sorted.
    disordered = np.zeros(int(places[-1]) + 1, dtype=bool)
    disordered[places[1:][rises]] = True
    where = np.flatnonzero(disordered[places])
    keys = pl.DataFrame({"place": places[where], "value": values[where], "at": where})
    ordered = keys.sort("place", "value", descending=[False, True], maintain_order=True)
    order = np.arange(places.size)
    order[where] = ordered["at"].to_numpy()
    return order


def _ties_by_document(rows: pl.DataFrame, equal: np.ndarray) -> pl.DataFrame:
    """Rows whose scores are equal, those of one score by document, last first."""
    within = np.zeros(rows.height, dtype=bool)
    within[1:] |= equal
    within[:-1] |= equal
    stretch = np.zeros(rows.height, dtype=np.uint32)
    np.cumsum(~equal, out=stretch[1:])
    where = np.flatnonzero(within)
    keys = pl.DataFrame(
        {"stretch": stretch[where], "document": rows["document"][where], "at": where}
    )
    ordered = keys.sort("stretch", "document", descending=[False, True], maintain_order=True)
    if (ordered["at"] == keys["at"]).all():
        return rows
    order = np.arange(rows.height)
    order[where] = ordered["at"].to_numpy()
    return rows[pl.Series(order)]


def _against_rank(rows: pl.DataFrame, places: np.ndarray, beside: np.ndarray) -> int:
    """Topics in which a later row has a smaller rank; equal ranks contradict nothing."""
    # A rank that is no number is NaN here, which is before nothing.
    ranks = rows["rank"].cast(pl.Float64).to_numpy()
    return _count(places, beside & (ranks[1:] < ranks[:-1]))


def _count(places: np.ndarray, pairs: np.ndarray) -> int:
    """In how many places some pair of neighbours is so."""
    return int(np.unique(places[1:][pairs]).size)
