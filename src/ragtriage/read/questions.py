"""Labelled cases alone: questions, splits, groups and expected answers, whatever else is there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ragtriage.read.files import find_files
from ragtriage.read.input import Input, check_mapping, indexed
from ragtriage.read.sources import Reading, source_for

_OF_A_TRACE = {
    "expected_answers",
    "candidate_ids",
    "filtered_ids",
    "retrieved_ids",
    "context_ids",
    "context_text",
    "cited_ids",
    "abstained",
    "answer_correct",
    "claims",
    "error",
}


def open_questions(names: tuple[str, ...], request: Reading, spill: Path | None) -> Input:
    """Index the files of cases.

    Where nothing in them is of a system's run, `answer` is the expected one, as in any file of
    cases alone.

    Raises:
        InputError: a file cannot be read at all.
    """
    files = find_files(names, "records", spill)
    given = indexed([source_for(file, "records", request) for file in files])
    if "answer" in given.fields and not given.fields & _OF_A_TRACE:
        alone = [replace(file, role="cases") for file in files]
        given = indexed([source_for(file, "cases", request) for file in alone])
        given.notes.append("answer is read as the expected answer: the files hold no trace")
    check_mapping(dict(request.mapping), given)
    return given
