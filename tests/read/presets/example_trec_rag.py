"""TREC RAG's answers, beside nuggets that are assigned."""

from __future__ import annotations

from typing import Any

from tests.read.presets.kit import Example, jsonl


def _sentence(text: str, *citations: object) -> dict[str, Any]:
    return {"text": text, "citations": list(citations)}


def _nugget(text: str, importance: str, assignment: str) -> dict[str, str]:
    return {"text": text, "importance": importance, "assignment": assignment}


EXAMPLE = Example(
    files={
        "nuggets.jsonl": jsonl(
            {
                "qid": "101",
                "query": "Why?",
                "nuggets": [
                    _nugget("a", "vital", "support"),
                    _nugget("b", "okay", "support"),
                    _nugget("c", "vital", "partial_support"),
                    _nugget("d", "okay", "not_support"),
                ],
            },
            {"qid": 102, "query": "How?", "nuggets": []},
            {"qid": "103", "nuggets": [_nugget("a", "vital", "maybe")]},
        ),
        "answers.jsonl": jsonl(
            {
                "run_id": "ours",
                "topic_id": 101,
                "references": ["d1", "d2", "d3"],
                # the first cites by place, the last by name; d2 is cited by none
                "answer": [_sentence("One.", 0, 2), {"text": " Two. "}, _sentence("Three.", "d1")],
            },
            {
                "metadata": {"run_id": "ours", "narrative_id": "102", "narrative": "How?"},
                "references": [],
                "answer": [],
            },
            {"topic_id": "104", "references": ["d1"], "answer": [_sentence("One.", 0, 1)]},
            {"topic_id": "105", "references": ["d1"], "answer": [_sentence("One.", -1)]},
            {"topic_id": "106", "references": ["d1"], "answer": [_sentence("One.", "d2")]},
            {"topic_id": "107", "answer": [{"citations": [0]}]},
            {"answer": [_sentence("One.")]},
        ),
    },
    arguments=(
        *("--from", "trec-rag", "--cases", "nuggets.jsonl", "--trace", "answers.jsonl"),
        *("--system", "ours"),
    ),
    expected=[
        {
            "case_id": "101",
            "question": "Why?",
            "required_claims": ["nugget-1", "nugget-3"],
            "cited_ids": ["d1", "d3"],
            "answer": "One. Two. Three.",
            "claims": [
                {"claim_id": "nugget-1", "supported": True, "cited_ids": None, "text": "a"},
                {"claim_id": "nugget-2", "supported": True, "cited_ids": None, "text": "b"},
            ],
        },
        {
            "case_id": "102",
            "question": "How?",
            "required_claims": [],
            "cited_ids": [],
            "answer": "",
            "claims": None,
        },
    ],
    rejected=[
        (3, "cited_ids", "sentence 1 cites 1, places among its 1 references count from 0"),
        (4, "cited_ids", "sentence 1 cites -1, places among its 1 references count from 0"),
        (5, "cited_ids", 'sentence 1 cites "d2", which is not among its references'),
        (6, "answer", "sentence 1 has no text"),
        (7, "case_id", "no topic"),
        (3, "claims", 'nugget 1: "maybe" is none of support, partial_support, not_support'),
    ],
    known_by="answers.jsonl",
)
