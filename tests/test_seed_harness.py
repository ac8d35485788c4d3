"""The citation harness's contract with its users: input rules, thresholds, exit codes, streams."""

from __future__ import annotations

import json

import pytest

from tests.support import CONTRACTS, Command, Writer, cases_in

FILE = CONTRACTS / "citation.jsonl"
ONE = (
    '{"id":"question-1","relevant_document_ids":["doc-a"],'
    '"retrieved_document_ids":["doc-b","doc-a"],"cited_document_ids":["doc-a"]}'
)
JSON = ("--contract", "citation", "--k", "3", "--no-write", "--format", "json")
# What the shipped file comes to, each a dyadic fraction or far from its neighbours below
MEANS = {
    "--min-recall": 0.625,
    "--min-mrr": 0.5,
    "--min-context-precision": 4 / 15,
    "--min-citation-coverage": 0.375,
    "--min-citation-validity": 0.3,
}


def test_the_documents_own_line(cli: Command, written: Writer) -> None:
    report = cli("evaluate", written(ONE + "\n"), *JSON).report()
    row = cases_in(report)["question-1"]
    assert (row["recall_at_3"], row["reciprocal_rank"], row["context_precision_at_3"]) == (
        1.0,
        0.5,
        0.5,
    )
    assert (row["citation_coverage"], row["citation_validity"]) == (1.0, 1.0)
    assert report["run"]["mapping"] == {
        "id": "case_id",
        "relevant_document_ids": "required_ids",
        "retrieved_document_ids": "retrieved_ids",
        "cited_document_ids": "cited_ids",
    }


def test_blank_lines_are_ignored_and_counted(cli: Command, written: Writer) -> None:
    path = written(f"\n{ONE}\n   \t\n\r\n")
    report = cli("evaluate", path, *JSON).report()
    assert report["run"]["lines"] == {"read": 4, "accepted": 1, "set_aside": 0, "blank": 3}
    assert report["cases"][0]["line"] == 2


LINE_3 = {
    "invalid JSON": ('{"id": "b", ', "json-syntax"),
    "not an object": ('"b"', "not-an-object"),
    "missing array": (
        '{"id": "b", "relevant_document_ids": [], "retrieved_document_ids": []}',
        "missing-field",
    ),
    "null array": (ONE.replace("question-1", "b").replace('["doc-a"]}', "null}"), "missing-field"),
    "non-string ID": (ONE.replace('"question-1"', "7"), "type"),
    "non-string evidence ID": (
        ONE.replace("question-1", "b").replace('["doc-b","doc-a"]', '["doc-b",7]'),
        "type",
    ),
    "missing ID": (ONE.replace('"id":"question-1",', ""), "missing-field"),
    "duplicate case ID": (ONE, "duplicate-case-id"),
}


@pytest.mark.parametrize("fault", LINE_3)
def test_invalid_input_fails_with_its_line_number(
    cli: Command, written: Writer, fault: str
) -> None:
    line, rule = LINE_3[fault]
    path = written(f"{ONE}\n\n{line}\n")
    shown = cli("evaluate", path, *JSON)
    shown.refuses(f"{path}:3: ", f"[{rule}]")


@pytest.mark.parametrize("option", MEANS)
def test_each_threshold_on_both_sides_of_the_mean(cli: Command, option: str) -> None:
    mean = MEANS[option]
    below = cli("evaluate", FILE, *JSON, option, f"{mean - 0.001}")
    above = cli("evaluate", FILE, *JSON, option, f"{mean + 0.001}")
    assert (below.code, above.code) == (0, 1)
    assert "gate" not in below.err
    metric = above.report()["gates"][0]["gate"].split(" ")[0]
    assert f"\ngate failed: {metric} >= " in f"\n{above.err}"


@pytest.mark.parametrize("option", MEANS)
def test_a_mean_exactly_at_the_threshold_passes(cli: Command, option: str) -> None:
    assert cli("evaluate", FILE, *JSON, option, f"{MEANS[option]!r}").code == 0


@pytest.mark.parametrize("option", MEANS)
def test_the_boundaries_are_thresholds_too(cli: Command, option: str) -> None:
    assert cli("evaluate", FILE, *JSON, option, "0").code == 0
    assert cli("evaluate", FILE, *JSON, option, "1").code == 1


@pytest.mark.parametrize("option", MEANS)
@pytest.mark.parametrize("value", ["-0.0001", "1.0001", "nan", "inf", "-inf", "most", "", "50%"])
def test_outside_the_boundaries_is_refused_before_reading(
    cli: Command, option: str, value: str
) -> None:
    cli("evaluate", "no-such-file.jsonl", *JSON, option, value).refuses(option)


def test_failures_go_to_stderr_and_the_complete_report_to_stdout(cli: Command) -> None:
    named = ("evaluate", FILE, *JSON, "--run-id", "r")
    shown = cli(*named, "--min-recall", "0.9", "--min-mrr", "0.9")
    assert shown.code == 1
    failed = [line for line in shown.err.splitlines() if line.startswith("gate failed: ")]
    assert len(failed) == 2
    report = shown.report()
    plain = cli(*named).report()
    assert report["summary"] == plain["summary"]
    assert report["cases"] == plain["cases"]
    assert [gate["passed"] for gate in report["gates"]] == [False, False]
    assert len(report["cases"]) == 5


def test_markdown_and_json_hold_the_same_verdict(cli: Command) -> None:
    options = ("--contract", "citation", "--k", "3", "--no-write", "--min-recall", "0.9")
    markdown = cli("evaluate", FILE, *options, "--format", "markdown")
    assert markdown.code == 1
    assert markdown.out.startswith("# ragtriage: ")
    assert "gate failed" in markdown.out.split("##")[0]
    assert "`recall@3 >= 0.9`" in markdown.out


def test_the_same_input_gives_the_same_document(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    first = cli("evaluate", FILE, *JSON)
    assert first.out == cli("evaluate", FILE, *JSON).out
    assert json.loads(first.out)["run"]["started"] == "2026-09-21T14:13:20Z"
