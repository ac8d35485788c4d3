"""The gate grammar and its verdicts. A gate over nothing fails: nothing measured never passes.

[weighted. | scored. | n.] metric[@k] [ [slice=value] ]  op  number
stage.NAME [ [slice=value] ]  op  number
finding.NAME  op  number

Gates over two runs (`delta.`, `new.`) share this grammar; `ragtriage.comparison` judges them.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from ragtriage.errors import UsageError, nearest
from ragtriage.finding_needs import lacking
from ragtriage.findings import MEANINGS
from ragtriage.metrics.registry import REGISTRY, Metric
from ragtriage.stages import precedence

TOLERANCE = 1e-9
# The metric behind each threshold option, and whether it is taken at the first cutoff.
THRESHOLDS = {
    "min_recall": ("recall", True),
    "min_context_precision": ("context_precision", True),
    "min_mrr": ("reciprocal_rank", False),
    "min_citation_coverage": ("citation_coverage", False),
    "min_citation_validity": ("citation_validity", False),
}
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": lambda value, threshold: abs(value - threshold) <= TOLERANCE,
    "!=": lambda value, threshold: abs(value - threshold) > TOLERANCE,
    ">": operator.gt,
    "<": operator.lt,
}
_GATE = re.compile(
    r"\s*(?:(?P<prefix>weighted|scored|n|stage|finding|delta|new)\.)?(?P<name>[a-z][a-z0-9_-]*)"
    r"(?:@(?P<k>[0-9]{1,10}))?\s*(?:\[(?P<filter>.*)\])?\s*(?P<op>>=|<=|==|!=|>|<)\s*(?P<number>[^\s=<>!]\S*)\s*",
    re.DOTALL,
)
ONE_RUN = ("", "weighted", "scored", "n", "stage", "finding")
TWO_RUNS = ("delta", "new")
_EXAMPLES = {
    ONE_RUN: "'recall@5 >= 0.8', 'stage.generation <= 0.05' or 'recall@5[split=test] >= 0.9'",
    TWO_RUNS: "'delta.recall@5 >= -0.01' or 'new.authorization == 0'",
}
# What a prefix is followed by, where that is not a metric.
_NAMED = {"stage": "stage", "new": "stage", "finding": "finding"}
_STAGES = sorted({row.stage for row in precedence("auto")})


@dataclass(frozen=True)
class Gate:
    """One parsed gate; `text` is how the user put it."""

    text: str
    prefix: str
    name: str
    k: int | None
    slice: str
    slice_value: str
    op: str
    threshold: float


@dataclass(frozen=True)
class Verdict:
    """What a gate came to."""

    gate: str
    value: float | None
    threshold: float
    passed: bool
    reason: str


def parse_gate(text: str, slices: tuple[str, ...], prefixes: tuple[str, ...] = ONE_RUN) -> Gate:
    """One gate expression; `prefixes`: those that make sense here.

    Raises:
        UsageError: the expression is not a gate, or names what does not exist.
    """
    found = _GATE.fullmatch(text)
    if not found:
        examples = _EXAMPLES[TWO_RUNS if prefixes == TWO_RUNS else ONE_RUN]
        raise UsageError(f"--gate {text!r}: not a gate; write for example {examples}")
    prefix = found["prefix"] or ""
    if prefix not in prefixes:
        raise UsageError(
            f"--gate {text!r}: compares two runs; use ragtriage compare, or evaluate --baseline RUN"
        )
    slice_name, slice_value = _filter(text, found["filter"], slices)
    gate = Gate(
        text=text.strip(),
        prefix=prefix,
        name=found["name"],
        k=int(found["k"]) if found["k"] else None,
        slice=slice_name,
        slice_value=slice_value,
        op=found["op"],
        threshold=_number(text, found["number"]),
    )
    _check_name(gate)
    return gate


def threshold_gates(minima: dict[str, float | None], ledger_k: int) -> list[Gate]:
    """The gates behind `--min-recall` and its kin."""
    gates = []
    for option, (name, cut) in THRESHOLDS.items():
        threshold = minima.get(option)
        if threshold is not None:
            k = ledger_k if cut else None
            shown = name if k is None else f"{name}@{k}"
            text = f"{shown} >= {threshold:g}"
            gates.append(Gate(text, "", name, k, "all", "all", ">=", threshold))
    return gates


def check_observed(gate: Gate, fields: set[str], cutoffs: tuple[int, ...]) -> None:
    """Can this input answer the gate at all?

    Raises:
        UsageError: what the metric or finding needs is not observed, or a cutoff was not asked for.
    """
    if gate.prefix == "finding":
        _check_fields(gate, lacking(gate.name, fields))
    if gate.prefix in _NAMED:
        return
    declared = REGISTRY[gate.name]
    _check_cutoff(gate, declared, cutoffs)
    _check_fields(gate, declared.missing(fields))


def _check_fields(gate: Gate, missing: list[str]) -> None:
    if missing:
        raise UsageError(
            f"gate {gate.text!r}: {gate.name} is not observed: the input has no "
            f"{'; no '.join(missing)}; record the fields or remove the gate"
        )


def judge(
    gates: list[Gate],
    summary: pl.DataFrame,
    stages: pl.DataFrame,
    findings: pl.DataFrame,
    slices: dict[str, int],
) -> list[Verdict]:
    """A verdict for each gate.

    Args:
        gates: parsed gates.
        summary: the run's summary table.
        stages: its stages table.
        findings: its findings table.
        slices: cases run in each slice value, keyed `slice=value`.
    """
    return [verdict(gate, *_value(gate, summary, stages, findings, slices)) for gate in gates]


def verdict(gate: Gate, value: float | None, why: str) -> Verdict:
    """What a gate comes to with this value; `why` says what it rests on."""
    if value is None or value != value:  # noqa: PLR0124 - only NaN differs from itself
        return Verdict(
            gate.text, None, gate.threshold, False, f"{why}; nothing measured never passes"
        )
    slack = {">=": TOLERANCE, ">": -TOLERANCE, "<=": -TOLERANCE, "<": TOLERANCE}.get(gate.op, 0.0)
    passed = _OPERATORS[gate.op](value + slack, gate.threshold)
    shown = f"{value:.6g} {'meets' if passed else 'does not meet'} {gate.op} {gate.threshold:g}"
    return Verdict(gate.text, value, gate.threshold, passed, f"{shown} ({why})")


def _value(
    gate: Gate,
    summary: pl.DataFrame,
    stages: pl.DataFrame,
    findings: pl.DataFrame,
    slices: dict[str, int],
) -> tuple[float | None, str]:
    if gate.prefix == "finding":
        hit = findings.filter(pl.col("finding") == gate.name)
        return float(hit["n"].sum()), "cases"
    if gate.prefix == "stage":
        return _stage_share(gate, stages, slices)
    rows = summary.filter(
        (pl.col("slice") == gate.slice)
        & (pl.col("slice_value") == gate.slice_value)
        & (pl.col("metric") == gate.name)
        & pl.col("k").eq_missing(pl.lit(gate.k, pl.Int64))
    )
    if rows.is_empty():
        return None, f"no case has {gate.slice}={gate.slice_value}"
    return _metric_value(gate, rows.row(0, named=True))


def _metric_value(gate: Gate, row: dict[str, float | None]) -> tuple[float | None, str]:
    cases = row["n_cases"] or 0
    scored = row["n_scored"] or 0
    basis = f"{scored:,.0f} of {counted(cases)} scored"
    if gate.prefix == "n":
        return float(scored), basis
    if gate.prefix == "scored":
        return (scored / cases if cases else None), basis
    if gate.prefix == "weighted":
        return row["weighted_mean"], basis
    kind = REGISTRY[gate.name].kind
    return (row["sum"] if kind == "count" else row["mean"]), basis


def counted(n: float) -> str:
    """`1 case`, `1,200 cases`."""
    return f"{n:,.0f} case{'' if n == 1 else 's'}"


def _stage_share(
    gate: Gate, stages: pl.DataFrame, slices: dict[str, int]
) -> tuple[float | None, str]:
    n_run = slices.get(f"{gate.slice}={gate.slice_value}", 0)
    if not n_run:
        return None, f"no case was run with {gate.slice}={gate.slice_value}"
    rows = stages.filter(
        (pl.col("slice") == gate.slice)
        & (pl.col("slice_value") == gate.slice_value)
        & (pl.col("stage") == gate.name)
    )
    if gate.name == "not_run":
        n = int(rows["n"].sum())
        return n / (n_run + n), "share of all cases"
    return float(rows["share"].fill_null(0.0).sum()), f"of {counted(n_run)} run"


def _filter(text: str, found: str | None, slices: tuple[str, ...]) -> tuple[str, str]:
    if found is None:
        return "all", "all"
    name, equals, value = found.partition("=")
    name = name.strip()
    if not equals:
        raise UsageError(f"--gate {text!r}: write the filter as [slice=value]")
    if name not in slices:
        raise UsageError(
            f"--gate {text!r}: no slice {name!r}{nearest(name, list(slices))}; "
            f"slices here: {', '.join(slices)} (more with --slice)"
        )
    return name, value


def _number(text: str, number: str) -> float:
    try:
        # Python also takes 1_0 for ten, and digits of any script.
        value = float(number) if number.isascii() and "_" not in number else None
    except ValueError:
        value = None
    if value is None:
        raise UsageError(f"--gate {text!r}: {number!r} is not a number")
    if not math.isfinite(value):
        raise UsageError(f"--gate {text!r}: the threshold must be a finite number")
    return value


def _check_name(gate: Gate) -> None:
    what = _NAMED.get(gate.prefix, "metric")
    known = {"stage": _STAGES, "finding": sorted(MEANINGS)}.get(what, sorted(REGISTRY))
    if gate.name not in known:
        raise UsageError(
            f"--gate {gate.text!r}: no {what} {gate.name!r}{nearest(gate.name, known)}"
        )
    if what != "metric" and gate.k is not None:
        raise UsageError(f"--gate {gate.text!r}: a {what} has no cutoff")
    if what == "finding" and gate.slice != "all":
        raise UsageError(f"--gate {gate.text!r}: findings are counted over all cases")


def _check_cutoff(gate: Gate, declared: Metric, cutoffs: tuple[int, ...]) -> None:
    if gate.k is None and declared.cutoff == "at_k":
        raise UsageError(
            f"gate {gate.text!r}: {gate.name} needs a cutoff; write {gate.name}@{cutoffs[0]}"
        )
    if gate.k is not None and declared.cutoff == "uncut":
        raise UsageError(f"gate {gate.text!r}: {gate.name} has no cutoff; write {gate.name}")
    if gate.k is not None and gate.k not in cutoffs:
        asked = ", ".join(map(str, cutoffs))
        raise UsageError(
            f"gate {gate.text!r}: cutoff {gate.k} was not asked for (--k {asked}); add it to --k"
        )
