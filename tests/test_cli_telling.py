"""What evaluate and compare tell machines, and how much they show: one verdict everywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from ragtriage import cli_output
from ragtriage.cli_output import shows_color
from ragtriage.publish.fitting import COMMENT, utf16
from tests.publish.test_github import obeyed, undone
from tests.publish.test_junit import checked
from tests.support import Command, Record, Writer

PASSES: Record = {
    "case_id": "p",
    "required_ids": ["a"],
    "retrieved_ids": ["a"],
    "context_ids": ["a"],
    "answer_correct": True,
}
FAILS = PASSES | {"case_id": "f", "retrieved_ids": ["x"], "context_ids": ["x"]}
HOSTILE = "::set-output name=a::b"
MARKED = FAILS | {
    "case_id": HOSTILE,
    "question": f"{HOSTILE} ##[error]x",
    "required_ids": [HOSTILE],
}
GATE = ("--gate", "recall >= 0.9")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No run of these tests is on GitHub unless it says so."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def on_github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As a step of GitHub Actions; the summary's file."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    return tmp_path / "summary.md"


def counts(path: str | Path) -> tuple[int, int, int]:
    """Failures, errors and skipped of a JUnit file."""
    root = checked(Path(path).read_text(encoding="utf-8"))
    return tuple(len(list(root.iter(tag))) for tag in ("failure", "error", "skipped"))  # type: ignore[return-value] # three


@pytest.mark.parametrize(("gate", "code"), [((), 0), (GATE, 1)])
def test_exit_code_junit_report_and_stderr_say_the_same(
    cli: Command, written: Writer, gate: tuple[str, ...], code: int
) -> None:
    records = written([PASSES, FAILS])
    shown = cli("evaluate", records, *gate, "--junit", "j.xml", "--format", "json", "--no-write")
    assert shown.code == code
    report = shown.report()
    assert report["run"]["status"] == ("failed" if code else "passed")
    assert bool(report["failures"]) == bool(code)
    assert [line for line in shown.err.splitlines() if line in report["failures"]] == report[
        "failures"
    ]
    assert counts("j.xml") == ((2, 0, 0) if code else (0, 0, 1))


def test_junit_of_a_refusal_is_one_error(cli: Command, written: Writer) -> None:
    bad = written([FAILS | {"weight": 0.0}])
    for arguments in ((bad,), ("nowhere.jsonl",), (bad, "--gate", "x"), (bad, "--config", "no")):
        Path("j.xml").unlink(missing_ok=True)
        cli("evaluate", *arguments, "--junit", "j.xml", "--no-write").refuses()
        assert counts("j.xml") == (0, 1, 0)


def test_junit_is_written_where_the_user_says_and_over_our_own_alone(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    records = written([PASSES])
    asked = ("evaluate", records, "--no-write", "--junit")
    (tmp_path / "sub").mkdir()
    for _ in range(2):
        assert cli(*asked, "sub/j.xml").code == 0
    before = records.read_bytes()
    cli(*asked, records).refuses("was not written by ragtriage")
    assert records.read_bytes() == before
    cli(*asked, "none/j.xml").refuses("--junit", "no folder none")
    Path("empty.xml").touch()
    assert cli(*asked, "empty.xml").code == 0


def test_junit_needs_a_file_not_a_folder(cli: Command, written: Writer, tmp_path: Path) -> None:
    shown = cli("evaluate", written([PASSES]), "--junit", str(tmp_path), "--no-write")
    shown.refuses(f"--junit: {tmp_path}: is a folder; name a file in it")


def test_junit_is_never_written_into_a_run(cli: Command, written: Writer) -> None:
    records = written([PASSES])
    assert cli("evaluate", records, "--out", "out", "--run-id", "r").code == 0
    cli("evaluate", records, "--no-write", "--junit", "out/r/j.xml").refuses("lies within a run")


def test_junit_of_a_comparison(cli: Command, written: Writer) -> None:
    base, worse = (
        written([PASSES], "a.jsonl"),
        written([PASSES | FAILS | {"case_id": "p"}], "b.jsonl"),
    )
    asked = ("compare", base, worse, "--no-write", "--junit", "j.xml")
    assert cli(*asked).code == 0
    assert counts("j.xml") == (0, 0, 1)
    assert cli(*asked, "--max-regressions", "0").code == 1
    assert counts("j.xml") == (2, 0, 0)
    regressed = ET.parse("j.xml").find("testsuite[2]/testcase")  # noqa: S314 - our own
    assert regressed is not None
    assert regressed.attrib["name"] == "p"


def test_junit_of_evaluate_with_a_baseline_holds_both(cli: Command, written: Writer) -> None:
    assert cli("evaluate", written([PASSES, FAILS]), "--out", "out", "--run-id", "base").code == 0
    again = ("evaluate", written([PASSES, FAILS]), "--out", "out", "--baseline", "out/base")
    assert cli(*again, "--junit", "j.xml").code == 0
    names = [suite.attrib["name"] for suite in checked(Path("j.xml").read_text()).iter("testsuite")]
    assert names == [
        "ragtriage.gates",
        "ragtriage.cases",
        "ragtriage.compare.gates",
        "ragtriage.compare.regressed",
    ]


def test_github_gets_annotations_on_stderr_and_a_summary(
    cli: Command, written: Writer, on_github: Path
) -> None:
    shown = cli("evaluate", written([PASSES, FAILS]), *GATE, "--no-write")
    assert shown.code == 1
    assert not obeyed(shown.out)
    lines = obeyed(shown.err)
    assert [line.split(" ")[0] for line in lines] == ["::error", "::error"]
    assert "file=in.jsonl,line=2,title=f%3A retrieval" in lines[1]
    assert on_github.read_text("utf-8") == shown.out


def test_elsewhere_there_are_none(cli: Command, written: Writer) -> None:
    shown = cli("evaluate", written([PASSES, FAILS]), *GATE, "--no-write")
    assert not obeyed(shown.out + shown.err)
    assert cli_output.is_github() is False


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_hostile_text_is_no_command_on_github(
    cli: Command, written: Writer, on_github: Path, form: str
) -> None:
    records = written([MARKED, PASSES], f"{HOSTILE}.jsonl")
    assert on_github.parent.is_dir()
    arguments = ("--gate", f"recall[split={HOSTILE}] > 0", "--map", f"{HOSTILE}=tags")
    for more in ((), arguments, ("--k", HOSTILE), ("--gate", f"\n{HOSTILE}")):
        shown = cli("evaluate", records.name, "--format", form, "--no-write", *more)
        assert not obeyed(shown.out)
        ours = [
            line for line in obeyed(shown.err) if not line.startswith(("::error ", "::warning "))
        ]
        assert not ours
    if form == "json":
        cases = cli("evaluate", records.name, "--format", form, "--no-write").report()["cases"]
        assert cases[0]["question"] == MARKED["question"]


def test_hostile_text_is_no_command_in_other_commands(
    cli: Command, written: Writer, on_github: Path
) -> None:
    records = written([MARKED, PASSES], f"{HOSTILE}.jsonl")
    assert on_github.parent.is_dir()
    assert cli("evaluate", records.name, "--out", "out", "--run-id", "r").code == 0
    for form in ("text", "json"):
        shown = cli("explain", HOSTILE, "--run", "out/r", "--format", form)
        assert shown.code == 0
        assert not obeyed(shown.out + shown.err)
    for arguments in (("validate", HOSTILE), ("explain", f"x\n{HOSTILE}", "--run", "out/r")):
        shown = cli(*arguments)
        assert shown.code == 2
        assert not obeyed(shown.err)


def test_quiet_is_the_verdict_and_failed_gates(
    cli: Command, written: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    records = written([PASSES, FAILS])
    shown = cli("evaluate", records, *GATE, "--gate", "recall >= 0.1", "--quiet", "--no-write")
    assert shown.code == 1
    verdict, gate = shown.out.splitlines()
    assert verdict == "1 of 2 cases did not pass: 1 retrieval"
    assert "recall >= 0.9: 0.5, threshold 0.9" in gate
    assert (
        shown.err == "gate failed: recall >= 0.9: 0.5 does not meet >= 0.9 (2 of 2 cases scored)\n"
    )
    held = cli("evaluate", records, "--quiet", "--out", "out")
    assert (held.code, held.out, held.err) == (0, verdict + "\n", "")
    compared = cli("compare", records, records, "--quiet", "--no-write")
    assert compared.out == "No difference: 2 cases, every stage and metric the same\n"


def test_verbose_adds_slices_timings_and_every_case(cli: Command, written: Writer) -> None:
    records = written([FAILS | {"case_id": f"f{n}", "split": "test"} for n in range(15)])
    normal = cli("evaluate", records, "--format", "table", "--no-write").out
    verbose = cli("evaluate", records, "--verbose", "--no-write").out
    for words in ("By split", "Timings (seconds)", "Inputs (lines", "(15 of 15)", "f14"):
        assert words in verbose
        assert words not in normal
    assert re.search(r"^score +\d+\.\d{3}$", verbose, re.MULTILINE)


@pytest.mark.parametrize(
    "options",
    [
        ("--quiet", "--verbose"),
        ("--quiet", "--format", "json"),
        ("--verbose", "--format", "markdown"),
    ],
)
def test_what_does_not_go_together(cli: Command, written: Writer, options: tuple[str, ...]) -> None:
    cli("evaluate", written([PASSES]), *options, "--no-write").refuses(
        "--quiet" if "--quiet" in options else "--verbose"
    )


def test_a_config_file_may_say_it(cli: Command, written: Writer, tmp_path: Path) -> None:
    (tmp_path / "ci.toml").write_text('junit = "j.xml"\nquiet = true\n', "utf-8")
    shown = cli("evaluate", written([PASSES]), "--config", "ci.toml", "--no-write")
    assert (shown.code, shown.out) == (0, "The only case passed\n")
    assert counts("j.xml") == (0, 0, 0)


class _Terminal:
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "color"),
    [
        ({}, True),
        ({"NO_COLOR": ""}, True),
        ({"NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm"}, True),
    ],
)
def test_colour_only_on_a_terminal_that_wants_it(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], *, color: bool
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    terminal: Any = _Terminal()
    assert shows_color(terminal) is color
    terminal.isatty = lambda: False
    assert not shows_color(terminal)


def two_systems(tmp_path: Path, second: str) -> tuple[str, ...]:
    """TREC judgements, and a run of two systems of which the second finds nothing."""
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n", encoding="utf-8")
    rows = [
        f"q{n} Q0 {'d' if system == 'good' else 'x'}{n} 1 2.0 {system}\n"
        for system in ("good", second)
        for n in (1, 2)
    ]
    (tmp_path / "run").write_text("".join(rows), encoding="utf-8")
    return "--from", "trec", "--cases", "qrels", "--trace", "run", *GATE, "--no-write"


def test_of_several_systems_each_failure_says_whose(
    cli: Command, tmp_path: Path, on_github: Path
) -> None:
    bad = "bad]]>::error::"
    shown = cli("evaluate", *two_systems(tmp_path, bad), "--quiet", "--junit", "j.xml")
    assert shown.code == 1
    plain = [line for line in shown.err.splitlines() if "gate failed" in line and line[:2] != "::"]
    assert [line.split(": gate failed")[0] for line in plain] == [bad]
    titles = [undone(line.split("title=")[1].split("::")[0]) for line in obeyed(shown.err)]
    assert f"ragtriage: {bad}: 2 of 2 cases did not pass: 2 retrieval" in titles
    assert f"{bad}: q1: retrieval: never retrieved" in titles
    assert "good: q1: unprepared: no answer label" in titles
    summary = on_github.read_text(encoding="utf-8")
    assert summary.count("**System:**") == 2
    assert "set aside: rows of other systems (2)" in summary
    assert "unknown fields" not in summary
    root = checked(Path("j.xml").read_text(encoding="utf-8"))
    tests = [(one.attrib["classname"], one.attrib["name"]) for one in root.iter("testcase")]
    assert len(tests) == len(set(tests)) == 8
    assert (f"ragtriage.gates.{bad}", "recall >= 0.9") in tests


def test_markdown_of_several_reports_fits_one_comment(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    long = {"question": "q & <b> " * 400, "answer": "a|" * 3000}
    records = [FAILS | long | {"case_id": f"c{n}"} for n in range(60)]
    path = written(records)
    assert cli("evaluate", path, "--run-id", "base", "--out", tmp_path / "r").code == 0
    both = ("--baseline", tmp_path / "r" / "base", "--out", tmp_path / "r", "--run-id", "new")
    shown = cli("evaluate", path, *both)
    assert shown.out.count("# ragtriage") == 2
    assert utf16(shown.out) <= COMMENT
    given = two_systems(tmp_path, "bad")
    (tmp_path / "qrels").write_text(
        "".join(f"q{n}{'x' * 600} 0 d 1\n" for n in range(40)), encoding="utf-8"
    )
    rows = [f"q{n}{'x' * 600} Q0 z 1 2.0 {s}\n" for s in "abcdef" for n in range(40)]
    (tmp_path / "run").write_text("".join(rows), encoding="utf-8")
    shown = cli("evaluate", *given)
    assert shown.out.count("**System:**") == 6
    assert COMMENT / 2 < utf16(shown.out) <= COMMENT


@pytest.mark.parametrize("shown", ["table", "markdown"])
@pytest.mark.parametrize("command", ["evaluate", "agreement", "leakage"])
def test_without_writing_no_file_is_said_to_hold_what_is_set_aside(
    cli: Command, tmp_path: Path, command: str, shown: str
) -> None:
    good: dict[str, object] = {"case_id": "c", "question": "q", "split": "test"}
    if command == "evaluate":
        good |= {"required_ids": ["a"], "retrieved_ids": ["b"]}
    if command == "agreement":
        good = {"case_id": "c", "reviewer": "ann", "kind": "human", "label": True}
    source = tmp_path / "in.jsonl"
    bad = good | {"case_id": " spaced"}
    many = [good | {"case_id": f"c{n}"} for n in range(60)]
    if command == "leakage":
        many[0] |= {"split": "train", "question": "another question altogether"}
    source.write_text("\n".join(map(json.dumps, [*many, bad])) + "\n", encoding="utf-8")
    how = ("--on-invalid", "quarantine", "--format", shown)
    told = cli(command, str(source), "--no-write", *how)
    assert "1 line set aside: not in these numbers" in told.out
    assert "rejects/" not in told.out
    if command == "evaluate":
        assert ".parquet" not in told.out
    kept = cli(command, str(source), "--out", str(tmp_path / "out"), *how)
    assert "set aside in" in kept.out
    assert "rejects/" in kept.out


def test_without_writing_a_trace_left_out_is_listed_nowhere(cli: Command, tmp_path: Path) -> None:
    cases, traces = tmp_path / "cases.jsonl", tmp_path / "traces.jsonl"
    cases.write_text('{"case_id": "c", "required_ids": ["a"]}\n', encoding="utf-8")
    rows = ({"case_id": name, "retrieved_ids": ["a"]} for name in ("c", "unknown"))
    traces.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    given = ("--cases", str(cases), "--trace", str(traces), "--unknown-trace", "ignore")
    told = cli("evaluate", *given, "--no-write")
    assert "traces of unknown cases left out: 1\n" in told.err
    kept = cli("evaluate", *given, "--out", str(tmp_path / "out"))
    assert "traces of unknown cases left out: 1 (listed in rejects/)" in kept.err


def test_without_writing_no_look_at_many_records_names_a_file(cli: Command, tmp_path: Path) -> None:
    people = [f"p{n:02}" for n in range(12)]
    votes = [
        {"case_id": f"c{case}", "reviewer": name, "kind": "human", "label": (case + n) % 2 == 0}
        for case in range(120)
        for n, name in enumerate(people)
    ]
    same = [
        {"case_id": f"{split}{n}", "question": f"where is reading room number {n} now",
         "split": split}
        for n in range(120)
        for split in ("train", "test")
    ]  # fmt: skip
    for command, records in (("agreement", votes), ("leakage", same)):
        source = tmp_path / f"{command}.jsonl"
        source.write_text("".join(json.dumps(row) + "\n" for row in records), encoding="utf-8")
        for shown in ("table", "markdown"):
            told = cli(command, str(source), "--no-write", "--format", shown)
            assert "left out" in told.out
            assert ".parquet" not in told.out
            kept = cli(command, str(source), "--out", str(tmp_path / "out"), "--format", shown)
            assert ".parquet" in kept.out


def test_a_comparison_that_is_not_written_names_no_file(cli: Command, tmp_path: Path) -> None:
    sources = []
    for found in ("a", "b"):
        rows = [
            {"case_id": f"c{n}", "tags": [f"t{n}"], "required_ids": ["a"], "retrieved_ids": [found]}
            for n in range(130)
        ]
        sources.append(tmp_path / f"{found}.jsonl")
        sources[-1].write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    given = ("compare", *map(str, sources), "--out", str(tmp_path / "out"))
    for shown in ("table", "markdown"):
        told = cli(*given, "--no-write", "--format", shown)
        assert "left out" in told.out
        assert ".parquet" not in told.out
        assert "in the report" not in told.out
    assert ".parquet" in cli(*given, "--format", "markdown").out
