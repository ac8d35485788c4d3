"""One case explained from a stored run: each way to break, and IDs that are not there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragtriage
from ragtriage.stages import deciding_row, precedence
from tests.support import HANDBOOK, Command, Record, Writer


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> ragtriage.Run:
    return ragtriage.evaluate(
        None,
        cases=HANDBOOK / "cases.jsonl",
        trace=HANDBOOK / "run-a.jsonl",
        corpus=HANDBOOK / "corpus.jsonl",
        k=[5, 10],
        out=tmp_path_factory.mktemp("out"),
        run_id="base",
    )


def explained(cli: Command, run: Any, case_id: str) -> Record:
    return cli("explain", case_id, "--run", run, "--format", "json").report()


def test_the_way_of_each_requirement_and_the_rule(cli: Command, handbook: ragtriage.Run) -> None:
    shown = cli("explain", "renew-with-hold", "--run", handbook.folder)
    assert (shown.code, shown.err) == (0, "")
    for words in (
        "renew-with-hold: retrieval: retrieved, left out of the context\n",
        "Question: Someone is waiting for my book.",
        "Answer: Yes, twice.\n",
        "Required evidence (cutoff 5; what was supplied: the context)",
        "  2. holds-1\n     source: in source, index, chunks\n     retrieved: rank 4\n",
        "     top 5: within cutoff\n     context: not in context   <- lost here: ",
        "Why retrieval: row 10 of the stage table\n",
        "    9 unprepared: neither context nor retrieved observed\n",
        "  missing: holds-1\n",
        "Look first: Check deduplication",
        "Answer label: wrong (staff)",
    ):
        assert words in shown.out, words


def test_every_case_of_the_handbook_is_explained_as_it_was_placed(
    cli: Command, handbook: ragtriage.Run
) -> None:
    rows = handbook.cases.select("case_id", "stage", "break_point", "next_check").rows()
    for case_id, stage, break_point, next_check in rows[::5]:
        told = explained(cli, handbook.folder, case_id)
        assert told["row"]["stage"] == stage
        assert told["cutoff"] == 5
        assert [row["number"] for row in told["rows_before"]] == list(
            range(1, told["row"]["number"])
        )
        assert told["case"]["break_point"] == break_point
        assert told["case"]["next_check"] == next_check
        lost = {row["lost_at"] for row in told["requirements"]}
        assert break_point in lost if stage == "retrieval" else True


PLAIN: Record = {"case_id": "c", "required_ids": ["a"], "context_ids": ["a"]}
ROWS: dict[int, tuple[str, Record]] = {
    1: ("auto", PLAIN | {"forbidden_ids": ["a"]}),
    2: ("auto", PLAIN | {"error": "timeout"}),
    3: ("auto", PLAIN | {"ambiguity": "which?"}),
    4: ("auto", PLAIN | {"required_ids": [], "answerable": False, "abstained": False}),
    5: ("auto", PLAIN | {"required_ids": [], "answerable": False, "abstained": True}),
    6: ("auto", PLAIN | {"required_ids": [], "answerable": False}),
    7: ("auto", PLAIN | {"required_ids": []}),
    8: ("diagnosis", PLAIN | {"answer_correct": None}),
    9: ("auto", PLAIN | {"context_ids": None, "answer_correct": True}),
    10: ("auto", PLAIN | {"context_ids": [], "answer_correct": True}),
    11: ("auto", PLAIN | {"answer_correct": None}),
    12: ("auto", PLAIN | {"answer_correct": False}),
    13: ("auto", PLAIN | {"answer_correct": True, "cited_ids": []}),
    14: ("auto", PLAIN | {"answer_correct": True}),
}


@pytest.mark.parametrize("number", ROWS)
def test_each_row_of_the_table_is_known_again(
    cli: Command, written: Writer, tmp_path: Path, number: int
) -> None:
    contract, record = ROWS[number]
    run = ragtriage.evaluate(written([record]), contract=contract, out=tmp_path / "out")
    told = explained(cli, run.folder, "c")
    assert told["row"]["number"] == number
    assert cli("explain", "c", "--run", run.folder).out.startswith("c: ")


def test_stage_and_break_point_always_have_a_row() -> None:
    for row in precedence("auto"):
        for name, _ in row.break_points:
            for missing_known in (True, False):
                found = deciding_row(row.stage, name, answerable=None, missing_known=missing_known)
                assert found is not None
                assert (found.stage, name in dict(found.break_points)) == (row.stage, True)


def test_claims_reviews_and_findings(cli: Command, tmp_path: Path) -> None:
    data = HANDBOOK.parent / "claims"
    run = ragtriage.evaluate(
        data / "cases.jsonl", contract="claims", reviews=data / "reviews.jsonl", out=tmp_path
    )
    shown = cli("explain", "shed-size", "--run", run.folder).out
    assert "  ask-first: required, people disagree; cites " in shown
    assert "\nFindings\n  disputed-label: " in shown
    labels = [row["label_source"] for row in explained(cli, run.folder, "shed-size")["claims"]]
    assert "review" in labels


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("renew-with-holds", "'renew-with-hold'"),
        ("RENEW-COUNT", "'renew-count'"),
        ("hold-pick", "'hold-pickup'"),
        ("zzzzzzzz", "cases/part-*.parquet"),
        ("", "cases/part-*.parquet"),
    ],
)
def test_an_unknown_case_names_the_nearest(
    cli: Command, handbook: ragtriage.Run, asked: str, near: str
) -> None:
    cli("explain", asked, "--run", handbook.folder).refuses(f"no case {asked!r}", near)


def test_only_parquet_and_the_mark_of_a_finished_run_are_read(
    cli: Command, handbook: ragtriage.Run, tmp_path: Path
) -> None:
    copy = tmp_path / "base"
    shutil.copytree(handbook.folder, copy)
    for name in ("report.json", "report.md", "report.html"):
        (copy / name).unlink()
    shown = [cli("explain", "dvd-loan", "--run", run) for run in (copy, handbook.folder)]
    assert shown[0] == shown[1]
    assert shown[0].code == 0


def test_a_run_without_texts_says_so(cli: Command, handbook: ragtriage.Run, tmp_path: Path) -> None:
    copy = tmp_path / "base"
    shutil.copytree(handbook.folder, copy)
    manifest = json.loads((copy / "manifest.json").read_text("utf-8"))
    manifest["config"]["no_text"] = True
    (copy / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    for part in (copy / "cases").iterdir():
        table = pl.read_parquet(part)
        table.with_columns(pl.lit(None, pl.String).alias("answer")).write_parquet(part)
    assert "\nAnswer: left out (--no-text)\n" in cli("explain", "dvd-loan", "--run", copy).out


def test_what_is_no_run_is_refused(cli: Command, tmp_path: Path) -> None:
    cli("explain", "a", "--run", tmp_path / "none").refuses("no such run")
    cli("explain", "a", "--run", tmp_path).refuses("not a finished run")
    cli("explain", "a").refuses("--run")


Harm = Callable[[pl.DataFrame], pl.DataFrame]
HARMED: list[tuple[str, Harm, str]] = [
    ("cases", lambda rows: rows.drop("lucky"), "cases/ has no lucky"),
    ("evidence", lambda rows: rows.drop("in_top_k", "listed", strict=False), "no in_top_k"),
    ("claims", lambda rows: rows.drop("conflict"), "claims/ has no conflict"),
    ("claims", lambda rows: rows.with_columns(text=pl.lit(1)), "text is Int32, not String"),
    ("claims", lambda rows: rows.with_columns(claim_id=pl.lit(None, pl.String)), "claim_id"),
    ("cases", lambda rows: rows.with_columns(stage=pl.lit("none")), "'none'"),
    ("cases", lambda rows: rows.with_columns(stage=pl.lit(None, pl.String)), "without stage"),
    ("cases", lambda rows: rows.with_columns(missing=[None]), "without missing"),
]


@pytest.mark.parametrize(("table", "harm", "says"), HARMED)
def test_a_harmed_table_is_refused_by_name(
    cli: Command, written: Writer, tmp_path: Path, table: str, harm: Harm, says: str
) -> None:
    claims = [{"claim_id": "k", "supported": True}]
    case = {"case_id": "q", "required_ids": ["a"], "retrieved_ids": ["b"], "claims": claims}
    run = ragtriage.evaluate(written([case]), out=tmp_path / "out").folder
    part = run / table / "part-00000.parquet"
    whole = pl.read_parquet(part)
    harmed = harm(whole)
    harmed.cast({n: whole.schema[n] for n in ("missing",) if n in harmed}).write_parquet(part)
    cli("explain", "q", "--run", run).refuses(says, "not a run of ours" * (says != "'none'"))


def test_hidden_characters_are_shown(cli: Command, written: Writer, tmp_path: Path) -> None:
    record = PLAIN | {"answer": "a\x1b[31m\u202eb\nc"}
    run = ragtriage.evaluate(written([record]), out=tmp_path / "out")
    shown = cli("explain", "c", "--run", run.folder).out
    assert r"Answer: a\u001b[31m\u202eb\nc" in shown
    assert "\x1b" not in shown
    assert json.loads(cli("explain", "c", "--run", run.folder, "--format", "json").out)
