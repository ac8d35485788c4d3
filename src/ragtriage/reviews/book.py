"""The reviews of a run: their settled labels, and at the end what no case asked for."""

from __future__ import annotations

import polars as pl

from ragtriage.errors import InputError, nearest
from ragtriage.read.chunk import RowFault
from ragtriage.read.reviews import PLACE, ReviewsInput
from ragtriage.reviews.handout import HandOut
from ragtriage.reviews.intake import faults_of, take_in
from ragtriage.reviews.settle import STATES, TARGETS, judged, settle
from ragtriage.schemas.reviews import ITEM, JUDGE
from ragtriage.schemas.rules import message


class ReviewBook:
    """Reviews by case. `faults`, `counts` and `dropped` fields: of the files themselves.

    `settled`: what people said, an item a row. `labels`: hands it out to cases.
    """

    def __init__(self, given: ReviewsInput, judge: str | None) -> None:
        intake = take_in(given)
        self.files, self.dropped = given.files, given.dropped
        self.faults, self.counts = intake.faults, intake.counts
        self._given = given
        self._judge = judge
        judges = intake.rows.filter(pl.col("kind") == JUDGE)["reviewer"]
        self._judges = judges.unique().sort().to_list()
        self.settled = _with_judge(settle(intake.rows), intake.rows, judge).with_row_index("place")
        self.labels = HandOut(self.settled)

    def check_judge(self, least: int) -> None:
        """Is the judge there, and held against enough of people's labels of claims?

        Raises:
            InputError: it is not.
        """
        name, judges = self._judge or "", self._judges
        if name not in judges:
            there = f"judges there: {', '.join(judges[:10])}" if judges else "it has no judge"
            raise InputError(f"--judge {name}: not in the reviews{nearest(name, judges)}; {there}")
        common = self.settled.filter(
            (pl.col("target") == "claim")
            & pl.col("label").is_not_null()
            & pl.col("judge_label").is_not_null()
        ).height
        if common < least:
            raise InputError(
                f"--judge {name}: not validated: {common:,} of its claim labels meet a settled one "
                f"of people, {least:,} are needed; label more, or lower --min-validated"
            )

    def leftovers(self, *, ignore: bool) -> list[RowFault]:
        """Reviews that found no case or no claim, once every case was asked for.

        `ignore`: leave them out, listed, instead of refusing the input.
        """
        left, set_aside = self.labels.untaken(), self.labels.set_aside
        gone = left.filter(pl.col("case_id").is_in(list(set_aside)))
        told = {name: f"set aside with its case ({set_aside[name]})" for name in gone["case_id"]}
        text = pl.col("case_id").replace_strict(told, return_dtype=pl.String)
        partners = self._broken(gone, ["case_id"], "case_id", "unknown-case", text)
        strangers = left.join(gone, on="case_id", how="anti")
        text = pl.format("'{}': {}", "case_id", pl.lit(_NO_CASE))
        unknown = [self._broken(strangers, ["case_id"], "case_id", "unknown-case", text)]
        if self.labels.unknown_claims:
            text = pl.format("'{}': {}", "claim_id", pl.lit(message("unknown-claim")))
            claims = pl.concat(self.labels.unknown_claims)
            unknown.append(self._broken(claims, [*ITEM], "claim_id", "unknown-claim", text))
        return [
            *faults_of(partners, self._given, refuses=False),
            *faults_of(pl.concat(unknown), self._given, refuses=not ignore),
        ]

    def _broken(
        self, items: pl.DataFrame, on: list[str], field: str, rule: str, text: pl.Expr
    ) -> pl.DataFrame:
        """The reviews of these items, looked for again in the files, but those refused before."""
        refused = {(fault.source_file, fault.line, fault.record) for fault in self.faults}
        rows = self._given.located(items.select(on))
        if refused:
            before = pl.DataFrame(list(refused), schema=dict.fromkeys(PLACE), orient="row")
            rows = rows.join(before, on=PLACE, how="anti", maintain_order="left")
        return rows.select(
            *PLACE, "case_id", field=pl.lit(field), rule=pl.lit(rule), text=text.cast(pl.String)
        )


_NO_CASE = "no such case in the input; add the case, or pass --unknown-review ignore"


def _with_judge(settled: pl.DataFrame, rows: pl.DataFrame, judge: str | None) -> pl.DataFrame:
    """What is settled, with `judge_label`; packed, since it is kept for the whole run."""
    packed = settled.drop("n_people").cast({"target": pl.Enum(TARGETS), "state": pl.Enum(STATES)})
    if judge is None:
        return packed.with_columns(judge_label=pl.lit(None, pl.Boolean))
    labels = judged(rows, judge)
    return packed.join(labels, on=ITEM, how="left", nulls_equal=True, maintain_order="left")
