"""Requirements matched against each list of a case, the candidates, the filter and the corpus."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from ragtriage.relevance.corpus import Corpus
from ragtriage.relevance.flat import Flat
from ragtriage.relevance.frames import beside
from ragtriage.relevance.lists import unrestricted, with_list_terms
from ragtriage.relevance.meetings import Meetings
from ragtriage.relevance.requirements import requirements_of

_RANKS = {
    "retrieved_ids": "retrieved_rank",
    "context_ids": "context_rank",
    "cited_ids": "cited_rank",
}
_ASKED = ("candidate_ids", "filtered_ids")
_BY_CORPUS = (
    "listed",
    "in_source",
    "in_index",
    "in_chunks",
    "all_unindexed",
    "all_unchunked",
)


@dataclass(frozen=True)
class Relevance:
    """Requirements of a chunk and where they were met.

    `requirements`: a row per case and requirement, in case order: `row`, `requirement`
    (0-based), `ids` (as given), `gain`, `authorised`; `retrieved_rank`, `retrieved_id`,
    `returned` (by any member, authorised or not), `context_rank`, `cited_rank`; `in_candidates`,
    `filtered`, and by the corpus `listed`, `in_source`, `in_index`, `in_chunks`,
    `all_unindexed`, `all_unchunked`.

    `cases`: the frame in its own order, with `row`, the distinct lists and their lengths and
    overlaps (`n_retrieved`, `n_cited_context`, …), `n_unauthorized_…`, `relevant_retrieved`, the
    ranks that hold a relevant ID (null where none does), and `n_relevant_cited`.
    """

    requirements: pl.DataFrame
    cases: pl.DataFrame


def match(frame: pl.DataFrame, corpus: Corpus | None) -> Relevance:
    """Match each case's requirements against what was retrieved, supplied and cited."""
    lists = with_list_terms(frame.with_row_index("row"), corpus)
    cases = lists.cases
    required = requirements_of(cases, corpus)
    members = _authorised(required.members, cases)
    asked = Flat.of_rows(members["id"], members["row"], cases.height)
    meetings = {
        name: Meetings(members, asked, items, lists.flat[name], single=required.single)
        for name, items in lists.where(asked).items()
    }
    retrieved, cited = meetings["retrieved_ids"], meetings["cited_ids"]
    table = required.table.with_columns(
        *(meetings[name].ranks().alias(ranks) for name, ranks in _RANKS.items()),
        retrieved_id=retrieved.first_ids(),
        returned=retrieved.met_at_all(),
    )
    cases = beside(beside(cases, required.counts), retrieved.relevant_places())
    cases = cases.with_columns(n_relevant_cited=cited.relevant_counts())
    return Relevance(_with_knowledge(table, members, cases, corpus), cases)


def _authorised(members: pl.DataFrame, cases: pl.DataFrame) -> pl.DataFrame:
    if unrestricted(cases):
        return members.with_columns(authorised=pl.lit(True))
    scope = cases.select("row", "allowed_ids", "forbidden_ids")
    allowed = pl.col("allowed_ids").is_null() | pl.col("allowed_ids").list.contains(pl.col("id"))
    forbidden = pl.col("forbidden_ids").list.contains(pl.col("id")).fill_null(False)
    return (
        members.join(scope, on="row", maintain_order="left")
        .with_columns(authorised=allowed & ~forbidden)
        .drop("allowed_ids", "forbidden_ids")
    )


def _with_knowledge(
    table: pl.DataFrame, members: pl.DataFrame, cases: pl.DataFrame, corpus: Corpus | None
) -> pl.DataFrame:
    """The requirements with what permissions, candidates, filter and corpus say of them."""
    nothing = pl.lit(None, pl.Boolean)
    asked = [name for name in _ASKED if cases[name].null_count() < cases.height]
    if corpus is None and not asked and unrestricted(cases):
        unknown = ("in_candidates", "filtered", *_BY_CORPUS)
        return table.with_columns(
            pl.lit(True).alias("authorised"), *(nothing.alias(name) for name in unknown)
        )
    seen = members.with_columns(candidate=nothing, filtered=nothing)
    if asked:
        lists = cases.select("row", *_ASKED)
        seen = members.join(lists, on="row", maintain_order="left").with_columns(
            candidate=pl.col("candidate_ids").list.contains(pl.col("id")),
            filtered=pl.col("filtered_ids").list.contains(pl.col("id")),
        )
    aggregates = [
        pl.col("authorised").any(),
        pl.col("candidate").any(ignore_nulls=False).alias("in_candidates"),
        pl.col("filtered").any(ignore_nulls=False),
    ]
    if corpus is None:
        aggregates += [nothing.alias(name) for name in _BY_CORPUS]
    else:
        rows = corpus.table.drop("equivalence_group").with_columns(listed=pl.lit(True))
        seen = seen.join(rows, on="id", how="left", maintain_order="left").with_columns(
            pl.col("listed", "in_source").fill_null(False)
        )
        aggregates += _corpus_verdicts()
    known = seen.group_by("q", maintain_order=True).agg(aggregates)
    return table.join(known, on="q", how="left", maintain_order="left")


def _corpus_verdicts() -> list[pl.Expr]:
    """Any member will do; unknown stays unknown (Kleene's any, false over none)."""
    present = pl.col("in_source")
    reachable = present & pl.col("indexed").fill_null(True)
    return [
        pl.col("listed").any(),
        present.any(),
        pl.col("indexed").filter(present).any(ignore_nulls=False).alias("in_index"),
        pl.col("in_chunks").filter(reachable).any(ignore_nulls=False).alias("in_chunks"),
        (present.any() & ~reachable.any()).alias("all_unindexed"),
        (reachable.any() & pl.col("in_chunks").filter(reachable).eq_missing(False).all()).alias(
            "all_unchunked"
        ),
    ]
