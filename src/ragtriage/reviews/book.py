"""The settled labels of a run: handed out chunk by chunk, and what no case asked for at the end."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl

from ragtriage.errors import InputError, nearest
from ragtriage.read.chunk import RowFault
from ragtriage.read.reviews import PLACE, ReviewsInput
from ragtriage.reviews.intake import faults_of, take_in
from ragtriage.reviews.settle import DISPUTED, STATES, TARGETS, judged, settle
from ragtriage.schemas.reviews import ITEM, JUDGE
from ragtriage.schemas.rules import message

# As many as a report can show.
MOST_DISPUTED = 500


class ReviewBook:
    """Reviews by case. `faults`, `counts` and `dropped` fields: of the files themselves.

    Of what was handed out: `met`, how many items by state; `disputed`, the first of those that
    people dispute.
    """

    def __init__(self, given: ReviewsInput, judge: str | None) -> None:
        intake = take_in(given)
        self.files, self.dropped = given.files, given.dropped
        self.faults, self.counts = intake.faults, intake.counts
        self._given = given
        self._judge = judge
        judges = intake.rows.filter(pl.col("kind") == JUDGE)["reviewer"]
        self._judges = judges.unique().sort().to_list()
        self._settled = _with_judge(settle(intake.rows), intake.rows, judge).with_row_index("place")
        self._taken: list[pl.Series] = []
        self._set_aside: dict[str, str] = {}
        self._unknown_claims: list[pl.DataFrame] = []
        self.met: Counter[str] = Counter()
        self.disputed: list[dict[str, Any]] = []

    def check_judge(self, least: int) -> None:
        """Is the judge there, and held against enough of people's labels of claims?

        Raises:
            InputError: it is not.
        """
        name, judges = self._judge or "", self._judges
        if name not in judges:
            there = f"judges there: {', '.join(judges[:10])}" if judges else "it has no judge"
            raise InputError(f"--judge {name}: not in the reviews{nearest(name, judges)}; {there}")
        common = self._settled.filter(
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
        found = self._settled.join(known, on="case_id", how="semi", maintain_order="left")
        if found.is_empty():
            return found
        self._taken.append(found["place"])
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
        left = self._untaken()
        gone = left.filter(pl.col("case_id").is_in(list(self._set_aside)))
        told = {
            name: f"set aside with its case ({self._set_aside[name]})" for name in gone["case_id"]
        }
        text = pl.col("case_id").replace_strict(told, return_dtype=pl.String)
        partners = self._broken(gone, ["case_id"], "case_id", "unknown-case", text)
        strangers = left.join(gone, on="case_id", how="anti")
        text = pl.format("'{}': {}", "case_id", pl.lit(_NO_CASE))
        unknown = [self._broken(strangers, ["case_id"], "case_id", "unknown-case", text)]
        if self._unknown_claims:
            text = pl.format("'{}': {}", "claim_id", pl.lit(message("unknown-claim")))
            claims = pl.concat(self._unknown_claims)
            unknown.append(self._broken(claims, [*ITEM], "claim_id", "unknown-claim", text))
        return [
            *faults_of(partners, self._given, refuses=False),
            *faults_of(pl.concat(unknown), self._given, refuses=not ignore),
        ]

    def _untaken(self) -> pl.DataFrame:
        """Cases that were reviewed and never asked for."""
        taken = pl.DataFrame({"place": pl.concat([*self._taken, _NO_PLACES])})
        left = self._settled.select("place", "case_id").join(taken, on="place", how="anti")
        return left.select("case_id").unique()

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


_NO_PLACES = pl.Series(dtype=pl.UInt32)
_NO_CASE = "no such case in the input; add the case, or pass --unknown-review ignore"


def _with_judge(settled: pl.DataFrame, rows: pl.DataFrame, judge: str | None) -> pl.DataFrame:
    """What is settled, with `judge_label`; packed, since it is kept for the whole run."""
    packed = settled.drop("n_people").cast({"target": pl.Enum(TARGETS), "state": pl.Enum(STATES)})
    if judge is None:
        return packed.with_columns(judge_label=pl.lit(None, pl.Boolean))
    labels = judged(rows, judge)
    return packed.join(labels, on=ITEM, how="left", nulls_equal=True, maintain_order="left")


def _claims_of(cases: pl.DataFrame) -> pl.DataFrame:
    """Claims that the cases propose or require: `case_id`, `claim_id`."""
    proposed = pl.col("claims").list.eval(pl.element().struct.field("claim_id")).fill_null([])
    claims = pl.concat_list(proposed, pl.col("required_claims").fill_null([]))
    return cases.select("case_id", claim_id=claims).explode("claim_id").drop_nulls()
