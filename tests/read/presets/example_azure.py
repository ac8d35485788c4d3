"""Records of the Azure evaluator."""

from __future__ import annotations

from tests.read.presets.kit import Example, jsonl


def _judged(**labels: object) -> list[dict[str, object]]:
    return [{"document_id": name, "query_relevance_label": n} for name, n in labels.items()]


def _found(**scores: object) -> list[dict[str, object]]:
    return [{"document_id": name, "relevance_score": n} for name, n in scores.items()]


EXAMPLE = Example(
    files={
        "records.jsonl": jsonl(
            # not in the order of their scores, some of them text; x is not judged
            {
                "retrieval_ground_truth": _judged(a=4, b="0", c=2.0),
                "retrieved_documents": _found(a="0.5", x=10, b=9.25, c="0.50"),
            },
            {
                "query_id": 7,
                "retrieval_ground_truth": [{"document_id": 3, "query_relevance_label": 1}],
                "retrieved_documents": [],
            },
            {"retrieval_ground_truth": _judged(a=1.5), "retrieved_documents": []},
            {"retrieval_ground_truth": _judged(a=1), "retrieved_documents": _found(a="high")},
            {"retrieval_ground_truth": [{}], "retrieved_documents": []},
            {"retrieval_ground_truth": _judged(a=1), "retrieved_documents": _found(a=None)},
        )
    },
    arguments=("--from", "azure", "records.jsonl"),
    expected=[
        {
            "case_id": "row-1",
            "grades": [
                {"id": "a", "grade": 4},
                {"id": "b", "grade": 0},
                {"id": "c", "grade": 2},
            ],
            # equal scores in the order of the file
            "retrieved_ids": ["x", "b", "a", "c"],
        },
        {"case_id": "7", "grades": [{"id": "3", "grade": 1}], "retrieved_ids": []},
    ],
    rejected=[
        (3, "grades", "1.5 is no whole grade"),
        (4, "retrieved_ids", '"high" is no finite score'),
        (5, "grades", "{} has no `document_id`"),
        (6, "retrieved_ids", "has no `relevance_score`"),
    ],
    known_by="records.jsonl",
)
