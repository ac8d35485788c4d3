"""One comparison: the steps in order. Every step is elsewhere; this calls them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from ragtriage.comparison import comparability, gates
from ragtriage.comparison.changes import Changes
from ragtriage.comparison.coverage import Excuses, Lost, coverage
from ragtriage.comparison.deltas import delta_rows, in_order, scores, sums_of
from ragtriage.comparison.family import Family, chosen_columns
from ragtriage.comparison.pairing import Pairs, pair
from ragtriage.comparison.request import CompareRequest
from ragtriage.comparison.result import NAMED, Result
from ragtriage.comparison.slices import cells
from ragtriage.comparison.table import ChangedTable
from ragtriage.comparison.units import group_codes
from ragtriage.gates import Gate
from ragtriage.metrics import Column, columns_for
from ragtriage.read.ahead import ahead
from ragtriage.read.run_tables import check_types
from ragtriage.read.runs import StoredRun
from ragtriage.request import SLICEABLE
from ragtriage.schemas import comparison as tables
from ragtriage.schemas.inputs import dtypes
from ragtriage.schemas.texts import NO_TEXT, TEXT_FIELDS
from ragtriage.stages import PASS
from ragtriage.summary import STANDARD_SLICES
from ragtriage.tally import SHOWN_CASES
from ragtriage.without_text import columns_without_text


@dataclass(frozen=True)
class Plan:
    """What is known before a row is read: metrics, slices, gates."""

    columns: list[Column]
    slices: tuple[str, ...]
    gates: list[Gate]
    tested: list[Column]


def parsed_gates(request: CompareRequest, runs: list[StoredRun]) -> list[Gate]:
    """The gates, as far as they can be checked before both runs are there.

    Raises:
        UsageError: a text is no gate.
    """
    return gates.parse_gates(request.gate, ("all", *STANDARD_SLICES, *_extra(request, runs)))


def compare_runs(base: StoredRun, candidate: StoredRun, request: CompareRequest) -> Result:
    """Compare two runs.

    Raises:
        UsageError: a gate or a metric makes no sense here.
        InputError: the runs cannot be compared, or one cannot be read.
    """
    configured = comparability.configuration(
        base, candidate, request.allow, no_text=request.no_text
    )
    plan = _plan(base, candidate, request)
    comparability.refuse(configured)
    pairs = pair(base, candidate)
    found = comparability.differences(base, candidate, pairs, request.allow)
    comparability.refuse(found)
    return _Comparison(base, candidate, request, plan, pairs).result(found)


def _plan(base: StoredRun, candidate: StoredRun, request: CompareRequest) -> Plan:
    parsed = parsed_gates(request, [base, candidate])
    fields = {*base.manifest["fields"], *candidate.manifest["fields"]}
    cutoffs = [k for k in base.manifest["cutoffs"] if k in candidate.manifest["cutoffs"]]
    gates.check_gates(parsed, fields, tuple(cutoffs or base.manifest["cutoffs"]))
    columns = [
        column
        for column in columns_for(cutoffs)
        if column.metric.observed(fields)
        and all(column.name in run.columns for run in (base, candidate))
    ]
    for run in (base, candidate):
        for column in columns:
            check_types(run.types, column.schema, f"run {run.run_id}")
    extra = _extra(request, [base, candidate])
    return Plan(columns, extra, parsed, chosen_columns(columns, request.test_metric))


def _absent(base: StoredRun, candidate: StoredRun) -> list[str]:
    """Labels, and metrics at common cutoffs, that a run's table lacks: of another version."""
    cutoffs = [k for k in base.manifest["cutoffs"] if k in candidate.manifest["cutoffs"]]
    names = [*comparability.LABELS, *(column.name for column in columns_for(cutoffs))]
    return [name for name in names if name not in base.columns & candidate.columns]


def _extra(request: CompareRequest, runs: list[StoredRun]) -> tuple[str, ...]:
    """Slices beyond the standard ones: asked for here, or when a run was evaluated."""
    asked = [name for run in runs for name in run.manifest["config"].get("slice") or ()]
    known = [name for name in asked if name in SLICEABLE]
    names = dict.fromkeys((*request.slice, *request.evaluate.slice, *known))
    hidden = TEXT_FIELDS if request.no_text else ()
    return tuple(name for name in names if name not in (*STANDARD_SLICES, *hidden))


