"""Long summaries and stages of many runs as one dense series per slice value and metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from ragtriage.history.document import MetricSeries, SliceSeries

_BLOCK = ["slice", "slice_value"]
# Finer than any report shows a mean.
_DIGITS = 6


def choose_slices(
    summary: pl.DataFrame, stages: pl.DataFrame, budget: int
) -> tuple[list[tuple[str, str]], int]:
    """The slice values to show, whole ones until `budget` points are spent, and how many are not.

    All cases come first and always. Then those in most runs, then of most cases, then by name.
    """
    rows = pl.concat(
        [
            summary.select(*_BLOCK, "run", "n_cases", points=1),
            stages.select(*_BLOCK, "run", n_cases=pl.lit(0, pl.Int64), points=0),
        ]
    )
    sizes = rows.group_by(_BLOCK).agg(
        pl.col("points").sum(), pl.col("n_cases").sum(), n_runs=pl.col("run").n_unique()
    )
    ordered = sizes.sort(
        pl.col("slice") != "all", -pl.col("n_runs").cast(pl.Int64), -pl.col("n_cases"), *_BLOCK
    ).with_columns(spent=pl.col("points").cum_sum())
    kept = ordered.filter((pl.col("slice") == "all") | (pl.col("spent") <= budget))
    chosen = [(row[0], row[1]) for row in kept.select(_BLOCK).iter_rows()]
    return chosen, ordered.height - len(chosen)


def slice_series(
    runs: Sequence[str],
    summary: pl.DataFrame,
    stages: pl.DataFrame,
    chosen: Sequence[tuple[str, str]],
) -> list[SliceSeries]:
    """One entry per chosen slice value, in order; its lists follow `runs`."""
    place = {run: number for number, run in enumerate(runs)}
    found = {
        key: SliceSeries(
            slice=key[0], value=key[1], cases=[None] * len(runs), metrics={}, stages={}
        )
        for key in chosen
    }
    wanted = pl.DataFrame(list(chosen), schema=dict.fromkeys(_BLOCK, pl.String), orient="row")
    for key, label, at, values in _grouped(summary, wanted, place, _LABEL, _MEANS):
        entry = found[key]
        entry["metrics"][label] = _metric(at, values, len(runs))
        _note_cases(entry, at, values["n_cases"])
    by_stage = stages.group_by("run", *_BLOCK, "stage").agg(pl.col("n").sum())
    for key, label, at, values in _grouped(by_stage, wanted, place, pl.col("stage"), _STAGES):
        entry = found[key]
        entry["stages"][label] = _dense(at, values["n"], len(runs))
    for entry in found.values():
        _settle_stages(entry)
    return list(found.values())


_LABEL = pl.concat_str("metric", pl.concat_str(pl.lit("@"), "k").fill_null(""))
_MEANS = (pl.col("mean").round(_DIGITS), pl.col("n_scored"), pl.col("n_cases"))
_STAGES = (pl.col("n"),)


def _grouped(
    table: pl.DataFrame,
    wanted: pl.DataFrame,
    place: dict[str, int],
    label: pl.Expr,
    values: Sequence[pl.Expr],
) -> list[tuple[tuple[str, str], str, list[int], dict[str, list[Any]]]]:
    """Per slice value and label: places of runs and the values there, in order of time."""
    names = [value.meta.output_name() for value in values]
    rows = (
        table.join(wanted, on=_BLOCK, how="semi")
        .select(*_BLOCK, label.alias("label"), _at(place), *values)
        .sort(*_BLOCK, "label", "at")
        .group_by(*_BLOCK, "label", maintain_order=True)
        .agg("at", *names)
    )
    return [
        ((row["slice"], row["slice_value"]), row["label"], row["at"], {n: row[n] for n in names})
        for row in rows.iter_rows(named=True)
    ]


def _at(place: dict[str, int]) -> pl.Expr:
    return pl.col("run").replace_strict(place, return_dtype=pl.Int64).alias("at")


def _metric(at: list[int], values: dict[str, list[Any]], n_runs: int) -> MetricSeries:
    return MetricSeries(
        mean=_dense(at, values["mean"], n_runs), n=_dense(at, values["n_scored"], n_runs)
    )


def _dense(at: list[int], values: list[Any], n_runs: int) -> list[Any]:
    dense: list[Any] = [None] * n_runs
    for position, value in zip(at, values, strict=True):
        dense[position] = value
    return dense


def _note_cases(entry: SliceSeries, at: list[int], n_cases: list[int]) -> None:
    for position, n in zip(at, n_cases, strict=True):
        entry["cases"][position] = n


def _settle_stages(entry: SliceSeries) -> None:
    """A stage that no case of a run reached is 0 there; a run without the slice stays null."""
    for position in range(len(entry["cases"])):
        counts = [series[position] for series in entry["stages"].values()]
        total = sum(n for n in counts if n is not None)
        if entry["cases"][position] is None and total:
            entry["cases"][position] = total
        if any(n is not None for n in counts):
            for series in entry["stages"].values():
                series[position] = series[position] or 0
