"""What the three formats say alike: words for stages and break points, numbers, verdict, path.

Escaping, layout and colour are the renderers'; text from a fixture leaves as it came.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any, Literal, NamedTuple

from ragtriage.publish import document as doc

_WORDS = tomllib.loads(
    resources.files(__package__).joinpath("templates", "words.toml").read_text("utf-8")
)
BREAK_POINTS: dict[str, str] = _WORDS["break_points"]
NOTES: dict[str, str] = _WORDS["notes"]
ABSTENTION: list[str] = _WORDS["metrics"]["abstention"]  # shown beside who answered what
UNDEFINED = "undefined"
_NEARLY_0, _NEARLY_1 = 0.0005, 0.9995  # what three decimals would show as 0 or 1


class Step(NamedTuple):
    """One step on a requirement's way; `member` is an evidence ID (text from a fixture)."""

    name: str
    text: str
    state: Literal["ok", "lost", "no", "unknown"]
    member: str = ""


class MetricLine(NamedTuple):
    """One metric over all cases; every mean stands beside `row["n_scored"]`."""

    label: str
    value: str
    pooled: str
    weighted: str
    row: doc.SummaryRow
    interval: str = ""


class SliceLine(NamedTuple):
    """One slice value: passes, (mean, cases scored) per metric, and what broke."""

    value: str
    passed: str
    cells: list[tuple[str, str]]
    mix: str


def count(n: int, word: str) -> str:
    """`1 case`, `1,200 cases`."""
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def number(value: float | None) -> str:
    """Three decimals; never rounded to a 0 or 1 it is not; undefined is said, never 0."""
    if value is None or not math.isfinite(value):
        return UNDEFINED
    if 0 < abs(value) < _NEARLY_0:
        return f"{value:.1e}"
    return ">0.999" if _NEARLY_1 <= value < 1 else f"{value:,.3f}"


def exact(value: float | None) -> str:
    """A gate's number in ten digits: finer than the tolerance gates are compared with."""
    return UNDEFINED if value is None or math.isnan(value) else f"{value:.10g}"


def percent(share: float | None) -> str:
    """`17.5%`; a share that is neither 0 nor 1 is not shown as one."""
    if share is None or not math.isfinite(share):
        return UNDEFINED
    if 0 < share < _NEARLY_0:
        return "<0.1%"
    return ">99.9%" if _NEARLY_1 <= share < 1 else f"{share:.1%}"


def stage_words(stage: str) -> str:
    """A stage as words: `not run`."""
    return stage.replace("_", " ")


def mix(rows: Iterable[doc.StageRow]) -> str:
    """`7 retrieval, 3 generation`: the stages of one slice value but `pass`, most cases first."""
    totals: dict[str, int] = {}
    for row in rows:
        totals[row["stage"]] = totals.get(row["stage"], 0) + row["n"]
    totals.pop("pass", None)
    broken = sorted(totals.items(), key=lambda item: -item[1])
    return ", ".join(f"{n:,} {stage_words(stage)}" for stage, n in broken if n)


def verdict(report: doc.Report) -> str:
    """One sentence: what broke."""
    run = report["run"]
    n = run["n_cases"]
    if n == 0:
        return "No case was accepted: nothing was measured"
    if run["n_not_run"] == n:
        none = "The only case was not" if n == 1 else f"None of {n:,} cases was"
        return f"{none} run: nothing was measured"
    if run["n_pass"] == n:
        return "The only case passed" if n == 1 else f"All {n:,} cases passed"
    broke = [row for row in report["stages"] if row["slice"] == "all"]
    what = mix(broke)
    if n == 1:
        what = stage_words(broke[0]["stage"]) if broke else ""
        return "The only case did not pass" + (f": {what}" if what else "")
    broken = f"{n - run['n_pass']:,} of {count(n, 'case')} did not pass"
    return f"{broken}: {what}" if what else broken


def gates(rows: Sequence[doc.GateRow]) -> tuple[str, list[doc.GateRow]]:
    """`2 of 5 gates failed`, and the gates with the failed ones first."""
    ordered = sorted(rows, key=lambda row: row["passed"])
    failed = sum(not row["passed"] for row in rows)
    if failed:
        return f"{failed:,} of {count(len(rows), 'gate')} failed", ordered
    hold = "The gate holds" if len(rows) == 1 else f"All {len(rows):,} gates hold"
    return (hold if rows else "No gate was set"), ordered