class _Comparison:
    """The comparison in progress: metric by metric over the pairs."""

    def __init__(
        self,
        base: StoredRun,
        candidate: StoredRun,
        request: CompareRequest,
        plan: Plan,
        pairs: Pairs,
    ) -> None:
        self._base, self._candidate = base, candidate
        self._request, self._plan, self._pairs = request, plan, pairs
        self._cells = cells(base, pairs, plan.slices)
        self._changes = Changes(base, candidate, pairs)
        self._family = Family(
            plan.tested, request.slice, request.seed, request.test, request.intervals
        )
        self._coverage: list[Lost] = []

    def result(self, found: list[comparability.Difference]) -> Result:
        """All of it."""
        request, changes = self._request, self._changes
        deltas = self._deltas()
        transitions = self._cells_transitions()
        regressed = self._pairs.ids.filter(changes.regressed).sort().head(NAMED).to_list()
        verdicts = gates.judge(self._plan.gates, deltas, transitions, self._cells)
        if request.max_regressions is not None:
            limit, n = request.max_regressions, changes.n_regressed
            verdicts.insert(0, gates.regressions(limit, n, regressed))
        changed = ChangedTable(changes, self._plan.columns)
        shown = changed.head(changed.height if request.all_cases else SHOWN_CASES)
        whole = transitions.filter(slice="all").select("base_stage", "candidate_stage", "n")
        return Result(
            request=request,
            base=self._base,
            candidate=self._candidate,
            columns=self._plan.columns,
            differences=found,
            about=comparability.about(self._base, self._candidate),
            notes=self._notes(),
            transitions=whole.sort(
                "n", "base_stage", "candidate_stage", descending=[True, False, False]
            ),
            deltas=deltas,
            cases=changed,
            shown=shown,
            details=self._details(shown["case_id"]),
            tests=self._tests(),
            intervals=self._intervals(),
            resolution=self._family.resolution(),
            coverage=self._coverage,
            gates=verdicts,
            changed=changes.counts(),
            regressed=regressed,
            n_paired=len(self._pairs.ids),
            n_measured=int(deltas.filter(slice="all")["n_paired"].sum()),
        )

    def _deltas(self) -> pl.DataFrame:
        """Each metric in turn: its sums, what it changed, its tests."""
        scored = [_scored(self._pairs, run, side) for side, run in self._sides()]
        excuses = Excuses(self._base, self._candidate, self._pairs, self._right_abstentions())
        unit = self._units()
        rows: list[dict[str, Any]] = []
        in_turn = scores(
            self._base, self._candidate, self._pairs, self._plan.columns, (scored[0], scored[1])
        )
        # A metric is summed while what the last one changed is noted.
        for found, sums in ahead((each, sums_of(each, self._cells.codes)) for each in in_turn):
            told = delta_rows(found.column, sums, self._cells)
            rows += told
            excused = excuses.of(found)
            self._changes.add(found, excused)
            lost = coverage(found, excused, self._pairs, NAMED)
            self._coverage += [lost] if lost else []
            if unit is not None:
                self._family.add(found, self._cells, unit, told)
        return in_order(rows, self._cells)

    def _sides(self) -> list[tuple[str, StoredRun]]:
        return [("base", self._base), ("candidate", self._candidate)]

    def _right_abstentions(self) -> pl.Series:
        """Unanswerable cases that pass in the candidate: what they no longer cite is no loss."""
        answerable = self._pairs.of_candidate(self._candidate, "answerable")
        passes = self._changes.stages["candidate_stage"] == PASS
        return passes & ~answerable.fill_null(value=True)

    def _units(self) -> pl.Series | None:
        if not (self._request.test or self._request.intervals):
            return None
        return group_codes(self._pairs.of_base(self._base, "group"))

    def _cells_transitions(self) -> pl.DataFrame:
        counted = self._changes.transitions(self._cells.codes)
        keys = ["slice", "slice_value", "base_stage", "candidate_stage"]
        joined = self._cells.members.join(counted, on="cell", how="inner")
        return joined.group_by(keys).agg(pl.col("n").sum()).sort(keys)

    def _tests(self) -> pl.DataFrame | None:
        if not self._request.test:
            return None
        return _rows(tables.Tests, self._family.tested())

    def _intervals(self) -> pl.DataFrame | None:
        if not self._request.intervals:
            return None
        return _rows(tables.Intervals, self._family.interval_rows)

    def _details(self, ids: pl.Series) -> pl.DataFrame:
        details = self._changes.details(ids)
        if self._request.no_text:
            return columns_without_text(details, *(n for n in details.columns if n != "case_id"))
        return details

    def _notes(self) -> list[str]:
        notes = [NO_TEXT] if self._request.no_text else []
        notes += [
            f"slice {name}: more values than are kept apart; the rest is summed under `…`"
            for name in self._cells.overflowed
        ]
        one, other = (set(run.manifest["fields"]) for run in (self._base, self._candidate))
        for said, names in (("base run", one - other), ("candidate", other - one)):
            if names:
                notes.append(f"observed in the {said} only: {', '.join(sorted(names))}")
        absent = _absent(self._base, self._candidate)
        if absent:
            notes.append(f"not in both runs' tables, hence not compared: {', '.join(absent)}")
        versions = [run.manifest.get("version") for run in (self._base, self._candidate)]
        if versions[0] != versions[1]:
            notes.append(f"evaluated by version {versions[0]} and version {versions[1]}")
        if comparability.without_text(self._base, self._candidate):
            texts = ", ".join(comparability.UNCOMPARED)
            notes.append(f"texts were left out (--no-text): not compared as labels: {texts}")
        return notes


def _scored(pairs: Pairs, run: StoredRun, side: str) -> pl.Series:
    """Was each pair's case run and settled?"""
    read = pairs.of_base if side == "base" else pairs.of_candidate
    return read(run, "error").is_null() & read(run, "ambiguity").is_null()


def _rows(model: type[tables.Tests | tables.Intervals], rows: list[dict[str, Any]]) -> pl.DataFrame:
    schema = {name: dtype for name, dtype in dtypes(model).items() if name != "run_id"}
    return pl.DataFrame(rows, schema=schema, orient="row")
