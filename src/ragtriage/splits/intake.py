"""From files of cases to what splits are about: rows that hold their schema, and the faults."""

from __future__ import annotations

from dataclasses import replace

from ragtriage.intake import Intake, checked
from ragtriage.read.input import Input
from ragtriage.schemas.contracts import CONTRACTS
from ragtriage.schemas.inputs import CaseRows, dtypes
from ragtriage.splits.words import keys_of
from ragtriage.validate import Validator

COLUMNS = ("case_id", "split", "group", "tags", "question", "expected_answers")


def take_in(given: Input) -> Intake:
    """Hold every case against the model; the accepted ones with their `key`, by case ID."""
    # Whether claims are labelled is no matter of splits.
    validator = Validator(
        CaseRows, CONTRACTS["auto"], given.duplicates, waived=("missing-claim-label",)
    )
    intake = checked(given.chunks(), validator, {name: dtypes(CaseRows)[name] for name in COLUMNS})
    cases = intake.rows.sort("case_id")
    return replace(intake, rows=cases.with_columns(keys_of(cases["question"])))
