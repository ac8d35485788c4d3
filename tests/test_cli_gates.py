"""Gates of every form, each with both outcomes, and those that no input can answer."""

from __future__ import annotations

import pytest

from tests.support import CONTRACTS, Command, Record, Writer

SHOWN = ("--no-write", "--format", "json")

# Cutoffs 1 and 2. recall@1: 1, 0, 1/2 | recall@2: 1, 1, 1/2 | d: nothing required | e: not run
RECORDS: list[Record] = [
    {
        "case_id": "a",
        "split": "test",
        "weight": 2.0,
        "required_ids": ["p1"],
        "retrieved_ids": ["p1", "p2"],
        "context_ids": ["p1"],
        "forbidden_ids": ["p2"],
        "answer_correct": False,
    },
    {
        "case_id": "b",
        "split": "test",
        "weight": 1.0,
        "required_ids": ["p3"],
        "retrieved_ids": ["p9", "p3"],
        "context_ids": ["p3"],
        "forbidden_ids": [],
        "answer_correct": False,
    },
    {
        "case_id": "c",
        "split": "a=b",
        "weight": 1.0,
        "required_ids": ["p1", "p2"],
        "retrieved_ids": ["p1", "p1"],
        "context_ids": ["p1"],
        "forbidden_ids": [],
        "answer_correct": True,
    },
    {
        "case_id": "d",
        "split": "none",
        "required_ids": [],
        "retrieved_ids": ["p1", "p4"],
        "context_ids": ["p1"],
        "forbidden_ids": ["p1", "p4"],
        "answer_correct": None,
    },
    {
        "case_id": "e",
        "split": "failed",
        "required_ids": ["p1"],
        "retrieved_ids": ["p1", "p5"],
        "context_ids": [],
        "forbidden_ids": ["p5"],
        "answer_correct": None,
        "error": "timed out",
    },
]
# Stages: a, d, e leak (authorization), b generation, c retrieval.
HOLD = [
    "recall@2 >= 0.8333333",
    "recall@2>=0.8333333",
    "  recall@2   >=   0.8333333  ",
    "recall@1 == 0.5",
    "recall@1 >= 0.5",
    "recall@1 <= 0.5",
    "recall@1 != 0.4",
    "recall@1 > 0.49",
    "recall@1 < 0.51",
    "recall@1 >= 0.5000000009",  # within the tolerance
    "recall@1 == 0.4999999991",
    "recall >= 0.8",
    "reciprocal_rank == 0.625",  # 1, 1/2, 1, 0
    "recall@1[split=test] == 0.5",
    "recall@1[split=a=b] == 0.5",  # splits at the first =
    "recall@2 [answerable=true] > 0.83",
    "weighted.recall@1 == 0.625",  # (2·1 + 1·0 + 1·½) ÷ 4
    "weighted.recall@1[split=test] >= 0.6666666",
    "scored.recall@1 == 0.6",  # 3 of 5
    "scored.recall@1[split=test] >= 1.0",
    "n.recall@1 == 3",
    "n.recall@1 >= 3",
    "unauthorized_retrieved == 4",  # a 1, d 2, e 1: also on the failed case
    "unauthorized_context == 1",
    "unauthorized_retrieved[split=failed] == 1",
    "stage.generation == 0.25",  # of the four cases run
    "stage.generation <= 0.25",
    "stage.citation == 0",
    "stage.generation[split=test] == 0.5",
    "finding.duplicate-retrieved == 1",
    "finding.disjoint-ids == 0",
]
FAIL = [
    "recall@2 >= 0.84",
    "recall@1 == 0.6",
    "recall@1 != 0.5",
    "recall@1 > 0.5",
    "recall@1 < 0.5",
    "recall@1 <= 0.4999999",
    "recall@1 >= 0.50000001",
    "recall@1[split=a=b] > 0.5",
    "weighted.recall@1 >= 0.63",
    "scored.recall@1 >= 1.0",
    "n.recall@1 >= 30",
    "unauthorized_retrieved == 0",
    "unauthorized_context <= 0",
    "stage.generation <= 0.2",
    "stage.generation[split=test] <= 0.05",
    "finding.duplicate-retrieved == 0",
    "recall@1 <= -1",
]
# Nothing was measured: these fail whatever they ask
NOTHING = [
    "recall@1[split=none] >= 0",
    "recall@1[split=none] <= 1",
    "recall@1[split=none] != 7",
    "recall@1[split=failed] >= 0",
    "weighted.recall@1[split=none] >= 0",
    "recall@1[split=nowhere] >= 0",
    "recall@1[split=] >= 0",
    "n.recall@1[split=nowhere] >= 0",
    "scored.recall@1[split=nowhere] <= 1",
    "recall@1[answerable=false] >= 0",
    "stage.generation[split=nowhere] <= 1",
    "stage.generation[tag=x] <= 1",
]
REFUSED = {
    "": "not a gate",
    "recall@1": "not a gate",
    "recall@1 => 0.5": "not a gate",
    "recall@1 >= ": "not a gate",
    "recall@1 >= most": "'most' is not a number",
    "recall@1 >= nan": "finite",
    "recall@1 >= inf": "finite",
    "recal@1 >= 0.5": "did you mean `recall`?",
    "recall@3 >= 0.5": "cutoff 3 was not asked for",
    "hit >= 0.5": "needs a cutoff",
    "citation_coverage@1 >= 0.5": "has no cutoff",
    "citation_coverage >= 0.5": "not observed",
    "context_precision@1[spilt=test] >= 0.5": "did you mean `split`?",
    "recall@1[split] >= 0.5": "[slice=value]",
    "recall@1[group=x] >= 0.5": "no slice 'group'",
    "stage.generaton <= 0.5": "did you mean `generation`?",
    "stage.generation@1 <= 0.5": "has no cutoff",
    "finding.disjoint == 0": "no finding 'disjoint'",
    "finding.disjoint-ids[split=test] == 0": "over all cases",
    "median.recall@1 >= 0.5": "not a gate",
    "recall@-1 >= 0.5": "not a gate",
    "recall@1 >= 0.5 and recall@2 >= 0.5": "not a gate",
}


