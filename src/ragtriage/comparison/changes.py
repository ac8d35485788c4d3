"""Cases that changed, and what kind of change it is; regressions first."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from ragtriage.comparison.deltas import Scores, Values
from ragtriage.comparison.pairing import Pairs
from ragtriage.errors import InputError
from ragtriage.read.runs import StoredRun
from ragtriage.stages import PASS

# In the order in which a reader wants them.
KINDS = ("regressed", "stage", "worse", "changed", "better", "fixed", "base-only", "candidate-only")
STAGE_FIELDS = ("stage", "break_point")


@dataclass
class Changes:
    """Which pairs changed, gathered metric by metric; `values`: of each metric, by its column."""

    base: StoredRun
    candidate: StoredRun
    pairs: Pairs
    values: dict[str, Values] = field(default_factory=dict)
    stages: pl.DataFrame = field(init=False)
    _changed: pl.Series = field(init=False)
    _worse: pl.Series = field(init=False)
    _better: pl.Series = field(init=False)

    def __post_init__(self) -> None:
        """Stages and break points first: they are few and small."""
        columns: dict[str, pl.Series] = {}
        for name in STAGE_FIELDS:
            one, other = self.pairs.both(self.base, self.candidate, name)
            columns |= {f"base_{name}": one, f"candidate_{name}": other}
        for side, run in (("base", self.base), ("candidate", self.candidate)):
            if columns[f"{side}_stage"].null_count():
                raise InputError(
                    f"run {run.run_id}: cases/ has rows without stage: not a run of ours; "
                    "evaluate again"
                )
        self.stages = pl.DataFrame(columns)
        none = pl.repeat(False, len(self.pairs.ids), dtype=pl.Boolean, eager=True)
        self._worse = self._better = none
        self._changed = self.stages.select(
            pl.col("base_stage").ne_missing(pl.col("candidate_stage"))
            | pl.col("base_break_point").ne_missing(pl.col("candidate_break_point"))
        ).to_series()

    @property
    def regressed(self) -> pl.Series:
        """Which pairs went from pass to anything else."""
        return (self.stages["base_stage"] == PASS) & (self.stages["candidate_stage"] != PASS)

    @property
    def n_regressed(self) -> int:
        """How many did."""
        return int(self.regressed.sum())

    def add(self, found: Scores, excused: pl.Series) -> None:
        """Take in one metric; `excused`: pairs on which it is no loss that its score is gone."""
        self.values[found.column.name] = Values.of(found)
        self._changed |= found.raw_changed
        self._worse |= found.worse_at_all() | (found.lost() & ~excused)
        self._better |= found.better_at_all()

    def counts(self) -> dict[str, int]:
        """Cases of each kind, kinds without a case included."""
        kinds = self._kinds.filter(self._changed).value_counts()
        found = dict(kinds.iter_rows())
        found |= {"base-only": len(self.pairs.base_only)}
        found |= {"candidate-only": len(self.pairs.candidate_only)}
        return {kind: int(found.get(kind, 0)) for kind in KINDS}

    def transitions(self, codes: pl.Series) -> pl.DataFrame:
        """Pairs by cell and stage on both sides: `cell`, `base_stage`, `candidate_stage`, `n`."""
        frame = self.stages.select("base_stage", "candidate_stage").with_columns(cell=codes)
        return frame.group_by("cell", "base_stage", "candidate_stage").agg(
            n=pl.len().cast(pl.Int64)
        )

    def details(self, ids: pl.Series) -> pl.DataFrame:
        """What a reader wants beside some cases: question, both answers, both errors."""
        wanted = pl.LazyFrame({"case_id": ids})
        frame = wanted.collect()
        for side, run in (("base", self.base), ("candidate", self.candidate)):
            names = {name: f"{side}_{name}" for name in ("question", "answer", "error")}
            rows = run.cases.select("case_id", *names).join(wanted, on="case_id", how="semi")
            read = run.few(rows).rename(names)
            frame = frame.join(read, on="case_id", how="left", maintain_order="left")
        question = pl.coalesce("base_question", "candidate_question").alias("question")
        return frame.select("case_id", question, pl.selectors.matches("_(answer|error)$"))

    @cached_property
    def _kinds(self) -> pl.Series:
        """Of every pair, once all metrics are in."""
        passed, passes = (self.stages[f"{side}_stage"] == PASS for side in ("base", "candidate"))
        moved = self.stages["base_stage"].ne_missing(self.stages["candidate_stage"])
        moved |= self.stages["base_break_point"].ne_missing(self.stages["candidate_break_point"])
        frame = pl.DataFrame(
            [
                (passed & ~passes).alias("regressed"),
                (~passed & passes).alias("fixed"),
                moved.alias("stage"),
                self._worse.alias("worse"),
                self._better.alias("better"),
            ]
        )
        kind = pl.when("regressed").then(pl.lit("regressed")).when("fixed").then(pl.lit("fixed"))
        for name in ("stage", "worse", "better"):
            kind = kind.when(name).then(pl.lit(name))
        return frame.select(kind.otherwise(pl.lit("changed")).alias("change")).to_series()

    def ordered(self) -> pl.DataFrame:
        """Rows of the pairs that changed, by kind and then by case ID: whatever order runs have."""
        frame = pl.DataFrame(
            [
                self._changed.alias("changed"),
                self._kinds,
                self.pairs.ids.alias("case_id"),
            ]
        ).with_row_index("row")
        place = pl.col("change").replace_strict(
            {kind: place for place, kind in enumerate(KINDS)}, return_dtype=pl.Int8
        )
        return frame.filter("changed").sort(place, "case_id").select("row", "change")
