"""What the formats say alike of reviewers' labels: what is settled, disputed, or a judge's."""

from __future__ import annotations

from ragtriage.publish import document as doc

_SOURCES = {
    "review": "settled by reviews",
    "inline": "as the cases have them",
    "judge": "by the judge",
    "none": "without a label",
}
_STATES = {
    "agreed": "people agree",
    "adjudicated": "adjudicated",
    "disputed": "disputed",
    "open": "no person gave a label",
}


def notices(reviews: doc.ReviewsEntry | None) -> list[str]:
    """What must be known before a number that rests on reviews is read."""
    if reviews is None:
        return []
    told = []
    if disputed := reviews["states"].get("disputed", 0):
        told.append(f"labels that people dispute: {disputed:,}; unknown in every number")
    if reviews["judge"] is not None:
        filled = reviews["claim_labels"].get("judge", 0)
        told.append(f"claims labelled by judge {reviews['judge']}, not by people: {filled:,}")
    if conflicts := reviews["conflicts"]:
        told.append(f"labels of claims overridden by settled reviews: {conflicts:,}")
    return told


def summary(reviews: doc.ReviewsEntry) -> list[str]:
    """One line on what was reviewed, one on where the claims' labels are from."""
    lines = [f"Reviewed: {_listed(reviews['states'], _STATES)}."]
    if reviews["claim_labels"]:
        lines.append(f"Labels of claims: {_listed(reviews['claim_labels'], _SOURCES)}.")
    return lines


def subject(row: doc.DisputedRow) -> str:
    """What the disputed label is of: `claim`, `answer`, `relevance of a passage`, …."""
    names = {
        "claim": "claim",
        "answer": "the whole answer",
        "relevance": "relevance of a passage",
        "claim-passage": "support of a claim by a passage",
    }
    return names[row["target"]]


def _listed(counts: dict[str, int], words: dict[str, str]) -> str:
    return (
        ", ".join(f"{counts[key]:,} {word}" for key, word in words.items() if key in counts) or "0"
    )
