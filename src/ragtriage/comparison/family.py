"""The declared family: which metrics in which slices are tested, and their tests and intervals."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from ragtriage.comparison.deltas import Scores
from ragtriage.comparison.intervals import cluster_bootstrap
from ragtriage.comparison.significance import Test, holm, resolution, sign_flip
from ragtriage.comparison.slices import Cells
from ragtriage.comparison.units import Units, units, units_by_value
from ragtriage.errors import UsageError, nearest
from ragtriage.metrics.registry import Column

_METRIC = re.compile(r"([a-z][a-z0-9_]*)(?:@([0-9]{1,10}))?")


def chosen_columns(columns: list[Column], names: tuple[str, ...]) -> list[Column]:
    """The metrics asked for by `--test-metric`; every compared one where none is named.

    Raises:
        UsageError: a name is not among the compared metrics.
    """
    if not names:
        return columns
    known = {_label(column): column for column in columns}
    found = []
    for name in names:
        match = _METRIC.fullmatch(name.strip())
        if match is None or name.strip() not in known:
            near = nearest(name, list(known))
            raise UsageError(
                f"--test-metric {name!r}: not among the metrics compared{near}; "
                f"one of {', '.join(known)}"
            )
        found.append(known[name.strip()])
    return list(dict.fromkeys(found))


@dataclass
class Family:
    """Members are added metric by metric; each slice asked for has one of each metric."""

    columns: list[Column]
    slices: tuple[str, ...]
    seed: int
    test: bool
    intervals: bool
    rows: list[dict[str, Any]] = field(default_factory=list)
    interval_rows: list[dict[str, Any]] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)

    def add(self, found: Scores, cells: Cells, unit: pl.Series, told: list[dict[str, Any]]) -> None:
        """Test one metric in every slice asked for, if it is in the family.

        `told`: its rows among the deltas, whose differences stand beside the intervals.
        """
        if found.column not in self.columns:
            return
        deltas = {(row["slice"], row["slice_value"]): row["delta"] for row in told}
        by_value = {
            name: units_by_value(found, unit, cells.codes, cells.of_slice(name))
            for name in self.slices
        }
        by_value["all"] = {"all": units(found, unit)}
        for name, value in [("all", "all"), *cells.values(self.slices)]:
            key = {
                "slice": name,
                "slice_value": value,
                "metric": found.column.metric.name,
                "k": found.column.k,
            }
            label = f"{_label(found.column)}[{name}={value}]"
            members = by_value[name].get(value, Units.none())
            if self.test:
                test = sign_flip(members, self.seed, label)
                self.tests.append(test)
                self.rows.append(key | vars(test))
            if self.intervals:
                interval = cluster_bootstrap(members, self.seed, label)
                delta = {"delta": deltas.get((name, value))}
                self.interval_rows.append(key | delta | vars(interval))

    def tested(self) -> list[dict[str, Any]]:
        """The tests with their corrected p values."""
        corrected = holm([test.p for test in self.tests])
        return [row | {"p_adjusted": p} for row, p in zip(self.rows, corrected, strict=True)]

    def resolution(self) -> str | None:
        """What the set can resolve; None where nothing was to be tested."""
        return resolution(self.tests) if self.test else None


def _label(column: Column) -> str:
    return column.metric.name if column.k is None else f"{column.metric.name}@{column.k}"
