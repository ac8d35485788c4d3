"""What the formats of a comparison say alike: verdict, facts, changes, numbers with their sign.

Escaping, layout and colour are the renderers'; text from a fixture leaves as it came.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from ragtriage.comparison.coverage import sentence
from ragtriage.publish import wording
from ragtriage.publish.comparison import document as doc

KINDS = {
    "regressed": "passed before, does not now",
    "stage": "broken before and now, at another place",
    "worse": "same stage, some metric worse or no longer scored",
    "changed": "same stage, metrics changed that have no better direction",
    "better": "same stage, metrics better and none worse",
    "fixed": "did not pass before, passes now",
    "base-only": "in the base run only",
    "candidate-only": "in the candidate only",
}
DELTAS_NOTE = (
    "Both means are over the same cases, those scored in both runs. A mean can rise while "
    "cases get worse: the counts stand beside it."
)


class DeltaLine(NamedTuple):
    """One metric in one slice, in words. `state`: better, worse, mixed, lost, same or none."""

    label: str
    base: str
    candidate: str
    delta: str
    paired: str
    moved: str
    one_sided: str
    state: str
    row: doc.DeltaRow


def verdict(report: doc.ComparisonReport) -> str:
    """One sentence: what regressed, before anything else."""
    n, changed = report["comparison"]["n_paired"], report["changed"]
    rest = [
        (changed["stage"], "broken elsewhere"),
        (changed["worse"], "worse in some metric"),
        (changed["fixed"], "fixed"),
        (changed["better"] + changed["changed"], "changed in metrics alone"),
    ]
    others = ", ".join(f"{count:,} {words}" for count, words in rest if count)
    if changed["regressed"]:
        said = (
            f"{changed['regressed']:,} of {wording.count(n, 'case')}" if n > 1 else "The only case"
        )
        said += " regressed"
    elif others:
        said = f"None of {n:,} cases regressed" if n > 1 else "The only case did not regress"
    elif nothing_measured(report):
        return f"Nothing measured: {wording.count(n, 'case')}, no metric scored in both runs"
    else:
        return f"No difference: {wording.count(n, 'case')}, every stage and metric the same"
    return f"{said}; {others}" if others else said


def outcome(report: doc.ComparisonReport) -> str:
    """Whether the gates hold, and what else the comparison fails by."""
    said = [wording.gates(report["gates"])[0]]
    said += ["coverage regression"] if report["coverage"] else []
    said += ["nothing measured"] if nothing_measured(report) else []
    return "; ".join(said)


def nothing_measured(report: doc.ComparisonReport) -> bool:
    """No metric is scored in both runs on any case: that is not the same as no difference."""
    return not any(row["n_paired"] for row in report["deltas"] if row["slice"] == "all")


def facts(report: doc.ComparisonReport) -> list[tuple[str, str]]:
    """The two runs in (name, value) pairs; the values are text from a fixture."""
    run = report["comparison"]
    return [
        *((name, side(entry)) for name, entry in _sides(run)),
        *((f"about {row['key']}", about(row)) for row in report["about"]),
        ("contract", run["contract"]),
        ("cutoff k", ", ".join(f"{k:,}" for k in run["cutoffs"]) or "none in common"),
        ("normaliser", run["normalizer"]),
        ("cases in both", f"{run['n_paired']:,}"),
    ]


def _sides(run: doc.ComparisonEntry) -> list[tuple[str, doc.SideEntry]]:
    return [("base", run["base"]), ("candidate", run["candidate"])]


def side(entry: doc.SideEntry) -> str:
    """`run-a: 50 cases, 1 not run`."""
    cases = wording.count(entry["n_cases"], "case")
    return f"{entry['run_id']}: {cases}, {entry['n_not_run']:,} not run"


def about(row: doc.AboutRow) -> str:
    """`3 passages → 4 passages`."""
    one, other = (
        "not stated" if value is None else value for value in (row["base"], row["candidate"])
    )
    return f"{one} → {other}"


def notices(report: doc.ComparisonReport) -> list[str]:
    """What must be known before a number is read."""
    told = (
        ["nothing measured: no metric is scored in both runs"] if nothing_measured(report) else []
    )
    told += [
        sentence(row["metrics"], row["n_lost"], row["example_case_ids"])
        for row in report["lost_together"]
    ]
    if report["combined_change"]:
        keys = ", ".join(row["key"] for row in report["about"])
        told.append(f"combined change: {keys} differ at once, so no one of them is the cause")
    told += [difference(row) for row in report["differences"]]
    return told + report["comparison"]["notes"]


def difference(row: doc.DifferenceRow) -> str:
    """A difference that was allowed."""
    ids = row["example_case_ids"]
    named = f": {some(ids, row['n'])}" if ids else ""
    return f"allowed: {row['difference']}: base {row['base']}, candidate {row['candidate']}{named}"


def some(ids: list[str], n: int, limit: int = 10) -> str:
    """The first IDs, and that there are more."""
    return ", ".join(ids[:limit]) + (", …" if n > min(len(ids), limit) else "")


def counts(report: doc.ComparisonReport) -> list[tuple[str, int, str]]:
    """Kinds of change that occur beside regressions: name, cases, meaning."""
    return [
        (kind, n, KINDS[kind]) for kind, n in report["changed"].items() if n and kind != "regressed"
    ]


def regressed(report: doc.ComparisonReport) -> list[doc.ChangedCase]:
    """The regressed cases that are shown."""
    return [case for case in report["cases"] if case["change"] == "regressed"]


def others(report: doc.ComparisonReport) -> list[doc.ChangedCase]:
    """Every other case that is shown."""
    return [case for case in report["cases"] if case["change"] != "regressed"]


def way(case: doc.ChangedCase) -> str:
    """`pass → generation (all evidence delivered, answer wrong)`."""
    one, other = state(case["base"]), state(case["candidate"])
    if case["base"]["stage"] is None or case["candidate"]["stage"] is None:
        return other if case["base"]["stage"] is None else one
    return one if one == other else f"{one} → {other}"


def state(entry: doc.StateEntry) -> str:
    """A stage and, where the case broke, what happened."""
    if entry["stage"] is None:
        return "not in this run"
    point = entry["break_point"]
    what = wording.BREAK_POINTS.get(point, point) if point else ""
    stage = wording.stage_words(entry["stage"])
    return f"{stage} ({what})" if what else stage


def value(item: doc.Value) -> str:
    """A case's value of a metric: yes, no, a count, a rate, or not scored."""
    if item is None:
        return "not scored"
    if isinstance(item, bool):
        return "yes" if item else "no"
    return f"{item:,}" if isinstance(item, int) else wording.number(item)


