"""Turns of a conversation, with NaN where there is nothing."""

from __future__ import annotations

from tests.read.presets.kit import Example

_TURNS = """\
{"task_id": "c1::1", "conversation_id": "c1", "Multi-Turn": NaN, "answerability": ["ANSWERABLE"], \
"contexts": [{"document_id": "d1", "score": NaN}], "input": [{"speaker": "user", "text": "A?"}], \
"targets": [{"text": "yes"}], "predictions": [{"text": "Yes"}]}
{"task_id": "c1::2", "conversation_id": "c1", "answerability": ["UNANSWERABLE", "UNANSWERABLE"], \
"contexts": [], "input": [{"speaker": "user", "text": "A?"}, {"speaker": "agent", "text": "Yes"}, \
{"speaker": "user", "text": "And B?"}], "predictions": [{"text": "No idea"}]}
{"task_id": "c1::3", "conversation_id": "c1", "answerability": ["ANSWERABLE", "PARTIAL", \
"UNANSWERABLE"], "contexts": [{"document_id": NaN}], "input": []}
{"_id": "c2<::>1", "text": "|user|: C?\\n|agent|: yes\\n|user|: D?"}
"""

EXAMPLE = Example(
    files={"tasks.jsonl": _TURNS.encode()},
    arguments=("--from", "mtrag", "tasks.jsonl"),
    expected=[
        {
            "case_id": "c1<::>1",
            "question": "A?",
            "group": "c1",
            "answerable": True,
            "expected_answers": ["yes"],
            "context_ids": ["d1"],
            "answer": "Yes",
        },
        {
            "case_id": "c1<::>2",
            "question": "And B?",
            "group": "c1",
            "answerable": False,
            "context_ids": [],
            "answer": "No idea",
        },
        {
            "case_id": "c2<::>1",
            "question": "D?",
            "group": "c2",
            "context_ids": None,
            "answer": None,
        },
    ],
    rejected=[(3, "context_ids", "has no `document_id`")],
    known_by="tasks.jsonl",
)
