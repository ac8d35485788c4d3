"""The distinct lists of a case, their overlaps, and what its requester may not see."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from ragtriage.relevance.corpus import Corpus
from ragtriage.relevance.flat import Flat, Whole, by_way
from ragtriage.schemas.inputs import LABEL_FIELDS

LISTS = ("retrieved_ids", "context_ids", "cited_ids")


class Lists(NamedTuple):
    """Cases with what their lists come to, and the distinct lists laid out flat, by name.

    `retrieved`: by name of another list, where each of its items stands in what was retrieved, -1
    where it does not.
    """

    cases: pl.DataFrame
    flat: dict[str, Flat]
    retrieved: dict[str, Whole]

    def where(self, asked: Flat) -> dict[str, Whole]:
        """For each ID, where it stands in each list of its case; -1 where it does not.

        Whatever is sought is sought in what was retrieved; the other lists are reached from there.
        """
        hub = self.flat["retrieved_ids"]
        found = {"retrieved_ids": asked.where(hub)}
        for name, there in self.retrieved.items():
            met = by_way(asked, found["retrieved_ids"], self.flat[name], there, len(hub.rows))
            found[name] = met
        return found


def with_list_terms(cases: pl.DataFrame, corpus: Corpus | None) -> Lists:
    """Distinct lists, their lengths and overlaps, and what this requester may not see."""
    lists, flat = {}, {}
    for name in LISTS:
        lists[distinct(name)], flat[name] = _distinct(cases[name])
    retrieved, context, cited = (flat[name] for name in LISTS)
    # A context is often the start of what was retrieved.
    from_context, from_cited = context.where_from_start(retrieved), cited.where(retrieved)
    in_context = by_way(cited, from_cited, context, from_context, len(retrieved.rows))
    cases = cases.with_columns(**lists).with_columns(
        n_retrieved=pl.col("distinct_retrieved").list.len(),
        n_context=pl.col("distinct_context").list.len(),
        n_cited=pl.col("distinct_cited").list.len(),
        labels_observed=pl.any_horizontal(pl.col(LABEL_FIELDS).is_not_null()),
        n_cited_retrieved=_common("cited", "retrieved", cited, from_cited),
        n_cited_context=_common("cited", "context", cited, in_context),
        n_context_retrieved=_common("context", "retrieved", context, from_context),
    )
    there = {"context_ids": from_context, "cited_ids": from_cited}
    return Lists(cases.with_columns(_unauthorized(cases, corpus)), flat, there)


def _distinct(lists: pl.Series) -> tuple[pl.Series, Flat]:
    """The lists with repeats collapsed to their first place: most have none, which costs less."""
    flat = Flat.of(lists)
    repeating = flat.repeating()
    if not len(repeating):
        return lists, flat
    collapsed = lists.gather(repeating).list.unique(maintain_order=True)
    source = np.arange(len(lists))
    source[repeating] = len(lists) + np.arange(len(repeating))
    lists = pl.concat([lists, collapsed], rechunk=True).gather(source)
    return lists, Flat.of(lists)


def _common(name: str, other: str, ids: Flat, met: Whole) -> pl.Expr:
    """How many IDs of one list are met in the other; null where either is not observed."""
    both = pl.col(f"distinct_{name}").is_not_null() & pl.col(f"distinct_{other}").is_not_null()
    common = ids.count(met >= 0)
    return pl.when(both).then(pl.lit(pl.Series(common))).cast(pl.UInt32)


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
