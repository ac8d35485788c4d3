"""`ragtriage history`: one page over all runs, whatever else lies in the folder."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

import ragtriage
from ragtriage.publish.history.page import MARK
from tests.stored_runs import FIRST, gate_row, mean_row, stage_row, store_run
from tests.support import CONTRACTS, INVALID, ROOT, Command, Writer, snapshot


def stored_comparison(top: Path, base: str, candidate: str, cases: list[str], day: int = 0) -> Path:
    """A comparison's folder as `ragtriage compare` writes it, as far as the history reads it."""
    folder = store_run(
        top,
        f"compare-{base}-{candidate}",
        started=FIRST + timedelta(days=day),
        kind="comparison",
        passed=not cases,
        base={"run_id": base},
        candidate={"run_id": candidate},
        changed={"regressed": len(cases), "fixed": 1},
        rows={"paired": 10},
    )
    pl.DataFrame(
        {
            "case_id": [*cases, "fixed"],
            "change": ["regressed"] * len(cases) + ["fixed"],
            "base_stage": ["pass"] * len(cases) + ["retrieval"],
            "candidate_stage": ["citation"] * len(cases) + ["pass"],
        }
    ).write_parquet(folder / "cases.parquet")
    return folder


def page(top: Path) -> str:
    return (top / "index.html").read_text("utf-8")


