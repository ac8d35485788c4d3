"""What is wrong with each file of data/invalid/, in the program's own words: a table only."""

from __future__ import annotations

CLEAN = (
    "an ID has leading or trailing white space, or a control or zero-width character; "
    "clean the ID where it is made"
)
SYNTAX = "not valid JSON; correct the syntax (Expecting ',' delimiter, at character 204)"
TWICE = (
    "'case-2' is not unique, first at data/invalid/duplicate-case-id.jsonl:2; "
    "give each case its own ID, and keep one of repeated trials"
)
# file: [(line, case, field, message, rule)]; the case is None where the line could not be read
FAULTS: dict[str, list[tuple[int, str | None, str, str, str]]] = {
    "answer-label": [
        (
            3,
            "case-3",
            "answer_correct",
            'a label must be true or false; use a Boolean, or null where there is none (got "yes")',
            "answer-label",
        )
    ],
    "blank-id": [
        (
            3,
            "case-3",
            "context_ids",
            "holds a blank ID; give the ID or remove the entry",
            "blank-id",
        )
    ],
    "duplicate-case-id": [
        (2, "case-2", "case_id", TWICE, "duplicate-case-id"),
        (4, "case-2", "case_id", TWICE, "duplicate-case-id"),
    ],
    "duplicate-claim-id": [
        (
            2,
            "case-2",
            "claims",
            "a claim ID appears twice in this case; give each claim of a case its own ID",
            "duplicate-claim-id",
        )
    ],
    "duplicate-key": [
        (
            2,
            "case-2",
            "question",
            "the key is given more than once; keep one",
            "duplicate-key",
        )
    ],
    "encoding": [
        (
            2,
            None,
            "record",
            "not valid UTF-8 text; save the file as UTF-8 (byte 51 of the record is 0xe9)",
            "encoding",
        )
    ],
    "encoding-surrogate": [
        (
            3,
            "case-3",
            "question",
            "holds an escaped lone surrogate, which no text can; correct the escape",
            "encoding",
        )
    ],
    "grade-conflict": [
        (
            3,
            "case-3",
            "grades",
            "one ID has two grades, or a required ID has a grade of 0 or less; keep one judgement",
            "grade-conflict",
        )
    ],
    "group-empty": [
        (
            2,
            "case-2",
            "required_groups",
            "a group of interchangeable IDs is empty; fill it or remove it",
            "group-empty",
        )
    ],
    "id-whitespace": [(2, "case-2", "required_ids", f"{CLEAN} (here 'p2 ')", "id-whitespace")],
    "json-syntax": [(2, None, "record", SYNTAX, "json-syntax")],
    "missing-claim-label": [
        (
            3,
            "case-3",
            "claims",
            "a claim has no `supported` label and no reviews are given; label the claim",
            "missing-claim-label",
        )
    ],
    "missing-field": [
        (
            3,
            "case-3",
            "retrieved_ids",
            "missing; give the field, as other records of this file do (null or [] are allowed)",
            "missing-field",
        )
    ],
    "not-an-object": [
        (
            3,
            None,
            "record",
            "the record is not an object; write one JSON object a record (got a list)",
            "not-an-object",
        )
    ],
    "null-item": [
        (
            2,
            "case-2",
            "retrieved_ids",
            "the list holds a null; remove it or give the value",
            "null-item",
        )
    ],
    "required-empty": [
        (
            3,
            "case-3",
            "answerable",
            (
                "declared answerable, yet no evidence is required; give the required IDs or "
                "correct `answerable`"
            ),
            "required-empty",
        )
    ],
    "type": [
        (
            2,
            "case-2",
            "retrieved_ids",
            'expected a list of strings, got a string; write ["p2"] for one',
            "type",
        )
    ],
    "unanswerable-with-required": [
        (
            2,
            "case-2",
            "answerable",
            (
                "declared false, yet evidence is required; correct the label or remove the "
                "required IDs"
            ),
            "unanswerable-with-required",
        )
    ],
    "unknown-field": [
        (
            2,
            "case-2",
            "abstaned",
            (
                "not a known field (did you mean `abstained`?); correct the name, or pass "
                "--extra ignore"
            ),
            "unknown-field",
        )
    ],
    "weight": [
        (
            2,
            "case-2",
            "weight",
            "a weight must be a finite number above 0; correct it, or use null for 1",
            "weight",
        )
    ],
}
