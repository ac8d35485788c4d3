"""The settled labels of a run: handed out chunk by chunk, and what no case asked for at the end.

Reviews are put aside by case, on disk where they are many, and settled when their case comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from ragtriage.errors import InputError, nearest
from ragtriage.read.ahead import ahead
from ragtriage.read.by_case import ByCase, Notices
from ragtriage.read.case_ids import CaseIds
from ragtriage.read.chunk import RowFault
from ragtriage.read.late import LATE, LateFaults
from ragtriage.read.reviews import ReviewsInput
from ragtriage.reviews.intake import broken_reviews, validator_of_reviews
from ragtriage.reviews.settle import DISPUTED, STATES, TARGETS, judged, settle
from ragtriage.schemas.inputs import dtypes
from ragtriage.schemas.reviews import ITEM, JUDGE, ReviewRows
from ragtriage.schemas.rules import message

# As many as a report can show.
MOST_DISPUTED = 500
_KEPT = (*ITEM, "reviewer", "kind", "label", "line", "record")
_PLACED = ["chunk", "record"]


class ReviewBook:
    """Reviews by case. `files` and `dropped` fields: of the files themselves.

    Of what was handed out: `met`, how many items by state; `disputed`, the first of those that
    people dispute. `n_left`: reviews that found no case or claim.
    """

    def __init__(
        self,
        given: ReviewsInput,
        ids: CaseIds,
        folder: Path | None,
        judge: str | None,
        *,
        ignore: bool,
    ) -> None:
        """`ignore`: reviews without a case or claim are left out and do not refuse the input."""
        self.files, self.dropped = given.files, given.dropped
        self._given = given
        self._judge = judge
        self._ignore = ignore
        types = dtypes(ReviewRows)
        schema = {name: types[name] for name in _KEPT} | {"chunk": pl.UInt32()}
        self._rows = ByCase(ids, folder, "reviews", schema)
        self._set_aside = Notices(ids, folder, "reviewed")
        self._late = LateFaults(given.chunks, folder, "review-faults")
        self._names: list[str] = []
        self._kinds: dict[bool, set[str]] = {True: set(), False: set()}
        self._next = 0
        self.n_left = 0
        self.met: Counter[str] = Counter()
        self.disputed: list[dict[str, Any]] = []

    def take_in(self) -> Iterator[tuple[list[tuple[str, int, int]], list[RowFault]]]:
        """Put all reviews aside; gives the lines of each chunk and what is wrong in it."""
        validator = validator_of_reviews()
        with closing(ahead(self._given.chunks())) as chunks:
            for number, chunk in enumerate(chunks):
                rows, faults = validator.check(chunk)
                self._names.append(chunk.counts[0][0])
                for kind, names in rows.select("kind", "reviewer").unique().iter_rows():
                    self._kinds[kind == JUDGE].add(names)
                self._rows.add(rows.with_columns(chunk=pl.lit(number, pl.UInt32)))
                yield chunk.counts, faults

    def check_judge(self, least: int) -> None:
        """Is the judge there, and held against enough of people's labels of claims?

        Raises:
            InputError: it is not.
        """
        name, judges = self._judge or "", sorted(self._kinds[True] - self._kinds[False])
        if name not in judges:
            there = f"judges there: {', '.join(judges[:10])}" if judges else "it has no judge"
            raise InputError(f"--judge {name}: not in the reviews{nearest(name, judges)}; {there}")
        common = sum(
            self._common(self._rows.look(start, stop))
            for start, stop in self._rows.pieces(0, self._rows.ids.end)
        )
        if common < least:
            raise InputError(
                f"--judge {name}: not validated: {common:,} of its claim labels meet a settled one "
                f"of people, {least:,} are needed; label more, or lower --min-validated"
            )

    def take(
        self, case_ids: pl.Series, cases: pl.DataFrame, faults: list[RowFault]
    ) -> pl.DataFrame:
        """What was said of these cases, settled; each chunk is asked for once, in order.

        Labels of claims that a case neither proposes nor requires are kept for `leftovers`.

        Args:
            case_ids: of all rows of the chunk, accepted or not.
            cases: the accepted ones.
            faults: the cases that were set aside: their reviews go with them.
        """
        self._set_aside.add(faults)
        places = self._rows.ids.places(case_ids)
        # A chunk of cases whose hashes earlier ones have moves on by one all the same.
        stop = max(self._next, int(places.max())) + 1 if places.size else self._next
        known = cases.select("case_id")
        parts = [self._settled(self._rows.look(0, 0))]
        for start, end in self._rows.pieces(self._next, stop):
            rows = self._met(start, end, known)
            parts.append(self._settled(self._of_known_claims(rows, cases)))
        self._next = stop
        found = pl.concat(parts)
        self._count(found)
        return found

    def leftovers(self) -> Iterator[list[RowFault]]:
        """Reviews that contradict each other or found no case or claim, in file order.

        To be asked for once, when every case was; those of one record come together.
        """
        nobody = pl.DataFrame(schema={"case_id": pl.String()})
        for start, end in self._rows.pieces(self._next, self._rows.ids.end):
            self._met(start, end, nobody)
        yield from self._late.told()

    def _of_known_claims(self, rows: pl.DataFrame, cases: pl.DataFrame) -> pl.DataFrame:
        """Without those of claims that their case neither proposes nor requires: they are told."""
        items = rows.filter(pl.col("claim_id").is_not_null()).select("case_id", "claim_id").unique()
        strays = items.join(_claims_of(cases), on=items.columns, how="anti")
        if strays.is_empty():
            return rows
        self._tell(
            rows.join(strays, on=items.columns, how="semi", maintain_order="left"),
            "claim_id",
            "unknown-claim",
            pl.format("'{}': {}", "claim_id", pl.lit(message("unknown-claim"))),
        )
        return rows.join(strays, on=items.columns, how="anti", maintain_order="left")

    def _met(self, start: int, end: int, known: pl.DataFrame) -> pl.DataFrame:
        """Reviews of known cases from a range of places; all others of it are told."""
        rows = self._sound(self._rows.take(start, end), tell=True)
        others = rows.join(known, on="case_id", how="anti", maintain_order="left")
        if others.is_empty():
            return rows
        gone = self._set_aside.among(start, end)
        for case_id in others["case_id"].unique():
            if where := self._rows.ids.repeated_at(case_id):
                gone[case_id] = where
        told = pl.DataFrame({"case_id": gone.keys(), "where": gone.values()}, schema=_WHERE)
        others = others.join(told, on="case_id", how="left", maintain_order="left")
        partners = others.filter(pl.col("where").is_not_null())
        text = pl.format("set aside with its case ({})", "where")
        self._tell(partners, "case_id", "unknown-case", text, refuses=False)
        strangers = others.filter(pl.col("where").is_null())
        if end < self._rows.ids.end:
            strangers = self._rows.give_back(strangers)
        text = pl.format("'{}': {}", "case_id", pl.lit(_NO_CASE))
        self._tell(strangers, "case_id", "unknown-case", text)
        return rows.join(known, on="case_id", how="semi", maintain_order="left")

    def _sound(self, rows: pl.DataFrame, *, tell: bool) -> pl.DataFrame:
        """The rows in file order, without those that contradict each other."""
        rows = rows.sort(_PLACED)
        names = pl.Series(self._names, dtype=pl.String)
        rows = rows.with_columns(names.gather(rows["chunk"]).alias("source_file"))
        broken = broken_reviews(rows, self._kinds[True] & self._kinds[False])
        if broken.is_empty():
            return rows
        if tell:
            self._late.add(broken.with_columns(refuses=pl.lit(True)).select(*LATE))
        return rows.join(broken, on=_PLACED, how="anti", maintain_order="left")

    def _settled(self, rows: pl.DataFrame) -> pl.DataFrame:
        """What is settled, with `judge_label`."""
        packed = settle(rows).drop("n_people")
        packed = packed.cast({"target": pl.Enum(TARGETS), "state": pl.Enum(STATES)})
        if self._judge is None:
            return packed.with_columns(judge_label=pl.lit(None, pl.Boolean))
        labels = judged(rows, self._judge)
        return packed.join(labels, on=ITEM, how="left", nulls_equal=True, maintain_order="left")

    def _tell(
        self, rows: pl.DataFrame, field: str, rule: str, text: pl.Expr, *, refuses: bool = True
    ) -> None:
        self.n_left += rows.height
        told = rows.with_columns(
            field=pl.lit(field),
            rule=pl.lit(rule),
            message=text.cast(pl.String),
            refuses=pl.lit(refuses and not self._ignore),
        )
        self._late.add(told.select(*LATE))

    def _common(self, rows: pl.DataFrame) -> int:
        return (
            self._settled(self._sound(rows, tell=False))
            .filter(
                (pl.col("target") == "claim")
                & pl.col("label").is_not_null()
                & pl.col("judge_label").is_not_null()
            )
            .height
        )

    def _count(self, found: pl.DataFrame) -> None:
        for state, n in found.group_by("state").len().iter_rows():
            self.met[state] += n
        disputed = found.filter(pl.col("state") == DISPUTED)
        shown = disputed.head(MOST_DISPUTED - len(self.disputed))
        self.disputed += shown.select(*ITEM, "target", "supporters", "opponents").to_dicts()


_WHERE = {"case_id": pl.String(), "where": pl.String()}
_NO_CASE = "no such case in the input; add the case, or pass --unknown-review ignore"


def _claims_of(cases: pl.DataFrame) -> pl.DataFrame:
    """Claims that the cases propose or require: `case_id`, `claim_id`."""
    proposed = pl.col("claims").list.eval(pl.element().struct.field("claim_id")).fill_null([])
    claims = pl.concat_list(proposed, pl.col("required_claims").fill_null([]))
    return cases.select("case_id", claim_id=claims).explode("claim_id").drop_nulls()
