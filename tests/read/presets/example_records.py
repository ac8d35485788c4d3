"""Home-grown golden records beside a trace of theirs."""

from __future__ import annotations

from tests.read.presets.kit import Example, asked, jsonl

EXAMPLE = Example(
    files={
        "golden.jsonl": jsonl(
            # no id, one integer where a list is meant
            {"question": "Where are the lockers?", "gold_chunk_id": 9007199254740993},
            # any of these will do
            {"id": 2, "question": "b", "gold_chunk_id": "c1", "also_acceptable": ["c2", "c3"]},
            # null for none, and the tags
            {
                "id": 3,
                "question": "c",
                "expected_document_id": None,
                "category": "opening",
                "type": "trap",
                "difficulty": 2,
                "should_abstain": True,
            },
            # places in the record's own list
            {
                "id": "4",
                "question": "d",
                "expected_sources": ["d1", "d2", "d3"],
                "required_support_groups": [[0], [1, 2]],
            },
            {"id": "5", "question": "e", "expected_files": "['a.md', 'b.md']"},
            {"id": "6", "question": "f", "gold_chunk_ids": '["x", 7]'},
            {"id": "7", "question": "g", "expected_behavior": "refuse", "expected_answer": None},
            {"id": "8", "question": "h", "expected_behavior": "dance"},
            {"id": "9", "expected_sources": ["d1"], "required_support_groups": [[1]]},
            {"id": "10", "also_acceptable": ["d1"]},
            {"id": "11", "expected_refusal": True, "should_abstain": "no"},
            {"id": "12", "expected_sources": [True]},
            {"id": "13", "retreived_ids": ["x"]},
        )
    },
    arguments=("--from", "records", "golden.jsonl"),
    expected=[
        {
            "case_id": asked("Where are the lockers?"),
            "question": "Where are the lockers?",
            "required_ids": ["9007199254740993"],
            "required_groups": None,
        },
        {
            "case_id": "2",
            "question": "b",
            "required_ids": None,
            "required_groups": [["c1", "c2", "c3"]],
        },
        {
            "case_id": "3",
            "question": "c",
            "tags": ["category=opening", "difficulty=2", "type=trap"],
            "answerable": False,
            "required_ids": [],
            "required_groups": None,
        },
        {
            "case_id": "4",
            "question": "d",
            "required_ids": None,
            "required_groups": [["d1"], ["d2", "d3"]],
        },
        {
            "case_id": "5",
            "question": "e",
            "required_ids": ["a.md", "b.md"],
            "required_groups": None,
        },
        {"case_id": "6", "question": "f", "required_ids": ["x", "7"], "required_groups": None},
        {
            "case_id": "7",
            "question": "g",
            "answerable": False,
            "required_ids": None,
            "required_groups": None,
        },
    ],
    rejected=[
        (8, "answerable", '"dance": expected one of answer'),
        (9, "required_groups", "1 is neither one of the record's IDs nor a place"),
        (10, "required_groups", "also_acceptable, yet no ID"),
        (11, "answerable", "contradict each other"),
        (12, "required_ids", "expected text, got true"),
        (13, "retreived_ids", "did you mean `retrieved_ids`?"),
    ],
    known_by="golden.jsonl",
)
