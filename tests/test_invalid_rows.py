"""What refusal and quarantine do with many faults, and with cases and traces that do not pair."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import INVALID, Command, Record, Writer, manifest_of, rejects_of

MANY = (
    '{"case_id": "a", "weight": -1, "required_ids": ["x "], "retrieved_ids": [""]}\n'
    '{"case_id": 7, "weight": "1", "required_ids": [null, 3], "retreived_ids": ["a"]}\n'
    "\n"
    '{"case_id": "b", "required_ids": [], "retrieved_ids": []}\n'
    '{"case_id": "a", "required_ids": [\n'
    '{"case_id": "a", "required_ids": ["d"], "retrieved_ids": []}\n'
)


def test_all_faults_of_all_lines_are_reported_at_once(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    path = written(MANY)
    shown = cli("evaluate", path, "--out", tmp_path / "out")
    shown.refuses()
    found = [
        (int(line), field, rule)
        for line, field, rule in re.findall(
            rf"^{re.escape(str(path))}:(\d+): (\S+): .* \[([a-z-]+)\]$", shown.err, re.MULTILINE
        )
    ]
    assert sorted(found) == sorted(
        [
            (1, "weight", "weight"),
            (1, "required_ids", "id-whitespace"),
            (1, "retrieved_ids", "blank-id"),
            (1, "case_id", "duplicate-case-id"),
            (2, "case_id", "type"),
            (2, "weight", "type"),
            (2, "required_ids", "null-item"),
            (2, "required_ids", "type"),
            (2, "retreived_ids", "unknown-field"),
            (2, "retrieved_ids", "missing-field"),
            (5, "record", "json-syntax"),
            (6, "case_id", "duplicate-case-id"),
        ]
    )
    assert "did you mean `retrieved_ids`?" in shown.err


def test_twenty_messages_then_a_count_and_all_in_rejects(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    path = written([{"case_id": f"c{i}", "weight": 0} for i in range(23)])
    shown = cli("evaluate", path, "--out", tmp_path / "out", "--run-id", "r")
    shown.refuses()
    lines = shown.err.splitlines()
    assert [line.split(":")[1] for line in lines[:20]] == [str(i) for i in range(1, 21)]
    assert lines[20:22] == ["… and 3 more", "23 errors; nothing evaluated"]
    assert len(rejects_of(tmp_path / "out" / "r")) == 23


def test_every_row_set_aside_is_refused(cli: Command, written: Writer, tmp_path: Path) -> None:
    path = written([{"case_id": "a", "weight": 0}])
    shown = cli(
        *("evaluate", path, "--on-invalid", "quarantine", "--out", tmp_path / "out"),
        *("--run-id", "r"),
    )
    shown.refuses(f"{path}:1: weight: ", "no case left")
    assert manifest_of(tmp_path / "out" / "r")["status"] == "refused"


WRONG_TYPES: dict[str, tuple[object, str]] = {
    "case_id": (7, "type"),
    "question": (["q"], "type"),
    "split": (True, "type"),
    "error": (404, "type"),
    "tags": ("easy", "type"),
    "weight": ("1", "type"),
    "answerable": ("yes", "answer-label"),
    "abstained": (0, "answer-label"),
    "answer_correct": ({}, "answer-label"),
    "required_ids": ({"id": "a"}, "type"),
    "required_groups": (["a"], "type"),
    "grades": ([{"id": "a", "grade": 1.5}], "type"),
    "retrieved_ids": ([["a"]], "type"),
    "cited_ids": (["a", 7], "type"),
    "claims": ([{"claim_id": "a", "supported": "yes"}], "answer-label"),
}


@pytest.mark.parametrize("field", WRONG_TYPES)
def test_a_wrong_type_says_what_is_wrong_and_what_to_do(
    cli: Command, written: Writer, field: str
) -> None:
    value, rule = WRONG_TYPES[field]
    good = {"case_id": "good", "required_ids": ["a"], field: None}
    if field in ("case_id", "required_ids"):
        good |= {"case_id": "good", "required_ids": ["a"]}
    path = written([good, {"case_id": "a", "required_ids": ["a"]} | {field: value}])
    shown = cli("validate", path)
    shown.refuses()
    assert re.match(rf"{re.escape(str(path))}:2: {field}: [^;]+; .+ \[{rule}\]\n", shown.err), (
        shown.err
    )


@pytest.mark.parametrize("command", ["validate", "evaluate"])
@pytest.mark.parametrize("line", ["{", "[]", "null", '{"case_id": 7}', '{"question": "Q?"}'])
def test_a_file_without_one_good_record_is_refused(
    cli: Command, written: Writer, tmp_path: Path, command: str, line: str
) -> None:
    path = written(f"{line}\n{line}\n")
    options = ("--out", tmp_path / "out") if command == "evaluate" else ()
    cli(command, path, *options).refuses(f"{path}:1: ", f"{path}:2: ")


UNKNOWN = tuple(str(INVALID / f"unknown-case.{part}.jsonl") for part in ("cases", "trace"))
MISSING = tuple(str(INVALID / f"missing-trace.{part}.jsonl") for part in ("cases", "trace"))


def joined(files: tuple[str, ...], *options: str) -> tuple[str, ...]:
    cases, trace = files
    return ("evaluate", "--cases", cases, "--trace", trace, "--format", "json", *options)


PAIRS = {
    "unknown-case": (
        UNKNOWN,
        (
            f"{UNKNOWN[1]}:3: case_id: 'case-4': the trace is for a case that is not in the cases "
            "file; add the case, or pass --unknown-trace ignore [unknown-case]"
        ),
    ),
    "missing-trace": (
        MISSING,
        (
            f"{MISSING[0]}:2: case_id: 'case-2': the case has no trace; add it, or pass "
            "--missing-trace empty or not-run [missing-trace]"
        ),
    ),
}


@pytest.mark.parametrize("rule", PAIRS)
def test_a_pair_that_does_not_match_is_refused(cli: Command, tmp_path: Path, rule: str) -> None:
    files, message = PAIRS[rule]
    shown = cli(*joined(files), "--out", tmp_path, "--run-id", "r")
    shown.refuses()
    assert shown.err.splitlines()[:2] == [message, "1 error; nothing evaluated"]
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["manifest.json", "rejects"]
    assert manifest_of(tmp_path / "r")["status"] == "refused"
    checked = cli("validate", "--cases", files[0], "--trace", files[1])
    checked.refuses()
    assert checked.err.splitlines()[0] == message


def reject(rows: list[Record]) -> list[tuple[str, int, str, str]]:
    return [(Path(r["source_file"]).name, r["line"], r["case_id"], r["rule"]) for r in rows]


@pytest.mark.parametrize(
    ("options", "rule_counts"),
    [
        (("--on-invalid", "quarantine"), {"unknown-case": 1}),
        (("--unknown-trace", "ignore"), {"unknown-case": 1}),
    ],
)
def test_unknown_traces_left_out_are_counted_and_listed(
    cli: Command, tmp_path: Path, options: tuple[str, ...], rule_counts: dict[str, int]
) -> None:
    shown = cli(*joined(UNKNOWN, *options), "--out", tmp_path, "--run-id", "r")
    assert shown.code == 0, shown.err
    report = shown.report()
    assert [case["case_id"] for case in report["cases"]] == ["case-1", "case-2", "case-3"]
    assert {case["stage"] for case in report["cases"]} == {"pass"}
    assert report["rejects"] == rule_counts
    assert reject(rejects_of(tmp_path / "r")) == [
        ("unknown-case.trace.jsonl", 3, "case-4", "unknown-case")
    ]
    lines = manifest_of(tmp_path / "r")["lines"]
    assert lines == {"read": 7, "accepted": 6, "set_aside": 1, "blank": 0}


def test_an_untraced_case_in_quarantine(cli: Command, tmp_path: Path) -> None:
    options = ("--on-invalid", "quarantine")
    shown = cli(*joined(MISSING, *options), "--out", tmp_path, "--run-id", "r")
    assert shown.code == 0, shown.err
    assert [case["case_id"] for case in shown.report()["cases"]] == ["case-1", "case-3"]
    assert reject(rejects_of(tmp_path / "r")) == [
        ("missing-trace.cases.jsonl", 2, "case-2", "missing-trace")
    ]


def test_a_missing_trace_taken_as_empty_never_passes(cli: Command) -> None:
    shown = cli(*joined(MISSING, "--missing-trace", "empty", "--no-write"))
    assert shown.code == 0, shown.err
    report = shown.report()
    case = {case["case_id"]: case for case in report["cases"]}["case-2"]
    assert (case["stage"], case["break_point"]) == ("retrieval", "retrieval")
    assert (case["retrieved_ids"], case["context_ids"], case["cited_ids"]) == ([], [], [])
    assert (case["metrics"]["recall_at_10"], case["metrics"]["reciprocal_rank"]) == (0.0, 0.0)
    recall = next(r for r in report["summary"] if r["metric"] == "recall" and r["k"] == 10)
    assert (recall["mean"], recall["n_scored"]) == (pytest.approx(2 / 3), 3)
    assert any("without a trace: 1" in note for note in report["run"]["notes"])


@pytest.mark.parametrize(
    ("answerable", "stage"),
    [(True, ("retrieval", "retrieval")), (False, ("unprepared", "answer"))],
)
def test_an_empty_trace_leaves_the_answer_unobserved(
    cli: Command,
    written: Writer,
    answerable: bool,
    stage: tuple[str, str],
) -> None:
    required = ["p1"] if answerable else []
    cases = written(
        [
            {"case_id": "a", "answerable": True, "required_ids": ["p1"]},
            {"case_id": "b", "answerable": answerable, "required_ids": required},
        ],
        "cases.jsonl",
    )
    trace = written(
        [{"case_id": "a", "retrieved_ids": ["p1"], "answer": "x", "abstained": False}],
        "trace.jsonl",
    )
    shown = cli(*joined((str(cases), str(trace)), "--missing-trace", "empty", "--no-write"))
    case = {case["case_id"]: case for case in shown.report()["cases"]}["b"]
    assert (case["stage"], case["break_point"]) == stage
    assert (case["abstained"], case["metrics"]["answer_match"]) == (None, None)


def test_a_missing_trace_taken_as_not_run(cli: Command) -> None:
    shown = cli(*joined(MISSING, "--missing-trace", "not-run", "--no-write"))
    assert shown.code == 0, shown.err
    report = shown.report()
    case = {case["case_id"]: case for case in report["cases"]}["case-2"]
    assert (case["stage"], case["break_point"], case["missing"]) == ("not_run", "error", None)
    recall = next(r for r in report["summary"] if r["metric"] == "recall" and r["k"] == 10)
    assert (recall["mean"], recall["n_scored"], recall["n_not_run"]) == (1.0, 2, 1)


@pytest.mark.parametrize(
    ("option", "value"), [("--unknown-trace", "drop"), ("--missing-trace", "ignore")]
)
def test_other_words_are_refused(cli: Command, option: str, value: str) -> None:
    cli(*joined(MISSING, option, value)).refuses(option, value)


def test_a_field_given_twice_must_be_equal(cli: Command, written: Writer, tmp_path: Path) -> None:
    cases = written(
        [
            {"case_id": "a", "required_ids": ["p1"], "question": "Q?"},
            {"case_id": "b", "required_ids": ["p1"], "question": "Q?"},
        ],
        "cases.jsonl",
    )
    trace = written(
        [
            {"case_id": "a", "retrieved_ids": ["p1"], "question": "Q?"},
            {"case_id": "b", "retrieved_ids": ["p1"], "question": "Other?"},
        ],
        "trace.jsonl",
    )
    shown = cli(*joined((str(cases), str(trace)), "--out", str(tmp_path / "out")))
    shown.refuses(f"{cases}:2: question: differs from its trace ({trace}:2)", "[field-conflict]")
    assert f"{cases}:1:" not in shown.err
