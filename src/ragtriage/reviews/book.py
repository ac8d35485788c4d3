"""The settled labels of a run: handed out chunk by chunk, and what no case asked for at the end."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl

from ragtriage.errors import InputError, nearest
from ragtriage.read.chunk import RowFault
from ragtriage.read.reviews import ReviewsInput
from ragtriage.reviews.intake import faults_of, take_in
from ragtriage.reviews.settle import DISPUTED, judged, settle
from ragtriage.schemas.reviews import ITEM, JUDGE
from ragtriage.schemas.rules import message

# As many as a report can show.
MOST_DISPUTED = 500
_PLACE = ("source_file", "line", "record")


class ReviewBook:
    """Reviews by case. `faults`, `counts` and `dropped` fields: of the files themselves.

    Of what was handed out: `met`, how many items by state; `disputed`, the first of those that
    people dispute.
    """

    def __init__(self, given: ReviewsInput, judge: str | None) -> None:
        intake = take_in(given)
        self.files, self.dropped = given.files, given.dropped
        self.faults, self.counts = intake.faults, intake.counts
        self._rows = intake.rows
        self._given = given
        self._judge = judge
        self._set_aside: dict[str, str] = {}
        labels = judged(intake.rows, judge or "")
        self._left = settle(intake.rows).join(
            labels, on=ITEM, how="left", nulls_equal=True, maintain_order="left"
        )
        self._unknown_claims: list[pl.DataFrame] = []
        self.met: Counter[str] = Counter()
        self.disputed: list[dict[str, Any]] = []

    def check_judge(self, least: int) -> None:
        """Is the judge there, and held against enough of people's labels of claims?

        Raises:
            InputError: it is not.
        """
        name = self._judge or ""
        judges = self._rows.filter(pl.col("kind") == JUDGE)["reviewer"].unique().sort().to_list()
        if name not in judges:
            there = f"judges there: {', '.join(judges[:10])}" if judges else "it has no judge"
            raise InputError(f"--judge {name}: not in the reviews{nearest(name, judges)}; {there}")
        common = self._left.filter(
            (pl.col("target") == "claim")
            & pl.col("label").is_not_null()
            & pl.col("judge_label").is_not_null()
        ).height
        if common < least:
            raise InputError(
                f"--judge {name}: not validated: {common:,} of its claim labels meet a settled one "
                f"of people, {least:,} are needed; label more, or lower --min-validated"
            )

    def take(self, cases: pl.DataFrame) -> pl.DataFrame:
        """What was said of these cases; each case is asked for once.

        Labels of claims that a case neither proposes nor requires are kept for `leftovers`.
        """
        known = cases.select("case_id")
        found = self._left.join(known, on="case_id", how="semi", maintain_order="left")
        if found.is_empty():
            return found
        self._left = self._left.join(known, on="case_id", how="anti", maintain_order="left")
        claims = found.filter(pl.col("claim_id").is_not_null())
        strays = claims.join(_claims_of(cases), on=("case_id", "claim_id"), how="anti")
        if not strays.is_empty():
            self._unknown_claims.append(strays.select(ITEM))
            found = found.join(
                strays.select(ITEM), on=ITEM, how="anti", nulls_equal=True, maintain_order="left"
            )
        self._count(found)
        return found

    def _count(self, found: pl.DataFrame) -> None:
        for state, n in found.group_by("state").len().iter_rows():
            self.met[state] += n
        disputed = found.filter(pl.col("state") == DISPUTED)
        shown = disputed.head(MOST_DISPUTED - len(self.disputed))
        self.disputed += shown.select(*ITEM, "target", "supporters", "opponents").to_dicts()

    def note(self, faults: list[RowFault]) -> None:
        """Cases that were set aside: their reviews go with them."""
        self._set_aside |= {f.case_id: f"{f.source_file}:{f.line}" for f in faults if f.case_id}

    def leftovers(self, *, ignore: bool) -> list[RowFault]:
        """Reviews that found no case or no claim, once every case was asked for.

        `ignore`: leave them out, listed, instead of refusing the input.
        """
        set_aside = self._set_aside
        left = self._left.select("case_id").unique()
        partners = left.filter(pl.col("case_id").is_in(list(set_aside)))
        strangers = left.join(partners, on="case_id", how="anti")
        gone = self._broken(partners, ["case_id"], "case_id", "unknown-case", "")
        gone = gone.with_columns(
            text=pl.format(
                "set aside with its case ({})",
                pl.col("case_id").replace_strict(
                    {name: set_aside[name] for name in partners["case_id"]},
                    return_dtype=pl.String,
                ),
            )
        )
        unknown = [self._broken(strangers, ["case_id"], "case_id", "unknown-case", _NO_CASE)]
        if self._unknown_claims:
            claims = pl.concat(self._unknown_claims)
            text = message("unknown-claim")
            unknown.append(self._broken(claims, [*ITEM], "claim_id", "unknown-claim", text))
        return [
            *faults_of(gone, self._given, refuses=False),
            *faults_of(pl.concat(unknown), self._given, refuses=not ignore),
        ]

    def _broken(
        self, items: pl.DataFrame, on: list[str], field: str, rule: str, text: str
    ) -> pl.DataFrame:
        rows = self._rows.join(
            items.select(on), on=on, how="semi", nulls_equal=True, maintain_order="left"
        )
        told = pl.format("'{}': {}", pl.col(field), pl.lit(text))
        return rows.select(
            *_PLACE, "case_id", field=pl.lit(field), rule=pl.lit(rule), text=told.cast(pl.String)
        )


_NO_CASE = "no such case in the input; add the case, or pass --unknown-review ignore"


def _claims_of(cases: pl.DataFrame) -> pl.DataFrame:
    """Claims that the cases propose or require: `case_id`, `claim_id`."""
    proposed = pl.col("claims").list.eval(pl.element().struct.field("claim_id")).fill_null([])
    claims = pl.concat_list(proposed, pl.col("required_claims").fill_null([]))
    return cases.select("case_id", claim_id=claims).explode("claim_id").drop_nulls()
