"""Cases before means: transitions, per-case changes, what moved in the ledger, and their order."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragtriage
from ragtriage import InputError
from ragtriage.comparing import of_run
from ragtriage.comparison.ledger import moves
from tests.comparison.kit import HIT, MISS, case, changed, compared, run_of
from tests.support import Record

FAR = ["a", "b", "c", "d", "e", "f", "D"]


def found_at(rank: int) -> list[str]:
    ids = [f"n{i}" for i in range(1, 8)]
    ids[rank - 1] = "D"
    return ids


@pytest.mark.parametrize(
    ("base", "candidate", "moved"),
    [
        # the cutoff is 10 in these runs unless the case says otherwise
        (case("q", found_at(3)), case("q", found_at(5)), ["D: rank 3 → rank 5"]),
        (
            case("q", [*found_at(3)]),
            case("q", [*[f"m{i}" for i in range(11)], "D"], context_ids=["m1"]),
            ["D: rank 3 → below the cutoff (rank 12)"],
        ),
        (
            case("q", HIT),
            case("q", HIT, context_ids=["x"]),
            ["D: delivered → lost at context"],
        ),
        (case("q", HIT, context_ids=["x"]), case("q", HIT), ["D: lost at context → delivered"]),
        (case("q", HIT), case("q", MISS), ["D: delivered → lost at retrieval"]),
        (
            case("q", HIT, candidate_ids=["D", "x"]),
            case("q", MISS, candidate_ids=["D", "x"]),
            ["D: rank 1 → a candidate, not returned"],
        ),
        (
            case("q", HIT, cited_ids=["D"]),
            case("q", HIT, cited_ids=["x"]),
            ["D: cited → not cited"],
        ),
        (case("q", HIT), case("q", HIT, error="timeout"), ["D: delivered → not measured"]),
        (
            case("q", HIT, required_ids=None, required_groups=[["D", "E"]]),
            case("q", MISS, required_ids=None, required_groups=[["D", "E"]]),
            ["D (or 1 more): delivered → lost at retrieval"],
        ),
        (
            case("q", ["D", "E"], required_ids=["D", "E"]),
            case("q", ["E", "x"], required_ids=["D", "E"]),
            ["D: delivered → lost at retrieval", "E: rank 2 → rank 1"],
        ),
    ],
)
def test_what_moved_in_the_ledger(
    base: Record, candidate: Record, moved: list[str], tmp_path: Path
) -> None:
    found = compared(tmp_path, [base], [candidate])
    assert changed(found)["q"]["moved"] == moved
    assert found.report["cases"][0]["moved"] == moved


def test_a_stored_requirement_without_an_id_is_refused(tmp_path: Path) -> None:
    run = of_run(run_of(tmp_path, [case("q", HIT)]))
    nameless = run.evidence.with_columns(ids=pl.lit(None, pl.List(pl.String)))
    with pytest.raises(InputError, match="evidence/ has rows without ids"):
        moves(run, replace(run, evidence=nameless), pl.Series(["q"]))


def test_a_requirement_of_one_run_only_is_said(tmp_path: Path) -> None:
    base = case("q", ["D", "E"], required_ids=["D"])
    candidate = case("q", ["D", "E"], required_ids=["D", "E"])
    found = compared(tmp_path, [base], [candidate], allow=["labels"])
    back = compared(tmp_path, [candidate], [base], allow=["labels"])
    assert changed(found)["q"]["moved"] == ["E: newly required"]
    assert changed(back)["q"]["moved"] == ["E: no longer required"]


KINDS: dict[str, tuple[Record, Record]] = {
    "regressed": (case("q", HIT), case("q", MISS)),
    "fixed": (case("q", MISS), case("q", HIT)),
    "stage": (case("q", MISS), case("q", HIT, answer_correct=False)),
    "worse": (case("q", found_at(1)), case("q", found_at(2))),
    "better": (case("q", found_at(2)), case("q", found_at(1))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_change(kind: str, tmp_path: Path) -> None:
    base, candidate = KINDS[kind]
    found = compared(tmp_path, [base, case("same", HIT)], [candidate, case("same", HIT)])
    assert {name: row["change"] for name, row in changed(found).items()} == {"q": kind}
    assert {name: n for name, n in found.report["changed"].items() if n} == {kind: 1}


def test_a_pass_that_is_no_longer_run_is_a_regression(tmp_path: Path) -> None:
    found = compared(tmp_path, [case("q", HIT)], [case("q", HIT, error="down")])
    assert changed(found)["q"]["change"] == "regressed"
    assert found.transitions.rows() == [(found.run_id, "pass", "not_run", 1)]


def test_both_values_of_every_changed_metric(tmp_path: Path) -> None:
    found = compared(tmp_path, [case("q", found_at(1))], [case("q", found_at(2))])
    row = changed(found)["q"]
    assert (row["reciprocal_rank_base"], row["reciprocal_rank_candidate"]) == (1.0, 0.5)
    assert (row["recall_base"], row["recall_candidate"]) == (1.0, 1.0)
    assert "reciprocal_rank" in row["metrics_worse"]
    assert "recall" not in row["metrics_worse"]
    values = {entry["metric"]: entry for entry in found.report["cases"][0]["metrics"]}
    assert values["reciprocal_rank"] == {
        "metric": "reciprocal_rank",
        "base": 1.0,
        "candidate": 0.5,
        "verdict": "worse",
    }
    assert "recall" not in values


def test_every_transition_is_counted(tmp_path: Path) -> None:
    base = [case(f"q{i}", HIT if i < 5 else MISS) for i in range(9)]
    candidate = [case(f"q{i}", HIT if i % 2 else MISS) for i in range(9)]
    found = compared(tmp_path, base, candidate)
    counts = {(one, other): n for _, one, other, n in found.transitions.iter_rows()}
    # hits: base 0-4, candidate 1, 3, 5, 7
    assert counts == {
        ("pass", "pass"): 2,
        ("pass", "retrieval"): 3,
        ("retrieval", "pass"): 2,
        ("retrieval", "retrieval"): 2,
    }


def mixed(seed: int) -> tuple[list[Record], list[Record]]:
    dice = random.Random(seed)  # noqa: S311 - a fixed sequence

    def one(i: int) -> Record:
        retrieved = found_at(dice.randint(1, 7)) if dice.random() < 0.7 else MISS
        more: dict[str, Any] = {"split": "ab"[i % 2], "tags": [f"t{i % 3}", "t"]}
        more["error"] = "down" if dice.random() < 0.1 else None
        return case(f"q{i:02}", retrieved, **more)

    return [one(i) for i in range(40)], [one(i) for i in range(40)]


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    base, candidate = mixed(3)
    straight = compared(tmp_path, base, candidate, test=True, intervals=True)
    dice = random.Random(1)  # noqa: S311 - a fixed sequence
    shuffled = [dice.sample(rows, len(rows)) for rows in (base, candidate)]
    again = compared(tmp_path, *shuffled, test=True, intervals=True)
    for name in ("transitions", "deltas", "cases", "tests", "intervals"):
        one, other = getattr(straight, name), getattr(again, name)
        assert one.drop("run_id").equals(other.drop("run_id")), name
    assert {**again.report, "comparison": 0} == {**straight.report, "comparison": 0}


def test_regressions_come_first_then_by_case(tmp_path: Path) -> None:
    found = compared(tmp_path, *mixed(5))
    order = ["regressed", "stage", "worse", "changed", "better", "fixed"]
    keys = [(order.index(row["change"]), row["case_id"]) for row in found.report["cases"]]
    assert keys == sorted(keys)
    assert keys[0][0] == 0


def test_reports_hold_500_cases_and_count_the_rest(tmp_path: Path) -> None:
    base = [case(f"q{i:03}", HIT) for i in range(620)]
    candidate = [case(f"q{i:03}", MISS) for i in range(620)]
    runs = [run_of(tmp_path, records) for records in (base, candidate)]
    found = ragtriage.compare(*runs, write=False)
    assert (len(found.report["cases"]), found.report["cases_omitted"]) == (500, 120)
    assert (found.cases.height, found.report["changed"]["regressed"]) == (620, 620)
    everything = ragtriage.compare(*runs, write=False, all_cases=True)
    assert (len(everything.report["cases"]), everything.report["cases_omitted"]) == (620, 0)


def test_blocks_make_the_same_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base, candidate = mixed(7)
    one_sided = [*candidate[:-2], case("z1", HIT), case("z2", MISS)]
    runs = [run_of(tmp_path, records) for records in (base, one_sided)]
    whole = ragtriage.compare(*runs, write=False, allow="cases", all_cases=True)
    assert whole.cases.height > 20
    assert set(whole.cases["change"][-4:]) == {"base-only", "candidate-only"}
    # Several blocks: what would be two is one.
    monkeypatch.setattr("ragtriage.comparison.table.BLOCK", 4)
    assert whole.cases.height - len(one_sided[-2:]) - 2 > 2 * 4
    again = ragtriage.compare(*runs, write=False, allow="cases", all_cases=True)
    assert again.cases.equals(whole.cases)
    assert again.report["cases"] == whole.report["cases"]
    written = ragtriage.compare(*runs, out=tmp_path / "out", allow="cases")
    assert written.cases.equals(whole.cases)
    assert not list(written.folder.glob("*.parts"))


def test_a_failed_case_that_leaks_more_is_worse(tmp_path: Path) -> None:
    leaks = case("q", ["x"], error="timeout", forbidden_ids=["x", "y"])
    more = leaks | {"retrieved_ids": ["x", "y"]}
    found = changed(compared(tmp_path, [leaks], [more]))["q"]
    assert (found["change"], found["metrics_worse"]) == ("worse", ["unauthorized_retrieved"])
    back = changed(compared(tmp_path, [more], [leaks]))["q"]
    assert (back["change"], back["metrics_better"]) == ("better", ["unauthorized_retrieved"])
