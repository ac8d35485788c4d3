"""Every rule can be broken, and says what is wrong and what to do."""

from __future__ import annotations

from pathlib import Path
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
REVIEW = '{"case_id": "good", "claim_id": %s, "reviewer": "%s", "kind": "%s", "label": true}'
REVIEWED: dict[str, tuple[tuple[str, str, str], ...]] = {
    "review-kind": (("null", "ana", "manual"),),
    "reviewer-kind": (("null", "ana", "human"), ('"c"', "ana", "judge")),
    "duplicate-review": (("null", "ana", "human"), ("null", "ana", "human")),
    "unknown-claim": (('"c"', "ana", "human"),),
}
# Of files that are read by a preset.
MAPPED = {"unmapped": '{"case_id": "a", "expected_behavior": "dance"}'}
CLAIM = '{"claim_id": "c", "supported": true}'
BREAKS["duplicate-claim-id"] %= (CLAIM, CLAIM)
BREAKS["grade-conflict"] %= ('{"id": "p", "grade": 1}', '{"id": "p", "grade": 2}')


def broken(rule: str, written: Writer) -> tuple[list[object], Path]:
    """An input that breaks one rule, and a folder to write to."""
    if rule in REVIEWED:
        rows = "\n".join(REVIEW % row for row in REVIEWED[rule])
        cases, reviews = written(GOOD, "cases.jsonl"), written(rows, "reviews.jsonl")
        return [cases, "--reviews", reviews], cases.parent
    if rule in MAPPED:
        path = written(MAPPED[rule])
        return [path, "--from", "records"], path.parent
    content = BREAKS[rule]
    if isinstance(content, tuple):
        cases, trace = written(content[0], "cases.jsonl"), written(content[1], "trace.jsonl")
        return ["--cases", cases, "--trace", trace], cases.parent
    path = written(content)
    return [path], path.parent


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_can_be_broken_and_breaks_alone(
    cli: Command, written: Writer, rule: str
) -> None:
    inputs, out = broken(rule, written)
    cli("validate", *inputs).refuses(f"[{rule}]")
    if rule not in REVIEWED and "--cases" not in inputs:
        inputs = [*inputs, written(GOOD, "good.jsonl")]
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
