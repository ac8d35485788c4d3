"""What each option of an evaluation is, in a line: for --help and for Prefect's form alike.

Loads nothing: `--help` shows it without polars.
"""

from __future__ import annotations

WORDS = {
    "inputs": "Files, folders or globs of records that hold both case and trace.",
    "corpus": "The passages there are.",
    "reviews": "Labels by people and judges.",
    "contract": "auto (default), diagnosis, citation, ranking, claims, answer.",
    "map": "A field's name in your file.",
    "extra": "Unknown fields: an error, or set aside.",
    "unknown_trace": "Traces without a case.",
    "missing_trace": "Cases without a trace.",
    "unknown_review": "Reviews without a case or claim.",
    "judge": "Whose labels fill claims that no person labelled.",
    "min_validated": "Labels a judge must share with people to be believed [30].",
    "on_invalid": "Rows that break a rule.",
    "k": "Cutoffs; the first is the ledger's [10].",
    "normalizer": "lower-whitespace, exact, casefold, squad.",
    "abstain_text": "An answer that declines.",
    "slice": "A further field of ours to slice by.",
    "intervals": "Cluster bootstrap intervals of means, or of their differences.",
    "seed": "Of what --test and --intervals draw [0].",
    "about": "What was run: shown at the head of reports.",
    "min_recall": "Least recall at the first cutoff, 0 to 1.",
    "min_context_precision": "Least context precision, same cutoff.",
    "min_mrr": "Least mean reciprocal rank, uncut.",
    "min_citation_coverage": "Least citation coverage.",
    "min_citation_validity": "Least citation validity.",
    "out": "Where runs are written [reports/].",
    "all_cases": "Every case in the reports, not the first 500.",
    "cases": "Cases, apart from their traces.",
    "trace": "Traces, joined by case ID.",
    "run_id": "Name of the run's folder.",
    "gate": "What must hold, for example 'recall@5 >= 0.8'.",
    "write": "Leave the run in a folder.",
}
