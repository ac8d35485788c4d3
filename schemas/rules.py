"""Every rule an input can break: its stable ID, what is wrong, and what to do about it.

The IDs are part of the published contract. A rule that looks at decoded values is checked
by a pandera model in `inputs.py`, which takes its words from here; the others are found by
the readers, which do the same.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One rule: `message` reads on from `path:line: field: `."""

    id: str
    message: str


_RULES = (
    Rule("json-syntax", "not valid JSON; correct the syntax"),
    Rule("not-an-object", "the record is not an object; write one JSON object a record"),
    Rule("encoding", "not valid UTF-8 text; save the file as UTF-8"),
    Rule("duplicate-key", "the key is given more than once; keep one"),
    Rule("unknown-field", "not a known field"),
    Rule("missing-field", "missing; give the field"),
    Rule("type", "wrong type"),
    Rule(
        "answer-label", "a label must be true or false; use a Boolean, or null where there is none"
    ),
    Rule("null-item", "the list holds a null; remove it or give the value"),
    Rule("blank-id", "holds a blank ID; give the ID or remove the entry"),
    Rule(
        "id-whitespace",
        "an ID has leading or trailing white space, or a control or zero-width character; "
        "clean the ID where it is made",
    ),
    Rule("duplicate-case-id", "the case ID is not unique; give each case its own"),
    Rule(
        "duplicate-claim-id",
        "a claim ID appears twice in this case; give each claim of a case its own ID",
    ),
    Rule(
        "missing-claim-label",
        "a claim has no `supported` label and no reviews are given; label the claim",
    ),
    Rule(
        "unanswerable-with-required",
        "declared false, yet evidence is required; correct the label or remove the required IDs",
    ),
    Rule(
        "required-empty",
        "declared answerable, yet no evidence is required; give the required IDs or correct "
        "`answerable`",
    ),
    Rule("group-empty", "a group of interchangeable IDs is empty; fill it or remove it"),
    Rule(
        "grade-conflict",
        "one ID has two grades, or a required ID has a grade of 0 or less; keep one judgement",
    ),
    Rule("weight", "a weight must be a finite number above 0; correct it, or use null for 1"),
    Rule(
        "unknown-case",
        "the trace is for a case that is not in the cases file; add the case, or pass "
        "--unknown-trace ignore",
    ),
    Rule(
        "missing-trace",
        "the case has no trace; add it, or pass --missing-trace empty or not-run",
    ),
    Rule(
        "field-conflict",
        "the field is given twice with different values; keep one, or make them equal",
    ),
    Rule("unmapped", "the record cannot be mapped to a case"),
    Rule("review-kind", "not one of human, judge, adjudication; write one of them"),
    Rule(
        "reviewer-kind",
        "the reviewer's labels are both a judge's and a person's; give each its own name",
    ),
    Rule(
        "duplicate-review",
        "this reviewer labelled the same thing before; keep one label",
    ),
    Rule(
        "unknown-claim",
        "the case neither proposes nor requires this claim; correct the ID, or pass "
        "--unknown-review ignore",
    ),
)

RULES = {rule.id: rule for rule in _RULES}


def message(rule_id: str) -> str:
    """The rule's own words."""
    return RULES[rule_id].message
