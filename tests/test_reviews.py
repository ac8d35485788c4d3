"""Reviews beside cases: what they override, what they leave unknown, and what finds no case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragtriage
from ragtriage import Run
from ragtriage.errors import InputError, UsageError
from tests.support import INVALID, Command, Writer, by_case, lines_of, manifest_of, rejects_of

Record = dict[str, Any]
YES, NO = True, False
CASE: Record = {
    "case_id": "x",
    "required_ids": ["e"],
    "context_ids": ["e", "f"],
    "required_claims": ["a"],
    "answer": "text",
    "answer_correct": None,
    "claims": [{"claim_id": "a", "supported": None, "cited_ids": ["e"]}],
}


def review(
    who: str, label: bool | None, claim: str | None = "a", kind: str = "human", **more: Any
) -> Record:
    return {
        "case_id": "x",
        "claim_id": claim,
        "reviewer": who,
        "kind": kind,
        "label": label,
        **more,
    }


def judge(label: bool | None, claim: str | None = "a", **more: Any) -> Record:
    return review("j", label, claim, kind="judge", **more)


@pytest.fixture
def reviewed(tmp_path: Path) -> Any:
    """Evaluate cases with reviews."""

    def run(cases: list[Record], reviews: list[Record], **options: Any) -> Run:
        (tmp_path / "cases.jsonl").write_text(lines_of(cases))
        (tmp_path / "reviews.jsonl").write_text(lines_of(reviews))
        options = {"write": False} | options
        return ragtriage.evaluate(
            tmp_path / "cases.jsonl", reviews=[tmp_path / "reviews.jsonl"], **options
        )

    return run


def with_inline(label: bool | None) -> Record:
    return {**CASE, "claims": [{"claim_id": "a", "supported": label, "cited_ids": ["e"]}]}


@pytest.mark.parametrize(
    ("inline", "reviews", "label", "source", "findings"),
    [
        (None, [review("p", YES)], YES, "review", []),
        (None, [review("p", YES), review("q", YES)], YES, "review", []),
        (None, [review("p", YES), review("q", NO)], None, None, ["disputed-label"]),
        (YES, [review("p", YES), review("q", NO)], None, None, ["disputed-label"]),
        (YES, [review("p", NO)], NO, "review", ["label-conflict"]),
        (YES, [review("p", None)], YES, "inline", []),
        (NO, [review("p", YES, claim="a", evidence_id="e")], NO, "inline", []),
        (None, [review("p", None)], None, None, []),
        (None, [judge(YES)], None, None, []),
        (
            None,
            [review("p", YES), review("q", NO), review("s", NO, kind="adjudication")],
            NO,
            "review",
            [],
        ),
    ],
)
def test_the_label_of_a_claim(
    reviewed: Any,
    inline: bool | None,
    reviews: list[Record],
    label: bool | None,
    source: str | None,
    findings: list[str],
) -> None:
    run = reviewed([with_inline(inline)], reviews)
    claim = run.claims.row(0, named=True)
    assert (claim["supported"], claim["label_source"]) == (label, source)
    assert claim["disputed"] == ("disputed-label" in findings)
    assert claim["conflict"] == ("label-conflict" in findings)
    case = by_case(run)["x"]
    assert set(findings) <= set(case["findings"])
    assert ("disputed-label" in case["findings"]) == ("disputed-label" in findings)
    known = {True: 1.0, False: 0.0, None: None}[label]
    assert case["supported_claim_fraction"] == known
    assert case["required_claim_coverage"] == known
    assert case["supported_claim_fraction_denominator"] == (None if label is None else 1)
    assert case["answer_label"] == label
    assert case["label_source"] == (None if label is None else "claims")
    assert case["claims"][0]["supported"] is inline
    assert case["disputed_claims"] == (["a"] if claim["disputed"] else [])
    stage = {True: "pass", False: "generation", None: "unprepared"}[label]
    assert case["stage"] == stage


def test_one_disputed_claim_leaves_the_sums_of_its_case_unknown_and_no_others(
    reviewed: Any,
) -> None:
    claims = [{"claim_id": name, "supported": YES, "cited_ids": ["e"]} for name in "ab"]
    cases = [{**CASE, "claims": claims}, {**CASE, "case_id": "y", "claims": claims}]
    run = reviewed(cases, [review("p", YES, "b"), review("q", NO, "b")])
    rows = by_case(run)
    assert (rows["x"]["supported_claim_fraction"], rows["y"]["supported_claim_fraction"]) == (
        None,
        1,
    )
    # The disputed claim is not a required one.
    assert rows["x"]["required_claim_coverage"] == 1
    assert rows["x"]["unsupported_claims"] == []
    row = run.summary.filter(
        (pl.col("metric") == "supported_claim_fraction") & (pl.col("slice") == "all")
    ).row(0, named=True)
    assert (row["n_scored"], row["n_undefined"], row["denominator"]) == (1, 1, 2)


@pytest.mark.parametrize(
    ("staff", "reviews", "contract", "label", "source"),
    [
        (None, [review("p", NO, None)], "auto", NO, "review"),
        (None, [review("p", NO, None)], "diagnosis", None, None),
        (YES, [review("p", NO, None)], "auto", YES, "staff"),
        (None, [review("p", YES, None), review("q", NO, None)], "auto", None, None),
        (YES, [review("p", YES, None), review("q", NO, None)], "auto", YES, "staff"),
        (None, [judge(NO, None)], "auto", YES, "claims"),
        (None, [review("p", NO, None, evidence_id="e")], "auto", YES, "claims"),
    ],
)
def test_the_label_of_an_answer(
    reviewed: Any,
    staff: bool | None,
    reviews: list[Record],
    contract: str,
    label: bool | None,
    source: str | None,
) -> None:
    run = reviewed([{**with_inline(YES), "answer_correct": staff}], reviews, contract=contract)
    row = by_case(run)["x"]
    assert (row["answer_label"], row["label_source"]) == (label, source)


def test_staff_against_a_review_is_a_finding(reviewed: Any) -> None:
    run = reviewed([{**with_inline(YES), "answer_correct": YES}], [review("p", NO, None)])
    assert "label-conflict" in by_case(run)["x"]["findings"]


def many(n: int) -> tuple[list[Record], list[Record]]:
    """Cases whose claim both a person and the judge labelled, and `x`, which only the judge did."""
    cases = [with_inline(None)]
    reviews = [judge(YES)]
    for i in range(n):
        cases.append({**with_inline(None), "case_id": f"c{i}"})
        reviews += [review("p", YES) | {"case_id": f"c{i}"}, judge(YES) | {"case_id": f"c{i}"}]
    return cases, reviews


def test_a_judge_fills_only_what_no_person_labelled(reviewed: Any) -> None:
    cases, reviews = many(30)
    disputed = [review("p", YES), review("q", NO), judge(YES)]
    cases += [{**with_inline(None), "case_id": "d"}, {**with_inline(NO), "case_id": "i"}]
    reviews += [row | {"case_id": "d"} for row in disputed] + [judge(YES) | {"case_id": "i"}]
    run = reviewed(cases, reviews, judge="j")
    rows = by_case(run)
    assert (rows["x"]["answer_label"], rows["x"]["label_source"]) == (True, "judge")
    assert (rows["c0"]["answer_label"], rows["c0"]["label_source"]) == (True, "claims")
    assert (rows["d"]["answer_label"], rows["d"]["label_source"]) == (None, None)
    assert (rows["i"]["answer_label"], rows["i"]["label_source"]) == (False, "claims")
    entry = run.report["reviews"]
    assert entry is not None
    assert entry["judge"] == "j"
    assert entry["claim_labels"] == {"inline": 1, "judge": 1, "none": 1, "review": 30}


def test_a_judges_part_is_said_in_every_report(cli: Command, tmp_path: Path) -> None:
    cases, reviews = many(30)
    (tmp_path / "c.jsonl").write_text(lines_of(cases))
    (tmp_path / "r.jsonl").write_text(lines_of(reviews))
    out = ("--out", tmp_path / "out", "--run-id", "r")
    done = cli(
        *("evaluate", tmp_path / "c.jsonl", "--reviews", tmp_path / "r.jsonl", "--judge", "j"),
        *("--format", "table", *out),
    )
    assert done.code == 0, done.err
    said = "claims labelled by judge j, not by people: 1"
    assert said in done.out
    for name in ("report.md", "report.html"):
        assert said in (tmp_path / "out" / "r" / name).read_text()
    assert manifest_of(tmp_path / "out" / "r")["reviews"]["judge"] == "j"


@pytest.mark.parametrize(
    ("name", "least", "words"),
    [
        ("j", 30, "--judge j: not validated: 29 of its claim labels meet a settled one"),
        ("p", 1, "--judge p: not in the reviews; judges there: j"),
        ("J", 1, "did you mean `j`"),
    ],
)
def test_a_judge_who_is_not_validated_is_refused(
    reviewed: Any, name: str, least: int, words: str
) -> None:
    cases, reviews = many(29)
    with pytest.raises(InputError, match=words.replace("(", r"\(")) as caught:
        reviewed(cases, reviews, judge=name, min_validated=least)
    assert caught.value.exit_code == 2


def test_a_lower_minimum_validates(reviewed: Any) -> None:
    cases, reviews = many(2)
    run = reviewed(cases, reviews, judge="j", min_validated=2)
    assert by_case(run)["x"]["label_source"] == "judge"


def test_a_judge_needs_reviews() -> None:
    with pytest.raises(UsageError, match="--judge needs --reviews"):
        ragtriage.evaluate("x.jsonl", judge="j")


def test_disputed_labels_are_listed(reviewed: Any) -> None:
    reviews = [
        *(review("p", YES), review("q", NO)),
        *(review("p", NO, None), review("q", YES, None)),
    ]
    entry = reviewed([CASE], reviews).report["reviews"]
    assert entry["states"] == {"disputed": 2}
    assert [(row["target"], row["claim_id"], row["supporters"]) for row in entry["disputed"]] == [
        ("claim", "a", ["p"]),
        ("answer", None, ["q"]),
    ]


@pytest.mark.parametrize(
    ("claim", "more"), [("a", {"evidence_id": "e"}), (None, {"evidence_id": "e"}), ("z", {})]
)
def test_a_dispute_is_a_finding_of_its_case_whatever_it_is_about(
    reviewed: Any, claim: str | None, more: Record
) -> None:
    reviews = [review("p", YES, claim, **more), review("q", NO, claim, **more)]
    case = {**with_inline(YES), "required_claims": ["a", "z"]}
    run = reviewed([case, {**case, "case_id": "calm"}], reviews)
    rows = by_case(run)
    assert "disputed-label" in rows["x"]["findings"]
    assert "disputed-label" not in rows["calm"]["findings"]
    # The answer does not make `z`: nothing of it is in force, yet people dispute it.
    assert rows["x"]["disputed_claims"] == []
    claims = run.claims.filter(case_id="x")
    assert claims["disputed"].to_list() == [False, claim == "z"]


def test_reviews_without_a_case_or_claim(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text(lines_of([CASE]))
    strays = [
        review("p", YES),
        review("p", YES) | {"case_id": "nowhere"},
        review("p", YES, "zz"),
        review("p", YES, "zz", evidence_id="e"),
    ]
    (tmp_path / "r.jsonl").write_text(lines_of(strays))
    command = ["evaluate", tmp_path / "c.jsonl", "--reviews", tmp_path / "r.jsonl"]
    out = ["--out", tmp_path / "out", "--run-id"]
    refused = cli(*command, *out, "no")
    refused.refuses("r.jsonl:2: case_id: 'nowhere': no such case", "r.jsonl:3: claim_id: 'zz'")
    assert [row["line"] for row in rejects_of(tmp_path / "out" / "no")] == [2, 3, 4]
    done = cli(*command, *out, "yes", "--unknown-review", "ignore", "--format", "json")
    assert done.code == 0, done.err
    lines = manifest_of(tmp_path / "out" / "yes")["lines"]
    assert lines == {"read": 5, "accepted": 2, "set_aside": 3, "blank": 0}
    assert "reviews without a case or claim left out: 3" in done.report()["run"]["notes"]
    assert cli("validate", *command[1:]).code == 2
    assert cli("validate", *command[1:], "--unknown-review", "ignore").code == 0


def test_reviews_go_with_a_case_that_is_set_aside(cli: Command, tmp_path: Path) -> None:
    cases = [CASE, {**CASE, "case_id": "bad", "weight": -1}]
    (tmp_path / "c.jsonl").write_text(lines_of(cases))
    (tmp_path / "r.jsonl").write_text(lines_of([review("p", YES) | {"case_id": "bad"}]))
    done = cli(
        *("evaluate", tmp_path / "c.jsonl", "--reviews", tmp_path / "r.jsonl"),
        *("--on-invalid", "quarantine", "--out", tmp_path / "out", "--run-id", "r"),
    )
    assert done.code == 0, done.err
    (_, partner) = rejects_of(tmp_path / "out" / "r")
    assert partner["message"] == f"set aside with its case ({tmp_path / 'c.jsonl'}:2)"
    assert manifest_of(tmp_path / "out" / "r")["lines"]["set_aside"] == 2


def test_joined_cases_and_traces_take_reviews_too(cli: Command, tmp_path: Path) -> None:
    label = {"case_id": "x", "required_claims": ["a"], "required_ids": ["e"]}
    trace = {
        "case_id": "x",
        "claims": [{"claim_id": "a", "supported": None, "cited_ids": ["e"]}],
        "context_ids": ["e"],
    }
    for name, record in (("c", label), ("t", trace), ("r", review("p", NO))):
        (tmp_path / f"{name}.jsonl").write_text(lines_of([record]))
    done = cli(
        *("evaluate", "--cases", tmp_path / "c.jsonl", "--trace", tmp_path / "t.jsonl"),
        *("--reviews", tmp_path / "r.jsonl", "--no-write", "--format", "json"),
    )
    assert done.code == 0, done.err
    (case,) = done.report()["cases"]
    assert case["break_point"] == "unsupported-claim"


SAME = "ana labelled the same thing more than once, first at"
REVIEW_FAULTS = {
    "review-kind": (
        "review-kind",
        [(2, "kind", "not one of human, judge, adjudication; write one of them")],
    ),
    "reviewer-kind": (
        "reviewer-kind",
        [
            (
                line,
                "kind",
                (
                    "ben: the reviewer's labels are both a judge's and a person's; "
                    "give each its own name"
                ),
            )
            for line in (2, 4)
        ],
    ),
    "duplicate-review": (
        "duplicate-review",
        [(line, "reviewer", f"{SAME} {{path}}:2; keep one label") for line in (2, 4)],
    ),
    "unknown-claim": (
        "unknown-claim",
        [
            (
                2,
                "claim_id",
                (
                    "'c9': the case neither proposes nor requires this claim; correct the "
                    "ID, or pass --unknown-review ignore"
                ),
            )
        ],
    ),
    "unknown-review": (
        "unknown-case",
        [
            (
                3,
                "case_id",
                (
                    "'case-7': no such case in the input; add the case, or pass "
                    "--unknown-review ignore"
                ),
            )
        ],
    ),
}


@pytest.mark.parametrize("name", REVIEW_FAULTS)
def test_each_rule_of_reviews_has_its_file_and_message(
    cli: Command, tmp_path: Path, name: str
) -> None:
    path = INVALID / f"{name}.reviews.jsonl"
    rule, faults = REVIEW_FAULTS[name]
    command = [INVALID / f"{name}.cases.jsonl", "--reviews", path]
    out = ["--out", tmp_path, "--run-id"]
    refused = cli("evaluate", *command, *out, "no")
    refused.refuses()
    expected = [
        f"{path}:{line}: {field}: {text.format(path=path)} [{rule}]" for line, field, text in faults
    ]
    assert refused.err.splitlines()[: len(faults)] == expected
    assert cli("validate", *command).err.splitlines()[: len(faults)] == expected
    done = cli("evaluate", *command, *out, "yes", "--on-invalid", "quarantine")
    assert done.code == 0, done.err
    assert [(row["line"], row["rule"]) for row in rejects_of(tmp_path / "yes")] == [
        (line, rule) for line, *_ in faults
    ]
    assert manifest_of(tmp_path / "yes")["lines"]["set_aside"] == len(faults)


def test_a_missing_label_needs_reviews(cli: Command, written: Writer, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(lines_of([review("p", YES)]))
    refused = cli("validate", written([CASE]))
    refused.refuses("[missing-claim-label]")
    assert cli("validate", written([CASE]), "--reviews", tmp_path / "r.jsonl").code == 0
