"""Faults reported of other tools, by their IDs: none of them may be ours.

Each ID has rows in the tables here, a check in one of the `reported_…` modules, or a reason
why it is shown elsewhere.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests import reported_input, reported_runs, reported_scores, reported_two_runs
from tests.reported_kit import CHECKS, Kit, case
from tests.support import Command, Evaluate, Record, Writer, by_case

IDS = [
    f"{group}{number:02}"
    for group, numbers in {
        "A": (1, 2, 3, 4, 5, 8, 9, 10, 12, 14, 15, 16, 17, 18, 20),
        "B": (1, 2, 4, 5, 6, 7, 10, 11, 13),
        "C": (1, 2, 3, 5, 6, 7, 10, 11),
        "D": (1, 2, 3, 5, 7, 8, 9, 10),
        "E": (1, 2, 3, 5, 8, 9, 10, 12, 13, 14, 16),
        "F": (1, 2, 4, 5, 7, 9, 10, 11, 12, 13, 15, 16, 18, 19),
        "G": (1, 2, 3, 5, 7, 8, 10, 12),
    }.items()
    for number in numbers
]
# Importing them fills the register.
MODULES = (reported_scores, reported_input, reported_runs, reported_two_runs)

ELSEWHERE = {
    "A17": "claims: precision and recall of reviewed claims",
    "C07": "a preset: scores exist in TREC runs only",
    "D07": "claims: the supported fraction of nothing",
}

# ID: [(required, retrieved, further fields, k, {column: value})]
Scores = list[tuple[list[str], list[str], Record, int, dict[str, Any]]]
SCORED: dict[str, Scores] = {
    "A01": [(["d1", "d2"], ["d9", "d4", "d2"], {}, 3, {"recall_at_3": 0.5, "hit_at_3": True})],
    "A02": [(["p", "q", "r"], ["p", "x", "y"], {}, 3, {"average_precision_at_3": 1 / 3})],
    "A03": [
        (gold, ["m1", "m2", "m3", "m4"], {}, 4, {"reciprocal_rank": 0.5, column: 0.5})
        for gold in (["m2", "m4"], ["m4", "m2"])
        for column in ("average_precision_at_4",)
    ],
    "A04": [
        (["a", "b", "c", "d"], ["a", "b"], {}, 2, {"average_precision_at_2": 0.5}),
        (["a", "b"], ["a", "x", "y"], {}, 3, {"average_precision_at_3": 0.5}),
    ],
    "A05": [(["a", "b", "c"], ["a"], {}, 3, {"ndcg_at_3": 1 / (1.5 + 1 / math.log2(3))})],
    "A08": [(["z"], ["y", "z"], {}, 2, {"ndcg_at_2": 1 / math.log2(3)})],
    "A09": [
        (
            ["u", "v"],
            ["v", "u"],
            {"grades": [{"id": "u", "grade": 3}, {"id": "v", "grade": 1}]},
            2,
            {"ndcg_at_2": (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))},
        )
    ],
    "A10": [(["a", "b", "c", "d", "e"], ["a", "b"], {}, 2, {"recall_at_2": 0.4})],
    "A12": [
        (["a"], ["a"], {}, 5, {"precision_at_5": 0.2}),
        (["a", "c"], ["a", "b", "c", *"defghij"], {}, 3, {"precision_at_3": 2 / 3}),
    ],
    "A15": [
        (["r"], ["x", "r"], {}, 2, {"context_precision_at_2": 0.5, "average_precision_at_2": 0.5}),
        (
            ["r"],
            ["r", "x", "y", "z"],
            {},
            4,
            {"context_precision_at_4": 0.25, "average_precision_at_4": 1.0},
        ),
    ],
    "B10": [
        (
            ["a_2"],
            ["a", "a", "z"],
            {},
            3,
            {"recall": 0.0, "precision_at_3": 0.0, "hit_at_3": False},
        ),
        (["a"], ["c", "c", "c"], {}, 3, {"recall": 0.0, "precision_at_3": 0.0}),
    ],
    "B13": [(["d1"], ["q", "d1"], {}, 10, {"reciprocal_rank": 0.5})],  # the case's own ID is q
    "C01": [
        (
            ["a"],
            ["a", "a", "b"],
            {},
            3,
            {
                "recall": 1.0,
                "precision_at_3": 1 / 3,
                "average_precision_at_3": 1.0,
                "ndcg_at_3": 1.0,
                "findings": ["duplicate-retrieved"],
            },
        )
    ],
    "C02": [
        (["a", "a"], ["a"], {}, 3, {"recall": 1.0, "ndcg_at_3": 1.0, "findings": [duplicate]})
        for duplicate in ("duplicate-required",)
    ],
    "C03": [(["a"], ["x", "x", "a"], {}, 2, {"recall_at_2": 1.0, "reciprocal_rank": 0.5})],
    "C05": [
        (["a"], ["a", "b"], {}, 2, {"reciprocal_rank": 1.0}),
        (["a"], ["b", "a"], {}, 2, {"reciprocal_rank": 0.5}),
    ],
    "D03": [
        (
            ["a"],
            [],
            {},
            3,
            {
                "recall": 0.0,
                "recall_at_3": 0.0,
                "precision_at_3": 0.0,
                "context_precision_at_3": 0.0,
                "reciprocal_rank": 0.0,
                "average_precision_at_3": 0.0,
                "ndcg_at_3": 0.0,
                "r_precision": 0.0,
                "hit_at_3": False,
                "all_required_at_3": False,
            },
        )
    ],
    "D05": [
        (["a"], [], {}, 3, {"precision_at_3": 0.0, "recall_at_3": 0.0}),
        ([], [], {}, 3, {"precision_at_3": 0.0, "recall_at_3": None}),
        ([], ["x"], {}, 3, {"precision_at_3": 0.0, "recall_at_3": None}),
    ],
}

GOOD = '{"case_id": "good", "required_ids": ["a"], "retrieved_ids": ["a"]}\n'
Q = '{"case_id": "q", "required_ids": %s, "retrieved_ids": %s}\n'
# ID: [(file name, content, what the message must say)]
REFUSED: dict[str, list[tuple[str, str | bytes, tuple[str, ...]]]] = {
    "B01": [
        ("x.jsonl", GOOD + Q % ("[42]", '["42"]'), (":2: required_ids: ", "[type]")),
        ("x.jsonl", GOOD + Q % ('["42", null]', '["42"]'), (":2: required_ids: ", "[null-item]")),
    ],
    "B07": [
        ("x.jsonl", GOOD + Q % (f'["{bad}"]', '["d1"]'), (":2: required_ids: ", "[id-whitespace]"))
        for bad in (" d1", "d1\u00a0", "\u200bd1")
    ],
    "C10": [
        (
            "x.jsonl",
            GOOD + Q % ('["a"]', '["a"]') + Q % ('["a"]', '["b"]'),
            (":2: case_id: ", ":3: case_id: ", "x.jsonl:2; ", "[duplicate-case-id]"),
        )
    ],
    "E02": [
        (
            "x.jsonl",
            GOOD + '{"case_id": "q", "required_ids": ["a"], "retreived_ids": ["a"]}\n',
            (":2: retreived_ids: ", "did you mean `retrieved_ids`?", ":2: retrieved_ids: missing"),
        )
    ],
    "E03": [
        ("x.csv", "case_id,question\nq,what\n".encode("utf-16"), ("x.csv", "UTF-16")),
        (
            "x.jsonl",
            (GOOD + '{"case_id": "caf\u00e9"}\n').encode("latin-1"),
            (":2: ", "byte 17", "0xe9", "[encoding]"),
        ),
    ],
    "E05": [("x.jsonl", GOOD + "\n   \n{bad\n", (":4: record: ", "[json-syntax]"))],
    "E08": [
        (
            "x.jsonl",
            (
                '{"case_id": "good", "grades": [{"id": "a", "grade": 1}]}\n'
                '{"case_id": "q", "grades": [{"id": "a", "grade": 1.5}]}\n'
            ),
            (":2: grades: ", "1.5", "[type]"),
        )
    ],
    "E10": [
        (
            "x.jsonl",
            GOOD + Q % ('["a"]', '"abc"'),
            (":2: retrieved_ids: ", "a string", "[type]"),
        ),
        (
            "x.csv",
            'case_id,retrieved_ids\ngood,"[""a""]"\nq,"[\'a\',\'b\']"\n',
            (":3: retrieved_ids: ", "[type]"),
        ),
    ],
    "E13": [
        (
            "x.jsonl",
            (
                '{"case_id": "d", "weight": 1}\n{"case_id": "d", "weight": 1}\n'
                '{"case_id": "q", "weight": -7.0}\n'
            ),
            (":1: case_id: ", ":2: case_id: ", ":3: weight: "),
        )
    ],
}
ACCEPTED = {"E03": "\ufeff" + GOOD, "E05": GOOD + "\n   \n" + Q % ('["a"]', '["a"]')}


@pytest.fixture
def kit(
    cli: Command,
    written: Writer,
    evaluated: Evaluate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Kit:
    return Kit(cli, written, evaluated, tmp_path, monkeypatch)


def test_every_reported_fault_is_shown_here_or_has_its_reason() -> None:
    shown = set(SCORED) | set(REFUSED) | set(CHECKS)
    assert sorted(shown | set(ELSEWHERE)) == IDS
    assert not shown & set(ELSEWHERE)


@pytest.mark.parametrize("identity", [name for name in IDS if name not in ELSEWHERE])
def test_reported_fault(kit: Kit, identity: str) -> None:
    for required, retrieved, more, k, expected in SCORED.get(identity, []):
        row = by_case(kit.evaluated([case("q", required, retrieved, **more)], k=k))["q"]
        for column, value in expected.items():
            if isinstance(value, list):
                assert row[column] == value, column
            else:
                assert row[column] == pytest.approx(value, abs=1e-12), column
    for name, content, words in REFUSED.get(identity, []):
        kit.cli("evaluate", kit.written(content, name), "--no-write").refuses(*words)
    if identity in ACCEPTED:
        assert kit.cli("validate", kit.written(ACCEPTED[identity])).code == 0
    if identity in CHECKS:
        CHECKS[identity](kit)