def set_aside(run: doc.RunEntry) -> str:
    """Said beside the numbers whenever a line was set aside."""
    n, where = run["lines"]["set_aside"], " in rejects/" if run["written"] else ""
    return f"{count(n, 'line')} set aside{where}: not in these numbers" if n else ""


def flat(value: Any, name: str = "") -> list[tuple[str, str]]:
    """The about table, or a part of it, as (dotted key, text) pairs."""
    if isinstance(value, dict):
        dotted = [(f"{name}.{key}" if name else str(key), inner) for key, inner in value.items()]
        return [pair for key, inner in dotted for pair in flat(inner, key)]
    if isinstance(value, list):
        return [(name, ", ".join(str(item) for item in value))]
    return [(name, str(value).lower() if isinstance(value, bool) else str(value))]


def facts(report: doc.Report) -> list[tuple[str, str]]:
    """The run in (name, value) pairs; the values are text from a fixture."""
    run, about = report["run"], {"mechanism": "mechanism not stated", **report["about"]}
    shown = {key: about[key] for key in _WORDS["about"]["head"] if key in about}
    used = f" (evidence paths use {run['cutoffs'][0]:,})" if len(run["cutoffs"]) > 1 else ""
    return [
        *flat(shown),
        ("contract", run["contract"]),
        ("cutoff k", ", ".join(f"{k:,}" for k in run["cutoffs"]) + used),
        ("cases", f"{run['n_cases']:,} ({run['n_not_run']:,} not run)"),
        ("set aside", count(run["lines"]["set_aside"], "line")),
    ]


def headline(case: doc.CaseEntry) -> str:
    """`never retrieved`: the break point of a case in words, else its stage."""
    point = case["break_point"]
    return BREAK_POINTS.get(point, point) if point else stage_words(case["stage"])


def judged(case: doc.CaseEntry) -> str:
    """What the answer label says, and where it comes from."""
    if case["answer_label"] is None:
        return "not labelled"
    return f"{'right' if case['answer_label'] else 'wrong'} ({case['label_source'] or 'label'})"


def lost_first(case: doc.CaseEntry) -> list[doc.EvidenceRow]:
    """The requirements of a case, what was lost before what was delivered."""
    return sorted(case["evidence"], key=lambda row: row["lost_at"] is None)


def path(row: doc.EvidenceRow, k: int) -> list[Step]:
    """A requirement's way from source to citation, the step that lost it marked `lost`."""
    steps = [*_before(row), _retrieved(row)]
    if row["in_top_k"] is not None and row["retrieved_rank"] is not None:
        steps.append(_step(f"top {k:,}", "within cutoff", "below cutoff", value=row["in_top_k"]))
    of = "" if row["context_size"] is None else f" of {row['context_size']:,}"
    at = f"place {row['context_rank']:,}{of}" if row["context_rank"] else "in context"
    steps.append(_step("context", at, "not in context", value=row["in_context"]))
    steps.append(_step("cited", "cited", "not cited", value=row["cited"]))
    return _mark(steps, row["lost_at"], k)


def _step(name: str, yes: str, no: str, *, value: bool | None) -> Step:
    if value is None:
        return Step(name, "not recorded", "unknown")
    return Step(name, yes if value else no, "ok" if value else "no")


def _before(row: doc.EvidenceRow) -> list[Step]:
    """Source, index and chunks, as far as a corpus was given: one step while all is well."""
    told = [
        _step("source", "in source", "not in source", value=row["in_source"]),
        _step("index", "in index", "not in index", value=row["in_index"]),
        _step("chunks", "in chunks", "in no chunk", value=row["in_chunks"]),
    ]
    known = [step for step in told if step.state != "unknown"]
    if any(step.state == "no" for step in known) or row["lost_at"] in {"source", "index", "chunk"}:
        return known
    return [Step("source", "in " + ", ".join(step.name for step in known), "ok")] if known else []


def _retrieved(row: doc.EvidenceRow) -> Step:
    rank, member = row["retrieved_rank"], row["retrieved_id"] or ""
    if rank is not None:
        return Step("retrieved", f"rank {rank:,}", "ok", member if row["ids"] != [member] else "")
    if row["in_top_k"] is None:
        return Step("retrieved", "not recorded", "unknown")
    return Step("retrieved", ("candidate, " if row["in_candidates"] else "") + "not returned", "no")


