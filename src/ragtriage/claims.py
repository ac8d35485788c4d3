"""Reviewed claims: what their labels and citations come to. Labels are repeated, not judged."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import polars as pl

from ragtriage.relevance.frames import beside
from ragtriage.reviews.settle import ADJUDICATED, AGREED, DISPUTED
from ragtriage.schemas.inputs import Cases, dtypes

_COUNTS = (
    "n_claims",
    "n_supported_claims",
    "n_valid_claims",
    "n_required_claims",
    "n_stated_claims",
    "n_covered_claims",
)
_FLAGS = ("claims_conflict", "claims_judged")
_LISTS = ("unsupported_claims", "omitted_claims", "disputed_claims")


class Claims(NamedTuple):
    """Cases with their claims' terms, and a row for each claim."""

    cases: pl.DataFrame
    table: pl.DataFrame


def with_claim_terms(cases: pl.DataFrame, reviews: pl.DataFrame | None = None) -> Claims:
    """What the claims of each case come to.

    Args:
        cases: with their distinct lists.
        reviews: what was said of these cases, from `ReviewBook.take`.

    Added to the cases: `n_claims`, `n_supported_claims`, `n_valid_claims` (claims whose cited
    IDs are non-empty and all supplied), `n_required_claims` (distinct), `n_stated_claims`
    (required and proposed), `n_covered_claims` (and supported); `claims_labelled` and
    `required_labelled`: has every proposed (and required) claim its label? `unsupported_claims`,
    `omitted_claims` and `disputed_claims` by name, null where claims are not observed (what is
    omitted also where required claims are not);
    `n_intrinsic` and `n_extrinsic`, unsupported claims by what they rest on, null where some
    label does not say; `claims_label`: are all proposed claims supported and all required ones
    covered? Null where there are neither, or a label is missing or disputed. `claims_conflict`
    (a settled review against the inline label), `claims_judged`: on any claim.

    The table: `row`, `case_id`, `claim_id`, `proposed`, `required`, `supported`, `label_source`,
    `disputed`, `conflict`, `cited_ids`, `citation_valid`, `hallucination`, `text`; proposed
    claims in their order, then required ones not proposed.
    """
    if reviews is None and _no_claims(cases):
        return _without_claims(cases)
    return _with_claims(cases, reviews)


def _no_claims(cases: pl.DataFrame) -> bool:
    return all(cases[name].null_count() == cases.height for name in ("claims", "required_claims"))


def _without_claims(cases: pl.DataFrame) -> Claims:
    """Where no case has claims, all have the same terms: they are made for one."""
    terms, table = _of_no_claims()
    return Claims(cases.hstack([term.new_from_index(0, cases.height) for term in terms]), table)


@cache
def _of_no_claims() -> tuple[list[pl.Series], pl.DataFrame]:
    fields = dtypes(Cases)
    nothing = {name: fields[name] for name in ("case_id", "claims", "required_claims")}
    nothing |= dict.fromkeys(("distinct_context", "distinct_retrieved"), pl.List(pl.String))
    case = pl.DataFrame({name: [None] for name in nothing}, schema=nothing).with_row_index("row")
    claims = _with_claims(case, None)
    return claims.cases.drop(case.columns).get_columns(), claims.table


def _with_claims(cases: pl.DataFrame, reviews: pl.DataFrame | None) -> Claims:
    proposed = _labelled(_proposed(cases), reviews)
    required = _required(cases)
    joined = proposed.join(
        required.with_columns(required=pl.lit(True)),
        on=["row", "claim_id"],
        how="left",
        maintain_order="left",
    ).with_columns(pl.col("required").fill_null(False), proposed=pl.lit(True))
    omitted = required.join(proposed, on=["row", "claim_id"], how="anti", maintain_order="left")
    seen = pl.col("claims").is_not_null()
    known = {"omitted_claims": seen & pl.col("required_claims").is_not_null()}
    counted = beside(beside(beside(cases, _sums(joined)), _needed(required)), _names(omitted))
    filled = counted.with_columns(
        pl.col(_COUNTS).fill_null(0),
        pl.col(_FLAGS).fill_null(False),
        pl.col("claims_labelled", "required_labelled").fill_null(True),
        pl.col("n_intrinsic", "n_extrinsic").fill_null(
            pl.when(pl.col("n_claims").is_null()).then(0)
        ),
        *(
            pl.when(known.get(name, seen)).then(pl.col(name).fill_null([])).alias(name)
            for name in _LISTS
        ),
    )
    table = _table(cases, joined, omitted, _said(reviews))
    return Claims(filled.with_columns(claims_label=_label(seen)), table)


def _proposed(cases: pl.DataFrame) -> pl.DataFrame:
    """Claims as proposed, each with whether its citations hold and touch what was supplied."""
    supplied = pl.coalesce("distinct_context", "distinct_retrieved")
    claims = (
        cases.select("row", "case_id", "claims", supplied=supplied)
        .filter(pl.col("claims").list.len() > 0)
        .explode("claims")
        .select("row", "case_id", pl.col("claims").struct.unnest(), "supplied")
    )
    outside = pl.col("cited_ids").list.set_difference(pl.col("supplied")).list.len()
    inside = pl.col("cited_ids").list.set_intersection(pl.col("supplied")).list.len()
    valid = pl.when(pl.col("supplied").is_not_null()).then(
        (pl.col("cited_ids").list.len() > 0) & (outside == 0)
    )
    return claims.with_columns(citation_valid=valid, rests_on_supplied=inside > 0).drop("supplied")


