"""The words and numbers all formats share."""

from __future__ import annotations

from types import ModuleType

import pytest

from ragtriage.publish import abstention, wording
from ragtriage.publish.document import Report
from ragtriage.publish.notices import judged_by, notices


def test_the_verdict_says_what_broke(report: Report) -> None:
    assert wording.verdict(report) == (
        "28 of 39 cases did not pass: 10 retrieval, 4 generation, 3 authorization, 3 citation, "
        "3 unprepared, 2 abstention, 2 unresolved, 1 not run"
    )


@pytest.mark.parametrize(
    ("n", "not_run", "passed", "expected"),
    [
        (0, 0, 0, "No case was accepted: nothing was measured"),
        (3, 3, 0, "None of 3 cases was run: nothing was measured"),
        (1, 1, 0, "The only case was not run: nothing was measured"),
        (1, 0, 1, "The only case passed"),
        (1, 0, 0, "The only case did not pass"),
        (1_200, 0, 1_200, "All 1,200 cases passed"),
        (2, 0, 1, "1 of 2 cases did not pass"),
    ],
)
def test_the_verdict_at_its_edges(
    report: Report, n: int, not_run: int, passed: int, expected: str
) -> None:
    report["run"] |= {"n_cases": n, "n_not_run": not_run, "n_pass": passed}
    report["stages"] = []
    assert wording.verdict(report) == expected


def test_failed_gates_come_first(report: Report) -> None:
    said, ordered = wording.gates(report["gates"])
    assert said == "2 of 3 gates failed"
    assert [gate["passed"] for gate in ordered] == [False, False, True]
    assert wording.gates([])[0] == "No gate was set"
    assert wording.gates(ordered[2:])[0] == "The gate holds"
    assert wording.gates(ordered[2:] * 2)[0] == "All 2 gates hold"


def test_notices_say_what_the_numbers_leave_out(report: Report) -> None:
    assert notices(report) == [
        "3 lines set aside in rejects/: not in these numbers",
        "1 case not run: in no mean",
        "1 answer was right although required evidence was missing: not counted as a pass",
        "answers unlabelled: 3, of these disputed: 1",
        "context observed on 36 of 39 cases: elsewhere what was retrieved stands for it",
    ]
    report["run"]["n_lucky"] = 2
    assert notices(report)[2] == (
        "2 answers were right although required evidence was missing: not counted as passes"
    )


@pytest.mark.parametrize(
    ("seen", "needs", "expected"),
    [
        (0, [], "context not observed: what was retrieved stands for it"),
        (0, ["cited_ids"], "context not observed: what was retrieved stands for it"),
        (
            0,
            ["retrieved_ids"],
            "neither context nor retrieval is recorded: no evidence can be followed",
        ),
        (5, ["retrieved_ids"], "context observed on 5 of 39 cases: "),
    ],
)
def test_what_stands_for_the_context_is_what_there_is(
    report: Report, seen: int, needs: list[str], expected: str
) -> None:
    report["run"]["context_observed"] = seen
    report["not_observed"] = [{"metric": "recall", "needs": needs}]
    assert notices(report)[-1].startswith(expected)


def test_where_no_answer_is_labelled_unprepared_is_said_to_be_no_failure(report: Report) -> None:
    report["run"] |= {"n_unlabelled": 38, "n_disputed": 0}
    assert notices(report)[3] == (
        "answers unlabelled: 38, every one: a case whose evidence arrived is unprepared, not wrong"
    )
    report["run"]["n_unlabelled"] = 37
    assert notices(report)[3] == "answers unlabelled: 37"


def test_a_case_is_judged_by_what_was_recorded_of_it(report: Report) -> None:
    case = report["cases"][0] | {"context_observed": True}
    assert judged_by(case) == ""
    case |= {"context_observed": False, "retrieved_ids": ["a"]}
    assert judged_by(case) == "not recorded: judged by what was retrieved"
    case["retrieved_ids"] = None
    assert judged_by(case) == "not recorded, nor was what was retrieved"


def test_a_clean_run_has_no_notice(ordinary: Report) -> None:
    ordinary["run"]["lines"]["set_aside"] = 0
    assert notices(ordinary) == []
    assert wording.set_aside(ordinary["run"]) == ""


def test_the_mechanism_is_stated_or_said_to_be_missing(report: Report) -> None:
    assert wording.facts(report)[0] == ("mechanism", "recorded replay of the nightly assistant")
    report["about"] = {}
    assert wording.facts(report)[0] == ("mechanism", "mechanism not stated")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "undefined"),
        (float("nan"), "undefined"),
        (0.0, "0.000"),
        (1.0, "1.000"),
        (0.99999, ">0.999"),
        (0.00001, "1.0e-05"),
        (2 / 3, "0.667"),
        (1234.5, "1,234.500"),
    ],
)
def test_a_number_is_never_rounded_to_0_or_1(value: float | None, expected: str) -> None:
    assert wording.number(value) == expected


@pytest.mark.parametrize(
    ("share", "expected"),
    [(None, "undefined"), (0.0, "0.0%"), (0.0001, "<0.1%"), (0.175, "17.5%"), (0.9999, ">99.9%")],
)
def test_shares(share: float | None, expected: str) -> None:
    assert wording.percent(share) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "undefined"),
        (float("nan"), "undefined"),
        (0.8, "0.8"),
        (0.79999999, "0.79999999"),
        (3.0, "3"),
    ],
)
def test_a_gate_value_never_looks_like_its_threshold(value: float | None, expected: str) -> None:
    assert wording.exact(value) == expected


