"""Results of promptfoo: a provider that fails, gold as JSON text, one output that is an answer."""

from __future__ import annotations

from typing import Any

from tests.read.presets.kit import Example, as_json, asked

PROVIDER = "exec:search.sh"


def row(query: str, gold: Any, output: Any = None, **more: Any) -> dict[str, Any]:
    response = {} if output is None else {"response": {"output": output}}
    return {
        "provider": {"id": PROVIDER},
        "prompt": {"raw": query, "label": "{{query}}"},
        "vars": {"query": query, "correct_chunks": gold},
        "success": True,
        **response,
        **more,
    }


EXAMPLE = Example(
    files={
        "results.json": as_json(
            {
                "evalId": "eval-1",
                "config": {"results": ["not these"]},
                "results": {
                    "version": 2,
                    "results": [
                        row("A?", '["u#1", "u#2"]', ["u#2", "u#3"]),
                        row("B?", ["u#4"], None, error="timed out", success=False),
                        # a failed assertion is no failure of the provider
                        row("C?", "['u#5']", "An answer.", error="below 0.5", failureReason=1),
                        row("D?", '["u#6", {}]', ["u#6"]),
                    ],
                },
            }
        )
    },
    arguments=("--from", "promptfoo", "results.json"),
    expected=[
        {
            "case_id": asked("A?"),
            "question": "A?",
            "required_ids": ["u#1", "u#2"],
            "retrieved_ids": ["u#2", "u#3"],
            "answer": None,
        },
        {
            "case_id": asked("B?"),
            "question": "B?",
            "required_ids": ["u#4"],
            "retrieved_ids": None,
            "answer": None,
            "error": "timed out",
        },
        {
            "case_id": asked("C?"),
            "question": "C?",
            "required_ids": ["u#5"],
            "retrieved_ids": None,
            "answer": "An answer.",
        },
    ],
    rejected=[(0, "required_ids", "the list holds {}")],
    known_by="results.json",
)
