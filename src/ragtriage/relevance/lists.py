"""The distinct lists of a case, their overlaps, and what its requester may not see."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from ragtriage.relevance.corpus import Corpus
from ragtriage.relevance.frames import keyed
from ragtriage.schemas.inputs import LABEL_FIELDS

LISTS = ("retrieved_ids", "context_ids", "cited_ids")


class Lists(NamedTuple):
    """Cases with what their lists come to, and the lists' members one a row.

    `members`, by list: `row`, `id`, `place` (from 1), and `key` as `keyed` makes it; each ID of a
    list once.
    """

    cases: pl.DataFrame
    members: dict[str, pl.DataFrame]


def with_list_terms(cases: pl.DataFrame, corpus: Corpus | None) -> Lists:
    """Distinct lists, their lengths and overlaps, and what this requester may not see."""
    cases = cases.with_columns(_collapsed(cases, name).alias(distinct(name)) for name in LISTS)
    members = {name: _members(cases, distinct(name)) for name in LISTS}
    sized = cases.with_columns(
        n_retrieved=pl.col("distinct_retrieved").list.len(),
        n_context=pl.col("distinct_context").list.len(),
        n_cited=pl.col("distinct_cited").list.len(),
        n_cited_retrieved=_common("distinct_cited", "distinct_retrieved"),
        n_cited_context=_common("distinct_cited", "distinct_context"),
        labels_observed=pl.any_horizontal(pl.col(LABEL_FIELDS).is_not_null()),
    )
    return Lists(sized.with_columns(_unauthorized(sized, corpus)), members)


def _members(cases: pl.DataFrame, column: str) -> pl.DataFrame:
    places = pl.int_ranges(1, pl.col("id").list.len() + 1, dtype=pl.UInt32)
    listed = cases.select("row", id=column).filter(pl.col("id").list.len() > 0)
    return keyed(listed.with_columns(place=places).explode("id", "place"), "id")


def _collapsed(cases: pl.DataFrame, name: str) -> pl.Expr:
    """The list with repeats collapsed to their first place: most have none, which costs less."""
    ids = pl.col(name)
    if cases.select((ids.list.n_unique() == ids.list.len()).all()).item():
        return ids
    return ids.list.unique(maintain_order=True)


def _common(left: str, right: str) -> pl.Expr:
    return pl.col(left).list.set_intersection(pl.col(right)).list.len()


def distinct(name: str) -> str:
    """The column with a list's repeats collapsed to their first place."""
    return "distinct_" + name.removesuffix("_ids")


def _unauthorized(cases: pl.DataFrame, corpus: Corpus | None) -> list[pl.Expr]:
    """How many distinct IDs of each list this requester may not see."""
    if unrestricted(cases):
        return [
            pl.when(pl.col(distinct(name)).is_not_null())
            .then(0)
            .cast(pl.Int64)
            .alias(f"n_unauthorized_{name.removesuffix('_ids')}")
            for name in LISTS
        ]
    counts = []
    for name in LISTS:
        barred = _barred(pl.col(distinct(name)))
        if name == "cited_ids":
            # An ID that exists nowhere is invented: that is the citation's fault, not a leak.
            known = [
                pl.col(other).fill_null([]) for other in ("distinct_retrieved", "distinct_context")
            ]
            known.append(pl.col("forbidden_ids").fill_null([]))
            real = barred.list.set_intersection(pl.concat_list(known))
            if corpus is not None:
                listed = pl.element().filter(pl.element().is_in(corpus.ids.implode()))
                real = real.list.set_union(barred.list.eval(listed))
            barred = real
        counts.append(
            barred.list.len().cast(pl.Int64).alias(f"n_unauthorized_{name.removesuffix('_ids')}")
        )
    return counts


def _barred(ids: pl.Expr) -> pl.Expr:
    allowed = pl.col("allowed_ids")
    outside = (
        pl.when(allowed.is_null())
        .then(ids.list.head(0))
        .otherwise(ids.list.set_difference(allowed))
    )
    forbidden = ids.list.set_intersection(pl.col("forbidden_ids").fill_null([]))
    return outside.list.set_union(forbidden)


def unrestricted(cases: pl.DataFrame) -> bool:
    """May every requester of these cases see everything?"""
    return all(
        cases[name].null_count() == cases.height for name in ("allowed_ids", "forbidden_ids")
    )
