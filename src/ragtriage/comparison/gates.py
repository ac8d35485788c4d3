"""Gates over two runs, in the grammar of `ragtriage.gates`, with the same verdicts.

delta.metric[@k] [ [slice=value] ]  op  number      the mean of the paired differences
new.STAGE [ [slice=value] ]  op  number             cases newly at that stage
"""

from __future__ import annotations

import polars as pl

from ragtriage.comparison.slices import Cells
from ragtriage.errors import UsageError
from ragtriage.gates import (
    TWO_RUNS,
    Gate,
    Verdict,
    check_observed,
    counted,
    parse_gate,
    verdict,
)
from ragtriage.metrics.registry import REGISTRY


def is_for_two_runs(text: str) -> bool:
    """Does this gate compare runs? (`delta.…`, `new.…`)."""
    return text.strip().startswith(tuple(f"{prefix}." for prefix in TWO_RUNS))


def parse_gates(texts: tuple[str, ...], slices: tuple[str, ...]) -> list[Gate]:
    """Gates of a comparison.

    Raises:
        UsageError: a text is no such gate, or speaks of one run.
    """
    for text in texts:
        if not is_for_two_runs(text):
            raise UsageError(
                f"--gate {text!r}: a comparison holds delta.METRIC and new.STAGE; write for "
                "example 'delta.recall@5 >= -0.01' or 'new.authorization == 0'"
            )
    return [parse_gate(text, slices, TWO_RUNS) for text in texts]


def check_gates(gates: list[Gate], fields: set[str], cutoffs: tuple[int, ...]) -> None:
    """Can these two runs answer the gates at all?

    Raises:
        UsageError: a metric is observed in neither run, or a cutoff is not common to both.
    """
    for gate in gates:
        check_observed(gate, fields, cutoffs)


def judge(
    gates: list[Gate], deltas: pl.DataFrame, transitions: pl.DataFrame, cells: Cells
) -> list[Verdict]:
    """A verdict for each gate.

    Args:
        gates: parsed gates.
        deltas: the table of paired means.
        transitions: stage by stage counts of every slice value.
        cells: which slice values have pairs.
    """
    known = set(cells.members.select("slice", "slice_value").unique().rows())
    verdicts = []
    for gate in gates:
        if gate.prefix == "new":
            verdicts.append(verdict(gate, *_newly(gate, transitions, known)))
        else:
            verdicts.append(verdict(gate, *_delta(gate, deltas)))
    return verdicts


def _delta(gate: Gate, deltas: pl.DataFrame) -> tuple[float | None, str]:
    rows = deltas.filter(
        (pl.col("slice") == gate.slice)
        & (pl.col("slice_value") == gate.slice_value)
        & (pl.col("metric") == gate.name)
        & pl.col("k").eq_missing(pl.lit(gate.k, pl.Int64))
    )
    if rows.is_empty():
        return None, f"no case in both runs has {gate.slice}={gate.slice_value}"
    row = rows.row(0, named=True)
    basis = f"{counted(row['n_paired'])} scored in both"
    if REGISTRY[gate.name].better != "neither":
        basis += f", {row['better']:,} better, {row['worse']:,} worse"
    return row["delta"], basis


def _newly(
    gate: Gate, transitions: pl.DataFrame, known: set[tuple[str, str]]
) -> tuple[float | None, str]:
    if (gate.slice, gate.slice_value) not in known:
        return None, f"no case in both runs has {gate.slice}={gate.slice_value}"
    rows = transitions.filter(
        (pl.col("slice") == gate.slice)
        & (pl.col("slice_value") == gate.slice_value)
        & (pl.col("candidate_stage") == gate.name)
        & (pl.col("base_stage") != gate.name)
    )
    return float(rows["n"].sum()), "cases newly there"


def regressions(limit: int, n: int, first: list[str]) -> Verdict:
    """The verdict of `--max-regressions`."""
    named = f": {', '.join(first)}{', …' if n > len(first) else ''}" if first else ""
    went = f"{n:,} {'case' if n == 1 else 'cases'} went from pass to anything else{named}"
    return Verdict(f"--max-regressions {limit}", float(n), float(limit), n <= limit, went)
