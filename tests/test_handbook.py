"""The shipped handbook: its hand-derived diagnoses, and that every break point occurs in it."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from typing import Any

import pytest

import ragtriage
from ragtriage import Run
from ragtriage.findings import MEANINGS
from ragtriage.stages import NEXT_CHECKS, precedence
from tests.support import HANDBOOK, by_case

RUNS = ("run-a", "run-b", "run-retrieval")


@cache
def handbook(name: str) -> Run:
    """One recorded run, as the handbook's page says to evaluate it."""
    return ragtriage.evaluate(
        None,
        cases=str(HANDBOOK / "cases.jsonl"),
        trace=str(HANDBOOK / f"{name}.jsonl"),
        corpus=str(HANDBOOK / "corpus.jsonl"),
        about=str(HANDBOOK / f"{name.replace('run', 'about')}.toml"),
        k=5,
        write=False,
        all_cases=True,
    )


def expected(name: str) -> dict[str, Any]:
    document = json.loads((HANDBOOK / f"expected-{name}.json").read_text("utf-8"))
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize("name", RUNS)
def test_every_case_is_diagnosed_as_derived_by_hand(name: str) -> None:
    keys = ("stage", "break_point", "missing", "lucky")
    rows = by_case(handbook(name))
    assert {case: {key: row[key] for key in keys} for case, row in rows.items()} == expected(name)


@pytest.mark.parametrize("name", RUNS)
def test_stage_counts_follow_from_the_cases(name: str) -> None:
    derived: dict[tuple[str, str | None], int] = {}
    for case in expected(name).values():
        key = (case["stage"], case["break_point"])
        derived[key] = derived.get(key, 0) + 1
    rows = [row for row in handbook(name).stages.to_dicts() if row["slice"] == "all"]
    assert {(row["stage"], row["break_point"]): row["n"] for row in rows} == derived
    run_cases = sum(n for (stage, _), n in derived.items() if stage != "not_run")
    for row in rows:
        share = None if row["stage"] == "not_run" else row["n"] / run_cases
        assert row["share"] == pytest.approx(share)


def test_every_stage_and_break_point_occurs() -> None:
    declared = {(row.stage, name) for row in precedence("auto") for name, _ in row.break_points}
    # These need reviewed claims: tests/test_claims.py.
    declared -= {("generation", "unsupported-claim"), ("generation", "omission")}
    occurring = {
        (case["stage"], case["break_point"])
        for name in ("run-a", "run-retrieval")
        for case in expected(name).values()
    }
    assert occurring == declared


def test_every_break_point_says_what_to_look_at() -> None:
    for name in RUNS:
        for row in by_case(handbook(name)).values():
            assert row["next_check"] == NEXT_CHECKS.get(row["break_point"])
            assert (row["next_check"] is None) is (row["break_point"] is None)


# The page's own remarks on run A: the case, and the finding it must list
REMARKS = {
    "public-holidays": "context-not-retrieved",
    "hearing-loop": "duplicate-required",
    "child-alone": "near-miss-id",
    "food-and-drink": "no-citations",
    "lost-property": "dangling-required",
    "locked-last": "required-not-allowed",
    "laptop-loan": "label-conflict",
    "new-roof": "empty-retrieval",
    "local-history": "no-relevance-labels",
}


@pytest.mark.parametrize("case", REMARKS)
def test_findings_named_on_the_page(case: str) -> None:
    assert REMARKS[case] in by_case(handbook("run-a"))[case]["findings"]


@pytest.mark.parametrize("name", RUNS)
def test_findings_are_counted_with_examples(name: str) -> None:
    run = handbook(name)
    counted: dict[str, list[str]] = {}
    for case, row in by_case(run).items():
        assert row["findings"] == sorted(set(row["findings"]))
        for finding in row["findings"]:
            counted.setdefault(finding, []).append(case)
    table = {row["finding"]: row for row in run.findings.to_dicts()}
    assert set(table) <= set(MEANINGS)
    assert {f: row["n"] for f, row in table.items()} == {f: len(c) for f, c in counted.items()}
    for finding, row in table.items():
        assert row["example_case_ids"] == counted[finding][:10]


def test_meanings_are_plain_words_on_every_page() -> None:
    assert not [meaning for meaning in MEANINGS.values() if "`" in meaning]


def test_run_a_at_a_glance() -> None:
    report = handbook("run-a").report
    assert report["run"]["n_cases"] == 50
    assert report["run"]["n_pass"] == 22
    assert report["run"]["n_not_run"] == 1
    assert report["cases_omitted"] == 0
    stages = [case["stage"] for case in report["cases"]]
    assert stages.index("pass") == 28  # failures first


@pytest.mark.parametrize("name", RUNS)
def test_what_was_run_is_shown_as_recorded(name: str) -> None:
    path = HANDBOOK / f"{name.replace('run', 'about')}.toml"
    recorded = tomllib.loads(path.read_text("utf-8"))
    about = handbook(name).report["about"]
    assert about == recorded
    assert about["mechanism"]


def test_the_ledger_keeps_the_defect_a_leak_hides() -> None:
    ledger = handbook("run-a").evidence.to_dicts()
    lost = {(row["case_id"], row["ids"][0]): row["lost_at"] for row in ledger if row["lost_at"]}
    assert lost["interlibrary-hold", "holds-2"] == "index"
    assert lost["interlibrary-hold", "holds-1"] == "ranking"
    assert lost["visitor-join", "card-1"] == "ranking"
    assert lost["visitor-join", "card-3"] == "retrieval"
    assert ("lost-item-waiver", "fees-3") in lost
    assert lost["locked-last", "staff-1"] == "scope"
