"""A comparison of two runs computed a second time, in plain Python, from their case tables.

It takes rows as dictionaries and shares nothing with the product but the direction in which each
metric is better, which stands in the metric's declaration.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]
Metric = tuple[str, "int | None"]
Slice = tuple[str, str]
Place = tuple[Slice, Metric]

# Two sign patterns whose sums differ by less are equally extreme: sums of floats round.
SAME = 1e-9
ENUMERATED = 10


@dataclass
class Side:
    """One evaluated run: its case table, its ledger and the metrics it reports."""

    cases: dict[str, Record]
    ledger: dict[tuple[str, int], Record]
    metrics: list[Metric]

    @classmethod
    def of(cls, run: Any) -> Side:
        """The tables of a `Run`, as rows."""
        overall = run.summary.filter(slice="all")
        return cls(
            {row["case_id"]: row for row in run.cases.rows(named=True)},
            {(row["case_id"], row["requirement"]): row for row in run.evidence.rows(named=True)},
            list(overall.select("metric", "k").iter_rows()),
        )


def column(metric: Metric) -> str:
    """The metric's column in the case table."""
    name, k = metric
    return name if k is None else f"{name}_at_{k}"


@dataclass
class Comparison:
    """Everything the contract says of two runs; `better`: each metric's declared direction."""

    base: Side
    candidate: Side
    better: dict[str, str]
    sliced_by: tuple[str, ...]

    def __post_init__(self) -> None:
        self.paired = [one for one in self.base.cases if one in self.candidate.cases]
        self.metrics = [one for one in self.base.metrics if one in self.candidate.metrics]

    # --- Cases -----------------------------------------------------------------------------

    def transitions(self) -> Counter[tuple[str, str]]:
        """How many cases went from which stage to which."""
        return Counter(self._stages(case_id) for case_id in self.paired)

    def changes(self) -> dict[str, Record]:
        """The cases whose stage, break point or any metric changed."""
        told: dict[str, Record] = {}
        for one in self.base.cases.keys() - self.candidate.cases.keys():
            told[one] = {"change": "base-only"}
        for one in self.candidate.cases.keys() - self.base.cases.keys():
            told[one] = {"change": "candidate-only"}
        for case_id in self.paired:
            moved = self._moved_metrics(case_id)
            change = self._change(case_id, moved)
            if change is not None:
                told[case_id] = {"change": change} | {
                    f"metrics_{way}": [column(m) for m in moved if moved[m] == way]
                    for way in ("better", "worse", "lost")
                }
        return told

    def moved(self, case_id: str) -> dict[str, tuple[Record, Record]]:
        """Requirements, by their first ID, whose way through the ledger changed: both rows."""
        return {
            row["ids"][0]: (row, other)
            for key, row in self.base.ledger.items()
            if key[0] == case_id and _has_moved(row, other := self.candidate.ledger[key])
        }

    def _stages(self, case_id: str) -> tuple[str, str]:
        return self.base.cases[case_id]["stage"], self.candidate.cases[case_id]["stage"]

    def _values(self, case_id: str, metric: Metric) -> tuple[float | None, float | None]:
        name = column(metric)
        return _number(self.base.cases[case_id][name]), _number(self.candidate.cases[case_id][name])

    def _scores(self, case_id: str, metric: Metric) -> tuple[float | None, float | None]:
        """As values, but what a failed or unsettled case leaked enters no mean."""
        before, after = self._values(case_id, metric)
        sides = (self.base.cases[case_id], before), (self.candidate.cases[case_id], after)
        first, second = (None if _unscored(case) else value for case, value in sides)
        return first, second

    def _moved_metrics(self, case_id: str) -> dict[Metric, str]:
        ways = {one: self._way(one, *self._values(case_id, one)) for one in self.metrics}
        return {metric: way for metric, way in ways.items() if way != "tied"}

    def _way(self, metric: Metric, before: float | None, after: float | None) -> str:
        if before == after:
            return "tied"
        if before is None or after is None:
            return "gained" if before is None else "lost"
        direction = self.better[metric[0]]
        if direction == "neither":
            return "moved"
        return "better" if (after > before) == (direction == "higher") else "worse"

    def _change(self, case_id: str, moved: dict[Metric, str]) -> str | None:
        before, after = self._stages(case_id)
        if before != after:
            return {"pass": "regressed"}.get(before) or {"pass": "fixed"}.get(after) or "stage"
        broke = [side.cases[case_id]["break_point"] for side in (self.base, self.candidate)]
        if broke[0] != broke[1]:
            return "stage"
        if not moved:
            return None
        # READING: what a failed case leaked enters no mean, and is more or less of a leak.
        ways = {way for one, way in moved.items() if way != "lost"}
        if "worse" in ways or any(self._is_lost(case_id, one) for one in self.metrics):
            return "worse"
        return "better" if "better" in ways else "changed"

    # --- Means -----------------------------------------------------------------------------

    def deltas(self) -> dict[Place, Record]:
        """Means over the cases scored in both runs, per slice and metric."""
        return {
            (where, metric): self._delta(members, metric)
            for where, members in self._slices(("split", "tag", "answerable", *self.sliced_by))
            for metric in self.metrics
        }

    def coverage(self) -> dict[Metric, int]:
        """Metrics that lost scored cases, and how many: not those lost by a right choice."""
        lost = {
            metric: sum(self._is_lost(one, metric) for one in self.paired)
            for metric in self.metrics
        }
        return {metric: n for metric, n in lost.items() if n}

    def _is_lost(self, case_id: str, metric: Metric) -> bool:
        gone = self._way(metric, *self._scores(case_id, metric)) == "lost"
        return gone and not self._by_choice(case_id, metric)

    def _by_choice(self, case_id: str, metric: Metric) -> bool:
        if metric[0] == "abstention_precision":
            return True
        if metric[0] == "answer_passed":
            # READING: what made it false got right, and the rest was never known.
            parts = [(name, None) for name in ("answer_match", "citation_valid", "source_correct")]
            return not any(self._way(one, *self._scores(case_id, one)) == "lost" for one in parts)
        after = self.candidate.cases[case_id]
        over_nothing = after.get(f"{column(metric)}_denominator") == 0
        return over_nothing and after["stage"] == "pass" and self._answerable(case_id) is False

    def _delta(self, members: list[str], metric: Metric) -> Record:
        pairs = [self._scores(one, metric) for one in members]
        both = [(x, y) for x, y in pairs if x is not None and y is not None]
        ways = Counter(self._way(metric, *pair) for pair in pairs)
        directed = self.better[metric[0]] != "neither"
        return {
            "base_mean": _mean([x for x, _ in both]),
            "candidate_mean": _mean([y for _, y in both]),
            "delta": _mean([y - x for x, y in both]),
            "n_paired": len(both),
            "better": ways["better"] if directed else None,
            "worse": ways["worse"] if directed else None,
            "tied": sum(x == y for x, y in both),
            "n_base_only": ways["lost"],
            "n_candidate_only": ways["gained"],
        }

    def _slices(self, kinds: tuple[str, ...]) -> list[tuple[Slice, list[str]]]:
        members: dict[Slice, list[str]] = {("all", "all"): list(self.paired)}
        for case_id in self.paired:
            for kind in kinds:
                for value in self._slice_values(case_id, kind):
                    members.setdefault((kind, value), []).append(case_id)
        return list(members.items())

    def _slice_values(self, case_id: str, kind: str) -> list[str]:
        case = self.base.cases[case_id]
        if kind == "tag":
            return list(dict.fromkeys(case["tags"] or []))
        value = self._answerable(case_id) if kind == "answerable" else case[kind]
        return [] if value is None else [str(value).lower() if value in (True, False) else value]

    def _answerable(self, case_id: str) -> bool | None:
        declared: bool | None = self.base.cases[case_id]["answerable"]
        if declared is None and (case_id, 0) in self.base.ledger:
            return True
        return declared

    # --- Tests -----------------------------------------------------------------------------

    def tests(self) -> dict[Place, Record]:
        """The sign-flip test of each metric over all cases and the slices asked for."""
        return {
            (where, metric): sign_flip(self._units(members, metric))
            for where, members in self._slices(self.sliced_by)
            for metric in self.metrics
        }

    def _units(self, members: list[str], metric: Metric) -> list[float]:
        sums: dict[tuple[str, str], list[float]] = {}
        for case_id in members:
            before, after = self._scores(case_id, metric)
            if before is not None and after is not None:
                group = self.base.cases[case_id]["group"]
                unit = ("case", case_id) if group is None else ("group", group)
                sums.setdefault(unit, []).append(after - before)
        return [math.fsum(each) for each in sums.values()]


