"""Samples as ragas writes them."""

from __future__ import annotations

from tests.read.presets.kit import Example, asked

EXAMPLE = Example(
    files={
        "samples.csv": (
            "\ufeffuser_input,retrieved_contexts,retrieved_context_ids,reference_context_ids,"
            "response,reference,latency\r\n"
            "When?,\"['a text', 'b']\",\"['d2', 9007199254740993]\",['d1'],at nine,At nine,1.5\r\n"
            "Who?,,\"['d4']\",,,Nobody,\r\n"
            "How?,,\"['d4', __import__('os').getcwd()]\",,,,\r\n"
        ).encode()
    },
    arguments=("--from", "ragas", "samples.csv"),
    expected=[
        {
            "case_id": asked("When?"),
            "question": "When?",
            "required_ids": ["d1"],
            "expected_answers": ["At nine"],
            "retrieved_ids": ["d2", "9007199254740993"],
            "answer": "at nine",
        },
        {
            "case_id": asked("Who?"),
            "question": "Who?",
            "required_ids": None,
            "expected_answers": ["Nobody"],
            "retrieved_ids": ["d4"],
            "answer": None,
        },
    ],
    rejected=[(4, "retrieved_ids", "neither JSON nor a Python literal")],
    known_by="samples.csv",
)
