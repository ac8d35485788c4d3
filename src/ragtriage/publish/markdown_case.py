"""One case that did not pass, as Markdown."""

from __future__ import annotations

from ragtriage.publish import wording
from ragtriage.publish.document import CaseEntry, EvidenceRow
from ragtriage.publish.escape import code, first, prose
from ragtriage.publish.markdown_parts import bullets, ids
from ragtriage.publish.notices import judged_by

REQUIREMENTS = 10


def block(n: int, case: CaseEntry, k: int, *, no_text: bool) -> str:
    """A case under its heading, with its requirements, its answer and where to look first."""
    paths, rest = first(wording.lost_first(case), REQUIREMENTS)
    what = prose(wording.headline(case)) if case["break_point"] else ""
    lines = [
        f"Question: {prose(case['question'])}" if case["question"] else "",
        f"Look first: {prose(case['next_check'])}" if case["next_check"] else "",
        *(f"Requirement {row['requirement'] + 1}: {_path(row, k)}" for row in paths),
        f"{rest} requirements" if rest else "",
        _expected(case),
        f"Answer, {prose(wording.judged(case))}: {_answer(case, no_text=no_text)}",
        "Right although required evidence was missing: not a pass" if case["lucky"] else "",
        f"Missing: {ids(case['missing'])}" if case["missing"] else "",
        f"Error: {code(case['error'])}" if case["error"] else "",
        f"Ambiguity: {prose(case['ambiguity'])}" if case["ambiguity"] else "",
        f"Findings: {ids(case['findings'])}" if case["findings"] else "",
        f"Unsupported claims: {ids(case['unsupported_claims'])}"
        if case["unsupported_claims"]
        else "",
        f"Omitted claims: {ids(case['omitted_claims'])}" if case["omitted_claims"] else "",
        "People disagree on the answer as a whole" if case["answer_disputed"] else "",
        f"Disputed claims: {ids(case['disputed_claims'])}" if case["disputed_claims"] else "",
        *(
            f"Near miss: required {code(pair['required'])}, retrieved {code(pair['retrieved'])}"
            for pair in case["near_misses"] or []
        ),
        f"Context {judged}" if (judged := judged_by(case)) else "",
        f"Recorded in {code(case['source_file'])}, line {case['line']:,}",
    ]
    stage = prose(wording.stage_words(case["stage"]))
    heading = f"### {n}. {code(case['case_id'])}: {stage}" + (f", {what}" if what else "")
    return f"{heading}\n\n{bullets(line for line in lines if line)}"


def _answer(case: CaseEntry, *, no_text: bool) -> str:
    """The answer; where there is none here, whether one was recorded is said, not guessed."""
    if case["answer"] is not None:
        return code(case["answer"])
    return "left out (`--no-text`)" if no_text else "none recorded"


def _expected(case: CaseEntry) -> str:
    answers, rest = first(case["expected_answers"] or [], 3)
    if not answers:
        return "Expected: to abstain" if case["answerable"] is False else ""
    return f"Expected: {' or '.join(code(answer) for answer in answers)} {rest}".rstrip()


def _path(row: EvidenceRow, k: int) -> str:
    """`id`; in source → retrieved: rank 7 → **lost at top 5: below cutoff** → not in context."""
    shown = []
    for step in wording.path(row, k):
        named = step.state == "lost" or step.name not in step.text
        text = (f"{prose(step.name)}: " if named else "") + prose(step.text)
        text += f" as {code(step.member)}" if step.member else ""
        shown.append(f"**lost at {text}**" if step.state == "lost" else text)
    return f"{ids(row['ids'], ' or ')}; {' → '.join(shown)}"
