"""One case from source to answer: what a run stored of it, put in words, and why it is where it is.

Builds the document and shows it as text; computes nothing that the run has not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict, cast

from ragtriage.errors import InputError
from ragtriage.evidence import LOST_AT
from ragtriage.findings import MEANINGS
from ragtriage.publish import case_words, wording
from ragtriage.publish.document import CaseEntry, EvidenceRow
from ragtriage.publish.escape import clip, first, terminal, visible
from ragtriage.read.one_case import StoredCase
from ragtriage.stages import deciding_row, precedence

_TEXT = 2_000
_IDS = 20


class RowEntry(TypedDict):
    """One row of the stage table."""

    number: int
    stage: str
    when: str


class Explanation(TypedDict):
    """The document. `row`: what placed the case; `rows_before`: tried first, none applied.

    `no_text`: the run was written without texts, so that a null one says nothing.
    """

    run_id: str
    no_text: bool
    case: dict[str, Any]
    cutoff: int
    what: str
    row: RowEntry
    rows_before: list[RowEntry]
    requirements: list[dict[str, Any]]
    findings: dict[str, str]
    claims: list[dict[str, Any]]


_KEYS = (
    "case_id",
    "source_file",
    "line",
    "question",
    "answerable",
    "expected_answers",
    "answer",
    "stage",
    "break_point",
    "missing",
    "lucky",
    "answer_label",
    "label_source",
    "answer_disputed",
    "context_observed",
    "retrieved_ids",
    "context_ids",
    "cited_ids",
    "near_misses",
    "unsupported_claims",
    "omitted_claims",
    "disputed_claims",
    "next_check",
    "error",
    "ambiguity",
)


def build(stored: StoredCase) -> Explanation:
    """What the run has of a case, with the rule behind its stage and behind each loss.

    Raises:
        InputError: the stage table has no such stage.
    """
    case = stored.case
    row = deciding_row(
        case["stage"],
        case["break_point"],
        answerable=case["answerable"],
        missing_known=case["missing"] is not None,
    )
    if row is None:
        raise InputError(
            f"run {stored.run_id}: {case['stage']!r}, {case['break_point']!r}: no stage and break "
            "point of ours; evaluate again"
        )
    table = [RowEntry(number=r.number, stage=r.stage, when=r.when) for r in precedence("auto")]
    why = dict(LOST_AT)
    return Explanation(
        run_id=stored.run_id,
        no_text=stored.no_text,
        case={key: case[key] for key in _KEYS},
        cutoff=stored.k,
        what=wording.headline(cast("CaseEntry", case)),
        row=table[row.number - 1],
        rows_before=table[: row.number - 1],
        requirements=[
            _without_run(found)
            | {
                "way": case_words.way(cast("EvidenceRow", found), stored.k, str),
                "lost_because": why.get(found["lost_at"]),
            }
            for found in stored.requirements
        ],
        findings={name: MEANINGS.get(name, "") for name in case["findings"] or []},
        claims=[_without_run(claim) for claim in stored.claims],
    )


def _without_run(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("run_id", "case_id")}


def as_text(told: Explanation) -> str:
    """The document for people, part after part."""
    parts = [_head(told), _asked(told), _evidence(told), _why(told), _answer(told), _rest(told)]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _head(told: Explanation) -> list[str]:
    case = cast("CaseEntry", told["case"])
    return [
        f"{terminal(case['case_id'])}: {case_words.broke(case)}",
        f"run {terminal(told['run_id'])}, recorded in {terminal(case_words.place(case))}",
    ]


def _asked(told: Explanation) -> list[str]:
    case = told["case"]
    expected = case["expected_answers"] or []
    unanswerable = case["answerable"] is False
    lines = [
        f"Question: {_or_none(told, case['question'])}",
        f"Expected: {' or '.join(map(_text, expected))}" if expected else "",
        "Expected: to abstain" if unanswerable and not expected else "",
        f"Answer: {_or_none(told, case['answer'])}",
        f"Failed: {_text(case['error'])}" if case["error"] else "",
        f"Ambiguous: {_text(case['ambiguity'])}" if case["ambiguity"] else "",
    ]
    return [line for line in lines if line]


def _evidence(told: Explanation) -> list[str]:
    """Each requirement step by step, the step that lost it with the rule that says so."""
    case, k = told["case"], told["cutoff"]
    lines = [f"Required evidence (cutoff {k:,}; what was supplied: {_supplied(case)})"]
    for row in told["requirements"]:
        lines.append(f"  {row['requirement'] + 1}. {_ids(row['ids'], ' or ')}")
        for step in wording.path(cast("EvidenceRow", row), k):
            member = f" as {terminal(step.member)}" if step.member else ""
            lost = f"   <- lost here: {row['lost_because']}" if step.state == "lost" else ""
            lines.append(f"     {step.name}: {step.text}{member}{lost}")
    if not told["requirements"]:
        lines.append("  none is labelled")
    lists = ("retrieved", "context", "cited")
    return lines + [f"  {name}: {_ids(case[f'{name}_ids'])}" for name in lists]


def _supplied(case: dict[str, Any]) -> str:
    return (
        "the context" if case["context_observed"] else "what was retrieved, for want of a context"
    )


def _why(told: Explanation) -> list[str]:
    row, case = told["row"], told["case"]
    lines = [f"Why {wording.stage_words(row['stage'])}: row {row['number']} of the stage table"]
    lines.append(f"  {row['when']}")
    if case["break_point"]:
        lines.append(f"  break point {case['break_point']}: {told['what']}")
    if told["rows_before"]:
        lines.append("  Rows before it, of which none applies:")
    lines += [
        f"    {before['number']} {wording.stage_words(before['stage'])}: {before['when']}"
        for before in told["rows_before"]
    ]
    if case["missing"]:
        lines.append(f"  missing: {_ids(case['missing'])}")
    if case["lucky"]:
        lines.append("  the answer is right although required evidence was missing: not a pass")
    return [*lines, f"Look first: {case['next_check']}"] if case["next_check"] else lines


def _answer(told: Explanation) -> list[str]:
    """The answer's label, and each claim with its own."""
    case = told["case"]
    disputed = "; people disagree on the answer as a whole" if case["answer_disputed"] else ""
    lines = [f"Answer label: {wording.judged(cast('CaseEntry', case))}{disputed}"]
    for claim in told["claims"]:
        text = f" {_text(claim['text'])}" if claim["text"] else ""
        cites = f"; cites {_ids(claim['cited_ids'])}" if claim["proposed"] else ""
        lines.append(f"  {terminal(claim['claim_id'])}: {_claim(claim)}{cites}{text}")
    return lines


