"""Builds the one document that every format shows. Arranges what was computed; computes nothing."""

from __future__ import annotations

from typing import Any, cast

import polars as pl

from ragtriage import evidence
from ragtriage.findings import MEANINGS
from ragtriage.metrics import REGISTRY, Column
from ragtriage.publish.document import AbstentionRow, CaseEntry, Report, ReviewsEntry, RunEntry
from ragtriage.summary import STANDARD_SLICES
from ragtriage.tally import Tally

# Requirements of one case that a report shows; the ledger has them all.
MOST_PATHS = 100
LIMITS = (
    (
        "These labels name the first place where the evidence path broke; they tell no internal "
        "cause in a model."
    ),
    (
        "Citations and evidence are compared by ID: no entailment, attribution or groundedness "
        "is judged."
    ),
    (
        "Answers are compared by label or by exact match after normalisation, which is narrow: no "
        "semantic correctness is judged."
    ),
    (
        "A claim is supported where its label says so: the arithmetic repeats labels, it does not "
        "check them."
    ),
    "Several defects can coexist in a case; the evidence table keeps them all.",
)

_CASE_KEYS = (
    "case_id",
    "source_file",
    "line",
    "question",
    "split",
    "tags",
    "stage",
    "break_point",
    "missing",
    "lucky",
    "label_source",
    "answer_label",
    "context_observed",
    "findings",
    "unsupported_claims",
    "omitted_claims",
    "disputed_claims",
    "near_misses",
    "next_check",
    "error",
    "ambiguity",
    "expected_answers",
    "answer",
    "retrieved_ids",
    "context_ids",
    "cited_ids",
)
_CLAIM_KEYS = (
    "claim_id",
    "proposed",
    "required",
    "supported",
    "label_source",
    "disputed",
    "cited_ids",
    "citation_valid",
    "text",
)


def build_report(  # noqa: PLR0913 - a report has all these parts, each by name
    *,
    run: RunEntry,
    failures: list[str],
    about: dict[str, Any],
    summary: pl.DataFrame,
    stages: pl.DataFrame,
    gates: pl.DataFrame,
    tally: Tally,
    columns: list[Column],
    fields: set[str],
    reviews: ReviewsEntry | None,
    intervals: pl.DataFrame | None,
) -> Report:
    """The whole document of a run."""
    shown, ledger = tally.showcase()
    kinds = {name: declared.kind for name, declared in REGISTRY.items()}
    rows = [row | {"kind": kinds[row["metric"]]} for row in _of_run(summary, run)]
    return Report(
        run=run,
        failures=failures,
        about=about,
        summary=cast("Any", rows),
        stages=cast("Any", _of_run(stages, run)),
        funnel=cast("Any", [step._asdict() for step in tally.funnel.steps()]),
        funnel_bypassed=tally.funnel.bypassed,
        abstention=_abstention(tally),
        findings=cast("Any", [_finding(row) for row in tally.findings()]),
        rejects=dict(sorted(tally.rules.items())),
        gates=cast("Any", gates.to_dicts()),
        reviews=reviews,
        intervals=None if intervals is None else cast("Any", intervals.to_dicts()),
        not_observed=[
            {"metric": name, "needs": declared.missing(fields)}
            for name, declared in REGISTRY.items()
            if not declared.observed(fields)
        ],
        definitions={column.metric.name: column.metric.about for column in columns},
        limits=list(LIMITS),
        cases=_cases(shown, ledger, tally.shown_claims(), columns, _further_slices(stages)),
        cases_omitted=run["n_cases"] - shown.height,
    )


def _of_run(table: pl.DataFrame, run: RunEntry) -> list[dict[str, Any]]:
    """The rows of a written table, which carry their run."""
    return [{"run_id": run["run_id"], **row} for row in table.to_dicts()]


def _finding(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"meaning": MEANINGS[row["finding"]]}


def _abstention(tally: Tally) -> list[AbstentionRow]:
    words = {"yes": "answerable", "no": "unanswerable", "unknown": "not known"}
    return [
        AbstentionRow(
            answerable=words[answerable],
            answered=tally.abstention[answerable, "no"],
            abstained=tally.abstention[answerable, "yes"],
            unknown=tally.abstention[answerable, "unknown"],
        )
        for answerable in words
    ]


def _further_slices(stages: pl.DataFrame) -> list[str]:
    """The fields named with `--slice`, in order."""
    named = stages["slice"].unique(maintain_order=True).to_list()
    return [name for name in named if name not in ("all", *STANDARD_SLICES)]


def _cases(
    shown: pl.DataFrame,
    ledger: pl.DataFrame,
    claims: pl.DataFrame,
    columns: list[Column],
    slices: list[str],
) -> list[CaseEntry]:
    if shown.is_empty():
        return []
    paths = _by_case(_first_paths(ledger))
    required = dict(ledger.group_by("case_id").len().iter_rows())
    said = _by_case(claims.select("case_id", *_CLAIM_KEYS)) if claims.height else {}
    names = [name for column in columns for name in column.schema]
    told = ("is_answerable", "did_abstain", "review_disputed")
    entries = []
    for row in shown.select({*_CASE_KEYS, *told, *names, *slices}).iter_rows(named=True):
        entry = {key: row[key] for key in _CASE_KEYS}
        entry["answerable"] = row["is_answerable"]
        entry["abstained"] = row["did_abstain"]
        entry["answer_disputed"] = row["review_disputed"]
        entry["metrics"] = {name: row[name] for name in names}
        entry["evidence"] = paths.get(row["case_id"], [])
        entry["evidence_omitted"] = required.get(row["case_id"], 0) - len(entry["evidence"])
        entry["claims"] = said.get(row["case_id"], [])
        entry["slices"] = {name: _as_slice(row[name]) for name in slices if row[name] is not None}
        entries.append(entry)
    return cast("list[CaseEntry]", entries)


def _first_paths(ledger: pl.DataFrame) -> pl.DataFrame:
    """At most so many requirements of a case, those that were lost before those that were not."""
    place = pl.int_range(pl.len()).over("case_id")
    lost_first = ledger.select(evidence.COLUMNS).sort(
        pl.col("lost_at").is_null(), maintain_order=True
    )
    return lost_first.filter(place < MOST_PATHS).sort("case_id", "requirement", maintain_order=True)


def _by_case(rows: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows.iter_rows(named=True):
        found.setdefault(row.pop("case_id"), []).append(row)
    return found


def _as_slice(value: str | bool) -> str:  # noqa: FBT001 - a Boolean is what is put in words
    """A field's value as the summary has it."""
    return str(value).lower() if isinstance(value, bool) else value
