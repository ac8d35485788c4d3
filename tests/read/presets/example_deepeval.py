"""Goldens of DeepEval, whose texts a corpus gives IDs to."""

from __future__ import annotations

from tests.read.presets.kit import Example, asked, jsonl

EXAMPLE = Example(
    files={
        "goldens.csv": (
            b"input,actual_output,expected_output,retrieval_context,context,comments\n"
            b"A?,one,One,first passage|second passage,second passage,\n"
            b"B?,two,Two,no such passage,,\n"
            b"C?,three,Three,first passage,shared,\n"
        ),
        "corpus.jsonl": jsonl(
            {"evidence_id": "n1", "text": "first passage"},
            {"evidence_id": "n2", "text": "second passage"},
            {"evidence_id": "n3", "text": "shared"},
            {"evidence_id": "n4", "text": "shared"},
        ),
    },
    arguments=("--from", "deepeval", "goldens.csv", "--text-ids", "corpus.jsonl"),
    expected=[
        {
            "case_id": asked("A?"),
            "question": "A?",
            "required_ids": ["n2"],
            "expected_answers": ["One"],
            "retrieved_ids": ["n1", "n2"],
            "answer": "one",
        }
    ],
    rejected=[
        (3, "retrieved_ids", 'no passage of --text-ids has exactly this text: "no such passage"'),
        (4, "required_ids", "two passages of --text-ids have this text, 'n3' and 'n4'"),
    ],
    known_by="goldens.csv",
)
