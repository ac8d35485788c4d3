"""Corners of the contract where parts meet: slices named twice, traces that may be missing, …"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import ragtriage
from ragtriage import findings
from ragtriage.relevance.flat import Flat
from tests.support import CONTRACTS, Command, Writer, lines_of

ONE = {"case_id": "1", "required_ids": ["e"], "retrieved_ids": ["f"], "split": "x"}


def run_of(written: Writer, *records: dict[str, Any], **options: Any) -> ragtriage.Run:
    return ragtriage.evaluate(written(list(records)), write=False, **options)


def test_a_standard_slice_named_again_counts_once(written: Writer) -> None:
    run = run_of(written, ONE, slice=["split", "answerable", "group", "group"])
    assert set(run.summary["n_cases"]) == {1}
    assert set(run.stages["n"]) == {1}


@pytest.mark.parametrize(("option", "stage"), [("empty", "retrieval"), ("not-run", "not_run")])
@pytest.mark.parametrize("contract", ["answer", "ranking", "auto"])
def test_a_missing_trace_is_allowed_under_every_contract(
    written: Writer, option: str, stage: str, contract: str
) -> None:
    first = {"case_id": "a", "question": "q", "split": "t", "required_ids": ["a"]}
    first["expected_answers"] = ["y"]
    cases = written([first, {**first, "case_id": "c"}], "cases.jsonl")
    trace = {"case_id": "a", "retrieved_ids": ["a"], "answer": "y", "cited_ids": ["a"]}
    traces = written([trace], "trace.jsonl")
    run = ragtriage.evaluate(
        None, cases=cases, trace=traces, contract=contract, missing_trace=option, write=False
    )
    assert run.cases["stage"].to_list() == ["pass", stage]


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_equivalence_group_is_none(written: Writer, blank: str) -> None:
    corpus = written(
        [{"evidence_id": name, "equivalence_group": blank} for name in "ef"], "corpus.jsonl"
    )
    run = run_of(written, ONE, corpus=corpus)
    assert run.cases["recall"].to_list() == [0.0]


@pytest.mark.parametrize("first", [1, 2, 1_000])
def test_disjoint_ids_looks_across_cases(
    written: Writer, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "_FIRST", first)

    def records(first: int) -> list[dict[str, Any]]:
        return [
            {"case_id": str(i), "required_ids": [f"d{i}"], "retrieved_ids": [f"d{i + first}"]}
            for i in range(5)
        ]

    shifted = run_of(written, *records(1))
    assert "disjoint-ids" not in shifted.findings["finding"].to_list()
    apart = run_of(written, *records(100))
    assert apart.findings.filter(finding="disjoint-ids")["n"].to_list() == [5]


def test_nothing_found_is_a_plain_zero(written: Writer) -> None:
    run = run_of(written, ONE, {**ONE, "case_id": "2", "retrieved_ids": ["f", "e"]}, k=[1])
    scores = run.cases.select("average_precision_at_1", "ndcg_at_1")
    assert [repr(value) for row in scores.rows() for value in row] == ["0.0"] * 4


@pytest.mark.parametrize("cheaper", [0, 1_000], ids=["by-join", "by-place"])
def test_ids_that_share_a_key_do_not_meet(
    cheaper: int, written: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [{"case_id": str(i), "required_ids": ["e", "g"], "cited_ids": ["e"]} for i in "ab"]
    ranked = [["f", "e"], ["G"]]
    given = [{**r, "retrieved_ids": ids} for r, ids in zip(records, ranked, strict=True)]
    expected = run_of(written, *given)

    def one_key(frame: pl.DataFrame, _text: str) -> pl.DataFrame:
        return frame.with_columns(key=pl.lit(0, pl.UInt64))

    for room in ("relevance.requirements", "findings"):
        monkeypatch.setattr(f"ragtriage.{room}.keyed", one_key)
    monkeypatch.setattr(Flat, "hashes", property(lambda flat: np.zeros(len(flat.rows), np.uint64)))
    monkeypatch.setattr("ragtriage.relevance.flat._CHEAPER", cheaper)
    found = run_of(written, *given)
    assert found.cases["recall"].to_list() == [0.5, 0.0]
    assert_frame_equal(found.cases.drop("run_id"), expected.cases.drop("run_id"))
    assert_frame_equal(found.evidence.drop("run_id"), expected.evidence.drop("run_id"))


def test_a_leak_on_a_failed_case_passes_no_gate(written: Writer) -> None:
    leak = {"case_id": "a", "retrieved_ids": ["x"], "forbidden_ids": ["x"], "error": "timeout"}
    fine = {"case_id": "b", "retrieved_ids": ["y"], "forbidden_ids": [], "error": None}
    run = run_of(written, leak, fine, gate="stage.authorization <= 0")
    assert not run.passed


def test_answerable_in_the_table_is_what_the_rules_used(written: Writer) -> None:
    assert run_of(written, ONE).cases["answerable"].to_list() == [True]


def test_unknown_fields_set_aside_are_counted(cli: Command, written: Writer) -> None:
    path = written([{**ONE, "x": 1, "y": 2}, {**ONE, "case_id": "2", "x": 1}])
    out = path.parent / "out"
    done = cli("evaluate", path, "--extra", "ignore", "--out", out, "--run-id", "r")
    assert done.code == 0
    assert "x (2), y (1)" in done.err
    assert json.loads((out / "r" / "manifest.json").read_text())["dropped"] == {"x": 2, "y": 1}


def test_a_mapped_name_that_is_nowhere_is_refused(cli: Command, written: Writer) -> None:
    path = written([{**ONE, "is_ok": True}])
    for command in ("evaluate", "validate"):
        done = cli(command, path, "--map", "isok=answer_correct", "--extra", "ignore")
        assert done.code == 2
        assert "did you mean `is_ok`" in done.err


def test_every_file_that_cannot_be_read_is_named(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch()
    (tmp_path / "b.json").write_text("{}")
    (tmp_path / "c.jsonl").write_text(lines_of([ONE]))
    done = cli("validate", tmp_path)
    assert done.code == 2
    assert "a.csv:1: " in done.err
    assert "b.json:1: " in done.err


def test_lazy_frames_and_a_short_name_for_a_run() -> None:
    run = ragtriage.evaluate(pl.LazyFrame([ONE]), write=False)
    assert len(repr(run)) < 200
    assert run.run_id in repr(run)


def test_a_config_file_may_say_all_that_flags_say(cli: Command, written: Writer) -> None:
    config = written('no-write = true\nformat = "json"\n', "run.toml")
    done = cli("evaluate", written([ONE]), "--config", config)
    assert done.code == 0
    assert json.loads(done.out)["run"]["n_cases"] == 1
    assert "report:" not in done.err


@pytest.mark.end_to_end
@pytest.mark.parametrize(
    ("redirect", "code"), [(">&-", 0), (">/dev/full", 2), ("2>/dev/full", 0), ("2>&-", 0)]
)
def test_streams_that_are_closed_or_full(redirect: str, code: int, tmp_path: Path) -> None:
    answers = CONTRACTS / "answer.jsonl"
    script = f"{sys.executable} -m ragtriage.cli evaluate {answers} --contract answer --no-write"
    done = subprocess.run(
        ["bash", "-c", f"{script} {redirect}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.end_to_end
def test_arguments_beyond_the_locale(tmp_path: Path, written: Writer) -> None:
    path = written([{**ONE, "split": "été"}])
    done = subprocess.run(
        [sys.executable, "-m", "ragtriage.cli", "evaluate", str(path), "--no-write",
         "--gate", "n.recall[split=été] >= 1", "--abstain-text", "désolé"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUTF8": "0",
             "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"},
        capture_output=True,
        check=False,
        timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
