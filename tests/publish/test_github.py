"""Annotations and job summaries of GitHub Actions; nothing from a fixture becomes a command."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.publish import escape, github
from ragtriage.publish.document import Report
from ragtriage.publish.fitting import JOB_SUMMARY

INJECTION = "a\n::set-output name=x::y\r\n##[add-mask]z\r::error::w"
COMMAND = re.compile(r"::(\w+)(?: ([^\n\r]*?))?::([^\n\r]*)")


def obeyed(text: str) -> list[str]:
    """The lines that GitHub's runner takes for commands, by its two syntaxes."""
    lines = re.split(r"\r\n|\n|\r", text)
    return [line for line in lines if re.match(r"\s*::.*::", line) or re.search(r"##\[.*\]", line)]


def undone(text: str) -> str:
    """As the runner undoes the escapes of a command's text."""
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


@given(st.text(), st.text(), st.text())
def test_a_command_is_one_line_and_says_what_it_was_given(file: str, title: str, text: str) -> None:
    line = github.command("error", text, file=file, title=title)
    found = COMMAND.fullmatch(line)
    assert found is not None
    kind, properties, message = found.groups()
    assert kind == "error"
    assert undone(message) == escape.visible_block(text)
    told = dict(part.split("=", 1) for part in (properties or "").split(",") if part)
    given_ = {"file": file, "title": title}
    assert {name: undone(value) for name, value in told.items()} == {
        name: escape.visible_block(value) for name, value in given_.items() if value
    }


def test_failed_gates_are_one_error_and_cases_stand_at_their_lines(report: Report) -> None:
    lines = github.of_run(report)
    assert len(lines) == 2 + github.SHOWN
    assert lines[0].startswith("::error title=ragtriage%3A 28 of 39 cases did not pass%3A ")
    assert lines[0].count("%0A") == 1  # two failed gates
    case = report["cases"][0]
    place = f"file={case['source_file']},line={case['line']},title="
    assert lines[1].startswith(f"::error {place}{case['case_id']}%3A {case['stage']}%3A ")
    assert "::missing " in lines[1]
    assert lines[-1].startswith("::notice::19 more cases did not pass")


def test_while_gates_hold_cases_are_warnings(ordinary: Report) -> None:
    kinds = [line.split(" ", 1)[0].split("::")[1] for line in github.of_run(ordinary)]
    assert kinds == ["warning"] * github.SHOWN + ["notice"]


def test_hostile_cases_inject_nothing(report: Report, sample: ModuleType) -> None:
    case = sample.case(INJECTION, "generation", "wrong-answer")
    case |= {"source_file": INJECTION, "question": INJECTION, "next_check": INJECTION}
    report["cases"] = [case]
    report["failures"] = [INJECTION]
    for line in github.of_run(report):
        assert "\n" not in line
        assert "\r" not in line
        assert line.startswith(("::error ", "::notice::"))


def test_faults_of_an_input_stand_at_their_lines() -> None:
    reason = "a b.jsonl:2: weight: not above 0 [weight]\nin.csv:7: id: twice [x]\n2 errors; nothing"
    assert github.of_refusal(reason) == [
        "::error file=a b.jsonl,line=2::weight: not above 0 [weight]",
        "::error file=in.csv,line=7::id: twice [x]",
    ]
    assert github.of_refusal("--k: no") == ["::error title=ragtriage::--k: no"]


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("data/cases.jsonl", "file=sub/data/cases.jsonl,line=7,"),
        ("cases.parquet", "file=sub/cases.parquet,title"),
        ("/elsewhere/cases.jsonl", "file=/elsewhere/cases.jsonl,line=7,"),
        ("-", "::error title"),
    ],
)
def test_places_are_as_the_checkout_has_them(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, place: str
) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    report["cases"] = report["cases"][:1]
    report["cases"][0] |= {"source_file": file, "line": 7}
    assert place in github.of_run(report)[1]


@pytest.mark.parametrize(
    "text",
    [INJECTION, "::a::b", "  \t::a::b", "\u2003::a::b", "x ##[error]y", "##[group]", "\r::a::b"],
)
def test_what_is_printed_holds_no_command(text: str) -> None:
    assert obeyed(text)
    assert not obeyed(escape.no_commands(text))


@given(st.text(st.sampled_from(':#[] \n\r\tax\\"')))
def test_printed_text_is_otherwise_as_it_was(text: str) -> None:
    safe = escape.no_commands(text)
    assert not obeyed(safe)
    assert safe.replace(r"\u003a", ":").replace(r"\u0023", "#") == text


def test_markdown_holds_no_command_by_itself() -> None:
    for shown in (escape.code("##[error]x"), escape.prose("say ##[error]x")):
        assert not obeyed(shown)


def test_a_summary_is_appended_and_stays_within_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(target))
    target.write_text("before\n", "utf-8")
    assert github.add_summary(["# one\n", "# two\n"]) is None
    assert target.read_text("utf-8") == "before\n# one\n\n# two\n"
    big = "line\n" * 150_000
    for _ in range(3):
        assert github.add_summary([big]) is None
    assert target.stat().st_size <= JOB_SUMMARY
    assert re.search(r"_Cut: [\d,]+ lines left out\._", target.read_text("utf-8"))


def test_a_summary_that_cannot_be_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert "GITHUB_STEP_SUMMARY" in str(github.add_summary(["x"]))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert github.add_summary(["x"]) is None
