"""Every rule can be broken, and says what is wrong and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from ragtriage.schemas.rules import RULES
from tests.support import Command, Writer, rejects_of

GOOD = '{"case_id": "good"}\n'
BREAKS: dict[str, Any] = {
    "json-syntax": "{",
    "not-an-object": "[]",
    "encoding": '{"case_id": "\\ud800"}',
    "duplicate-key": '{"case_id": "a", "case_id": "a"}',
    "unknown-field": '{"case_id": "a", "zzz": 1}',
    "missing-field": '{"question": "q"}',
    "type": '{"case_id": "a", "weight": "1"}',
    "answer-label": '{"case_id": "a", "answerable": 1}',
    "null-item": '{"case_id": "a", "tags": [null]}',
    "blank-id": '{"case_id": ""}',
    "id-whitespace": '{"case_id": " a"}',
    "duplicate-case-id": '{"case_id": "a"}\n{"case_id": "a"}',
    "duplicate-claim-id": '{"case_id": "a", "claims": [%s, %s]}',
    "missing-claim-label": '{"case_id": "a", "claims": [{"claim_id": "c"}]}',
    "unanswerable-with-required": '{"case_id": "a", "answerable": false, "required_ids": ["p"]}',
    "required-empty": '{"case_id": "a", "answerable": true, "required_ids": []}',
    "group-empty": '{"case_id": "a", "required_groups": [[]]}',
    "grade-conflict": '{"case_id": "a", "grades": [%s, %s]}',
    "weight": '{"case_id": "a", "weight": 0}',
    "unknown-case": ('{"case_id": "good"}', '{"case_id": "good"}\n{"case_id": "a"}'),
    "missing-trace": ('{"case_id": "good"}\n{"case_id": "a"}', '{"case_id": "good"}'),
    "field-conflict": (
        '{"case_id": "good"}\n{"case_id": "a", "split": "x"}',
        '{"case_id": "good"}\n{"case_id": "a", "split": "y"}',
    ),
}
CLAIM = '{"claim_id": "c", "supported": true}'
BREAKS["duplicate-claim-id"] %= (CLAIM, CLAIM)
BREAKS["grade-conflict"] %= ('{"id": "p", "grade": 1}', '{"id": "p", "grade": 2}')


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_can_be_broken_and_breaks_alone(
    cli: Command, written: Writer, rule: str
) -> None:
    content = BREAKS[rule]
    if isinstance(content, tuple):
        cases, trace = written(content[0], "cases.jsonl"), written(content[1], "trace.jsonl")
        inputs: tuple[object, ...] = ("--cases", cases, "--trace", trace)
    else:
        inputs = (written(content),)
    cli("validate", *inputs).refuses(f"[{rule}]")
    if not isinstance(content, tuple):
        good = written(GOOD, "good.jsonl")
        inputs = (*inputs, good)
    out = good.parent if not isinstance(content, tuple) else cases.parent
    options = ("--on-invalid", "quarantine", "--out", out / "out", "--run-id", "r")
    shown = cli("evaluate", *inputs, *options)
    assert shown.code == 0, shown.err
    assert {row["rule"] for row in rejects_of(out / "out" / "r")} == {rule}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_named_once_and_has_its_words(rule: str) -> None:
    assert RULES[rule].id == rule
    assert rule == rule.lower().replace("_", "-")
    words = RULES[rule].message
    assert words == words.strip()
    assert words
    assert not words.endswith(".")
