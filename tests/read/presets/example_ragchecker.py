"""Results of RAGChecker, with claims and their labels."""

from __future__ import annotations

from tests.read.presets.kit import Example, as_json

_PASSAGES = [{"doc_id": "000", "text": "t"}, {"doc_id": 1, "text": "u"}]

EXAMPLE = Example(
    files={
        "checked.json": as_json(
            {
                "results": [
                    {
                        "query_id": "0",
                        "query": "A?",
                        "gt_answer": "Yes.",
                        "response": "Yes, and more.",
                        "retrieved_context": _PASSAGES,
                        "response_claims": [["it", "is", "so"], ["it", "is", "more"]],
                        "retrieved2response": [
                            ["Neutral", "Entailment"],
                            ["Neutral", "Contradiction"],
                        ],
                    },
                    {"query_id": "1", "query": "B?", "retrieved_context": [{"text": "t"}]},
                    {
                        "query_id": "2",
                        "query": "C?",
                        "response_claims": [["a", "b", "c"]],
                        "retrieved2response": [],
                    },
                ]
            }
        )
    },
    arguments=("--from", "ragchecker", "checked.json"),
    expected=[
        {
            "case_id": "0",
            "question": "A?",
            "expected_answers": ["Yes."],
            "retrieved_ids": ["000", "1"],
            "answer": "Yes, and more.",
            "claims": [
                {
                    "claim_id": "response-1",
                    "supported": True,
                    "cited_ids": None,
                    "text": "it is so",
                },
                {
                    "claim_id": "response-2",
                    "supported": False,
                    "cited_ids": None,
                    "text": "it is more",
                },
            ],
        }
    ],
    rejected=[
        (0, "retrieved_ids", "a passage has no doc_id"),
        (0, "claims", "does not label every claim"),
    ],
    known_by="checked.json",
)
