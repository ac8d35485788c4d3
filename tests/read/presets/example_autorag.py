"""A result file of AutoRAG with two retrievers would be two systems; this one has one."""

from __future__ import annotations

import polars as pl

from tests.read.presets.kit import Example, parquet

EXAMPLE = Example(
    files={
        "results.parquet": parquet(
            [
                {
                    "qid": "a",
                    "query": "A?",
                    "generation_gt": ["yes", "Yes."],
                    # all of the outer, any of the inner
                    "retrieval_gt": [["p1", "p2"], ["p3"]],
                    # the same passage twice
                    "retrieved_ids_lexical": ["p1", "p1", "p9"],
                    "retrieve_scores_lexical": [2.0, 2.0, 1.0],
                },
                {
                    "qid": "b",
                    "query": "B?",
                    "generation_gt": ["no"],
                    "retrieval_gt": [[]],
                    "retrieved_ids_lexical": [],
                    "retrieve_scores_lexical": [],
                },
                {
                    "qid": None,
                    "query": "C?",
                    "generation_gt": [],
                    "retrieval_gt": [["p1"]],
                    "retrieved_ids_lexical": ["p1"],
                    "retrieve_scores_lexical": [1.0],
                },
            ],
            qid=pl.String,
            query=pl.String,
            generation_gt=pl.List(pl.String),
            retrieval_gt=pl.List(pl.List(pl.String)),
            retrieved_ids_lexical=pl.List(pl.String),
            retrieve_scores_lexical=pl.List(pl.Float64),
        )
    },
    arguments=("--from", "autorag", "results.parquet"),
    expected=[
        {
            "case_id": "a",
            "question": "A?",
            "required_groups": [["p1", "p2"], ["p3"]],
            "expected_answers": ["yes", "Yes."],
            "retrieved_ids": ["p1", "p1", "p9"],
        },
        {
            "case_id": "b",
            "question": "B?",
            "required_groups": [],
            "expected_answers": ["no"],
            "retrieved_ids": [],
        },
    ],
    rejected=[(3, "case_id", "by position alone")],
    known_by="results.parquet",
)