def sign_flip(units: list[float]) -> Record:
    """Two-sided p by looking at every pattern of signs; not computed above `ENUMERATED`."""
    differing = [one for one in units if abs(one) > SAME]
    told: Record = {"n_units": len(units), "n_differing": len(differing)}
    if len(units) < 2 or not differing:
        return told | {"p": None, "p_smallest": None}
    told["p_smallest"] = 2 / 2 ** len(differing)
    if len(differing) > ENUMERATED:
        return told
    seen = abs(math.fsum(differing)) - SAME
    patterns = itertools.product((1, -1), repeat=len(differing))
    extreme = sum(
        abs(sum(sign * one for sign, one in zip(signs, differing, strict=True))) >= seen
        for signs in patterns
    )
    return told | {"p": extreme / 2 ** len(differing)}


def holm(ps: dict[Place, float | None]) -> dict[Place, float | None]:
    """Holm's step-down correction over the defined members of a family."""
    adjusted: dict[Place, float | None] = dict.fromkeys(ps)
    defined = sorted((p, i) for i, p in enumerate(ps.values()) if p is not None)
    places, largest = list(ps), 0.0
    for rank, (p, i) in enumerate(defined):
        largest = max(largest, min(1.0, p * (len(defined) - rank)))
        adjusted[places[i]] = largest
    return adjusted


def _has_moved(row: Record, other: Record) -> bool:
    """Did it fare otherwise? READING: citations count where both runs recorded them."""
    cited = row["cited"], other["cited"]
    names = ("delivered", "lost_at", "retrieved_rank")
    return any(row[name] != other[name] for name in names) or (
        None not in cited and cited[0] != cited[1]
    )


def _unscored(case: Record) -> bool:
    return bool((case["error"] or "").strip() or (case["ambiguity"] or "").strip())


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
