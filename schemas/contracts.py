"""Which fields each named contract requires, and which further aliases it admits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Contract:
    """A use the input is meant for.

    `requires`: fields that must be there and not null. `may_be_null`: of those, the ones
    that may be null on a row. `any_of`: at least one of these must be there and not null.
    `aliases`: restricted aliases that count under this contract.
    """

    name: str
    about: str
    requires: tuple[str, ...] = ("case_id",)
    may_be_null: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


_CONTRACTS = (
    Contract("auto", "whatever the file has"),
    Contract(
        "diagnosis",
        "the stage of each case from required evidence, supplied context and a staff label",
        requires=("case_id", "required_ids", "context_ids"),
        aliases=("context", "correct", "source"),
    ),
    Contract(
        "citation",
        "ID-level retrieval and citation metrics",
        requires=("case_id", "required_ids", "retrieved_ids", "cited_ids"),
        aliases=("cited",),
    ),
    Contract(
        "ranking",
        "ranked evidence, cases without an answer apart",
        requires=("case_id", "question", "retrieved_ids"),
        any_of=("required_ids", "required_groups", "grades"),
    ),
    Contract(
        "claims",
        "supported fraction and required coverage of reviewed claims",
        requires=("case_id", "required_claims", "claims"),
    ),
    Contract(
        "answer",
        "component checks of short answers, and abstention",
        requires=(
            "case_id",
            "question",
            "split",
            "expected_answers",
            "required_ids",
            "retrieved_ids",
            "answer",
            "cited_ids",
        ),
        may_be_null=("answer",),
        aliases=("source", "cited", "correct"),
    ),
)

CONTRACTS = {contract.name: contract for contract in _CONTRACTS}
