"""A data set of LlamaIndex, and a run over it as our own records."""

from __future__ import annotations

from tests.read.presets.kit import Example, as_json, jsonl

EXAMPLE = Example(
    files={
        "dataset.json": as_json(
            {
                "queries": {"q1": "One?", "q2": "Two?"},
                "corpus": {"n1": "first", "n2": "second"},
                "relevant_docs": {"q1": ["n1"], "q9": ["n2"]},
                "mode": "text",
            }
        ),
        "run.jsonl": jsonl(
            {"case_id": "q1", "retrieved_ids": ["n2", "n1"]},
            {"case_id": "q2", "retrieved_ids": []},
        ),
    },
    arguments=("--cases-from", "llamaindex", "--cases", "dataset.json", "--trace", "run.jsonl"),
    expected=[
        {
            "case_id": "q1",
            "question": "One?",
            "required_ids": ["n1"],
            "retrieved_ids": ["n2", "n1"],
        },
        {"case_id": "q2", "question": "Two?", "required_ids": [], "retrieved_ids": []},
    ],
    rejected=[(3, "question", "a query that `queries` lacks")],
    known_by="dataset.json",
)
