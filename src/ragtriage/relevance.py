"""Which required evidence stands where: requirements matched against each list of a case.

Everything that counts hits (metrics, ledger, stages) counts from here, so groups, equivalents,
repeats and permissions mean the same everywhere. No metric and no verdict is computed here.

A *requirement* is a group of interchangeable IDs. An *authorised* ID is one this requester
may see; only authorised members hit.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

# IDs hold no control characters, so this joins them without ambiguity.
_SEPARATOR = "\x1f"
_LABELS = ("required_ids", "required_groups", "grades")
# Along the way from source to model; `break_point` is the earliest.
BREAKS = (
    "source",
    "index",
    "chunk",
    "scope",
    "filter",
    "retrieval",
    "ranking",
    "context",
    "unobserved",
)
BREAK_ORDER = {name: place for place, name in enumerate(BREAKS)}
LISTS = ("retrieved_ids", "context_ids", "cited_ids")


@dataclass(frozen=True)
class Corpus:
    """What is known of each evidence ID: one row an ID.

    Columns: `id`, `equivalence_group`, `in_source` (Boolean), `indexed` and `in_chunks`
    (Boolean, null unknown).
    """

    table: pl.DataFrame

    @classmethod
    def from_rows(cls, rows: pl.DataFrame) -> Corpus:
        """From validated corpus rows.

        An ID that is listed is in the source unless `in_source` says otherwise; it is not
        indexed when `in_index` is false or its two revisions differ.
        """
        differ = pl.col("revision") != pl.col("indexed_revision")
        table = rows.select(
            pl.col("evidence_id").alias("id"),
            "equivalence_group",
            pl.col("in_source").fill_null(True),
            indexed=pl.when(pl.col("in_index").eq_missing(False) | differ.fill_null(False))
            .then(False)
            .when(pl.col("in_index") | ~differ)
            .then(True),
            in_chunks="in_chunks",
        )
        return cls(table)

    @property
    def ids(self) -> pl.Series:
        """Every listed ID."""
        return self.table["id"]


@dataclass(frozen=True)
class Relevance:
    """Requirements of a chunk and where they were met.

    `requirements`: a row per case and requirement, in case order: `row`, `requirement`
    (0-based), `ids` (as given), `gain`, `authorised`; `retrieved_rank`, `retrieved_id`,
    `returned` (by any member, authorised or not; else null), `context_rank`, `cited_rank`;
    `in_candidates`, `filtered`, and by the corpus `listed`, `in_source`, `in_index`,
    `in_chunks`, `all_unindexed`, `all_unchunked`.

    `cases`: the frame in its own order, with `row`, the distinct lists and their lengths and
    overlaps (`n_retrieved`, `n_cited_context`, …), `n_unauthorized_…`, and `relevant_…`, the
    places of each list that hold a relevant ID.
    """

    requirements: pl.DataFrame
    cases: pl.DataFrame


def match(frame: pl.DataFrame, corpus: Corpus | None) -> Relevance:
    """Match each case's requirements against what was retrieved, supplied and cited."""
    cases = _with_terms(frame.with_row_index("row"), corpus)
    given = _given(cases)
    counted = given.group_by("row").agg(n_given=pl.len().cast(pl.Int64))
    cases = cases.join(counted, on="row", how="left", maintain_order="left")
    requirements, members = _requirements(given, cases, corpus)
    members = members.join(requirements.select("q", "row"), on="q", maintain_order="left")
    members = _authorised(members, cases)
    sought = members.select("q", "row", "id", "authorised")
    for name, ranks in _RANKS.items():
        found = _ranks(cases, name, ranks, sought)
        if name == "retrieved_ids":
            returned = found.select("q").unique().with_columns(returned=pl.lit(True))
            requirements = requirements.join(returned, on="q", how="left", maintain_order="left")
        found = found.filter("authorised")
        requirements = requirements.join(
            _first(found, ranks), on="q", how="left", maintain_order="left"
        )
        cases = cases.join(_relevant(found, name), on="row", how="left", maintain_order="left")
    known = _known(members, cases, corpus)
    requirements = requirements.join(known, on="q", how="left", maintain_order="left")
    return Relevance(requirements, cases)


_RANKS = {
    "retrieved_ids": "retrieved_rank",
    "context_ids": "context_rank",
    "cited_ids": "cited_rank",
}


def _with_terms(cases: pl.DataFrame, corpus: Corpus | None) -> pl.DataFrame:
    """Distinct lists, their lengths and overlaps, and what this requester may not see."""
    distinct = cases.with_columns(
        pl.col(name).list.unique(maintain_order=True).alias(_distinct(name)) for name in LISTS
    )
    sized = distinct.with_columns(
        n_retrieved=pl.col("distinct_retrieved").list.len(),
        n_context=pl.col("distinct_context").list.len(),
        n_cited=pl.col("distinct_cited").list.len(),
        n_cited_retrieved=_common("distinct_cited", "distinct_retrieved"),
        n_cited_context=_common("distinct_cited", "distinct_context"),
        labels_observed=pl.any_horizontal(pl.col(_LABELS).is_not_null()),
    )
    return sized.with_columns(_unauthorized(sized, corpus))


