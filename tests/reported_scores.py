"""Reported faults of groups A to D that take more than one record and one number."""

from __future__ import annotations

import random

import polars as pl
import pytest

import ragtriage
from tests.reported_kit import SHOWN, Kit, case, fault
from tests.support import Record, by_case, summary_row


@fault("A14")
def bad_cutoffs_are_refused_before_reading(kit: Kit) -> None:
    for value in ("0", "-1", "2.5", "true"):
        kit.cli("evaluate", "nowhere.jsonl", f"--k={value}").refuses("--k")
    for given in (0, -1, 2.5, True, "10"):
        with pytest.raises(ragtriage.UsageError, match="--k"):
            ragtriage.evaluate("nowhere.jsonl", k=[given])


@fault("A16")
def every_threshold_includes_its_boundary(kit: Kit) -> None:
    path = kit.written([case("q", ["a", "b"], ["x", "a"], cited_ids=["a", "z"])])
    names = ("recall", "context-precision", "mrr", "citation-coverage", "citation-validity")
    options = [text for name in names for text in (f"--min-{name}", "0.5")]
    report = kit.cli("evaluate", path, "--k", "2", *SHOWN, *options)
    assert report.code == 0, report.err
    assert [gate["value"] for gate in report.report()["gates"]] == [0.5] * 5


@fault("A18")
def three_of_three_is_exactly_one(kit: Kit) -> None:
    path = kit.written([case("q", ["a", "b", "c"], ["c", "a", "b"])])
    shown = kit.cli("evaluate", path, *SHOWN, "--min-recall", "1.0", "--gate", "ndcg@10 >= 1.0")
    assert shown.code == 0, shown.err
    assert [gate["value"] for gate in shown.report()["gates"]] == [1.0, 1.0]


@fault("A20")
def an_error_is_not_run_and_the_earliest_break_wins(kit: Kit) -> None:
    corpus = kit.written([{"evidence_id": "b"}, {"evidence_id": "x"}], "corpus.jsonl")
    records = [
        case("broken", ["b"], ["b"], error="generator timed out", answer=None),
        case("two defects", ["b", "gone"], ["x", "b"], error=None, answer="x"),
    ]
    rows = by_case(kit.evaluated(records, corpus=str(corpus), k=1))
    assert (rows["broken"]["stage"], rows["broken"]["break_point"]) == ("not_run", "error")
    two = rows["two defects"]
    assert (two["stage"], two["break_point"]) == ("retrieval", "source")
    assert two["missing"] == ["b", "gone"]


@fault("B02")
def leading_zeros_of_a_csv_are_kept(kit: Kit) -> None:
    text = (
        'case_id,required_ids,retrieved_ids\n007,"[""08""]","[""08""]"\n08,"[""8""]","[""08""]"\n'
    )
    run = ragtriage.evaluate(kit.written(text, "in.csv"), write=False)
    assert {name: row["recall"] for name, row in by_case(run).items()} == {"007": 1.0, "08": 0.0}


@fault("B04")
def folder_names_are_no_columns(kit: Kit) -> None:
    folder = kit.tmp_path / "runs" / "fold=007"
    folder.mkdir(parents=True)
    pl.DataFrame([case("q", ["a"], ["a"])]).write_parquet(folder / "x.parquet")
    for source in (kit.tmp_path / "runs", str(kit.tmp_path / "runs" / "*" / "*.parquet")):
        run = ragtriage.evaluate(source, write=False)
        assert run.cases["case_id"].to_list() == ["q"]
        assert "fold" not in run.cases.columns


@fault("B05")
def another_unicode_form_is_a_finding_that_names_both(kit: Kit) -> None:
    composed, decomposed = "caf\u00e9-3", "cafe\u0301-3"
    path = kit.written([case("q", [composed], [decomposed])])
    shown = kit.cli("evaluate", path, "--out", kit.tmp_path / "out", "--run-id", "r")
    assert shown.code == 0
    row = pl.read_parquet(kit.tmp_path / "out" / "r" / "cases" / "*.parquet").row(0, named=True)
    assert (row["recall"], row["findings"]) == (0.0, ["near-miss-id"])
    assert composed in shown.out
    assert decomposed in shown.out


@fault("B06")
def ids_are_never_folded(kit: Kit) -> None:
    ids = ["\ufb01le", "file", "Doc-A", "doc-a"]
    corpus = kit.written([{"evidence_id": name} for name in ids], "corpus.jsonl")
    records = [case(name, [name], [name]) for name in ids]
    records += [case("ligature", [ids[0]], [ids[1]]), case("case", [ids[2]], [ids[3]])]
    recalls = [
        row["recall"] for row in by_case(kit.evaluated(records, corpus=str(corpus))).values()
    ]
    assert recalls == [1.0] * 4 + [0.0] * 2


