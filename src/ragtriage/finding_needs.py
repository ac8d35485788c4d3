"""What an input must hold for a finding to be looked for at all."""

from __future__ import annotations

from ragtriage.findings import DISJOINT
from ragtriage.split_groups import GROUP_ACROSS_SPLITS, NEEDS

CORPUS, REVIEWS = "--corpus", "--reviews"
_LABELS = ("required_ids", "required_groups", "grades")
_RETRIEVED, _CONTEXT, _CITED = ("retrieved_ids",), ("context_ids",), ("cited_ids",)
# Of each group of alternatives one; findings that are not here can be told from any input.
_NEEDED: dict[str, tuple[tuple[str, ...], ...]] = {
    "duplicate-retrieved": (_RETRIEVED,),
    "duplicate-required": (_LABELS,),
    "empty-retrieval": (_RETRIEVED,),
    "citation-not-retrieved": (_CITED, _RETRIEVED),
    "citation-not-in-context": (_CITED, _CONTEXT),
    "no-citations": (_CITED,),
    "context-not-retrieved": (_CONTEXT, _RETRIEVED),
    "near-miss-id": (_LABELS, _RETRIEVED),
    "dangling-required": (_LABELS, (CORPUS,)),
    "required-not-allowed": (_LABELS, ("allowed_ids", "forbidden_ids")),
    "disputed-label": ((REVIEWS,),),
    "unjudged": (("grades",), _RETRIEVED),
    DISJOINT: (_LABELS, _RETRIEVED),
    GROUP_ACROSS_SPLITS: tuple((name,) for name in NEEDS),
}


def lacking(finding: str, given: set[str]) -> list[str]:
    """What is missing for a finding, one entry a need: `a or b`.

    `given`: the fields of the input, with `CORPUS` and `REVIEWS` where there are such files.
    """
    groups = _NEEDED.get(finding, ())
    return [" or ".join(group) for group in groups if given.isdisjoint(group)]
