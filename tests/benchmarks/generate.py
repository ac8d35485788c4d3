"""Recorded cases of any number from a seed: ten retrieved IDs each, some of them right."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

_WORDS = [
    "the",
    "policy",
    "of",
    "renewal",
    "for",
    "laptops",
    "rooms",
    "members",
    "may",
    "borrow",
    "return",
]


def write_cases(path: Path, n: int, seed: int = 7, drift: float = 0.0) -> None:
    """Write `n` cases as JSON lines; the same seed gives the same bytes.

    `drift`: the share of cases whose ranking and answer another version of the system changed;
    their labels stay.
    """
    chance = random.Random(seed)  # noqa: S311 - data, not secrets
    turn = random.Random(seed + 1)  # noqa: S311 - the same
    with path.open("w", encoding="utf-8") as target:
        for i in range(n):
            case = _case(i, chance)
            if turn.random() < drift:
                case |= _drifted(case, turn)
            target.write(json.dumps(case) + "\n")


def multiply(source: Path, target: Path, times: int) -> None:
    """The cases of a file so many times over, each time under IDs of their own."""
    with target.open("wb") as made:
        for i in range(times):
            with source.open("rb") as lines:
                while block := lines.readlines(1 << 24):
                    made.write(b"".join(block).replace(b'"case-', b'"case-%d-' % i))


def _drifted(case: dict[str, object], turn: random.Random) -> dict[str, object]:
    passages = list(case["retrieved_ids"])  # type: ignore[call-overload] - a list, as made below
    turn.shuffle(passages)
    right = turn.random() < 0.7
    return {"retrieved_ids": passages, "context_ids": passages[:5], "answer_correct": right}


def write_claims(cases: Path, reviews: Path, n: int, seed: int = 7) -> None:
    """Write `n` cases of four claims each, and a person's label for every claim."""
    chance = random.Random(seed)  # noqa: S311 - data, not secrets
    with cases.open("w", encoding="utf-8") as told, reviews.open("w", encoding="utf-8") as said:
        for i in range(n):
            case = _case(i, chance)
            claims = [_claim(f"c{number}", case, chance) for number in range(4)]
            required = chance.sample(["c0", "c1", "c4"], k=2)
            told.write(json.dumps(case | {"claims": claims, "required_claims": required}) + "\n")
            for claim in claims:
                review = {
                    "case_id": case["case_id"],
                    "claim_id": claim["claim_id"],
                    "reviewer": chance.choice(["ana", "ben"]),
                    "kind": "human",
                    "label": chance.random() < 0.9,
                }
                said.write(json.dumps(review) + "\n")


def _claim(name: str, case: dict[str, Any], chance: random.Random) -> dict[str, object]:
    return {
        "claim_id": name,
        "supported": chance.random() < 0.8,
        "cited_ids": chance.sample(case["retrieved_ids"], k=chance.choice([0, 1, 2])),
        "text": " ".join(chance.choices(_WORDS, k=12)),
    }


def _case(i: int, chance: random.Random) -> dict[str, Any]:
    passages = [f"doc-{chance.randrange(50_000)}#c{chance.randrange(9)}" for _ in range(10)]
    found = chance.random() < 0.8
    missed = [f"doc-{chance.randrange(50_000)}#x"]
    required = chance.sample(passages, k=chance.choice([1, 1, 2, 3])) if found else missed
    return {
        "case_id": f"case-{i:08d}",
        "question": " ".join(chance.choices(_WORDS, k=10)),
        "split": chance.choice(["development", "test"]),
        "tags": chance.sample(["fees", "hours", "exception", "rooms"], k=chance.choice([0, 1, 2])),
        "required_ids": required,
        "retrieved_ids": passages,
        "context_ids": passages[:5],
        "cited_ids": chance.sample(passages, k=1),
        "answer": "x " + " ".join(chance.choices(_WORDS, k=3)),
        "expected_answers": ["x"],
        "answer_correct": chance.random() < 0.7,
    }
