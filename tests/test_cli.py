"""Commands, streams and exit codes; what must be refused before anything is read or written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ragtriage
from ragtriage import pipeline
from ragtriage.schemas.contracts import CONTRACTS as DECLARED
from ragtriage.schemas.rules import RULES
from tests.support import CONTRACTS, ROOT, Command, Writer, snapshot

ANSWER = CONTRACTS / "answer.jsonl"
GOOD = {"case_id": "a", "required_ids": ["p1"], "retrieved_ids": ["p1", "p2"]}
COMMANDS = ("evaluate", "validate", "schema")


def test_version(cli: Command) -> None:
    assert cli("--version") == (0, f"ragtriage {ragtriage.__version__}\n", "")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(cli: Command, command: str) -> None:
    shown = cli(*([command] if command else []), "--help")
    assert shown.code == 0
    assert not shown.err
    words = {"": COMMANDS, "evaluate": ("--k", "--gate", "--min-recall", "--out", "--no-write")}
    for word in words.get(command, ("Usage", "--help")):
        assert word in shown.out


def test_a_real_process_starts_and_says_its_version() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "ragtriage.cli", "--version"],
        capture_output=True,
        check=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert (shown.stdout, shown.stderr) == (f"ragtriage {ragtriage.__version__}\n", "")


def test_exit_codes(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("evaluate", ANSWER, "--contract", "answer", "--no-write")
    assert cli(*arguments).code == 0
    assert cli(*arguments, "--min-recall", "1").code == 1
    assert cli(*arguments, "--min-recall", "2").code == 2

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of cheese")

    monkeypatch.setattr(pipeline, "run_request", broken)
    shown = cli(*arguments)
    assert shown.code == 3
    assert not shown.out
    assert "internal error" in shown.err
    assert "out of cheese" in shown.err


REFUSED: dict[str, tuple[str, ...]] = {
    "unknown command": ("evalute",),
    "unknown option": ("evaluate", "x.jsonl", "--min-recal", "0.5"),
    "unknown flag of validate": ("validate", "x.jsonl", "--k", "5"),
    "option without value": ("evaluate", "x.jsonl", "--k"),
    "no input": ("evaluate",),
    "no input to validate": ("validate",),
    "no such file": ("evaluate", "nowhere.jsonl"),
    "no such glob": ("evaluate", "nowhere-*.jsonl"),
    "unknown ending": ("evaluate", "pyproject.toml"),
    "cases without trace": ("evaluate", "--cases", "x.jsonl"),
    "trace without cases": ("evaluate", "--trace", "x.jsonl"),
    "input beside cases": ("evaluate", "x.jsonl", "--cases", "x.jsonl", "--trace", "y.jsonl"),
    "unknown contract": ("evaluate", str(ANSWER), "--contract", "anwser"),
    "unknown format": ("evaluate", str(ANSWER), "--format", "yaml"),
    "unknown normalizer": ("evaluate", str(ANSWER), "--normalizer", "nfc"),
    "unknown extra": ("evaluate", str(ANSWER), "--extra", "drop"),
    "unknown on-invalid": ("evaluate", str(ANSWER), "--on-invalid", "skip"),
    "unknown slice field": ("evaluate", str(ANSWER), "--slice", "retrieved_ids"),
    "no such config": ("evaluate", str(ANSWER), "--config", "nowhere.toml"),
    "no such about": ("evaluate", str(ANSWER), "--about", "nowhere.toml"),
    "map without sign": ("evaluate", str(ANSWER), "--map", "theirs"),
    "map to nothing": ("evaluate", str(ANSWER), "--map", "theirs="),
    "map to unknown": ("evaluate", str(ANSWER), "--map", "theirs=retreived_ids"),
    "unknown schema format": ("schema", "--format", "yaml"),
    "unknown example": ("schema", "--example", "anwser"),
    "standard input twice": ("evaluate", "-", "-"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_in_one_message_and_without_a_trace(
    cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    shown = cli(*REFUSED[what])
    shown.refuses()
    assert len(shown.err.strip().splitlines()) == 1, shown.err
    files = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert files == ["pyproject.toml"]


def test_without_a_command_it_says_how_to_use_it(cli: Command) -> None:
    cli().refuses("Usage: ragtriage", *COMMANDS)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (("evaluate", "x.jsonl", "--contract", "anwser"), "answer"),
        (("evaluate", "x.jsonl", "--map", "theirs=retreived_ids"), "retrieved_ids"),
        (("evaluate", "x.jsonl", "--slice", "spilt"), "split"),
        (("evaluate", "x.jsonl", "--gate", "recal@10 >= 0.5"), "recall"),
        (("evaluate", "x.jsonl", "--min-recal", "0.5"), "--min-recall"),
    ],
)
def test_a_near_name_is_suggested(cli: Command, given: tuple[str, ...], meant: str) -> None:
    cli(*given).refuses(meant)


def test_validate_counts_and_writes_nothing(
    cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, written: Writer
) -> None:
    written([GOOD, GOOD | {"case_id": "b"}], "in.jsonl")
    monkeypatch.chdir(tmp_path)
    before = snapshot(tmp_path)
    shown = cli("validate", "in.jsonl")
    assert shown.code == 0
    assert shown.out == "2 lines read: 2 accepted, 0 set aside, 0 blank\n"
    assert not shown.err
    assert snapshot(tmp_path) == before


def test_validate_holds_the_contract_too(cli: Command, written: Writer) -> None:
    path = written([GOOD])
    assert cli("validate", path).code == 0
    cli("validate", path, "--contract", "citation").refuses(
        f"{path}:1: cited_ids: ", "[missing-field]"
    )


def test_schema_as_text(cli: Command) -> None:
    shown = cli("schema")
    assert (shown.code, shown.err) == (0, "")
    for word in ("case_id", "retrieved_document_ids", "lost_at", "recall", *RULES, *DECLARED):
        assert word in shown.out


def test_schema_as_json(cli: Command) -> None:
    shown = cli("schema", "--format", "json")
    assert (shown.code, shown.err) == (0, "")
    document = json.loads(shown.out)
    assert set(document["rules"]) == set(RULES)
    assert set(document["contracts"]) == set(DECLARED)
    retrieved = document["inputs"]["cases"]["retrieved_ids"]
    assert retrieved["type"] == "List[String]"
    assert retrieved["null"] is True
    assert document["inputs"]["cases"]["case_id"]["null"] is False
    tables = {"cases", "evidence", "rejects", "summary", "stages", "findings", "gates"}
    assert tables <= set(document["tables"])


@pytest.mark.parametrize("contract", DECLARED)
def test_the_starter_file_works_under_its_contract(
    cli: Command, written: Writer, contract: str
) -> None:
    shown = cli("schema", "--example", contract)
    assert (shown.code, shown.err) == (0, "")
    path = written(shown.out)
    checked = cli("validate", path, "--contract", contract)
    assert checked.code == 0, checked.err
    result = cli(
        *("evaluate", path, "--contract", contract, "--no-write"),
        *("--format", "json", "--gate", "stage.unresolved == 0"),
    )
    assert result.code == 0, result.err
    stages = {case["stage"] for case in result.report()["cases"]}
    # Rankings carry no answer, so the search half is all that can be told.
    assert "pass" in stages or contract == "ranking"


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_stdout_is_the_report_and_nothing_else(cli: Command, tmp_path: Path, form: str) -> None:
    shown = cli(
        *("evaluate", ANSWER, "--contract", "answer", "--format", form),
        *("--out", tmp_path, "--run-id", "r"),
    )
    assert shown.code == 0
    mapping, where = shown.err.splitlines()
    assert mapping.startswith("fields as read: id = case_id, ")
    assert where == f"report: {tmp_path / 'r' / 'report.html'}"
    folder = tmp_path / "r"
    if form == "json":
        assert shown.report() == json.loads((folder / "report.json").read_text("utf-8"))
    elif form == "markdown":
        assert shown.out == (folder / "report.md").read_text("utf-8")
    else:
        assert "wrong-answer" in shown.out
        assert "report.html" not in shown.out
        assert "\x1b" not in shown.out


def test_markdown_is_shown_where_stdout_is_no_terminal(cli: Command) -> None:
    plain = cli("evaluate", ANSWER, "--contract", "answer", "--no-write", "--run-id", "r")
    assert plain.out.startswith("# ragtriage: ")


def test_no_write_leaves_no_folder(
    cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("evaluate", ANSWER, "--contract", "answer", "--no-write").code == 0
    assert not list(tmp_path.iterdir())


def test_the_default_folder_is_reports(
    cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("evaluate", ANSWER, "--contract", "answer").code == 0
    (run,) = (tmp_path / "reports").iterdir()
    assert json.loads((run / "manifest.json").read_text("utf-8"))["run_id"] == run.name
    assert len(run.name) == len("YYYYMMDDTHHMMSSZ-xxxxxxxx")


def test_a_folder_that_cannot_be_written_is_refused(cli: Command, written: Writer) -> None:
    file = written("in the way", "taken")
    cli("evaluate", ANSWER, "--contract", "answer", "--out", file).refuses(str(file))
