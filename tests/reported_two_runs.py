"""Reported faults of comparing two runs: directions, coverage, pairing, tests."""

from __future__ import annotations

import pytest

import ragtriage
from ragtriage import UsageError
from ragtriage.comparison.significance import holm, sign_flip
from ragtriage.metrics import REGISTRY
from tests.comparison.kit import compared, delta, units_of
from tests.reported_kit import SHOWN, Kit, case, fault


@fault("F09")
def directions_stand_in_declarations(kit: Kit) -> None:
    """A lower rate of unsupported answers is better; a name says nothing; unknown is an error."""
    assert REGISTRY["answered_unsupported"].better == "lower"
    silent = case("q", [], [], answerable=False, abstained=True)
    base = [silent | {"case_id": f"q{i}", "abstained": i != 0} for i in range(10)]
    candidate = [silent | {"case_id": f"q{i}", "abstained": i > 1} for i in range(10)]
    row = delta(compared(kit.tmp_path, base, candidate), "answered_unsupported")
    assert (row["base_mean"], row["candidate_mean"]) == (0.1, 0.2)
    assert (row["better"], row["worse"]) == (0, 1)
    with pytest.raises(UsageError, match="no metric 'latency_ms'"):
        compared(kit.tmp_path, base, candidate, gate="delta.latency_ms <= 0")


@fault("F10")
def a_metric_no_longer_measured_is_no_improvement(kit: Kit) -> None:
    base = [case(f"q{i}", ["a"], ["a"] if i < 7 else ["x"]) for i in range(10)]
    candidate = [case(f"q{i}", ["a"], ["a"] if i < 2 else None) for i in range(10)]
    found = compared(kit.tmp_path, base, candidate)
    lost = {row["metric"]: row for row in found.report["coverage"]}["hit"]
    assert (lost["n_base"], lost["n_candidate"], lost["n_lost"]) == (10, 2, 8)
    own = ragtriage.evaluate(kit.written(candidate), write=False).summary
    assert own.filter(metric="hit", slice="all")["mean"].to_list() == [1.0]
    assert delta(found, "hit", 10)["delta"] == 0.0
    assert not found.passed


@fault("F11")
def a_mistyped_baseline_stops_before_scoring(kit: Kit) -> None:
    kit.monkeypatch.setattr("ragtriage.folding.score", None)
    path = kit.written([case("q", ["a"], ["a"])])
    command = ("evaluate", path, "--baseline", "missing.parquet", *SHOWN)
    kit.cli(*command).refuses("missing.parquet: no such run")


@fault("F12")
def pairs_are_joined_by_case(kit: Kit) -> None:
    ranks = {"q1": (5, 4), "q2": (2, 1), "q3": (3, 2)}

    def ranked(name: str, rank: int) -> dict[str, object]:
        return case(name, ["a"], [f"n{i}" for i in range(1, rank)] + ["a"])

    base = [ranked(name, one) for name, (one, _) in ranks.items()]
    candidate = [ranked(name, other) for name, (_, other) in reversed(ranks.items())]
    row = delta(compared(kit.tmp_path, base, candidate), "reciprocal_rank")
    differences = [1 / other - 1 / one for one, other in ranks.values()]
    assert row["delta"] == pytest.approx(sum(differences) / 3)
    assert (row["better"], row["worse"], row["n_paired"]) == (3, 0, 3)


@fault("F13")
def identical_runs_and_single_cases_have_no_p(kit: Kit) -> None:
    records = [case(f"q{i}", ["a"], ["a"]) for i in range(3)]
    found = compared(kit.tmp_path, records, records, test=True)
    assert found.tests is not None
    assert set(found.tests["p"]) == {None}
    assert {str(note).split(":")[0] for note in found.tests["note"]} <= {
        "no difference",
        "no case is scored in both runs",
    }
    # A constant shift: 2 of 8 patterns are as far out, never p = 0.
    assert sign_flip(units_of([0, 0.1, 0.2], [0.5, 0.6, 0.7]), 0, "x").p == 0.25
    assert sign_flip(units_of([0], [1]), 0, "x").note == "not tested: one case"


@fault("F15")
def undefined_tests_are_no_members_of_the_family(kit: Kit) -> None:
    assert holm([0.01, 0.02, None]) == [0.02, 0.02, None]
    base, candidate = ([case(f"q{i}", ["a"], [found]) for i in range(6)] for found in ("x", "a"))
    asked = {"test": True, "test_metric": ["recall", "hit@10", "unauthorized_retrieved"]}
    allowed = [[row | {"allowed_ids": ["a", "x"]} for row in rows] for rows in (base, candidate)]
    tests = compared(kit.tmp_path, *allowed, **asked).tests
    assert tests is not None
    # Two tests with p 2/64 each; the third metric differs on no case.
    tested = tests.select("metric", "p", "p_adjusted").sort("metric").rows()
    assert tested == [
        ("hit", 2 / 64, 4 / 64),
        ("recall", 2 / 64, 4 / 64),
        ("unauthorized_retrieved", None, None),
    ]
