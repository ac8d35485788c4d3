"""Reviewed claims: what their labels and citations come to. Labels are repeated, not judged."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from ragtriage.relevance.frames import beside

_COUNTS = (
    "n_claims",
    "n_supported_claims",
    "n_valid_claims",
    "n_required_claims",
    "n_covered_claims",
)


class Claims(NamedTuple):
    """Cases with their claims' terms, and a row for each claim."""

    cases: pl.DataFrame
    table: pl.DataFrame


def with_claim_terms(cases: pl.DataFrame) -> Claims:
    """What the claims of each case come to.

    Added to the cases: `n_claims`, `n_supported_claims`, `n_valid_claims` (claims whose cited
    IDs are non-empty and all supplied), `n_required_claims` (distinct), `n_covered_claims`
    (required, proposed and supported); `unsupported_claims` and `omitted_claims` by name, null
    where claims are not observed; `claims_label`: are all proposed claims supported and all
    required ones covered? Null where there are neither, or claims are not observed.

    The table: `row`, `case_id`, `claim_id`, `proposed`, `required`, `supported`, `cited_ids`,
    `citation_valid`, `text`; proposed claims in their order, then required ones not proposed.
    """
    proposed = _proposed(cases)
    required = _required(cases)
    joined = proposed.join(
        required.with_columns(required=pl.lit(True)),
        on=["row", "claim_id"],
        how="left",
        maintain_order="left",
    ).with_columns(pl.col("required").fill_null(False), proposed=pl.lit(True))
    omitted = required.join(proposed, on=["row", "claim_id"], how="anti", maintain_order="left")
    table = _table(cases, joined, omitted)
    seen = pl.col("claims").is_not_null()
    counted = beside(beside(beside(cases, _sums(joined)), _needed(required)), _names(omitted))
    return Claims(
        counted.with_columns(pl.col(_COUNTS).fill_null(0)).with_columns(
            unsupported_claims=pl.when(seen).then(pl.col("unsupported_claims").fill_null([])),
            omitted_claims=pl.when(seen).then(pl.col("omitted_claims").fill_null([])),
            claims_label=_label(seen),
        ),
        table,
    )


def _proposed(cases: pl.DataFrame) -> pl.DataFrame:
    """Claims as proposed, each with whether its citations hold."""
    supplied = pl.coalesce("distinct_context", "distinct_retrieved")
    claims = (
        cases.select("row", "claims", supplied=supplied)
        .filter(pl.col("claims").list.len() > 0)
        .explode("claims")
        .select("row", pl.col("claims").struct.unnest(), "supplied")
    )
    outside = pl.col("cited_ids").list.set_difference(pl.col("supplied")).list.len()
    cites = pl.col("cited_ids").list.len().fill_null(0) > 0
    valid = pl.when(pl.col("supplied").is_not_null()).then(cites & (outside == 0).fill_null(False))
    return claims.with_columns(citation_valid=valid).drop("supplied")


def _required(cases: pl.DataFrame) -> pl.DataFrame:
    """Distinct required claims: `row`, `claim_id`."""
    wanted = cases.select(
        "row", claim_id=pl.col("required_claims").list.unique(maintain_order=True)
    )
    return wanted.filter(pl.col("claim_id").list.len() > 0).explode("claim_id")


def _sums(claims: pl.DataFrame) -> pl.DataFrame:
    supported = pl.col("supported").fill_null(False)
    return claims.group_by("row", maintain_order=True).agg(
        n_claims=pl.len().cast(pl.Int64),
        n_supported_claims=supported.sum().cast(pl.Int64),
        n_valid_claims=pl.col("citation_valid").sum().cast(pl.Int64),
        n_covered_claims=(supported & pl.col("required")).sum().cast(pl.Int64),
        unsupported_claims=pl.col("claim_id").filter(~supported),
        all_labelled=pl.col("supported").is_not_null().all(),
    )


def _needed(required: pl.DataFrame) -> pl.DataFrame:
    return required.group_by("row").agg(n_required_claims=pl.len().cast(pl.Int64))


def _names(omitted: pl.DataFrame) -> pl.DataFrame:
    return omitted.group_by("row", maintain_order=True).agg(omitted_claims="claim_id")


def _label(seen: pl.Expr) -> pl.Expr:
    some = (pl.col("n_claims") > 0) | (pl.col("n_required_claims") > 0)
    right = (pl.col("n_claims") == pl.col("n_supported_claims")) & (
        pl.col("n_required_claims") == pl.col("n_covered_claims")
    )
    return pl.when(seen & some & pl.col("all_labelled").fill_null(True)).then(right)


def _table(cases: pl.DataFrame, proposed: pl.DataFrame, omitted: pl.DataFrame) -> pl.DataFrame:
    observed = cases.filter(pl.col("claims").is_not_null()).select("row")
    left_out = omitted.join(observed, on="row", how="semi", maintain_order="left").with_columns(
        proposed=pl.lit(False), required=pl.lit(True)
    )
    rows = pl.concat([proposed, left_out], how="diagonal").sort("row", maintain_order=True)
    names = cases.select("row", "case_id")
    return rows.join(names, on="row", how="left", maintain_order="left")