def values(case: doc.ChangedCase) -> list[tuple[str, str, str]]:
    """Each changed metric: name, `0.5 → 1.000`, verdict; what got worse first."""
    order = ("worse", "lost", "changed", "gained", "better")
    rows = sorted(case["metrics"], key=lambda row: order.index(row["verdict"]))
    return [
        (row["metric"], f"{value(row['base'])} → {value(row['candidate'])}", row["verdict"])
        for row in rows
    ]


def label(metric: str, k: int | None) -> str:
    """`recall@5`."""
    return metric if k is None else f"{metric}@{k}"


def signed(number: float | None) -> str:
    """`+0.051`; a difference that is not 0 never looks like one."""
    if number is None or not math.isfinite(number):
        return wording.UNDEFINED
    if number == 0:
        return "0"
    text = wording.number(abs(number)).removeprefix(">")
    return f"{'+' if number > 0 else '−'}{text}"  # noqa: RUF001 - a minus sign, as wide as the plus


def deltas(report: doc.ComparisonReport) -> list[DeltaLine]:
    """Every metric over all cases."""
    return [_line(row) for row in report["deltas"] if row["slice"] == "all"]


def moved_deltas(report: doc.ComparisonReport) -> list[DeltaLine]:
    """Those over all cases on which any case moved."""
    return [line for line in deltas(report) if line.state != "same"]


def slices_worse(report: doc.ComparisonReport) -> list[tuple[str, DeltaLine]]:
    """Slices whose mean got worse, with their name: what a mean over all cases can hide."""
    return [
        (f"{row['slice']}={row['slice_value']}", _line(row))
        for row in report["deltas"]
        if row["slice"] != "all" and _direction(row) < 0
    ]


def _direction(row: doc.DeltaRow) -> float:
    """Above 0 when the mean got better, below when worse."""
    sign = {"higher": 1.0, "lower": -1.0}.get(row["direction"], 0.0)
    return sign * (row["delta"] or 0.0)


def _line(row: doc.DeltaRow) -> DeltaLine:
    lost, gained = row["n_base_only"], row["n_candidate_only"]
    sided = ((lost, "base only"), (gained, "candidate only"))
    return DeltaLine(
        label=label(row["metric"], row["k"]),
        base=wording.number(row["base_mean"]),
        candidate=wording.number(row["candidate_mean"]),
        delta=signed(row["delta"]),
        paired=f"{row['n_paired']:,}",
        moved=_moved(row),
        one_sided=", ".join(f"{n:,} {words}" for n, words in sided if n),
        state=_state(row),
        row=row,
    )


def _moved(row: doc.DeltaRow) -> str:
    if row["better"] is None or row["worse"] is None:
        return f"{row['n_paired'] - row['tied']:,} changed, {row['tied']:,} tied"
    return f"{row['better']:,} better, {row['worse']:,} worse, {row['tied']:,} tied"


def _state(row: doc.DeltaRow) -> str:
    better, worse = row["better"] or 0, row["worse"] or 0
    if row["n_base_only"] and not row["n_paired"]:
        return "lost"
    if better and worse:
        return "mixed"
    if better or worse:
        return "better" if better else "worse"
    if row["n_base_only"] or row["n_candidate_only"] or row["tied"] < row["n_paired"]:
        return "changed"
    return "same"


def transitions(
    report: doc.ComparisonReport,
) -> tuple[list[str], list[str], dict[tuple[str, str], int]]:
    """Stages of the base run, stages of the candidate, and the cases of each pair of them."""
    cells = {(row["base_stage"], row["candidate_stage"]): row["n"] for row in report["transitions"]}
    return _in_order(pair[0] for pair in cells), _in_order(pair[1] for pair in cells), cells


def _in_order(stages: Iterable[str]) -> list[str]:
    """Pass first, then by name."""
    return sorted(set(stages), key=lambda stage: (stage != "pass", stage))
