"""How far each mean could move with other cases of the same kind: cluster bootstrap, one run.

Running counts of equal units, small whatever the input; chunks are added in input order, and
neither their order nor their cuts can move a digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from ragtriage.comparison.intervals import Interval, resampled
from ragtriage.comparison.units import ONE, Units
from ragtriage.metrics.registry import Column

_KEYS = ("slice", "slice_value", "column")


@dataclass
class MeanIntervals:
    """Units of every metric over all cases, and of the slices that were named.

    A unit is a `group`, or a case without one. `seed`: of the resamples.
    """

    columns: list[Column]
    slices: tuple[str, ...]
    seed: int
    _alone: pl.DataFrame | None = None
    _grouped: pl.DataFrame | None = None

    def add(self, cases: pl.DataFrame) -> None:
        """Take in a chunk of cases with their metrics."""
        rows = pl.concat([self._long(cases, name) for name in ("all", *self.slices)])
        alone = rows.filter(pl.col("group").is_null())
        kinds = alone.group_by(*_KEYS, "steps").agg(n=pl.len().cast(pl.Int64))
        self._alone = _merged(self._alone, kinds, [*_KEYS, "steps"])
        groups = rows.filter(pl.col("group").is_not_null())
        sums = groups.group_by(*_KEYS, "group").agg(
            pl.col("steps").sum(), n=pl.len().cast(pl.Int64)
        )
        self._grouped = _merged(self._grouped, sums, [*_KEYS, "group"])

    def merge(self, later: MeanIntervals) -> None:
        """Take in what another counted of the cases that come after."""
        if later._alone is not None and later._grouped is not None:
            self._alone = _merged(self._alone, later._alone, [*_KEYS, "steps"])
            self._grouped = _merged(self._grouped, later._grouped, [*_KEYS, "group"])

    def rows(self) -> list[dict[str, Any]]:
        """One row a slice value and metric, in order: the columns of `intervals.parquet`."""
        if self._alone is None or self._grouped is None:
            return []
        kinds = pl.concat(
            [
                self._alone.select(*_KEYS, sums="steps", cases=pl.lit(1, pl.Int64), counts="n"),
                self._grouped.group_by(*_KEYS, sums="steps", cases="n").agg(
                    counts=pl.len().cast(pl.Int64)
                ),
            ]
        )
        kinds = kinds.group_by(*_KEYS, "sums", "cases").agg(pl.col("counts").sum())
        parts = kinds.sort("sums", "cases").partition_by(list(_KEYS), as_dict=True)
        cells = sorted({(name, value) for name, value, _ in parts}, key=self._place)
        return [
            _row(name, value, column, parts[name, value, column.name], self.seed)
            for name, value in cells
            for column in self.columns
            if (name, value, column.name) in parts
        ]

    def _place(self, cell: tuple[Any, Any]) -> tuple[int, str]:
        return ("all", *self.slices).index(cell[0]), str(cell[1])

    def _long(self, cases: pl.DataFrame, name: str) -> pl.DataFrame:
        """Scored values in steps, a row a case, metric and value of the slice."""
        value = pl.lit("all") if name == "all" else pl.col(_SOURCES.get(name, name))
        steps = [
            (_scored(column) * float(ONE)).round().cast(pl.Int64).alias(column.name)
            for column in self.columns
        ]
        wide = cases.select("group", value.alias("slice_value"), *steps)
        if isinstance(wide.schema["slice_value"], pl.List):
            wide = wide.with_columns(pl.col("slice_value").list.unique(maintain_order=True))
            wide = wide.explode("slice_value")
        return (
            wide.with_columns(pl.col("slice_value").cast(pl.String), slice=pl.lit(name))
            .filter(pl.col("slice_value").is_not_null())
            .unpivot(
                index=["slice", "slice_value", "group"], variable_name="column", value_name="steps"
            )
            .filter(pl.col("steps").is_not_null())
        )


def _row(name: str, value: str, column: Column, kinds: pl.DataFrame, seed: int) -> dict[str, Any]:
    units = Units(*(kinds[key].to_numpy() for key in ("sums", "cases", "counts")))
    found = _interval(units, seed, f"{name}={value} {column.name}")
    return {
        "slice": name,
        "slice_value": value,
        "metric": column.metric.name,
        "k": column.k,
        "mean": units.total / units.n_cases / ONE,
        "low": found.low,
        "high": found.high,
        "n_scored": units.n_cases,
        "n_units": units.n_units,
        "samples": found.samples,
        "seed": found.seed,
        "note": found.note,
    }


def _interval(units: Units, seed: int, label: str) -> Interval:
    """None where it would mislead: of one unit, or of units that are all the same."""
    if units.n_units == 1:
        return Interval(None, None, 1, None, None, "one case or group: nothing to draw from")
    first, of = int(units.sums[0]), int(units.cases[0])
    kinds = zip(units.sums.tolist(), units.cases.tolist(), strict=True)
    if all(total * of == first * cases for total, cases in kinds):
        note = "every case or group has the same mean: resampling them tells nothing"
        return Interval(None, None, units.n_units, None, None, note)
    return resampled(units, seed, label)


_SOURCES = {"tag": "tags", "answerable": "is_answerable"}


def _scored(column: Column) -> pl.Expr:
    value = pl.col(column.name).cast(pl.Float64)
    return pl.when("scored").then(value) if column.metric.unscored else value


def _merged(sums: pl.DataFrame | None, more: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    if sums is None:
        return more
    return pl.concat([sums, more]).group_by(keys).agg(pl.all().sum())
