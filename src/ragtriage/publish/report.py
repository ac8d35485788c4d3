"""Builds the one document that every format shows. Arranges what was computed; computes nothing."""

from __future__ import annotations

from typing import Any, cast

import polars as pl

from ragtriage import evidence
from ragtriage.findings import MEANINGS
from ragtriage.metrics import REGISTRY, Column
from ragtriage.publish.document import AbstentionRow, CaseEntry, Report, ReviewsEntry, RunEntry
from ragtriage.tally import Tally

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
        "Answers are compared by label or by exact match after normalisation: no semantic "
        "correctness is judged."
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
    rows = [row | {"kind": kinds[row["metric"]]} for row in summary.to_dicts()]
    return Report(
        run=run,
        failures=failures,
        about=about,
        summary=cast("Any", rows),
        stages=cast("Any", stages.to_dicts()),
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
        cases=_cases(shown, ledger, columns),
        cases_omitted=run["n_cases"] - shown.height,
    )


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


def _cases(shown: pl.DataFrame, ledger: pl.DataFrame, columns: list[Column]) -> list[CaseEntry]:
    if shown.is_empty():
        return []
    by_case: dict[str, list[dict[str, Any]]] = {}
    for row in ledger.select(evidence.COLUMNS).iter_rows(named=True):
        by_case.setdefault(row.pop("case_id"), []).append(row)
    names = [name for column in columns for name in column.schema]
    wanted = (*_CASE_KEYS, "is_answerable", "did_abstain", "review_disputed", *names)
    entries = []
    for row in shown.select(wanted).iter_rows(named=True):
        entry = {key: row[key] for key in _CASE_KEYS}
        entry["answerable"] = row["is_answerable"]
        entry["abstained"] = row["did_abstain"]
        entry["answer_disputed"] = row["review_disputed"]
        entry["metrics"] = {name: row[name] for name in names}
        entry["evidence"] = by_case.get(row["case_id"], [])
        entries.append(entry)
    return cast("list[CaseEntry]", entries)