def test_real_runs_beside_what_is_none(cli: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for run_id, gate in (("one", "recall@10 >= 0.1"), ("two", "recall@10 >= 0.99")):
        source = CONTRACTS / "answer.jsonl"
        options = ("--contract", "answer", "--out", out, "--run-id", run_id, "--gate", gate)
        assert cli("evaluate", source, *options).code == (1 if run_id == "two" else 0)
    assert (
        cli("evaluate", INVALID / "id-whitespace.jsonl", "--out", out, "--run-id", "bad").code == 2
    )
    (out / "notes").mkdir()
    before = snapshot(*(out / name for name in ("one", "two", "bad", "notes")))
    done = cli("history", out)
    assert done.code == 0, done.err
    assert done.err == f"history: {out / 'index.html'}\n"
    assert done.out.splitlines() == [
        "The newest of 2 runs: 2 of 6 cases passed, 1 of 1 gate failed",
        "not shown: bad: its input was refused: nothing was evaluated",
        "not shown: notes: no manifest.json in it: not a finished run",
    ]
    assert snapshot(*(out / name for name in ("one", "two", "bad", "notes"))) == before
    text = page(out)
    for part in ('href="one/report.html"', 'href="two/report.html"', "its input was refused"):
        assert part in text
    assert "recall@10 &gt;= 0.99" in text


def test_leakage_reports_are_counted_and_mix_with_no_table_of_runs(
    cli: Command, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert cli("evaluate", CONTRACTS / "ranking.jsonl", "--out", out, "--run-id", "one").code == 0
    assert (
        cli("leakage", ROOT / "data/leakage/cases.jsonl", "--out", out, "--run-id", "x").code == 1
    )
    document = ragtriage.build_history(out).document
    assert (document["n_leakages"], document["others"]) == (1, [])
    assert "leakage reports" in page(out)
    # What a leakage report lists has other columns: one glob must not meet both.
    found = pl.read_parquet(out / "*" / "findings.parquet")
    assert found.columns == ["run_id", "finding", "n", "example_case_ids"]


@pytest.mark.parametrize("name", ["[ab]", "runs*", "fold=1", "a b"])
def test_a_folder_of_any_name(cli: Command, written: Writer, tmp_path: Path, name: str) -> None:
    """No part of a path is a pattern, nor a column."""
    record = {"case_id": "q", "required_ids": ["a"], "retrieved_ids": ["a"], "answer_correct": True}
    run = ragtriage.evaluate(written([record]), out=tmp_path / name, run_id="r")
    assert (run.cases.height, run.cases.columns.count("fold")) == (1, 0)
    assert ragtriage.compare(run.folder, run.folder, out=tmp_path / name).cases.height == 0
    assert cli("history", tmp_path / name).code == 0
    assert cli("explain", "q", "--run", run.folder).code == 0


def test_in_order_of_time_then_of_name(tmp_path: Path) -> None:
    for run_id, day in (("c", 0), ("a", 1), ("b", 1), ("d", 2)):
        store_run(tmp_path, run_id, started=FIRST + timedelta(days=day))
    # An hour that is earlier, whatever its text says.
    store_run(tmp_path, "e")
    manifest = json.loads((tmp_path / "e" / "manifest.json").read_text())
    manifest["started"] = "2024-01-01T04:30:00+02:00"
    (tmp_path / "e" / "manifest.json").write_text(json.dumps(manifest))
    document = ragtriage.build_history(tmp_path).document
    assert [run["run_id"] for run in document["runs"]] == ["e", "c", "a", "b", "d"]


def test_numbers_of_runs_and_gates(tmp_path: Path) -> None:
    gate, other = "recall@5 >= 0.6", "scored.recall@5 >= 1"
    store_run(
        tmp_path,
        "a",
        gates=[gate_row(gate, 0.5, 0.6, passed=False)],
        stages=[stage_row("pass", 3, 10), stage_row("retrieval", 7, 10)],
    )
    store_run(
        tmp_path,
        "b",
        started=FIRST + timedelta(days=1),
        gates=[gate_row(gate, 0.7, 0.6, passed=True), gate_row(other, None, 1, passed=False)],
        stages=[stage_row("retrieval", 10, 10)],
    )
    document = ragtriage.build_history(tmp_path).document
    assert [run["n_pass"] for run in document["runs"]] == [3, 0]
    assert document["gates"] == [
        {"gate": other, "n_runs": 1, "n_failed": 1, "passed_last": False, "last_failed": "b"},
        {"gate": gate, "n_runs": 2, "n_failed": 1, "passed_last": True, "last_failed": "a"},
    ]


def test_undefined_is_said_and_denominators_stand_beside_means(tmp_path: Path) -> None:
    store_run(
        tmp_path,
        "a",
        summary=[
            mean_row("recall", 5, None, 0, 10),
            mean_row("citation_validity", None, 0.0, 7, 10),
        ],
    )
    ragtriage.build_history(tmp_path)
    row = re.search(r"<tr><td class=\"time\">.*?</tr>", page(tmp_path))
    assert row is not None
    assert '<td class="num">undefined<small>0 of 10</small></td>' in row.group()
    assert '<td class="num">0.000<small>7 of 10</small></td>' in row.group()


def test_the_newest_regressions(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        store_run(tmp_path, name)
    stored_comparison(tmp_path, "a", "b", [f"case-{i}" for i in range(12)], day=1)
    stored_comparison(tmp_path, "b", "c", ["later"], day=2)
    stored_comparison(tmp_path, "a", "c", [], day=3)
    document = ragtriage.build_history(tmp_path).document
    assert (document["n_comparisons"], document["n_with_regressions"]) == (3, 2)
    assert [entry["name"] for entry in document["comparisons"]] == ["compare-b-c", "compare-a-b"]
    assert document["comparisons"][0]["cases"] == [
        {"case_id": "later", "base_stage": "pass", "candidate_stage": "citation"}
    ]
    assert [run["run_id"] for run in document["runs"]] == ["a", "b", "c"]
    text = page(tmp_path)
    assert 'href="compare-a-b/report.html"' in text
    assert "and 2 more" in text
    assert "12 of 10" in text
    assert "No comparison" not in text


def test_a_comparison_without_its_table_still_counts(tmp_path: Path) -> None:
    store_run(tmp_path, "a")
    (stored_comparison(tmp_path, "a", "b", ["x"]) / "cases.parquet").unlink()
    (entry,) = ragtriage.build_history(tmp_path).document["comparisons"]
    assert (entry["n_regressed"], entry["cases"]) == (1, [])


def test_the_accepted_run_is_marked_and_a_broken_mark_stops_nothing(tmp_path: Path) -> None:
    store_run(tmp_path, "a")
    ragtriage.accept_run(tmp_path / "a")
    ragtriage.build_history(tmp_path)
    assert '<span class="badge pass">accepted</span>' in page(tmp_path)
    (tmp_path / "accepted.json").write_text("{")
    built = ragtriage.build_history(tmp_path)
    assert "accepted.json: cannot be read" in built.document["notes"][0]
    assert "accepted.json: cannot be read" in page(tmp_path)


def test_twice_the_same_bytes(tmp_path: Path) -> None:
    store_run(tmp_path, "a")
    store_run(tmp_path, "b")
    ragtriage.build_history(tmp_path)
    before = page(tmp_path)
    ragtriage.build_history(tmp_path)
    assert page(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "index.html"]


@pytest.mark.parametrize("there", ["a page of somebody", "a folder", "a link"])
def test_what_is_not_ours_is_never_replaced(cli: Command, tmp_path: Path, there: str) -> None:
    store_run(tmp_path / "out", "a")
    index = tmp_path / "out" / "index.html"
    if there == "a folder":
        index.mkdir()
    elif there == "a link":
        (tmp_path / "theirs.html").write_text(MARK)
        index.symlink_to(tmp_path / "theirs.html")
    else:
        index.write_text("<!doctype html><title>Mine</title>" + " " * 5000 + MARK)
    before = snapshot(tmp_path)
    cli("history", tmp_path / "out").refuses("index.html", "not written by ragtriage", "move it")
    assert snapshot(tmp_path) == before


def test_no_run_is_exit_2(cli: Command, tmp_path: Path) -> None:
    cli("history", tmp_path / "none").refuses("none", "No such file", "folder that runs")
    cli("history", tmp_path).refuses("no finished run in it;")
    store_run(tmp_path, "old", schema_version="0")
    cli("history", tmp_path).refuses(
        "no finished run", "1 other, the first old: schema version '0'"
    )
    store_run(tmp_path, "broken")
    (tmp_path / "broken" / "stages.parquet").unlink()
    cli("history", tmp_path).refuses("broken: stages.parquet is not there")
    assert not (tmp_path / "index.html").exists()


def test_what_a_killed_process_left_is_cleared(tmp_path: Path) -> None:
    store_run(tmp_path, "a")
    (tmp_path / ".index.html.0123abcd.part").write_text("half")
    ragtriage.build_history(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "index.html"]


def test_a_folder_that_cannot_be_written_keeps_the_old_page(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_run(tmp_path, "a")
    ragtriage.build_history(tmp_path)
    before = snapshot(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    cli("history", tmp_path).refuses("index.html: cannot be written: No space left")
    assert snapshot(tmp_path) == before
