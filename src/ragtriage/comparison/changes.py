"""Cases that changed: what kind of change, both values, and what moved; regressions first."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from ragtriage.comparison.deltas import Scores
from ragtriage.comparison.ledger import moves
from ragtriage.comparison.pairing import Pairs
from ragtriage.metrics.registry import Column
from ragtriage.read.runs import StoredRun
from ragtriage.schemas.comparison import ChangedCases
from ragtriage.schemas.inputs import dtypes
from ragtriage.stages import PASS

# In the order in which a reader wants them.
KINDS = ("regressed", "stage", "worse", "changed", "better", "fixed", "base-only", "candidate-only")
_STAGE = ("stage", "break_point")
_FIXED = {name: dtype for name, dtype in dtypes(ChangedCases).items() if name != "run_id"}


@dataclass
class Changes:
    """Which pairs changed, gathered metric by metric; then the table of them."""

    base: StoredRun
    candidate: StoredRun
    pairs: Pairs
    stages: pl.DataFrame = field(init=False)
    _changed: pl.Series = field(init=False)
    _worse: pl.Series = field(init=False)
    _better: pl.Series = field(init=False)

    def __post_init__(self) -> None:
        """Stages and break points first: they are few and small."""
        columns: dict[str, pl.Series] = {}
        for name in _STAGE:
            one, other = self.pairs.both(self.base, self.candidate, name)
            columns |= {f"base_{name}": one, f"candidate_{name}": other}
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

    def add(self, found: Scores) -> None:
        """Take in one metric."""
        self._changed |= found.raw_changed
        self._worse |= found.worse() | found.lost()
        self._better |= found.better()

    def counts(self) -> dict[str, int]:
        """Cases of each kind, kinds without a case included."""
        kinds = self._kinds().filter(self._changed).value_counts()
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

    def table(self, columns: list[Column]) -> pl.DataFrame:
        """A row per changed case, then per case of one run only; both values of every metric."""
        rows = self._ordered()
        ids = self.pairs.ids.gather(rows["row"])
        frame = self.stages[rows["row"]].with_columns(case_id=ids, change=rows["change"])
        metrics = self._metrics(rows["row"], columns)
        frame = frame.hstack(metrics).hstack(_verdicts(metrics, columns))
        moved = moves(self.base, self.candidate, ids)
        frame = frame.join(moved, on="case_id", how="left", maintain_order="left")
        frame = pl.concat([frame, *self._one_sided(columns)], how="diagonal")
        nothing = pl.lit([], dtype=pl.List(pl.String))
        return frame.with_columns(pl.col("moved").fill_null(nothing)).select(
            *(pl.col(name).cast(dtype) for name, dtype in _FIXED.items()),
            *both_values(columns),
        )

    def details(self, ids: pl.Series) -> pl.DataFrame:
        """What a reader wants beside some cases: question, both answers, both errors."""
        wanted = pl.LazyFrame({"case_id": ids})
        frame = wanted.collect()
        for side, run in (("base", self.base), ("candidate", self.candidate)):
            names = {name: f"{side}_{name}" for name in ("question", "answer", "error")}
            rows = run.cases.select("case_id", *names).join(wanted, on="case_id", how="semi")
            read = run.read(rows).rename(names)
            frame = frame.join(read, on="case_id", how="left", maintain_order="left")
        question = pl.coalesce("base_question", "candidate_question").alias("question")
        return frame.select("case_id", question, pl.selectors.matches("_(answer|error)$"))

    def _kinds(self) -> pl.Series:
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

    def _ordered(self) -> pl.DataFrame:
        """Rows of the pairs that changed, by kind and then by case ID: whatever order runs have."""
        frame = pl.DataFrame(
            [
                self._changed.alias("changed"),
                self._kinds(),
                self.pairs.ids.alias("case_id"),
            ]
        ).with_row_index("row")
        place = pl.col("change").replace_strict(
            {kind: place for place, kind in enumerate(KINDS)}, return_dtype=pl.Int8
        )
        return frame.filter("changed").sort(place, "case_id").select("row", "change")

    def _metrics(self, rows: pl.Series, columns: list[Column]) -> pl.DataFrame:
        found = []
        for column in columns:
            one, other = self.pairs.both(self.base, self.candidate, column.name)
            found += [
                one.gather(rows).alias(f"{column.name}_base"),
                other.gather(rows).alias(f"{column.name}_candidate"),
            ]
        return pl.DataFrame(found)

    def _one_sided(self, columns: list[Column]) -> list[pl.DataFrame]:
        sides = (
            ("base", self.base, self.pairs.base_only),
            ("candidate", self.candidate, self.pairs.candidate_only),
        )
        return [_alone(side, run, ids, columns) for side, run, ids in sides if len(ids)]


def both_values(columns: list[Column]) -> list[str]:
    """Names of the metric columns of the case table, in order."""
    return [f"{column.name}_{side}" for column in columns for side in ("base", "candidate")]


def _alone(side: str, run: StoredRun, ids: pl.Series, columns: list[Column]) -> pl.DataFrame:
    """Cases of one run only, with that run's values."""
    names = {name: f"{side}_{name}" for name in _STAGE}
    names |= {c.name: f"{c.name}_{side}" for c in columns if c.name in run.columns}
    wanted = pl.LazyFrame({"case_id": ids})
    rows = run.cases.select("case_id", *names).join(wanted, on="case_id", how="semi")
    alone = run.read(rows).rename(names).sort("case_id")
    return alone.with_columns(change=pl.lit(f"{side}-only"))


def _verdicts(frame: pl.DataFrame, columns: list[Column]) -> pl.DataFrame:
    """Lists of the metrics that got better, got worse, or are no longer scored, row by row."""
    masks: dict[str, dict[str, pl.Series]] = {"better": {}, "worse": {}, "lost": {}}
    for column in columns:
        one, other = (frame[f"{column.name}_{side}"] for side in ("base", "candidate"))
        masks["lost"][column.name] = one.is_not_null() & other.is_null()
        if column.metric.better != "neither":
            up, down = other > one, other < one
            higher = column.metric.better == "higher"
            masks["better"][column.name] = up if higher else down
            masks["worse"][column.name] = down if higher else up
    found = [
        _listed(holds, frame.height).alias(f"metrics_{verdict}") for verdict, holds in masks.items()
    ]
    return pl.DataFrame(found)


def _listed(masks: dict[str, pl.Series], height: int) -> pl.Series:
    """For each row the names whose mask holds. Long form: a list of a row is rarely long."""
    names = pl.Enum(list(masks))
    long = []
    for name, mask in masks.items():
        rows_held = mask.arg_true()
        if len(rows_held):
            held = pl.DataFrame({"row": rows_held})
            long.append(held.with_columns(name=pl.lit(name, dtype=names)))
    if not long:
        return pl.Series("name", [[]] * height, dtype=pl.List(pl.String))
    rows = pl.DataFrame({"row": pl.arange(0, height, dtype=pl.UInt32, eager=True)})
    nothing = pl.lit([], dtype=pl.List(pl.String))
    # Within a group rows keep their order, which is that of the columns.
    lists = pl.concat(long).group_by("row").agg("name")
    joined = rows.join(lists, on="row", how="left", maintain_order="left")
    return joined["name"].cast(pl.List(pl.String)).fill_null(nothing)
