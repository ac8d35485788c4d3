"""Paired means against plain Python; directions as declared; coverage; slices; gates."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragtriage
from ragtriage import UsageError
from ragtriage.comparison.deltas import Scores, _alike, delta_rows, sums_of
from ragtriage.comparison.slices import Cells
from ragtriage.metrics import REGISTRY, Column, columns_for
from tests.comparison.kit import HIT, MISS, case, changed, compared, delta, run_of
from tests.comparison.test_changes import found_at, mixed
from tests.support import Record, by_case


def slices_of(record: Record) -> list[tuple[str, str]]:
    return [
        ("all", "all"),
        ("split", record["split"]),
        *(("tag", tag) for tag in sorted(set(record["tags"]))),
        ("answerable", "true"),
    ]


@pytest.mark.parametrize("seed", [1, 2])
def test_every_delta_against_plain_python(seed: int, tmp_path: Path) -> None:
    records = mixed(seed)
    runs = [run_of(tmp_path, rows, k=[5, 2]) for rows in records]
    found = ragtriage.compare(*runs, write=False)
    tables = [by_case(run) for run in runs]
    columns = {(c.metric.name, c.k): c for c in columns_for([5, 2])}
    seen = set()
    for row in found.deltas.iter_rows(named=True):
        column = columns[row["metric"], row["k"]]
        where = (row["slice"], row["slice_value"])
        names = [r["case_id"] for r in records[0] if where in slices_of(r)]
        values = [
            tuple(None if t[name]["error"] else t[name][column.name] for t in tables)
            for name in names
        ]
        _check(row, column, values)
        seen.add(where)
    assert seen == {where for record in records[0] for where in slices_of(record)}


def _check(row: Record, column: Column, values: list[tuple[Any, ...]]) -> None:
    both = [(a, b) for a, b in values if a is not None and b is not None]
    sign = 1 if column.metric.better == "higher" else -1
    assert row["n_paired"] == len(both)
    assert row["better"] == sum(sign * (b - a) > 0 for a, b in both)
    assert row["worse"] == sum(sign * (b - a) < 0 for a, b in both)
    assert row["tied"] == sum(a == b for a, b in both)
    assert row["n_base_only"] == sum(a is not None and b is None for a, b in values)
    assert row["n_candidate_only"] == sum(a is None and b is not None for a, b in values)
    if not both:
        assert (row["base_mean"], row["candidate_mean"], row["delta"]) == (None, None, None)
        return
    exact = [sum(Fraction(pair[side]) for pair in both) / len(both) for side in (0, 1)]
    assert math.isclose(row["base_mean"], exact[0], abs_tol=1e-15)
    assert math.isclose(row["candidate_mean"], exact[1], abs_tol=1e-15)
    assert math.isclose(row["delta"], exact[1] - exact[0], abs_tol=1e-15)


def test_one_better_and_one_worse_is_not_no_change(tmp_path: Path) -> None:
    base = [case("up", MISS), case("down", HIT), case("same", HIT)]
    candidate = [case("up", HIT), case("down", MISS), case("same", HIT)]
    found = compared(tmp_path, base, candidate)
    row = delta(found, "recall")
    assert (row["delta"], row["better"], row["worse"], row["tied"]) == (0.0, 1, 1, 1)
    assert found.report["changed"]["regressed"] == found.report["changed"]["fixed"] == 1


def test_a_mean_that_rose_while_a_slice_fell_fails_the_slice_gate(tmp_path: Path) -> None:
    plain = [(case(f"p{i}", MISS), case(f"p{i}", HIT)) for i in range(4)]
    exception = [(case("e", HIT, tags=["exception"]), case("e", MISS, tags=["exception"]))]
    base, candidate = zip(*plain, *exception, strict=True)
    gates = ["delta.recall@10 >= 0", "delta.recall@10[tag=exception] >= 0"]
    found = compared(tmp_path, base, candidate, gate=gates)
    assert delta(found, "recall", 10)["delta"] == pytest.approx(0.6)
    assert delta(found, "recall", 10, "tag=exception")["delta"] == -1.0
    assert found.gates["passed"].to_list() == [True, False]
    assert not found.passed
    assert found.failures[-1] == "regressed: e"


def test_an_error_is_a_coverage_regression_even_if_the_mean_rose(tmp_path: Path) -> None:
    base = [case("hard", MISS), case("easy", HIT)]
    candidate = [case("hard", MISS, error="timeout"), case("easy", HIT)]
    found = compared(tmp_path, base, candidate)
    row = delta(found, "recall")
    # over the one case scored in both nothing changed, though the run's own mean rose to 1
    assert (row["n_paired"], row["delta"], row["n_base_only"]) == (1, 0.0, 1)
    assert not found.passed
    lost = {entry["metric"]: entry for entry in found.report["coverage"]}["recall"]
    assert (lost["n_lost"], lost["n_base"], lost["n_candidate"]) == (1, 2, 1)
    assert lost["example_case_ids"] == ["hard"]
    (said,) = found.failures
    assert said.startswith("coverage regression: ")
    assert said.endswith("more metrics no longer scored on 1 case that was: hard")


def test_metrics_that_lost_the_same_cases_are_one_line(tmp_path: Path) -> None:
    base = [case(f"q{i}", HIT, cited_ids=["D"]) for i in range(3)]
    candidate = [base[0] | {"error": "down"}, base[1] | {"cited_ids": []}, base[2]]
    found = compared(tmp_path, base, candidate)
    lines = found.report["lost_together"]
    # citation_precision and citation_in_context lose the silent case too
    assert {tuple(row["example_case_ids"]): row["n_lost"] for row in lines} == {
        ("q0",): 1,
        ("q0", "q1"): 2,
    }
    both = next(row["metrics"] for row in lines if row["n_lost"] == 2)
    assert both == ["citation_precision", "citation_in_context"]
    assert sum(len(row["metrics"]) for row in lines) == len(found.report["coverage"])


def test_a_right_abstention_that_stops_citing_loses_no_coverage(tmp_path: Path) -> None:
    cited = case("q", ["x"], required_ids=[], answerable=False, cited_ids=["x"], abstained=False)
    silent = cited | {"cited_ids": [], "abstained": True}
    found = compared(tmp_path, [cited], [silent])
    assert delta(found, "citation_precision")["n_base_only"] == 1
    assert (found.report["coverage"], found.passed) == ([], True)
    # the other way round an answerable case stops citing: that is a loss
    base, candidate = (case("q", HIT, cited_ids=ids) for ids in (["D"], []))
    assert not compared(tmp_path, [base], [candidate]).passed


def test_a_right_abstention_excuses_no_trace_that_is_gone(tmp_path: Path) -> None:
    seen = case("q", ["x"], required_ids=[], answerable=False, cited_ids=[], abstained=True)
    other = case("r", HIT, cited_ids=["D"], abstained=False)
    found = compared(tmp_path, [seen, other], [seen | {"retrieved_ids": None}, other])
    lost = {entry["metric"]: entry["n_lost"] for entry in found.report["coverage"]}
    assert lost["false_evidence"] == lost["precision"] == lost["citation_validity"] == 1
    assert not found.passed


def test_what_is_measured_over_refusals_may_have_fewer(tmp_path: Path) -> None:
    base, candidate = (case("q", HIT, abstained=value, answer="a") for value in (True, False))
    found = compared(tmp_path, [base], [candidate])
    assert delta(found, "abstention_precision")["n_base_only"] == 1
    assert found.passed


def test_an_interval_stands_beside_the_very_difference_of_the_deltas(tmp_path: Path) -> None:
    """To the last digit: tables are joined by equal numbers."""
    needs = {"required_ids": ["a", "b", "c"], "tags": ["t"]}
    ids = [["x"], ["a"], ["a", "b"], ["c", "b", "a"], ["b", "x"], ["x", "y", "c"], ["a", "x"]]
    base = [case(f"q{i}", one, **needs) for i, one in enumerate(ids)]
    candidate = [case(f"q{i}", one, **needs) for i, one in enumerate([*ids[3:], *ids[:3]])]
    found = compared(tmp_path, base, candidate, intervals=True, slice="tag")
    assert found.intervals is not None
    keys = ["slice", "slice_value", "metric", "k"]
    both = found.intervals.join(found.deltas, on=keys, nulls_equal=True)
    assert both.height == found.intervals.height
    assert both["delta"].to_list() == both["delta_right"].to_list()


def test_citations_put_right_lose_no_coverage(tmp_path: Path) -> None:
    """Without an expected answer, `answer_passed` is false by its citations, or not known."""
    other = case("r", HIT, cited_ids=["D"], answer="a", expected_answers=["a"])
    wrong = case("q", HIT, cited_ids=["z"], answer="a", expected_answers=None, answer_correct=False)
    put_right = wrong | {"cited_ids": ["D"]}
    found = compared(tmp_path, [wrong, other], [put_right, other])
    assert delta(found, "answer_passed")["n_base_only"] == 1  # still said
    assert (found.report["coverage"], found.passed) == ([], True)
    assert changed(found)["q"]["change"] == "better"
    # a part that is no longer observed is a loss, of the whole too
    gone = compared(tmp_path, [wrong, other], [put_right | {"retrieved_ids": None}, other])
    lost = {entry["metric"] for entry in gone.report["coverage"]}
    assert {"citation_valid", "answer_passed"} <= lost
    assert not gone.passed


def test_a_refusal_that_became_an_answer_is_no_loss_of_its_case(tmp_path: Path) -> None:
    refused = case("q", MISS, abstained=True, answer=None, answer_correct=False)
    found = compared(tmp_path, [refused], [refused | {"abstained": False, "answer": "a"}])
    row = changed(found)["q"]
    assert "abstention_precision" in row["metrics_lost"]
    assert row["metrics_worse"] == []
    assert row["change"] == "better"


def test_directions_are_the_declared_ones(tmp_path: Path) -> None:
    leak = {"allowed_ids": ["D"]}
    base, candidate = case("q", ["D"], **leak), case("q", ["D", "x"], **leak)
    found = compared(tmp_path, [base], [candidate])
    row = delta(found, "unauthorized_retrieved")
    assert (row["delta"], row["better"], row["worse"]) == (1.0, 0, 1)
    assert {entry.better for entry in REGISTRY.values()} <= {"higher", "lower", "neither"}


def test_a_metric_without_direction_is_neither_better_nor_worse() -> None:
    recall = columns_for([5])[0].metric
    column = Column(replace(recall, kind="score", better="neither"), None)
    base, candidate = pl.Series([0.5, 0.5]), pl.Series([0.7, 0.5])
    scores = Scores(column, base, candidate, base.ne_missing(candidate))
    members = pl.DataFrame({"slice": ["all"], "slice_value": ["all"], "cell": [0]})
    cells = Cells(pl.Series([0, 0]), members, [])
    row = delta_rows(column, sums_of(scores, cells.codes), cells)[0]
    assert (row["better"], row["worse"], row["tied"]) == (None, None, 1)
    assert row["delta"] == pytest.approx(0.1)


def test_leaks_on_failed_cases_are_changes_and_enter_no_mean(tmp_path: Path) -> None:
    leak = {"allowed_ids": ["D"], "error": "down"}
    base, candidate = case("q", ["D"], **leak), case("q", ["D", "x"], **leak)
    others = [case("r", ["D"], allowed_ids=["D"])]
    found = compared(tmp_path, [base, *others], [candidate, *others], gate="new.authorization == 0")
    assert delta(found, "unauthorized_retrieved")["n_paired"] == 1
    assert found.cases["case_id"].to_list() == ["q"]
    assert not found.passed


def test_identical_runs_differ_in_nothing_and_have_no_p(tmp_path: Path) -> None:
    records, _ = mixed(1)
    found = compared(tmp_path, records, records, test=True, intervals=True, max_regressions=0)
    assert found.passed
    assert found.cases.is_empty()
    assert set(found.deltas["delta"].drop_nulls()) == {0.0}
    assert found.tests is not None
    assert found.tests["p"].null_count() == found.tests.height > 0
    assert found.intervals is not None
    assert found.intervals["low"].null_count() == found.intervals.height
    for frame in (found.deltas, found.tests, found.intervals):
        assert not any(frame.select(pl.col(pl.Float64).is_nan().any()).row(0))


def test_one_case_is_compared_and_not_tested(tmp_path: Path) -> None:
    found = compared(tmp_path, [case("q", MISS)], [case("q", HIT)], test=True)
    assert found.tests is not None
    row = found.tests.filter(metric="recall").row(0, named=True)
    assert (row["n_cases"], row["p"], row["note"]) == (1, None, "not tested: one case")
    assert "resolves nothing" in (found.report["resolution"] or "")


def test_the_family_is_what_was_asked(tmp_path: Path) -> None:
    records = mixed(4)
    found = compared(
        tmp_path, *records, test=True, test_metric=["recall", "ndcg@10"], slice=["split"]
    )
    assert found.tests is not None
    members = found.tests.select("metric", "k", "slice", "slice_value").rows()
    assert members == [
        (metric, k, *where)
        for metric, k in (("recall", None), ("ndcg", 10))
        for where in (("all", "all"), ("split", "a"), ("split", "b"))
    ]
    defined = found.tests["p"].drop_nulls()
    smallest = found.tests.sort("p", nulls_last=True).row(0, named=True)
    assert smallest["p_adjusted"] == pytest.approx(min(1.0, smallest["p"] * len(defined)))
    with pytest.raises(UsageError, match=r"test-metric 'recal'.*did you mean `recall`"):
        compared(tmp_path, *records, test=True, test_metric="recal")


def test_slices_are_the_base_runs_and_a_field_can_be_added(tmp_path: Path) -> None:
    base = [case("q1", HIT, group="g1"), case("q2", MISS, group="g2")]
    found = compared(tmp_path, base, base, slice="group")
    assert delta(found, "recall", None, "group=g2")["base_mean"] == 0.0
    assert found.report["comparison"]["notes"] == []


def test_more_than_1000_values_are_summed_together(tmp_path: Path) -> None:
    base = [case(f"q{i:04}", HIT, split=f"s{i:04}") for i in range(1002)]
    found = compared(tmp_path, base, base)
    rows = found.deltas.filter(pl.col("slice") == "split", pl.col("metric") == "hit")
    assert rows["n_paired"].sum() == 1002
    assert rows.height == 1001
    assert rows.filter(slice_value="…")["n_paired"].to_list() == [2]
    assert "slice split: more values" in found.report["comparison"]["notes"][0]


GATES = [
    ("delta.recall@10 >= -0.4", True),
    ("delta.recall@10 >= -0.3", False),
    ("delta.recall@10[split=none] >= -1", False),  # nothing measured never passes
    ("delta.reciprocal_rank < 0", True),
    ("new.retrieval == 1", True),
    ("new.retrieval[tag=t] <= 0", False),
    ("new.pass == 0", True),
    ("new.pass[split=none] == 0", False),
    ("delta.unauthorized_retrieved == 0", True),
]


@pytest.mark.parametrize(("gate", "passed"), GATES)
def test_gates(gate: str, passed: bool, tmp_path: Path) -> None:
    base = [case(name, HIT, tags=["t"], allowed_ids=None, split="a") for name in "abc"]
    candidate = [base[0] | {"retrieved_ids": MISS, "context_ids": MISS}, *base[1:]]
    found = compared(tmp_path, base, candidate, gate=gate)
    assert (found.gates["passed"].to_list(), found.passed) == ([passed], passed)


@pytest.mark.parametrize(
    ("gate", "says"),
    [
        ("recall@10 >= 0.8", "a comparison holds delta.METRIC"),
        ("delta.recal@10 >= 0", "did you mean `recall`"),
        ("delta.recall@7 >= 0", "cutoff 7 was not asked for"),
        ("delta.recall[colour=red] >= 0", "no slice 'colour'"),
        ("delta.citation_validity >= 0", "not observed"),
        ("new.regression == 0", "no stage 'regression'"),
        ("new.retrieval@5 == 0", "a stage has no cutoff"),
        ("delta.recall >= nan", "finite number"),
        ("delta.recall", "not a gate; write for example 'delta.recall@5 >= -0.01'"),
        ("new. == 0", "not a gate; write for example 'delta.recall@5 >= -0.01'"),
    ],
)
def test_wrong_gates_say_what_is_wrong(gate: str, says: str, tmp_path: Path) -> None:
    records = [case("q", HIT)]
    with pytest.raises(UsageError, match=says.replace(".", r"\.")):
        compared(tmp_path, records, records, gate=gate)


def test_the_limit_on_regressions(tmp_path: Path) -> None:
    base = [case(f"q{i:02}", HIT) for i in range(14)]
    candidate = [case(f"q{i:02}", MISS if i < 12 else HIT) for i in range(14)]
    runs = [run_of(tmp_path, rows) for rows in (base, candidate)]
    within = ragtriage.compare(*runs, write=False, max_regressions=12)
    assert within.passed
    above = ragtriage.compare(*runs, write=False, max_regressions=11)
    assert not above.passed
    ten = ", ".join(f"q{i:02}" for i in range(10))
    assert above.failures[-1] == f"regressed: {ten} and 2 more"
    assert f"12 cases went from pass to anything else: {ten}, …" in above.failures[0]


def test_nothing_measured_never_passes(tmp_path: Path) -> None:
    records = [case("q", HIT, error="down")]
    found = compared(tmp_path, records, records)
    assert found.failures == ["no metric is scored in both runs: nothing measured never passes"]


def test_ranks_beyond_the_first_cutoff_still_move_means(tmp_path: Path) -> None:
    found = compared(tmp_path, [case("q", found_at(7))], [case("q", found_at(1))])
    assert delta(found, "reciprocal_rank")["delta"] == pytest.approx(6 / 7)


def test_two_sums_of_one_fraction_are_no_difference(tmp_path: Path) -> None:
    """Ranks 2, 4, 5, 8 and 3, 4, 5, 6 both have an average precision of 21/40."""

    def at(*ranks: int) -> Record:
        ids = [f"n{i}" for i in range(8)]
        for name, rank in zip("abcd", ranks, strict=True):
            ids[rank - 1] = name
        return case("q", ids, required_ids=list("abcd"))

    one, other = ([at(2, 4, 5, 8)], [at(3, 4, 5, 6)])
    values = [
        run_of(tmp_path, records).cases["average_precision_at_10"].item()
        for records in (one, other)
    ]
    assert values[0] != values[1]  # in the last digit
    assert values[0] == pytest.approx(values[1], abs=1e-15)
    found = compared(tmp_path, one, other)
    row = delta(found, "average_precision", 10)
    assert (row["delta"], row["better"], row["worse"], row["tied"]) == (0.0, 0, 0, 1)
    assert "average_precision_at_10" not in changed(found)["q"]["metrics_worse"]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([True, False, None])), max_size=40),
    st.sampled_from([0, 1000]),
)
def test_alike_values_of_a_cell_are_counted(
    pairs: list[tuple[int, bool | None]], beyond: int
) -> None:
    # Cells numbered beyond the pairs are counted in groups, few cells by number.
    codes = pl.Series([cell + beyond for cell, _ in pairs], dtype=pl.UInt32)
    values = pl.Series([value for _, value in pairs], dtype=pl.Boolean)
    found = {(cell, value): n for cell, value, n in _alike(codes, values).iter_rows()}
    assert found == Counter((cell + beyond, value) for cell, value in pairs)
