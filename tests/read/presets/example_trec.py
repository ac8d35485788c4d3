"""TREC's qrels and a run."""

from __future__ import annotations

from tests.read.presets.kit import Example

EXAMPLE = Example(
    files={
        # the second column is anything; blanks, tabs, CRLF, a blank line, no final line break
        "qrels.txt": b"q1 0 d1 2\r\nq1\t00\td2  0\nq2 E1 d#3 1 \n\nq1 Q0 d4 -1\nq3 0 d5 1\n"
        b"q9 0 d1\nq8 0 d1 high",
        # not in the order of scores; q1 comes back after q2
        "bm25.run": b"q1 Q0 d2 1 1.5 bm25\nq2  Q0 d#3 1 0.5 bm25\nq1 Q0 d1 2 1.5 bm25\r\n"
        b"q1 Q0 d9 3 7e0 bm25\nq7 Q0 x 1 nan bm25\n",
    },
    arguments=("--from", "trec", "--cases", "qrels.txt", "--trace", "bm25.run"),
    expected=[
        {
            "case_id": "q1",
            "grades": [
                {"id": "d1", "grade": 2},
                {"id": "d2", "grade": 0},
                {"id": "d4", "grade": -1},
            ],
            # d2 and d1 have one score: the last document comes first
            "retrieved_ids": ["d9", "d2", "d1"],
        },
        {"case_id": "q2", "grades": [{"id": "d#3", "grade": 1}], "retrieved_ids": ["d#3"]},
        # judged and not run
        {"case_id": "q3", "grades": [{"id": "d5", "grade": 1}], "retrieved_ids": []},
    ],
    rejected=[
        (5, "score", "'nan' is no score"),
        (7, "row", "3 columns, a row of qrels has 4 (topic, iteration, document, grade)"),
        (8, "grade", "'high' is no grade"),
    ],
    known_by="qrels.txt",
)
