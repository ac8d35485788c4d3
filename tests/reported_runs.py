"""Reported faults of groups F and G: averages, gates, exit codes and what a run leaves."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import polars as pl

import ragtriage
from tests.reported_kit import SHOWN, Kit, case, fault
from tests.support import CONTRACTS, ROOT, by_case, manifest_of, rejects_of, summary_row


def traced(kit: Kit, cases: list[str], traces: list[str]) -> tuple[str, ...]:
    labels = kit.written([{"case_id": n, "required_ids": ["a"]} for n in cases], "cases.jsonl")
    found = [{"case_id": name, "retrieved_ids": ["a"]} for name in traces]
    trace = kit.written(found, "trace.jsonl")
    return ("evaluate", "--cases", str(labels), "--trace", str(trace), "--format", "json")


@fault("F01")
def a_query_without_a_trace_stays_in_the_average(kit: Kit) -> None:
    command = traced(kit, ["q1", "q2", "q3", "q4"], ["q1", "q2"])
    kit.cli(*command, "--no-write").refuses("[missing-trace]")
    report = kit.cli(*command, "--no-write", "--missing-trace", "empty").report()
    row = summary_row(report["summary"], "reciprocal_rank")
    assert (row["mean"], row["n_scored"]) == (0.5, 4)
    assert any("2" in note for note in report["run"]["notes"])


@fault("F02")
def a_trace_nobody_judged_is_counted_and_listed(kit: Kit) -> None:
    command = traced(kit, ["q1"], ["q1", "q2"])
    kit.cli(*command, "--no-write").refuses("'q2'", "[unknown-case]")
    out = ("--out", kit.tmp_path / "out", "--run-id", "r")
    report = kit.cli(*command, *out, "--unknown-trace", "ignore").report()
    assert [case["case_id"] for case in report["cases"]] == ["q1"]
    assert report["rejects"] == {"unknown-case": 1}
    assert [row["case_id"] for row in rejects_of(kit.tmp_path / "out" / "r")] == ["q2"]


@fault("F04")
def a_row_without_values_is_counted_and_not_zero(kit: Kit) -> None:
    nothing = {"case_id": "n", "required_ids": None, "retrieved_ids": None, "cited_ids": None}
    run = kit.evaluated([nothing, case("q", ["a"], ["a"], cited_ids=["a"])])
    names = ("recall", "reciprocal_rank", "citation_coverage", "citation_validity")
    for name in names:
        assert by_case(run)["n"][name] is None
        row = summary_row(run.summary, name)
        assert (row["mean"], row["n_scored"], row["n_undefined"]) == (1.0, 1, 1)
    assert by_case(run)["n"]["stage"] == "unresolved"


@fault("F05")
def undefined_is_null_and_never_nan(kit: Kit) -> None:
    run = kit.evaluated([case("q1", ["a"], ["a"]), case("q2", [], [], answerable=False)])
    row = summary_row(run.summary, "recall", 10)
    assert (row["mean"], row["n_scored"]) == (1.0, 1)
    for frame in (run.cases, run.summary):
        floats = frame.select(pl.col(pl.Float64).is_nan().any()).row(0)
        assert not any(floats)


@fault("F07")
def a_gate_over_nothing_never_passes(kit: Kit) -> None:
    gate = ("--gate", "recall@10 >= 0")
    kit.cli("evaluate", kit.written(""), *SHOWN).refuses("no case")
    kit.cli("evaluate", kit.written(""), *SHOWN, *gate).refuses()
    absent = kit.written([{"case_id": "q", "answer": "x"}])
    kit.cli("evaluate", absent, *SHOWN, *gate).refuses("not observed")
    undefined = kit.written([case("q", [], ["a"], answerable=False)])
    shown = kit.cli("evaluate", undefined, *SHOWN, *gate)
    assert shown.code == 1
    assert "nothing measured never passes" in shown.err


@fault("F16")
def a_gate_can_ask_for_enough_cases(kit: Kit) -> None:
    path = kit.written([case("q", ["a"], ["a"])])
    gates = ("--k", "5", "--gate", "recall@5 >= 1", "--gate", "n.recall@5 >= 30")
    shown = kit.cli("evaluate", path, *SHOWN, *gates)
    assert shown.code == 1
    assert [gate["passed"] for gate in shown.report()["gates"]] == [True, False]


@fault("F18")
def plain_sets_agree_whatever_the_road(kit: Kit) -> None:
    dice = random.Random(5)  # noqa: S311 - a fixed sequence
    ids = [f"p{i}" for i in range(5)]
    records = [
        case(f"q{i}", dice.sample(ids, dice.randint(1, 4)), dice.sample(ids, dice.randint(0, 4)))
        for i in range(200)
    ]
    expected = [
        len(set(r["required_ids"]) & set(r["retrieved_ids"])) / len(r["required_ids"])
        for r in records
    ]
    frame = pl.DataFrame(records)
    path = kit.tmp_path / "in.parquet"
    frame.write_parquet(path)
    filtered = frame.with_columns(keep=True).filter("keep").drop("keep")
    for source in (frame, filtered, path, kit.written(records)):
        assert ragtriage.evaluate(source, write=False).cases["recall"].to_list() == expected


@fault("F19")
def one_verdict_everywhere(kit: Kit) -> None:
    lists = ([["a"], ["a"], ["a", "b", "c", "d", "e"]], [["a"]] * 3)
    path = kit.written(
        [case(f"q{i}", required, got) for i, (required, got) in enumerate(zip(*lists, strict=True))]
    )
    for i, (threshold, holds) in enumerate((("0.7", True), ("0.8", False))):  # the mean is 0.733
        out = ("--out", kit.tmp_path / "out", "--run-id", f"r{i}")
        shown = kit.cli("evaluate", path, "--min-recall", threshold, "--format", "json", *out)
        run = kit.tmp_path / "out" / f"r{i}"
        assert shown.code == (0 if holds else 1)
        assert shown.report()["gates"][0]["passed"] is holds
        assert pl.read_parquet(run / "gates.parquet")["passed"].to_list() == [holds]
        assert manifest_of(run)["passed"] is holds
        assert ("gate failed" in shown.err) is not holds


@fault("G01")
def each_end_has_its_own_code(kit: Kit) -> None:
    path = CONTRACTS / "citation.jsonl"
    command = ("evaluate", path, "--contract", "citation", *SHOWN)
    codes = [kit.cli(*command).code, kit.cli(*command, "--min-recall", "1").code]
    codes.append(kit.cli("evaluate", "nowhere.jsonl").code)
    kit.monkeypatch.setattr("ragtriage.folding.score", None)
    codes.append(kit.cli(*command).code)
    assert codes == [0, 1, 2, 3]


@fault("G02")
def no_case_run_is_a_failure(kit: Kit) -> None:
    path = kit.written([case("q", ["a"], [], error="down")])
    assert kit.cli("evaluate", path, *SHOWN).code == 1
    assert "pipefail" in (ROOT / "README.md").read_text("utf-8")


@fault("G03")
def what_dead_runs_left_is_never_taken_for_a_run(kit: Kit) -> None:
    out = kit.tmp_path / "out"
    dead = out / ".unfinished" / "dead"
    dead.mkdir(parents=True)
    (dead / "manifest.json").write_text('{"status": "complete", "passed": true}', "utf-8")
    (out / ".unfinished" / "dead~lock").touch()
    path = kit.written([case("q", ["a"], ["a"])])
    assert kit.cli("evaluate", path, "--out", out, "--run-id", "r").code == 0
    assert [entry.name for entry in out.iterdir()] == ["r"]
    for name in ("report.json", "report.md", "report.html", "manifest.json"):
        text = (out / "r" / name).read_text("utf-8")
        assert "r" in json.loads(text).values() if name == "manifest.json" else "r" in text
    assert manifest_of(out / "r")["status"] == "complete"


@fault("G05")
def shards_keep_their_order(kit: Kit) -> None:
    for i in range(10):
        kit.written([case(f"q{i}-{n}", ["a"], ["a"]) for n in (1, 0)], f"shards/part-{i}.jsonl")
    run = ragtriage.evaluate(kit.tmp_path / "shards", out=str(kit.tmp_path / "out"))
    assert run.path is not None
    written = pl.concat(pl.read_parquet(p) for p in sorted((run.path / "cases").iterdir()))
    assert written["case_id"].to_list() == [f"q{i}-{n}" for i in range(10) for n in (1, 0)]


@fault("G07")
def the_report_stays_small_and_its_counts_exact(kit: Kit) -> None:
    records = [case(f"q{i:04}", ["a"], ["b"], answer="no") for i in range(620)]
    records[0]["answer"] = "y" * 5_000_000
    path = kit.written(records)
    shown = kit.cli("evaluate", path, "--out", kit.tmp_path / "out", "--run-id", "r")
    assert shown.code == 0
    folder = kit.tmp_path / "out" / "r"
    html = (folder / "report.html").read_text("utf-8")
    assert len(html) < 2_500_000
    assert "620" in html
    assert "120" in html  # left out
    assert "cases/" in html
    assert "q0499" in html
    assert "q0500" not in html
    report = json.loads((folder / "report.json").read_text("utf-8"))
    assert (len(report["cases"]), report["cases_omitted"]) == (500, 120)
    kept = pl.read_parquet(folder / "cases" / "*.parquet")
    assert (kept.height, len(kept["answer"][0])) == (620, 5_000_000)


@fault("G08")
def reports_are_utf8_whatever_the_locale(kit: Kit) -> None:
    answer = "\u56f3\u66f8\u9928 \U0001f4da"
    path = kit.written([case("q", ["a"], [], answer=answer)])
    env = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    out = kit.tmp_path / "out"
    shown = subprocess.run(
        [sys.executable, "-m", "ragtriage.cli", "evaluate", path, "--out", out, "--run-id", "r"],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")} | env,
    )
    assert shown.returncode == 0, shown.stderr
    for name in ("report.html", "report.md", "report.json"):
        content = (out / "r" / name).read_bytes()
        assert b"\r" not in content
        assert answer in content.decode("utf-8")
    assert '<meta charset="utf-8">' in (out / "r" / "report.html").read_text("utf-8")


@fault("G10")
def formulas_stay_raw_in_parquet_and_there_is_no_csv(kit: Kit) -> None:
    path = kit.written([case("q", ["a"], [], answer="=2+5", weight=1.5)])
    assert kit.cli("evaluate", path, "--out", kit.tmp_path / "out", "--run-id", "r").code == 0
    run = kit.tmp_path / "out" / "r"
    assert pl.read_parquet(run / "cases" / "*.parquet")["answer"].to_list() == ["=2+5"]
    endings = {file.suffix for file in run.rglob("*") if file.is_file()}
    assert endings == {".parquet", ".html", ".md", ".json"}


@fault("G12")
def machine_output_is_one_document(kit: Kit) -> None:
    path = kit.written([case("q", ["a"], []), case("r", ["a"], [], weight=-1)])
    options = ("--on-invalid", "quarantine", "--min-recall", "1", "--format", "json")
    shown = kit.cli("evaluate", path, *options, "--out", kit.tmp_path / "out")
    assert shown.code == 1
    assert shown.report()["gates"][0]["passed"] is False
    assert shown.err
