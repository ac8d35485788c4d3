"""A folder of BEIR's, and results as JSON."""

from __future__ import annotations

from tests.read.presets.kit import Example, as_json, jsonl

EXAMPLE = Example(
    files={
        "nf/queries.jsonl": jsonl(
            {"_id": "1", "text": "Which drill?", "metadata": {}},
            {"_id": "2", "text": "Whose saw?", "metadata": {"source": "forum"}},
            {"_id": 3, "text": "Not judged?"},
            {"_id": "4"},
            {"_id": ["5"], "text": "No ID?"},
        ),
        "nf/qrels/test.tsv": b"query-id\tcorpus-id\tscore\r\n1\td 1\t2\r\n2\td2\t1\r\n1\td3\t0\r\n"
        b"4\td4\t1\r\n6\td1\t\r\n",
        "nf/qrels/train.tsv": b"query-id\tcorpus-id\tscore\n1\td9\t1\n",
        "results.json": as_json(
            {"2": {"d2": 1, "d7": 1, "d8": 3.5}, "1": {"d3": 0.25, "d 1": -1}, "9": {"d1": "high"}}
        ),
    },
    arguments=("--from", "beir", "--cases", "nf", "--trace", "results.json"),
    expected=[
        {
            "case_id": "1",
            "question": "Which drill?",
            "grades": [{"id": "d 1", "grade": 2}, {"id": "d3", "grade": 0}],
            "retrieved_ids": ["d3", "d 1"],
        },
        {
            "case_id": "2",
            "question": "Whose saw?",
            "grades": [{"id": "d2", "grade": 1}],
            # equal scores: the last document comes first
            "retrieved_ids": ["d8", "d7", "d2"],
        },
        {"case_id": "4", "grades": [{"id": "d4", "grade": 1}], "retrieved_ids": []},
    ],
    rejected=[
        (3, "score", '"high" is no finite score'),
        (6, "row", "an empty cell"),
        (5, "case_id", 'expected text, got ["5"]'),
    ],
    known_by="nf",
)
