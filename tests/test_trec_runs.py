"""Drawn qrels and runs as files: metrics equal to pytrec_eval's on what it parses of them."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

import ragtriage
from tests.support import Command, manifest_of
from tests.test_trec_eval import TREC

NAMES = ("recall", "P", "success", "map_cut", "ndcg_cut")
CUTOFFS = (5, 1, 100, 10, 3, 2)
TOPICS = 120


def drawn(folder: Path) -> tuple[Path, Path]:
    """Ties, scores equal in single precision only, ranks that contradict them, topics mixed up."""
    draw = random.Random(20_261_130)  # noqa: S311 - the same files every time
    judged, ranked = [], []
    for topic in range(TOPICS):
        pool = [f"{letter}{n}" for n in range(30) for letter in "dD"]
        judged += [
            f"t{topic} 0 {document} {draw.choice((-1, 0, 0, 1, 1, 2, 3))}"
            for document in draw.sample(pool, draw.choice((1, 3, 20, 60)))
        ]
        if topic % 10 == 0:
            continue  # judged, not run
        some = draw.sample(pool, draw.choice((1, 5, 30, 60)))
        for rank, document in enumerate(some):
            score = draw.choice((draw.randrange(4), 0.5, 0.5 + rank * 1e-9, draw.gauss(0, 1e3)))
            ranked.append(f"t{topic}\tQ0 {document}  {rank} {score!r} drawn")
    draw.shuffle(judged)
    draw.shuffle(ranked)
    paths = folder / "qrels", folder / "run"
    for path, lines in zip(paths, (judged, ranked), strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


def theirs(qrels: Path, run: Path) -> dict[str, dict[str, float]]:
    with qrels.open() as judged, run.open() as ranked:
        labels, scores = pytrec_eval.parse_qrel(judged), pytrec_eval.parse_run(ranked)
    measures = {f"{name}.{k}" for name in NAMES for k in CUTOFFS}
    evaluator = pytrec_eval.RelevanceEvaluator(
        labels, measures | {"set_recall", "recip_rank", "Rprec"}
    )
    found: dict[str, dict[str, float]] = evaluator.evaluate(scores)
    return found


def test_equal_to_trec_eval(tmp_path: Path) -> None:
    qrels, run = drawn(tmp_path)
    expected = theirs(qrels, run)
    ours = ragtriage.evaluate(
        None, cases=qrels, trace=run, preset="trec", k=list(CUTOFFS), write=False
    )
    assert ours.cases.height == TOPICS
    undefined = 0
    for row in ours.cases.rows(named=True):
        given = expected.get(row["case_id"])
        if all(grade["grade"] <= 0 for grade in row["grades"]):
            # nothing relevant: trec_eval's 0 is undefined here
            assert row["recall"] is None
            undefined += 1
            continue
        # judged and not run: trec_eval leaves the topic out, here it is 0
        values = {name: given[of] if given else 0.0 for name, of in TREC.items()}
        assert {name: row[name] for name in TREC} == pytest.approx(values, abs=1e-9)
    assert 0 < undefined < TOPICS / 2
    assert len(expected) == TOPICS - TOPICS // 10


def test_what_was_done_is_noted(cli: Command, tmp_path: Path) -> None:
    qrels, run = drawn(tmp_path)
    given: tuple[Any, ...] = ("--from", "trec", "--cases", qrels, "--trace", run)
    shown = cli("evaluate", *given, "--out", tmp_path / "o", "--run-id", "r", "--format", "json")
    notes = "\n".join(shown.report()["run"]["notes"])
    assert f"cases without a trace: {TOPICS // 10}, taken as empty" in notes
    assert "ordered by document ID, last first, as trec_eval does" in notes
    assert "single precision only" in notes
    assert "the rank column orders" in notes
    by_rank = cli("evaluate", *given, "--trec-order", "rank", "--no-write", "--format", "json")
    assert "ordered by document ID" not in "\n".join(by_rank.report()["run"]["notes"])
    cli("evaluate", *given, "--trec-order", "docid").refuses("--trec-order", "score")


def test_lines_set_aside_are_counted_line_by_line(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "q").write_text("q1 0 a 1\nq2 0 a 1\n", encoding="utf-8")
    of_q2 = "q2 Q0 a 1 3 t\nq2 Q0 b 2 x t\nq2 Q0 c 3 1 t\n"
    rows = f"q1 Q0 a 1 2 t\n{of_q2}\nq9 Q0 a 1 2 t\nq9 Q0 b 2 1 t\n"
    (tmp_path / "r").write_text(rows, encoding="utf-8")
    shown = cli(
        *("evaluate", "--from", "trec", "--cases", tmp_path / "q", "--trace", tmp_path / "r"),
        *("--on-invalid", "quarantine", "--unknown-trace", "ignore"),
        *("--out", tmp_path / "o", "--run-id", "r", "--format", "json"),
    )
    assert shown.code == 0, shown.err
    lines = {
        Path(file["path"]).name: [
            file[name] for name in ("lines", "accepted", "set_aside", "blank")
        ]
        for file in manifest_of(tmp_path / "o" / "r")["inputs"]
    }
    # q2 has a faulty row, so all of it goes, and its case too; q9 is not judged
    assert lines == {"q": [2, 1, 1, 0], "r": [7, 1, 5, 1]}


RUNS = {
    "a file each": {"bm25.run": "q Q0 a 1 1 t\n", "dense.run": "q Q0 b 1 1 t\n"},
    "a tag each": {"both": "q Q0 a 1 1 bm25\nq Q0 b 1 1 dense\n"},
    "a file and a tag each": {"x": "q Q0 a 1 1 bm25\n", "y": "q Q0 b 1 1 dense\n"},
}


@pytest.mark.parametrize("name", RUNS)
def test_several_runs_at_once(cli: Command, tmp_path: Path, name: str) -> None:
    (tmp_path / "qrels").write_text("q 0 a 1\n", encoding="utf-8")
    given: list[Any] = ["evaluate", "--from", "trec", "--cases", tmp_path / "qrels"]
    for file, rows in RUNS[name].items():
        (tmp_path / file).write_text(rows, encoding="utf-8")
        given += ["--trace", tmp_path / file]
    shown = cli(*given, "--no-write", "--format", "json")
    recalls = {
        system: next(row["mean"] for row in report["summary"] if row["metric"] == "recall")
        for system, report in shown.report()["systems"].items()
    }
    assert recalls == {"bm25": 1.0, "dense": 0.0}
    one = cli(*given, "--no-write", "--format", "json", "--system", "dense").report()
    assert "system: dense" in one["run"]["notes"]
    cli(*given, "--system", "bm52").refuses("did you mean `bm25`?")


def test_compressed_and_in_a_folder(cli: Command, tmp_path: Path) -> None:
    qrels, run = drawn(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "drawn.run.gz").write_bytes(gzip.compress(run.read_bytes()))
    shown = ("--no-write", "--format", "json", "--run-id", "r")
    given = ("evaluate", "--from", "trec", "--cases", qrels, *shown)
    plain = cli(*given, "--trace", run).report()["summary"]
    assert cli(*given, "--trace", tmp_path / "runs").report()["summary"] == plain


@pytest.mark.parametrize(
    ("qrels", "run", "why"),
    [
        ("", "q Q0 a 1 1 t\n", "the trace is for a case that is not in the cases file"),
        ("\n\n", "", "no case in it"),
        ("q 0 a 1\n", "\x00\x01", "r:1: row: 1 columns, a row of a run has 6"),
    ],
)
def test_files_that_hold_nothing(
    cli: Command, tmp_path: Path, qrels: str, run: str, why: str
) -> None:
    (tmp_path / "q").write_text(qrels, encoding="utf-8")
    (tmp_path / "r").write_text(run, encoding="utf-8")
    given = ("--cases", tmp_path / "q", "--trace", tmp_path / "r", "--no-write")
    cli("evaluate", "--from", "trec", *given).refuses(why)


def test_an_empty_run_is_scored_as_one_that_found_nothing(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "q").write_text("q 0 a 1\n", encoding="utf-8")
    (tmp_path / "r").write_bytes(b"")
    given = ("--cases", tmp_path / "q", "--trace", tmp_path / "r", "--no-write")
    summary = cli("evaluate", "--from", "trec", *given, "--format", "json").report()["summary"]
    assert {row["mean"] for row in summary if row["metric"] == "reciprocal_rank"} == {0.0}
