"""Which fields hold what people or systems wrote, as against IDs, labels, names and numbers.

What `--no-text` leaves out of every output. A field that may hold a question, an answer or a
part of one is text; names of fields, splits, tags, groups, reviewers and files are not. A key of a
record that does not read as the name of a field is left out too.
"""

from __future__ import annotations

# Null then; whether one of the second was set says whether a case counts, so it says that still.
NULLED = (
    "question",
    "intended_meaning",
    "expected_answers",
    "context_text",
    "answer",
    "filters",
    "query_rewrite",
)
MARKED = ("error", "ambiguity")
TEXT_FIELDS = (*NULLED, *MARKED)
LEFT_OUT = "(text left out)"
NO_TEXT = "texts are left out (--no-text): questions, answers, claims and raw records"
# The member of a claim that is text, and that of a reviewer's label.
CLAIM_TEXT = "text"
REVIEW_TEXT = "note"

_VOICES = "each `note` null with `--no-text`"
# What the columns of written tables hold with `--no-text`, by table and column.
WITHOUT_TEXT: dict[str, dict[str, str]] = {
    "cases": {
        **dict.fromkeys(NULLED, "always with `--no-text`"),
        **dict.fromkeys(MARKED, f"with `--no-text` it is `{LEFT_OUT}` where it is set"),
        "claims": "each `text` null with `--no-text`",
    },
    "claims": {"text": "always with `--no-text`"},
    "rejects": {
        "field": "with `--no-text` `key left out` for an unknown key that reads as no field's name",
        "message": "with `--no-text` the rule's own words",
        "raw": "with `--no-text`",
    },
    "agreement/disagreements": {"labels": _VOICES, "adjudications": _VOICES},
    "agreement/judge-disagreements": {
        "judge_note": "always with `--no-text`",
        "labels": _VOICES,
        "adjudications": _VOICES,
    },
    "leakage/findings": {
        "text": "always with `--no-text`",
        "other_text": "always with `--no-text`",
    },
}
