"""Spans with numbered documents, retrievers within one another, and inputs as JSON."""

from __future__ import annotations

from typing import Any

from tests.read.presets.kit import Example, asked, jsonl

KIND = "openinference.span.kind"


def span(trace: str, name: str, parent: str | None, **attributes: Any) -> dict[str, Any]:
    told = {key.replace("__", "."): value for key, value in attributes.items()}
    return {"trace_id": trace, "span_id": name, "parent_id": parent, "attributes": told}


def retriever(trace: str, name: str, parent: str | None, value: str, *ids: Any) -> dict[str, Any]:
    numbered = {f"retrieval.documents.{n}.document.id": each for n, each in enumerate(ids)}
    # as text they sort as 0, 1, 10, 11, 2, …
    numbered = dict(sorted(numbered.items()))
    return span(trace, name, parent, **{KIND: "RETRIEVER", "input.value": value}, **numbered)


TWELVE = [f"d{n}" for n in range(11)] + [9007199254740993]

EXAMPLE = Example(
    files={
        "spans.jsonl": jsonl(
            span("t1", "1", None, **{KIND: "CHAIN", "input.value": "A?", "output.value": "yes"}),
            retriever("t1", "2", "1", "A?", *TWELVE),
            # within the other, and asking the same
            retriever("t1", "3", "2", "A?", "d5", "d0"),
            retriever("t2", "4", None, '{"query": "B?"}', "d1"),
            # a list instead of numbered names, or null
            span(
                "t3",
                "5",
                None,
                **{
                    KIND: "RETRIEVER",
                    "input.value": '{"messages": [{"role": "user", "content": "C?"}]}',
                    "retrieval.documents": [
                        {"document.id": "d7", "document.score": "0.5"},
                        {"document": {"id": 8}},
                    ],
                },
            ),
            span(
                "t4",
                "6",
                None,
                **{KIND: "RETRIEVER", "input.value": "D?", "retrieval.documents": None},
            ),
            span(
                "t5",
                "7",
                None,
                **{
                    KIND: "RETRIEVER",
                    "input.value": "E?",
                    "retrieval.documents": [{"document.content": "a text alone"}],
                },
            ),
        )
    },
    arguments=("--from", "openinference", "spans.jsonl"),
    expected=[
        {
            "case_id": asked("A?"),
            "question": "A?",
            "retrieved_ids": [str(each) for each in TWELVE],
            "answer": "yes",
        },
        {"case_id": asked("B?"), "question": "B?", "retrieved_ids": ["d1"], "answer": None},
        {"case_id": asked("C?"), "question": "C?", "retrieved_ids": ["d7", "8"], "answer": None},
        {"case_id": asked("D?"), "question": "D?", "retrieved_ids": [], "answer": None},
    ],
    rejected=[(7, "retrieved_ids", "has no document.id")],
    known_by="spans.jsonl",
)
