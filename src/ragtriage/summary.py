"""Sums over cases that merge, and the means they come to, each with its denominators.

Values are summed as fixed-point numbers, so that neither the order of chunks nor the number of
threads can move a digit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import Any

import pandera.polars as pa
import polars as pl

from ragtriage.compact import compact
from ragtriage.fixed_point import unfixed
from ragtriage.metrics.registry import Column
from ragtriage.schemas import results
from ragtriage.schemas.inputs import dtypes
from ragtriage.stages import NOT_RUN
from ragtriage.sums import merged, summed, sums_of_alike

# Rows that are gathered before they are added up.
_GATHERED = 20_000
# Values of one slice that are kept apart; the rest are summed under `…`.
MOST_VALUES = 1000
THE_REST = "…"
STANDARD_SLICES = ("split", "tag", "answerable")
_KEYS = ("slice", "slice_value")
_SUM_KEYS = (*_KEYS, "unit")
_STAGE_KEYS = (*_KEYS, "stage", "break_point")
Values = dict[str, list[str]]


@dataclass
class Summary:
    """Running sums of a run: add chunks in input order, then read the tables."""

    columns: list[Column]
    extra_slices: tuple[str, ...] = ()
    weighted: bool = False
    _sums: pl.DataFrame | None = None
    _stages: pl.DataFrame | None = None
    _values: dict[str, dict[str, None]] = field(default_factory=dict)
    _overflowed: set[str] = field(default_factory=set)
    _gathered: list[pl.DataFrame] = field(default_factory=list)

    def add(self, cases: pl.DataFrame) -> None:
        """Take in a chunk of cases with their metrics and stages."""
        sums = sums_of_alike(cases, self.columns, self._slice_columns(), weighted=self.weighted)
        self._gathered.append(compact(sums))
        if sum(frame.height for frame in self._gathered) > _GATHERED:
            self.settle()

    def settle(self) -> None:
        """Add up by slice what was gathered: chunks are many, and kinds of cases few."""
        if not self._gathered:
            return
        alike = ["stage", "break_point", "unit", *(f"by {name}" for name in self._names()[1:])]
        kinds = summed(pl.concat(self._gathered), alike)
        self._gathered = []
        keyed = [summed(self._keyed(kinds, name), [*_STAGE_KEYS, "unit"]) for name in self._names()]
        rows = pl.concat(keyed)
        stages = summed(rows.select(*_STAGE_KEYS, n="n_cases"), _STAGE_KEYS)
        self._stages = merged(self._stages, stages, _STAGE_KEYS)
        sums = summed(rows.drop("stage", "break_point"), _SUM_KEYS)
        self._sums = merged(self._sums, sums, _SUM_KEYS)

    def merge(self, later: Summary) -> None:
        """Take in the sums over the cases that come after; exact unless it `knows_too_little`."""
        self.settle()
        later.settle()
        for name, values in later._values.items():
            self._note_values(name, values)
        self._overflowed |= later._overflowed
        if later._sums is not None and later._stages is not None:
            sums, stages = (self._within(frame) for frame in (later._sums, later._stages))
            self._sums = merged(self._sums, summed(sums, _SUM_KEYS), _SUM_KEYS)
            self._stages = merged(self._stages, summed(stages, _STAGE_KEYS), _STAGE_KEYS)

    def values(self) -> Values:
        """The values of each slice that are kept apart, in order of their first case."""
        self.settle()
        return {name: list(known) for name, known in self._values.items()}

    def know(self, values: Values) -> None:
        """Keep these values apart, whatever comes first here."""
        self._values = {name: dict.fromkeys(known) for name, known in values.items()}

    def knows_too_little(self, values: Values) -> bool:
        """Has it summed under `…` what must be kept apart, where these values came before?"""
        self.settle()
        return any(
            not self._values[name].keys() >= set(values.get(name, ())) for name in self._overflowed
        )

    def _within(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of another's sums under the values that are kept apart here."""
        value = pl.col("slice_value")
        for name in self._overflowed:
            apart = value.is_in(list(self._values[name]))
            rest = (pl.col("slice") == name) & ~apart
            value = pl.when(rest).then(pl.lit(THE_REST)).otherwise(value)
        return rows.with_columns(slice_value=value)

    @property
    def n_cases(self) -> int:
        """Cases taken in."""
        return self._of_all("n_cases")

    @property
    def n_not_run(self) -> int:
        """Of these, cases with an error."""
        return self._of_all("n_not_run")

    @property
    def overflowed(self) -> list[str]:
        """Slices with more values than are kept apart."""
        self.settle()
        return sorted(self._overflowed)

    def table(self) -> pl.DataFrame:
        """One row a slice value and metric: the columns of summary.parquet but for the run."""
        self.settle()
        rows: list[dict[str, Any]] = []
        if self._sums is not None:
            in_order = self._in_order(self._sums).iter_rows(named=True)
            for _, of_value in groupby(
                in_order, key=lambda row: (row["slice"], row["slice_value"])
            ):
                sums = _over_units(list(of_value))
                rows += [self._row(sums, column) for column in self.columns]
        return pl.DataFrame(rows, schema=SUMMARY_SCHEMA)

    def stages(self) -> pl.DataFrame:
        """One row a slice value, stage and break point; shares are of the cases run.

        A failed case that leaked counts in its stage's share too: no gate may pass over it.
        """
        self.settle()
        if self._stages is None or self._sums is None:
            return pl.DataFrame(schema=STAGES_SCHEMA)
        run = self._sums.group_by(_KEYS).agg(n_run=(pl.col("n_cases") - pl.col("n_not_run")).sum())
        share = pl.when((pl.col("stage") != NOT_RUN) & (pl.col("n_run") > 0)).then(
            pl.min_horizontal(pl.col("n") / pl.col("n_run"), 1.0)
        )
        return (
            self._stages.join(run, on=_KEYS, maintain_order="left")
            .with_columns(share=share)
            .sort("n", "stage", "break_point", descending=[True, False, False])
            .pipe(self._in_order)
            .select(list(STAGES_SCHEMA))
            .cast(pl.Schema(STAGES_SCHEMA))
        )

    def _names(self) -> list[str]:
        """Every slice, each once."""
        return list(dict.fromkeys(("all", *STANDARD_SLICES, *self.extra_slices)))

    def _in_order(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows by slice as declared, then by value: whatever chunk showed a value first."""
        places = {name: place for place, name in enumerate(self._names())}
        place = pl.col("slice").replace_strict(places, return_dtype=pl.Int64)
        return rows.sort(place, "slice_value", maintain_order=True)

    def cases_run(self) -> dict[str, int]:
        """How many cases of each slice value were run, keyed `slice=value`."""
        self.settle()
        if self._sums is None:
            return {}
        counts: dict[str, int] = {}
        for row in self._sums.select(*_KEYS, "n_cases", "n_not_run").iter_rows(named=True):
            key = f"{row['slice']}={row['slice_value']}"
            counts[key] = counts.get(key, 0) + row["n_cases"] - row["n_not_run"]
        return counts

    def _of_all(self, name: str) -> int:
        self.settle()
        if self._sums is None:
            return 0
        return int(self._sums.filter(pl.col("slice") == "all")[name].sum())

    def _slice_columns(self) -> list[pl.Expr]:
        given = {"split": "split", "tag": "tags", "answerable": "is_answerable"}
        columns = [pl.col(source).alias(f"by {name}") for name, source in given.items()]
        columns += [
            pl.col(name).alias(f"by {name}")
            for name in self.extra_slices
            if name not in STANDARD_SLICES
        ]
        return columns

    def _keyed(self, prepared: pl.DataFrame, name: str) -> pl.DataFrame:
        """The rows of a slice with its name and value; a case may be in several, or in none."""
        plain = pl.exclude("^by .*$")
        if name == "all":
            return prepared.select(plain, slice=pl.lit("all"), slice_value=pl.lit("all"))
        source = f"by {name}"
        rows = prepared
        if name == "tag":
            rows = rows.with_columns(pl.col(source).list.unique(maintain_order=True))
            rows = rows.filter(pl.col(source).list.len() > 0).explode(source)
        rows = rows.filter(pl.col(source).is_not_null())
        value = pl.col(source).cast(pl.String)
        known = self._known_values(name, rows.select(value).to_series())
        if name in self._overflowed:
            value = pl.when(value.is_in(list(known))).then(value).otherwise(pl.lit(THE_REST))
        return rows.select(plain, slice=pl.lit(name), slice_value=value)

    def _known_values(self, name: str, values: pl.Series) -> dict[str, None]:
        return self._note_values(name, values.unique(maintain_order=True))

    def _note_values(self, name: str, values: Iterable[str]) -> dict[str, None]:
        known = self._values.setdefault(name, {})
        for value in values:
            if value in known:
                continue
            if len(known) >= MOST_VALUES:
                self._overflowed.add(name)
                break
            known[value] = None
        return known

    def _row(self, sums: dict[str, Any], column: Column) -> dict[str, Any]:
        name = column.name
        scored = sums[f"n {name}"]
        ratio = column.metric.kind == "ratio"
        total = unfixed(sums[f"sum {name}"], column)
        kept = total if scored else None
        if column.metric.unscored:
            kept = float(sums[f"kept {name}"]) if sums[f"seen {name}"] else None
        mean = total / scored if scored else None
        denominator = sums[f"den {name}"] if ratio else 0
        return {
            "slice": sums["slice"],
            "slice_value": sums["slice_value"],
            "metric": column.metric.name,
            "k": column.k,
            "mean": mean,
            "weighted_mean": self._weighted_mean(sums, name, mean),
            "pooled": sums[f"num {name}"] / denominator if denominator else None,
            "sum": kept,
            "numerator": sums[f"num {name}"] if ratio and scored else None,
            "denominator": denominator if ratio and scored else None,
            "n_scored": scored,
            "n_undefined": sums["n_cases"] - sums["n_not_run"] - scored,
            "n_not_run": sums["n_not_run"],
            "n_cases": sums["n_cases"],
        }

    def _weighted_mean(self, sums: dict[str, Any], name: str, mean: float | None) -> float | None:
        if not self.weighted or mean is None:
            return mean
        return float(sums[f"wsum {name}"] / sums[f"weight {name}"])


def _without_run(model: type[pa.DataFrameModel]) -> dict[str, Any]:
    return {name: dtype for name, dtype in dtypes(model).items() if name != "run_id"}


SUMMARY_SCHEMA = _without_run(results.Summary)
STAGES_SCHEMA = _without_run(results.Stages)


def _over_units(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One slice value's sums over chunks whose weights were counted in different units."""
    total = dict(rows[0])
    for name in total:
        if name.startswith(("wsum ", "weight ")):
            total[name] = sum(int(row[name]) * Fraction(row["unit"]) for row in rows)
        elif name not in (*_KEYS, "unit"):
            total[name] = sum(row[name] for row in rows)
    return total
