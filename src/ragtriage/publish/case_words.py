"""One case in words, for formats that are lines of text; text from a fixture stays as it came."""

from __future__ import annotations

from collections.abc import Callable

from ragtriage.publish import wording
from ragtriage.publish.document import CaseEntry, EvidenceRow

Shown = Callable[[str], str]


def broke(case: CaseEntry) -> str:
    """`retrieval: ranked too low`; a stage without a break point alone."""
    stage = wording.stage_words(case["stage"])
    return f"{stage}: {wording.headline(case)}" if case["break_point"] else stage


def lost_first(case: CaseEntry, k: int, shown: Shown) -> str:
    """`loans-1 lost at top 5: below cutoff`, the first loss; else the break point in words.

    A case may lose evidence and yet stand at another stage: then that is what is said.
    """
    for row in wording.lost_first(case)[:1] if case["stage"] == "retrieval" else ():
        for step in wording.path(row, k):
            if step.state == "lost":
                others = f" (or {len(row['ids']) - 1:,} more)" if len(row["ids"]) > 1 else ""
                return f"{shown(row['ids'][0])}{others} lost at {step.name}: {step.text}"
    return wording.headline(case)


def way(row: EvidenceRow, k: int, shown: Shown) -> str:
    """`in source → rank 7 → lost at top 5: below cutoff → not in context → not cited`."""
    told = []
    for step in wording.path(row, k):
        named = step.state == "lost" or step.name not in step.text
        text = (f"{step.name}: " if named else "") + step.text
        text += f" as {shown(step.member)}" if step.member else ""
        told.append(f"lost at {text}" if step.state == "lost" else text)
    return " → ".join(told)


def place(case: CaseEntry) -> str:
    """`cases.jsonl:7`."""
    return f"{case['source_file']}:{case['line']}"
