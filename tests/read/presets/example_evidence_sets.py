"""Evidence sets in the four layouts, and one that groups cannot say."""

from __future__ import annotations

from tests.read.presets.kit import Example, jsonl

BEYOND = 2**70

EXAMPLE = Example(
    files={
        "sets.jsonl": jsonl(
            # one set, all of it needed
            {
                "id": BEYOND,
                "claim": "A.",
                "label": "SUPPORTS",
                "evidence": [[[1, 2, "Page", 0], [1, 3, "Other", 4]]],
            },
            # sets of one member: any will do
            {
                "id": 2,
                "claim": "B.",
                "label": "REFUTES",
                "evidence": [[[1, 2, "P", 0]], [[1, 3, "P", 7]], [[9, 9, "P", 0]]],
            },
            # nulls where there is none
            {
                "id": 3,
                "claim": "C.",
                "label": "NOT ENOUGH INFO",
                "evidence": [[[5, None, None, None]]],
            },
            {"_id": "h", "question": "D?", "answer": "d", "supporting_facts": [["T", 0], ["U", 2]]},
            {"id": 5, "claim": "E.", "evidence": {"77": [{"sentences": [1, 3]}]}},
            {
                "financebench_id": "f",
                "question": "F?",
                "answer": "9%",
                "evidence": [{"evidence_doc_name": "REPORT", "evidence_page_num": 12}],
            },
            {
                "id": 7,
                "claim": "G.",
                "evidence": [[[1, 2, "P", 0], [1, 2, "P", 1]], [[1, 2, "Q", 0]]],
            },
        )
    },
    arguments=("--from", "evidence-sets", "sets.jsonl"),
    expected=[
        {
            "case_id": str(BEYOND),
            "question": "A.",
            "tags": ["label=SUPPORTS"],
            "required_groups": [["Page#0"], ["Other#4"]],
        },
        {
            "case_id": "2",
            "question": "B.",
            "tags": ["label=REFUTES"],
            "required_groups": [["P#0", "P#7"]],
        },
        {
            "case_id": "3",
            "question": "C.",
            "tags": ["label=NOT ENOUGH INFO"],
            "answerable": False,
            "required_groups": [],
        },
        {
            "case_id": "h",
            "question": "D?",
            "required_groups": [["T#0"], ["U#2"]],
            "expected_answers": ["d"],
        },
        {"case_id": "5", "question": "E.", "required_groups": [["77#1"], ["77#3"]]},
        {
            "case_id": "f",
            "question": "F?",
            "required_groups": [["REPORT#12"]],
            "expected_answers": ["9%"],
        },
    ],
    rejected=[(7, "required_groups", "2 alternative sets")],
    known_by="sets.jsonl",
)
