"""What to try next is said where a whole file is refused, and nowhere else."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support import Command, Record, Writer

OTHERS: Record = {"id": "1", "their_hits": ["a"], "their_gold": ["a"]}
OURS: Record = {"case_id": "1", "required_ids": ["a"]}
MISTYPED: Record = {"case_id": "2", "required_ids": ["a"], "retreived_ids": []}


@pytest.mark.parametrize("command", ["evaluate", "validate"])
def test_a_file_of_another_layout_leads_to_inspect(
    cli: Command, written: Writer, tmp_path: Path, command: str
) -> None:
    path = written([OTHERS], "my runs/a.jsonl")
    out = ("--out", tmp_path) if command == "evaluate" else ()
    shown = cli(command, path, *out)
    shown.refuses()
    last = shown.err.splitlines()[-1]
    assert last == f"another layout? ragtriage inspect {shlex.quote(str(path))} says how to read it"
    assert cli(*shlex.split(last.split("? ")[1].split(" says")[0])[1:]).code == 0


def test_of_two_roles_the_one_in_our_own_layout_is_named(cli: Command, written: Writer) -> None:
    cases, trace = written([OURS], "cases.jsonl"), written([OTHERS], "trace.jsonl")
    roles = ("--cases", cases, "--trace", trace, "--cases-from", "records")
    shown = cli("evaluate", *roles, "--no-write")
    shown.refuses(f"inspect {trace}")


def test_two_files_with_the_same_cases_may_be_labels_and_traces(
    cli: Command, written: Writer
) -> None:
    labels, trace = written([OURS], "a.jsonl"), written([OURS], "b.jsonl")
    shown = cli("evaluate", labels, trace, "--no-write")
    shown.refuses(f"files of their own? --cases {labels} --trace {trace}")


SILENT: list[tuple[list[Record], tuple[str, ...]]] = [
    ([OURS, MISTYPED], ()),
    ([OURS, OURS], ()),
    ([{"their_hits": ["a"]}], ("--from", "ragas")),
    ([{**OURS, "weight": 0}], ()),
]


@pytest.mark.parametrize(("records", "flags"), SILENT)
def test_nothing_is_advised_where_the_message_says_it(
    cli: Command, written: Writer, records: list[Record], flags: tuple[str, ...]
) -> None:
    shown = cli("evaluate", written(records), *flags, "--no-write")
    shown.refuses()
    assert "another layout" not in shown.err
    assert "files of their own" not in shown.err


def test_a_name_that_tells_no_format_leads_to_inspect(cli: Command, written: Writer) -> None:
    path = written(b"q1 Q0 a 1 1.5 bm25\n", "a.run")
    cli("evaluate", path, "--no-write").refuses(f"ragtriage inspect {path}")
    assert cli("inspect", path).code == 0