def _claim(claim: dict[str, Any]) -> str:
    required = "required, " if claim["required"] else ""
    if not claim["proposed"]:
        return f"{required}not made"
    if claim["disputed"]:
        return f"{required}people disagree"
    words = {True: "supported", False: "not supported", None: "not labelled"}[claim["supported"]]
    source = f" by {claim['label_source']}" if claim["label_source"] else ""
    conflict = ", which overrides the case's own label" if claim["conflict"] else ""
    return f"{required}{words}{source}{conflict}"


def _rest(told: Explanation) -> list[str]:
    lines = [f"  {name}: {meaning}" for name, meaning in told["findings"].items()]
    for pair in told["case"]["near_misses"] or []:
        required, retrieved = terminal(pair["required"]), terminal(pair["retrieved"])
        lines.append(f"  near miss: required {required}, retrieved {retrieved}")
    return ["Findings", *lines] if lines else []


def _or_none(told: Explanation, value: str | None) -> str:
    if value is None:
        return "left out (--no-text)" if told["no_text"] else "not recorded"
    return _text(value)


def _text(value: str) -> str:
    head, mark = clip(value, _TEXT)
    return visible(head) + mark or "(empty)"


def _ids(items: Iterable[str] | None, joint: str = ", ") -> str:
    if items is None:
        return "not recorded"
    shown, rest = first(list(items), _IDS)
    return " ".join(filter(None, (joint.join(map(terminal, shown)), rest))) or "none"