def _labelled(proposed: pl.DataFrame, reviews: pl.DataFrame | None) -> pl.DataFrame:
    """The claims with the label in force: settled review, else inline, else the judge's."""
    told = proposed.join(
        _said(reviews), on=["case_id", "claim_id"], how="left", maintain_order="left"
    )
    settled = pl.col("state").is_in((AGREED, ADJUDICATED)).fill_null(False)
    disputed = (pl.col("state") == DISPUTED).fill_null(False)
    inline, judge = pl.col("supported"), pl.col("judge_label")
    source = (
        pl.when(settled)
        .then(pl.lit("review"))
        .when(disputed)
        .then(pl.lit(None, pl.String))
        .when(inline.is_not_null())
        .then(pl.lit("inline"))
        .when(judge.is_not_null())
        .then(pl.lit("judge"))
    )
    in_force = pl.when(settled).then("label").when(~disputed).then(pl.coalesce(inline, judge))
    return (
        told.with_columns(
            supported=in_force,
            label_source=source,
            disputed=disputed,
            conflict=(settled & (inline != pl.col("label"))).fill_null(False),
        )
        .with_columns(hallucination=_hallucination())
        .drop("state", "label", "judge_label", "rests_on_supplied")
    )


def _said(reviews: pl.DataFrame | None) -> pl.DataFrame:
    """What was said of claims: `case_id`, `claim_id`, `state`, `label`, `judge_label`."""
    names, labels = ("case_id", "claim_id", "state"), ("label", "judge_label")
    if reviews is None:
        return pl.DataFrame(
            schema={**dict.fromkeys(names, pl.String), **dict.fromkeys(labels, pl.Boolean)}
        )
    return reviews.filter(pl.col("target") == "claim").select(*names, *labels)


def _hallucination() -> pl.Expr:
    """What an unsupported claim rests on, where its citations say so."""
    return pl.when(~pl.col("supported")).then(
        pl.when("rests_on_supplied")
        .then(pl.lit("intrinsic"))
        .when(~pl.col("rests_on_supplied"))
        .then(pl.lit("extrinsic"))
    )


def _required(cases: pl.DataFrame) -> pl.DataFrame:
    """Distinct required claims: `row`, `claim_id`."""
    wanted = cases.select(
        "row", claim_id=pl.col("required_claims").list.unique(maintain_order=True)
    )
    return wanted.filter(pl.col("claim_id").list.len() > 0).explode("claim_id")


def _sums(claims: pl.DataFrame) -> pl.DataFrame:
    supported = pl.col("supported").fill_null(False)
    unsupported = ~pl.col("supported").fill_null(True)
    labelled = pl.col("supported").is_not_null()
    told = (labelled & (supported | pl.col("hallucination").is_not_null())).all()
    return claims.group_by("row", maintain_order=True).agg(
        n_claims=pl.len().cast(pl.Int64),
        n_supported_claims=supported.sum().cast(pl.Int64),
        n_valid_claims=pl.col("citation_valid").sum().cast(pl.Int64),
        n_stated_claims=pl.col("required").sum().cast(pl.Int64),
        n_covered_claims=(supported & pl.col("required")).sum().cast(pl.Int64),
        n_intrinsic=pl.when(told).then(_count_of("intrinsic")),
        n_extrinsic=pl.when(told).then(_count_of("extrinsic")),
        unsupported_claims=pl.col("claim_id").filter(unsupported),
        disputed_claims=pl.col("claim_id").filter(pl.col("disputed")),
        claims_labelled=labelled.all(),
        required_labelled=(labelled | ~pl.col("required")).all(),
        claims_conflict=pl.col("conflict").any(),
        claims_judged=(pl.col("label_source") == "judge").any(),
    )


def _count_of(hallucination: str) -> pl.Expr:
    return (pl.col("hallucination") == hallucination).sum().cast(pl.Int64)


def _needed(required: pl.DataFrame) -> pl.DataFrame:
    return required.group_by("row").agg(n_required_claims=pl.len().cast(pl.Int64))


def _names(omitted: pl.DataFrame) -> pl.DataFrame:
    return omitted.group_by("row", maintain_order=True).agg(omitted_claims="claim_id")


def _label(seen: pl.Expr) -> pl.Expr:
    some = (pl.col("n_claims") > 0) | (pl.col("n_required_claims") > 0)
    right = (pl.col("n_claims") == pl.col("n_supported_claims")) & (
        pl.col("n_required_claims") == pl.col("n_covered_claims")
    )
    return pl.when(seen & some & pl.col("claims_labelled")).then(right)


def _table(
    cases: pl.DataFrame, proposed: pl.DataFrame, omitted: pl.DataFrame, said: pl.DataFrame
) -> pl.DataFrame:
    observed = cases.filter(pl.col("claims").is_not_null()).select("row", "case_id")
    states = said.select("case_id", "claim_id", "state")
    left_out = (
        omitted.join(observed, on="row", maintain_order="left")
        .join(states, on=["case_id", "claim_id"], how="left", maintain_order="left")
        .with_columns(
            proposed=pl.lit(False),
            required=pl.lit(True),
            disputed=(pl.col("state") == DISPUTED).fill_null(False),
            conflict=pl.lit(False),
        )
        .drop("state")
    )
    rows = pl.concat([proposed, left_out], how="diagonal")
    return rows.sort("row", maintain_order=True)