@pytest.mark.parametrize("gate", HOLD)
def test_gates_that_hold(cli: Command, written: Writer, gate: str) -> None:
    shown = cli("evaluate", written(RECORDS), "--k", "1,2", "--gate", gate, *SHOWN)
    assert shown.code == 0, shown.err
    (verdict,) = shown.report()["gates"]
    assert (verdict["gate"], verdict["passed"]) == (gate.strip(), True)


@pytest.mark.parametrize("gate", FAIL)
def test_gates_that_fail(cli: Command, written: Writer, gate: str) -> None:
    shown = cli("evaluate", written(RECORDS), "--k", "1,2", "--gate", gate, *SHOWN)
    assert shown.code == 1
    assert f"gate failed: {gate}: " in shown.err
    (verdict,) = shown.report()["gates"]
    assert verdict["passed"] is False
    assert verdict["value"] is not None


@pytest.mark.parametrize("gate", NOTHING)
def test_a_gate_over_nothing_fails_and_says_so(cli: Command, written: Writer, gate: str) -> None:
    shown = cli("evaluate", written(RECORDS), "--k", "1,2", "--gate", gate, *SHOWN)
    assert shown.code == 1, shown.err
    (verdict,) = shown.report()["gates"]
    assert (verdict["value"], verdict["passed"]) == (None, False)
    assert "nothing measured never passes" in verdict["reason"]
    assert "nothing measured never passes" in shown.err


@pytest.mark.parametrize("gate", REFUSED)
def test_gates_refused(cli: Command, written: Writer, gate: str) -> None:
    shown = cli("evaluate", written(RECORDS), "--k", "1,2", "--gate", gate, *SHOWN)
    shown.refuses(REFUSED[gate], gate)


@pytest.mark.parametrize(
    "option",
    ["--min-recall", "--min-context-precision", "--min-mrr", "--min-citation-coverage"],
)
def test_a_minimum_on_what_is_not_observed_is_refused(
    cli: Command, written: Writer, option: str
) -> None:
    shown = cli("evaluate", written([{"case_id": "a", "answer": "x"}]), option, "0", *SHOWN)
    shown.refuses("not observed")


def test_a_metric_of_permissions_needs_permissions(cli: Command, written: Writer) -> None:
    records = [{k: v for k, v in r.items() if k != "forbidden_ids"} for r in RECORDS]
    shown = cli("evaluate", written(records), "--gate", "unauthorized_retrieved == 0", *SHOWN)
    shown.refuses("unauthorized_retrieved", "not observed", "forbidden_ids")


def test_several_gates_are_all_judged(cli: Command, written: Writer) -> None:
    shown = cli(
        *("evaluate", written(RECORDS), "--k", "1,2", *SHOWN, "--min-recall", "0.5"),
        *("--gate", "recall@2 >= 0.9", "--gate", "n.recall@1 >= 3", "--gate", "recall@1 > 0.9"),
    )
    assert shown.code == 1
    assert [(gate["gate"], gate["passed"]) for gate in shown.report()["gates"]] == [
        ("recall@1 >= 0.5", True),
        ("recall@2 >= 0.9", False),
        ("n.recall@1 >= 3", True),
        ("recall@1 > 0.9", False),
    ]
    failed = [line for line in shown.err.splitlines() if line.startswith("gate failed")]
    assert len(failed) == 2


def test_a_slice_asked_for_can_be_gated(cli: Command, written: Writer) -> None:
    records = [record | {"group": "g"} for record in RECORDS]
    gates = ("--gate", "recall@1[group=g] == 0.5", "--gate", "stage.retrieval[group=g] == 0.25")
    shown = cli("evaluate", written(records), "--k", "1", "--slice", "group", *gates, *SHOWN)
    assert shown.code == 0, shown.err


def test_findings_over_the_whole_run(cli: Command, written: Writer) -> None:
    apart = {"required_ids": ["P1"], "retrieved_ids": ["doc-1"]}
    for n, code in ((4, 0), (5, 1)):
        records = [apart | {"case_id": str(i)} for i in range(n)]
        shown = cli("evaluate", written(records), "--gate", "finding.disjoint-ids == 0", *SHOWN)
        assert shown.code == code


def test_thresholds_are_kept_beside_values(cli: Command) -> None:
    path = CONTRACTS / "citation.jsonl"
    shown = cli("evaluate", path, "--contract", "citation", "--min-mrr", "0.25", *SHOWN)
    (gate,) = shown.report()["gates"]
    assert (gate["value"], gate["threshold"], gate["passed"]) == (0.5, 0.25, True)
