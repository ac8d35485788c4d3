"""Files that hold several systems: a run each, or the one that is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragtriage
from tests.read.presets.example_promptfoo import row
from tests.read.presets.kit import as_json, asked, parquet
from tests.support import Command, Writer, manifest_of


def results(*rows: dict[str, Any]) -> bytes:
    return as_json({"results": {"results": list(rows)}})


def by(provider: str, query: str, output: list[str], label: str = "{{query}}") -> dict[str, Any]:
    made = row(query, ["u1"], output)
    return made | {"provider": provider, "prompt": {"raw": query, "label": label}}


TWO = results(by("x", "A?", ["u1"]), by("a/b c", "A?", ["u2"]), by("x", "B?", ["u1", "u2"]))


def test_each_system_has_a_run_named_after_it(
    cli: Command, tmp_path: Path, written: Writer
) -> None:
    path = written(TWO, "two.json")
    given = ("evaluate", path, "--from", "promptfoo", "--k", "1", "--out", tmp_path / "runs")
    shown = cli(*given, "--run-id", "night", "--format", "json", "--gate", "recall@1 >= 0.9")
    systems = shown.report()["systems"]
    means = {
        name: next(r["mean"] for r in report["summary"] if r["metric"] == "recall" and r["k"] == 1)
        for name, report in systems.items()
    }
    assert means == {"x": 1.0, "a/b c": 0.0}
    # one of the two gates fails: the worse verdict is the command's
    assert shown.code == 1
    runs = {path.name for path in (tmp_path / "runs").iterdir() if not path.name.startswith(".")}
    assert runs == {"night-x", "night-a-b-c"}
    manifest = manifest_of(tmp_path / "runs" / "night-x")
    assert (manifest["system"], manifest["presets"]) == ("x", {"records": "promptfoo"})
    left_out = next(n for name, n in manifest["dropped"].items() if "other systems" in name)
    assert left_out == 1


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_reports_stand_under_the_names_of_their_systems(
    cli: Command, written: Writer, form: str
) -> None:
    path = written(TWO, "two.json")
    shown = cli("evaluate", path, "--from", "promptfoo", "--no-write", "--format", form)
    assert shown.code == 0
    assert shown.out.index("x") < shown.out.index("a/b c")
    assert shown.err.count("system: ") == 2


def test_one_system_alone(cli: Command, written: Writer) -> None:
    path = written(TWO, "two.json")
    given = ("evaluate", path, "--from", "promptfoo", "--no-write", "--format", "json")
    report = cli(*given, "--system", "a/b c").report()
    assert report["run"]["n_cases"] == 1
    cli(*given, "--system", "a/b  c").refuses("no 'a/b  c' in the input", "x, a/b c")
    only = written(results(by("x", "A?", ["u1"])), "only.json")
    report = cli("evaluate", only, "--from", "promptfoo", *given[4:]).report()
    assert report["run"]["n_cases"] == 1


def test_what_takes_one_run_asks_for_a_name(cli: Command, tmp_path: Path, written: Writer) -> None:
    path = written(TWO, "two.json")
    with pytest.raises(ragtriage.UsageError, match="2 systems: x, a/b c"):
        ragtriage.evaluate(path, preset="promptfoo", write=False)
    cli("convert", path, "--from", "promptfoo", "--out", tmp_path / "o").refuses("2 systems")
    base = ("--baseline", tmp_path / "none", "--no-write")
    cli("evaluate", path, "--from", "promptfoo", *base).refuses("2 systems", "--system")
    runs = ragtriage.evaluate_systems(path, preset="promptfoo", write=False, k=1)
    assert {name: run.cases.height for name, run in runs.items()} == {"x": 2, "a/b c": 1}
    shown = cli("validate", path, "--from", "promptfoo")
    assert [line.split(":")[0] for line in shown.out.splitlines()] == ["x", "a/b c"]


def test_prompts_of_one_provider_are_systems_of_their_own(cli: Command, written: Writer) -> None:
    rows = [by("x", "A?", ["u1"], "short"), by("x", "A?", ["u2"], "long"), by("y", "A?", ["u1"])]
    path = written(results(*rows), "prompts.json")
    given = ("evaluate", path, "--from", "promptfoo", "--no-write", "--format", "json")
    assert list(cli(*given).report()["systems"]) == ["x / short", "x / long", "y"]
    assert cli(*given, "--system", "x / long").report()["run"]["n_cases"] == 1


def test_repeated_trials_are_refused_and_said_to_be(cli: Command, written: Writer) -> None:
    path = written(results(by("x", "A?", ["u1"]), by("x", "A?", ["u2"])), "trials.json")
    cli("evaluate", path, "--from", "promptfoo", "--no-write").refuses(
        "is not unique", "keep one of repeated trials", asked("A?")
    )


def test_columns_of_results_are_systems(cli: Command, written: Writer) -> None:
    rows = [
        {
            "qid": "q",
            "retrieval_gt": [["a"]],
            "retrieved_ids_lexical": ["a"],
            "retrieved_ids_semantic": ["b"],
        }
    ]
    path = written(parquet(rows), "columns.parquet")
    given = ("evaluate", path, "--from", "autorag", "--no-write", "--format", "json")
    systems = cli(*given).report()["systems"]
    hits = {name: report["cases"][0]["metrics"]["hit_at_10"] for name, report in systems.items()}
    assert hits == {"lexical": True, "semantic": False}


def test_a_failed_provider_is_not_run(cli: Command, written: Writer) -> None:
    failed = row("A?", ["u1"], error="quota")
    path = written(results(failed, row("B?", ["u1"], ["u1"])), "errors.json")
    report = cli("evaluate", path, "--from", "promptfoo", "--no-write", "--format", "json").report()
    stages = {case["case_id"]: case["stage"] for case in report["cases"]}
    assert stages[asked("A?")] == "not_run"
    assert json.dumps(report["cases"]).count("quota") == 1


def test_a_name_reaches_no_terminal_as_a_command(cli: Command, written: Writer) -> None:
    names = ["\x1b[2Jx", "y\x9b"]
    rows = [by(name, "A?", ["u1"]) for name in names]
    path = written(as_json({"evalId": "e", "results": {"results": rows}}), "results.json")
    shown = cli("validate", path, "--from", "promptfoo")
    assert shown.code == 0
    assert r"\u001b[2Jx: 1 lines read" in shown.out
    assert r"y\u009b: 1 lines read" in shown.out
    report = cli("evaluate", path, "--from", "promptfoo", "--no-write", "--format", "json")
    assert list(report.report()["systems"]) == names
    told = cli("inspect", path, "--format", "json")
    assert told.report()["systems"] == names
    assert not {"\x1b", "\x9b"} & set(shown.out + report.out + report.err + told.out)
