"""From files of cases to rows that hold their schema, and the faults of all others."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from ragtriage.read.chunk import RowFault
from ragtriage.read.input import Input
from ragtriage.schemas.contracts import CONTRACTS
from ragtriage.schemas.inputs import CaseRows, dtypes
from ragtriage.splits.words import keys_of
from ragtriage.validate import Validator

COLUMNS = ("case_id", "split", "group", "tags", "question", "expected_answers")


@dataclass
class Intake:
    """`cases`: accepted ones with their `key`, in order of case ID. `counts`: lines, by file."""

    cases: pl.DataFrame
    faults: list[RowFault]
    counts: list[tuple[str, int, int]]


def take_in(given: Input) -> Intake:
    """Hold every case against the model; keep of it what splits are about."""
    # Whether claims are labelled is no matter of splits.
    validator = Validator(
        CaseRows, CONTRACTS["auto"], given.duplicates, waived=("missing-claim-label",)
    )
    frames = [pl.DataFrame(schema={name: dtypes(CaseRows)[name] for name in COLUMNS})]
    faults: list[RowFault] = []
    counts: list[tuple[str, int, int]] = []
    for chunk in given.chunks():
        rows, found = validator.check(chunk)
        frames.append(rows.select(COLUMNS))
        faults += found
        counts += chunk.counts
    cases = pl.concat(frames).sort("case_id")
    return Intake(cases.with_columns(keys_of(cases["question"])), faults, counts)