def _mark(steps: list[Step], lost: str | None, k: int) -> list[Step]:
    """Turn the step that `lost_at` names into the lost one; add it where the row has none."""
    if lost is None:
        return steps
    names = [step.name for step in steps]
    name = {"chunk": "chunks", "retrieval": "retrieved", "unobserved": "context"}.get(lost, lost)
    if lost == "ranking":
        name = f"top {k:,}" if f"top {k:,}" in names else "retrieved"
    if name in names:
        return [step._replace(state="lost") if step.name == name else step for step in steps]
    at = names.index("retrieved")
    text = {"scope": "may not be seen", "filter": "filtered out"}.get(lost, lost)
    return [*steps[:at], Step(name, text, "lost"), *steps[at:]]


def label(row: doc.SummaryRow) -> str:
    """`recall@5`."""
    return row["metric"] if row["k"] is None else f"{row['metric']}@{row['k']}"


def main_metrics(contract: str) -> list[str]:
    """The few metrics shown per slice and in the terminal, by base name."""
    return [*_WORDS["metrics"]["main"], *_WORDS["metrics"].get(contract, ())]


def mains(report: doc.Report) -> list[doc.SummaryRow]:
    """The rows of the few metrics shown per slice and in the terminal, at the first cutoff.

    Where nothing but retrieval was recorded, its further metrics are among them.
    """
    run = report["run"]
    names = {*main_metrics(run["contract"])}
    if not any(row["metric"] in names - {"recall"} for row in report["summary"]):
        names |= {*_WORDS["metrics"]["retrieval_alone"]}
    cutoffs = (None, *run["cutoffs"][:1])
    return [row for row in report["summary"] if row["metric"] in names and row["k"] in cutoffs]


def metrics(report: doc.Report) -> list[MetricLine]:
    """Every metric over all cases, those that the contract is about first."""
    first = _WORDS["metrics"].get(report["run"]["contract"], ())
    rows = [row for row in report["summary"] if row["slice"] == "all"]
    found = {
        (row["metric"], row["k"]): row for row in report["intervals"] or [] if row["slice"] == "all"
    }
    return [
        _metric(row)._replace(interval=_interval(found.get((row["metric"], row["k"]))))
        for row in sorted(rows, key=lambda row: row["metric"] not in first)
    ]


def _interval(row: doc.IntervalRow | None) -> str:
    """`0.71 to 0.84`; why there is none; nothing where none was asked for."""
    if row is None:
        return ""
    if row["low"] is None:
        return row["note"] or UNDEFINED
    return f"{number(row['low'])} to {number(row['high'])}"


def _metric(row: doc.SummaryRow) -> MetricLine:
    total, mean, weighted = row["sum"], row["mean"], row["weighted_mean"]
    value, pooled = number(mean), ""
    if row["kind"] == "boolean" and total is not None and row["n_scored"]:
        value = f"{total:,.0f} of {row['n_scored']:,} ({value})"
    elif row["kind"] == "count" and total is not None:
        value = f"{total:,.0f} in all (mean {value})"
    if row["numerator"] is not None and row["denominator"] is not None:
        pooled = f"{row['numerator']:,} / {row['denominator']:,} = {number(row['pooled'])}"
    differs = weighted is not None and not math.isclose(weighted, mean or 0, abs_tol=1e-12)
    return MetricLine(label(row), value, pooled, number(weighted) if differs else "", row)


def slices(report: doc.Report) -> dict[str, tuple[list[str], list[SliceLine]]]:
    """Per slice name: the main metrics it has, and a line per value."""
    shown = mains(report)
    found: dict[str, dict[str, list[doc.StageRow]]] = {}
    for stage in report["stages"]:
        if stage["slice"] != "all":
            values = found.setdefault(stage["slice"], {})
            values.setdefault(stage["slice_value"], []).append(stage)
    means = {(row["slice"], row["slice_value"], label(row)): row for row in shown}
    tables = {}
    for name, values in found.items():
        columns = list(dict.fromkeys(label(row) for row in shown if row["slice"] == name))
        lines = []
        for value, stages in values.items():
            passed = sum(row["n"] for row in stages if row["stage"] == "pass")
            of = f"{passed:,} of {sum(row['n'] for row in stages):,}"
            rows = [means.get((name, value, column)) for column in columns]
            cells = [
                (number(row["mean"]), f"{row['n_scored']:,}") if row else ("", "") for row in rows
            ]
            lines.append(SliceLine(value, of, cells, mix(stages)))
        tables[name] = (columns, lines)
    return tables