def _distinct(name: str) -> str:
    return "distinct_" + name.removesuffix("_ids")


def _common(left: str, right: str) -> pl.Expr:
    return pl.col(left).list.set_intersection(pl.col(right)).list.len()


def _unauthorized(cases: pl.DataFrame, corpus: Corpus | None) -> list[pl.Expr]:
    """How many distinct IDs of each list this requester may not see."""
    if _unrestricted(cases):
        return [
            pl.when(pl.col(_distinct(name)).is_not_null())
            .then(0)
            .cast(pl.Int64)
            .alias(f"n_unauthorized_{name.removesuffix('_ids')}")
            for name in LISTS
        ]
    counts = []
    for name in LISTS:
        barred = _barred(pl.col(_distinct(name)))
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


def _unrestricted(cases: pl.DataFrame) -> bool:
    return all(
        cases[name].null_count() == cases.height for name in ("allowed_ids", "forbidden_ids")
    )


def _requirements(
    given: pl.DataFrame, cases: pl.DataFrame, corpus: Corpus | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Requirements (`q`, `row`, `requirement`, `ids`, `gain`) and their members (`q`, `id`)."""
    members = given.select("q", id="ids").explode("id")
    if corpus is not None and corpus.table["equivalence_group"].null_count() < len(corpus.ids):
        members = _with_equivalents(members, corpus)
    keys = members.group_by("q", maintain_order=True).agg(
        key=pl.col("id").unique().sort().str.join(_SEPARATOR)
    )
    keyed = given.join(keys, on="q", maintain_order="left")
    kept = keyed.unique(["row", "key"], keep="first", maintain_order=True)
    requirements = kept.select(
        "q",
        "row",
        requirement=pl.int_range(pl.len(), dtype=pl.Int64).over("row"),
        ids="ids",
    )
    members = members.join(requirements.select("q"), on="q", how="semi", maintain_order="left")
    gains = _gains(cases, members, requirements)
    return requirements.join(gains, on="q", how="left", maintain_order="left").with_columns(
        pl.col("gain").fill_null(1)
    ), members


def _given(cases: pl.DataFrame) -> pl.DataFrame:
    """Requirements as given, repeats and all: `q`, `row`, `ids`."""
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


def _with_equivalents(members: pl.DataFrame, corpus: Corpus) -> pl.DataFrame:
    """Members and every other ID of their equivalence groups."""
    grouped = corpus.table.select("id", "equivalence_group").drop_nulls()
    same = members.join(grouped, on="id").join(
        grouped.rename({"id": "same"}), on="equivalence_group"
    )
    return (
        pl.concat([members, same.select("q", id="same")])
        .unique(maintain_order=True)
        .sort("q", maintain_order=True)
    )


def _gains(cases: pl.DataFrame, members: pl.DataFrame, requirements: pl.DataFrame) -> pl.DataFrame:
    """The largest positive grade among a requirement's members: `q`, `gain`."""
    empty = pl.DataFrame(schema={"q": requirements["q"].dtype, "gain": pl.Int64})
    if cases["grades"].null_count() == cases.height:
        return empty
    graded = (
        cases.select("row", "grades")
        .filter(pl.col("grades").list.len() > 0)
        .explode("grades")
        .select("row", pl.col("grades").struct.unnest())
        .filter(pl.col("grade") > 0)
    )
    placed = members.join(requirements.select("q", "row"), on="q")
    return placed.join(graded, on=["row", "id"]).group_by("q").agg(gain=pl.col("grade").max())


def _authorised(members: pl.DataFrame, cases: pl.DataFrame) -> pl.DataFrame:
    if _unrestricted(cases):
        return members.with_columns(authorised=pl.lit(True))
    scope = cases.select("row", "allowed_ids", "forbidden_ids")
    allowed = pl.col("allowed_ids").is_null() | pl.col("allowed_ids").list.contains(pl.col("id"))
    forbidden = pl.col("forbidden_ids").list.contains(pl.col("id")).fill_null(False)
    return (
        members.join(scope, on="row", maintain_order="left")
        .with_columns(authorised=allowed & ~forbidden)
        .drop("allowed_ids", "forbidden_ids")
    )


def _ranks(cases: pl.DataFrame, name: str, ranks: str, sought: pl.DataFrame) -> pl.DataFrame:
    """Every meeting of a list and a requirement: `q`, `row`, `id` and the 1-based place."""
    ids = pl.col(_distinct(name))
    listed = (
        cases.select("row", id=ids, place=pl.int_ranges(1, ids.list.len() + 1, dtype=pl.UInt32))
        .filter(pl.col("id").list.len() > 0)
        .explode("id", "place")
    )
    return listed.join(sought, on=["row", "id"]).rename({"place": ranks})


def _first(found: pl.DataFrame, ranks: str) -> pl.DataFrame:
    """Where each requirement is met first, and for retrieved by which member."""
    aggregates = [pl.col(ranks).min()]
    if ranks == "retrieved_rank":
        aggregates.append(pl.col("id").sort_by(ranks).first().alias("retrieved_id"))
    return found.group_by("q").agg(aggregates)


def _relevant(found: pl.DataFrame, name: str) -> pl.DataFrame:
    """The places of a list that hold a relevant ID, in order."""
    ranks = _RANKS[name]
    return found.group_by("row").agg(
        pl.col(ranks).unique().sort().alias("relevant_" + name.removesuffix("_ids"))
    )


def _known(members: pl.DataFrame, cases: pl.DataFrame, corpus: Corpus | None) -> pl.DataFrame:
    """What candidates, filter and corpus say of each requirement."""
    lists = cases.select("row", "candidate_ids", "filtered_ids")
    seen = members
    if any(lists[name].null_count() < lists.height for name in ("candidate_ids", "filtered_ids")):
        seen = members.join(lists, on="row", maintain_order="left").with_columns(
            candidate=pl.col("candidate_ids").list.contains(pl.col("id")),
            filtered=pl.col("filtered_ids").list.contains(pl.col("id")),
        )
    else:
        nothing = pl.lit(None, pl.Boolean)
        seen = members.with_columns(candidate=nothing, filtered=nothing)
    aggregates = [
        pl.col("authorised").any(),
        pl.col("candidate").any(ignore_nulls=False).alias("in_candidates"),
        pl.col("filtered").any(ignore_nulls=False),
    ]
    if corpus is not None:
        table = corpus.table.drop("equivalence_group").with_columns(listed=pl.lit(True))
        seen = seen.join(table, on="id", how="left", maintain_order="left").with_columns(
            pl.col("listed", "in_source").fill_null(False)
        )
        aggregates += _corpus_verdicts()
    else:
        nothing = pl.lit(None, pl.Boolean)
        aggregates += [
            nothing.alias(name)
            for name in (
                "listed",
                "in_source",
                "in_index",
                "in_chunks",
                "all_unindexed",
                "all_unchunked",
            )
        ]
    return seen.group_by("q", maintain_order=True).agg(aggregates)


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


def with_requirement_terms(cases: pl.DataFrame, ledger: pl.DataFrame) -> pl.DataFrame:
    """The cases with what their requirements come to: counts and rank-ordered lists.

    Added: `n_requirements`, `n_in_context`, `n_required_cited`, `n_dropped` (hit within the
    ledger's cutoff, not in the context): counts, 0 where nothing is required; `all_delivered`
    (null where unknown or nothing is required), `missing`; and, over requirements met in what
    was retrieved, in rank order, `hit_ranks`, `hit_credit` (ranks so far that newly met one ÷
    rank) and `hit_gain` (gain ÷ log2(rank + 1)), with `ideal_gain` over all, best first.
    """
    rank = pl.col("retrieved_rank")
    met = rank.is_not_null()
    in_rank_order = ledger.sort("row", "retrieved_rank", nulls_last=True, maintain_order=True)
    terms = in_rank_order.group_by("row", maintain_order=True).agg(
        n_requirements=pl.len().cast(pl.Int64),
        n_in_context=pl.col("in_context").sum().cast(pl.Int64),
        n_required_cited=pl.col("cited").sum().cast(pl.Int64),
        n_dropped=(pl.col("in_top_k") & ~pl.col("in_context")).sum().cast(pl.Int64),
        all_delivered=pl.col("delivered").all(ignore_nulls=False),
        any_lost=pl.col("delivered").not_().any(ignore_nulls=False),
        missing=pl.col("ids").list.first().filter(~pl.col("delivered")).unique().sort(),
        delivery_known=pl.col("delivered").is_not_null().all(),
        all_unmet=pl.col("unmet").all(),
        break_order=pl.col("lost_at").replace_strict(BREAK_ORDER, return_dtype=pl.Int8).min(),
        hit_ranks=rank.filter(met),
        hit_gain=(pl.col("gain") / (rank + 1).log(2)).filter(met),
        gains=pl.col("gain").sort(descending=True),
    )
    counts = ("n_requirements", "n_in_context", "n_required_cited", "n_dropped")
    joined = cases.join(terms, on="row", how="left", maintain_order="left")
    return joined.with_columns(pl.col(counts).fill_null(0)).with_columns(*_rank_lists())


def _rank_lists() -> list[pl.Expr]:
    """Credit of each hit, and the ideal's discounted gains."""
    ranks = pl.col("hit_ranks")
    newly = ranks.list.eval(pl.element().rank("dense"))
    places = pl.int_ranges(2, pl.col("gains").list.len() + 2)
    return [
        (newly.cast(pl.List(pl.Float64)) / ranks).alias("hit_credit"),
        (
            pl.col("gains").cast(pl.List(pl.Float64))
            / places.list.eval(pl.element().cast(pl.Float64).log(2))
        ).alias("ideal_gain"),
    ]
