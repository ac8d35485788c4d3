"""Requirements as given, with equivalents, repeats collapsed and gains. No list is matched here."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from ragtriage.relevance.corpus import Corpus
from ragtriage.relevance.flat import Flat
from ragtriage.relevance.frames import keyed, same

# IDs hold no control characters, so this joins them without ambiguity.
_SEPARATOR = "\x1f"


class Requirements(NamedTuple):
    """Requirements and their members.

    `table`: `q` (unique in the chunk), `row`, `requirement` (0-based), `ids` (as given), `gain`.
    `members`: `q`, `row`, `id`. `counts`: `row`, `n_given`, repeats included. `single`: every
    requirement has one member, so that a member is met at most once in a list.
    """

    table: pl.DataFrame
    members: pl.DataFrame
    counts: pl.DataFrame
    single: bool


def requirements_of(cases: pl.DataFrame, corpus: Corpus | None) -> Requirements:
    """The distinct requirements of a chunk's cases, in case order."""
    given = _given(cases)
    counts = _counts(given)
    members = given.select("q", "row", id="ids").explode("id")
    if corpus is not None and corpus.table["equivalence_group"].null_count() < len(corpus.ids):
        members = _with_equivalents(members, corpus)
    single = members.height == given.height
    kept = _distinct(given, members, cases.height)
    if kept.height < given.height:
        members = members.join(kept.select("q"), on="q", how="semi", maintain_order="left")
    table = kept.select("q", "row", "ids").with_columns(requirement=_places(kept))
    return Requirements(_with_gains(table, cases, members), members, counts, single)


def _counts(rows: pl.DataFrame) -> pl.DataFrame:
    """How many of the rows each case has, in case order."""
    return rows.group_by("row", maintain_order=True).agg(n_given=pl.len().cast(pl.Int64))


def _places(rows: pl.DataFrame) -> pl.Series:
    """The 0-based place of each row in its case, of rows in case order; `over` costs far more."""
    return _counts(rows).select(pl.int_ranges(0, "n_given").explode()).to_series()


def _given(cases: pl.DataFrame) -> pl.DataFrame:
    """Requirements as given, in case order, repeats and all: `q`, `row`, `ids`."""
    ungraded = pl.col("required_ids").is_null() & pl.col("required_groups").is_null()
    graded = (
        pl.col("grades")
        .list.filter(pl.element().struct.field("grade") > 0)
        .list.eval(pl.element().struct.field("id"))
    )
    singles = cases.select("row", id=pl.when(ungraded).then(graded).otherwise("required_ids"))
    singles = singles.filter(pl.col("id").list.len() > 0).explode("id")
    parts = [singles.select("row", order=pl.lit(0, pl.Int8), ids=pl.concat_list("id"))]
    if cases["required_groups"].null_count() < cases.height:
        groups = cases.filter(pl.col("required_groups").list.len() > 0)
        parts.append(
            groups.select("row", ids="required_groups")
            .explode("ids")
            .select(
                "row",
                order=pl.lit(1, pl.Int8),
                ids=pl.col("ids").list.unique(maintain_order=True),
            )
        )
    joined = pl.concat(parts) if len(parts) > 1 else parts[0]
    if len(parts) > 1:
        joined = joined.sort("row", "order", maintain_order=True)
    return joined.drop("order").with_row_index("q")


def _distinct(given: pl.DataFrame, members: pl.DataFrame, cases: int) -> pl.DataFrame:
    """Requirements without those whose members another one of their case has, the first kept."""
    named = _keyed(given, members)
    if not len(Flat.of_rows(named["key"], named["row"], cases).repeating()):
        return named
    return named.unique(["row", "key"], keep="first", maintain_order=True)


def _keyed(given: pl.DataFrame, members: pl.DataFrame) -> pl.DataFrame:
    """Requirements with a `key` that is equal where their members are."""
    if members.height == given.height:
        return given.with_columns(key=pl.col("ids").list.first())
    keys = members.group_by("q", maintain_order=True).agg(
        key=pl.col("id").unique().sort().str.join(_SEPARATOR)
    )
    return given.join(keys, on="q", maintain_order="left")


def _with_equivalents(members: pl.DataFrame, corpus: Corpus) -> pl.DataFrame:
    """Members and every other ID of their equivalence groups."""
    grouped = corpus.table.select("id", "equivalence_group").drop_nulls()
    same = members.join(grouped, on="id").join(
        grouped.rename({"id": "same"}), on="equivalence_group"
    )
    return (
        pl.concat([members, same.select("q", "row", id="same")])
        .unique(maintain_order=True)
        .sort("q", maintain_order=True)
    )


def _with_gains(table: pl.DataFrame, cases: pl.DataFrame, members: pl.DataFrame) -> pl.DataFrame:
    """Each requirement's largest positive grade among its members; 1 when none is graded."""
    if cases["grades"].null_count() == cases.height:
        return table.with_columns(gain=pl.lit(1, pl.Int64))
    positive = pl.col("grades").list.filter(pl.element().struct.field("grade") > 0)
    graded = (
        cases.select("row", grades=positive)
        .filter(pl.col("grades").list.len() > 0)
        .explode("grades")
        .select("row", pl.col("grades").struct.unnest())
    )
    if _are_requirements(graded, members, table):
        return table.with_columns(gain=graded["grade"])
    met = keyed(members, "id").join(keyed(graded, "id"), on="key").filter(same("id"))
    gains = met.group_by("q").agg(gain=pl.col("grade").max())
    joined = table.join(gains, on="q", how="left", maintain_order="left")
    return joined.with_columns(pl.col("gain").fill_null(1))


def _are_requirements(graded: pl.DataFrame, members: pl.DataFrame, table: pl.DataFrame) -> bool:
    """Are the requirements the positive grades themselves, one by one? Then none need be sought."""
    if not graded.height == members.height == table.height:
        return False
    pairs = (
        (table["q"], members["q"]),
        (members["row"], graded["row"]),
        (members["id"], graded["id"]),
    )
    return all(bool((ours == theirs).all()) for ours, theirs in pairs)