@fault("B11")
def casefold_is_its_own_named_mode(kit: Kit) -> None:
    record = case("q", ["a"], ["a"], answer="STRASSE", expected_answers=["stra\u00dfe"])
    for name, equal in {"lower-whitespace": False, "exact": False, "casefold": True}.items():
        run = kit.evaluated([record], normalizer=name)
        assert by_case(run)["q"]["answer_match"] is equal
        assert run.report["run"]["normalizer"] == name


@fault("C06")
def the_order_of_rows_changes_nothing(kit: Kit) -> None:
    dice = random.Random(3)  # noqa: S311 - a fixed sequence
    ids = [f"p{i}" for i in range(6)]
    records = [
        case(f"q{i}", dice.sample(ids, 2), dice.choices(ids, k=4), weight=dice.random() + 0.1)
        for i in range(40)
    ]
    one = kit.evaluated(records)
    dice.shuffle(records)
    other = kit.evaluated(records)
    drop = ("line", "run_id")
    rows = [{k: v for k, v in row.items() if k not in drop} for row in one.cases.to_dicts()]
    others = {row["case_id"]: row for row in other.cases.to_dicts()}
    for row in rows:
        assert row == {k: v for k, v in others[row["case_id"]].items() if k not in drop}
    assert summary_row(one.summary, "ndcg", 10) == summary_row(other.summary, "ndcg", 10) | {
        key: value for key, value in summary_row(one.summary, "ndcg", 10).items() if key == "run_id"
    }


@fault("C11")
def a_second_call_gives_the_same(kit: Kit) -> None:
    records = [case("q", ["a", "b"], ["x", "a", "b"])]
    first, second = (kit.evaluated(records, k=[2, 10, 100]) for _ in range(2))
    columns = pl.exclude("run_id")
    assert first.cases.select(columns).equals(second.cases.select(columns), null_equal=True)
    assert [first.cases[f"recall_at_{k}"][0] for k in (2, 10, 100)] == [0.5, 1.0, 1.0]


@fault("D01")
def a_query_without_gold_is_left_out_and_counted(kit: Kit) -> None:
    run = kit.evaluated([case("q1", ["a", "b"], ["a"]), case("q2", [], ["x"], answerable=False)])
    recall = summary_row(run.summary, "recall", 10)
    assert (recall["mean"], recall["n_scored"], recall["n_cases"]) == (0.5, 1, 2)
    row = by_case(run)["q2"]
    assert (row["recall"], row["precision_at_10"], row["reciprocal_rank"]) == (None, 0.0, 0.0)
    assert row["false_evidence"] is True
    apart = summary_row(run.summary, "reciprocal_rank", None, "answerable", "true")
    assert (apart["mean"], apart["n_cases"]) == (1.0, 1)


@fault("D02")
def a_case_does_not_depend_on_its_neighbours(kit: Kit) -> None:
    third = case("q3", ["a"], ["x", "a"])
    alone = by_case(kit.evaluated([third]))["q3"]
    beside = by_case(kit.evaluated([case("q2", [], []), third]))["q3"]
    skip = ("line", "run_id")
    assert {k: v for k, v in alone.items() if k not in skip} == {
        k: v for k, v in beside.items() if k not in skip
    }


@fault("D08")
def only_declared_texts_abstain(kit: Kit) -> None:
    records = [
        {"case_id": str(i), "answerable": False, "answer": answer}
        for i, answer in enumerate(["", "unanswerable", "Paris"])
    ]
    run = kit.evaluated(records, abstain_text="unanswerable")
    assert [row["answer_match"] for row in by_case(run).values()] == [True, True, False]


@fault("D09")
def the_declared_flag_decides(kit: Kit) -> None:
    records: list[Record] = [
        {"case_id": "answered", "answerable": True, "required_ids": ["2"], "cited_ids": ["2"]},
        {"case_id": "refused", "answerable": False, "required_ids": [], "cited_ids": ["1"]},
    ]
    records[0] |= {"answer": "Insufficient balance is the cause [2]", "abstained": False}
    records[1] |= {"answer": "Kein Eintrag gefunden [1]", "abstained": True}
    run = kit.evaluated([record | {"context_ids": ["1", "2"]} for record in records])
    table = {row["answerable"]: row for row in run.report["abstention"]}
    assert (table["answerable"]["answered"], table["unanswerable"]["abstained"]) == (1, 1)
    refused = by_case(run)["refused"]
    assert (refused["stage"], refused["break_point"]) == ("abstention", "cited-unsupported")


@fault("D10")
def refusing_everything_is_shown_from_all_sides(kit: Kit) -> None:
    records = [case(f"q{i}", ["a"], ["a"], answer=None, answerable=True) for i in range(4)]
    records.append(case("q5", [], [], answer=None, answerable=False))
    summary = kit.evaluated(records).summary
    shown = {
        name: (row["sum"], row["n_scored"])
        for name in ("abstention_recall", "abstention_precision", "over_refusal")
        for row in [summary_row(summary, name)]
    }
    assert shown == {
        "abstention_recall": (1, 1),
        "abstention_precision": (1, 5),
        "over_refusal": (4, 4),
    }