@pytest.mark.parametrize(
    ("at", "changes", "name", "text"),
    [
        ("source", {"in_source": False}, "source", "not in source"),
        ("index", {"in_index": False}, "index", "not in index"),
        ("chunk", {"in_chunks": False}, "chunks", "in no chunk"),
        ("scope", {}, "scope", "may not be seen"),
        ("filter", {"filtered": True}, "filter", "filtered out"),
        ("retrieval", {}, "retrieved", "not returned"),
        ("ranking", {"in_candidates": True}, "retrieved", "candidate, not returned"),
        ("ranking", {"retrieved_rank": 14, "retrieved_id": "a"}, "top 5", "below cutoff"),
        (
            "context",
            {"retrieved_rank": 2, "retrieved_id": "a", "in_top_k": True},
            "context",
            "not in context",
        ),
        ("unobserved", {"in_top_k": None}, "context", "not in context"),
    ],
)
def test_the_step_that_lost_a_requirement_is_marked(
    sample: ModuleType, at: str, changes: dict[str, object], name: str, text: str
) -> None:
    steps = wording.path(sample.lost(["a"], at, **changes), 5)
    assert [(s.name, s.text) for s in steps if s.state == "lost"] == [(name, text)]
    assert [s.name for s in steps][-2:] == ["context", "cited"]


def test_the_path_of_delivered_evidence(sample: ModuleType) -> None:
    row = sample.evidence(["a", "b"], retrieved_id="b", retrieved_rank=3, in_chunks=None)
    assert wording.path(row, 10) == [
        wording.Step("source", "in source, index", "ok"),
        wording.Step("retrieved", "rank 3", "ok", "b"),
        wording.Step("top 10", "within cutoff", "ok"),
        wording.Step("context", "place 1 of 3", "ok"),
        wording.Step("cited", "cited", "ok"),
    ]


def test_what_was_not_recorded_is_never_said_to_be_absent(sample: ModuleType) -> None:
    unseen = dict.fromkeys(set(sample.evidence(["a"])) - {"ids", "requirement"})
    steps = wording.path(sample.evidence(["a"], **unseen), 5)
    assert {step.state for step in steps} == {"unknown"}
    assert {step.text for step in steps} == {"not recorded"}


def test_every_break_point_of_the_sample_has_words(report: Report) -> None:
    points = {case["break_point"] for case in report["cases"]} - {None}
    assert points == set(wording.BREAK_POINTS)


def test_a_mean_stands_beside_its_denominator(report: Report) -> None:
    lines = {line.label: line for line in wording.metrics(report)}
    assert lines["recall@5"].pooled == "25 / 36 = 0.694"
    assert lines["recall@5"].row["n_scored"] == 32
    assert lines["hit@5"].value == "24 of 32 (0.750)"
    assert lines["redundant@5"].value == "3 in all (mean 0.081)"
    assert lines["required_claim_coverage"].value == "undefined"
    assert lines["ndcg@5"].weighted == "0.731"
    assert lines["recall@5"].weighted == ""


def test_metrics_of_abstention_stand_apart(report: Report) -> None:
    rest, beside = abstention.apart(report)
    chosen = [line.label for line in beside]
    assert chosen == ["appropriate_abstention", "answered_unsupported", "over_refusal"]
    assert [*rest, *beside] == sorted(wording.metrics(report), key=lambda line: line in beside)


def test_abstention_that_nobody_knows_is_no_table(report: Report) -> None:
    none = {"answered": 0, "abstained": 0, "unknown": 0}
    known, other = report["abstention"]
    other |= none
    assert abstention.answered(report) == [known]
    known |= none | {"unknown": 30}
    assert abstention.answered(report) == []
    assert abstention.apart(report) == (wording.metrics(report), [])


def test_where_retrieval_alone_was_recorded_more_of_it_is_shown(report: Report) -> None:
    whole = {row["metric"] for row in wording.mains(report)}
    assert {"recall", "context_recall", "answer_match"} < whole
    assert "ndcg" not in whole
    report["summary"] = [
        row for row in report["summary"] if row["metric"] not in whole - {"recall"}
    ]
    rest = {(row["metric"], row["k"]) for row in wording.mains(report)}
    assert rest == {("recall", 5), ("precision", 5), ("ndcg", 5), ("reciprocal_rank", None)}


def test_slices_show_means_with_their_denominators(report: Report) -> None:
    columns, lines = wording.slices(report)["split"]
    assert columns == ["recall@5", "context_recall", "answer_match"]
    assert lines[1].value == "test"
    assert lines[1].passed == "9 of 13"
    assert lines[1].cells == [("0.700", "20"), ("0.600", "20"), ("0.500", "20")]
    assert lines[1].mix == "3 retrieval, 1 generation"


def test_about_is_flattened() -> None:
    about = {"judge": {"sees": ["a", 1], "strict": True}, "change": "x"}
    assert wording.flat(about) == [
        ("judge.sees", "a, 1"),
        ("judge.strict", "true"),
        ("change", "x"),
    ]
