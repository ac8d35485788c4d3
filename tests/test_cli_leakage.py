"""`ragtriage leakage`: what it finds, writes, prints, refuses and repeats."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pandera.polars as pa
import polars as pl
import pytest

import ragtriage
from ragtriage.schemas import leakage, results
from ragtriage.schemas.inputs import dtypes
from ragtriage.splits.examine import NO_SPLITS
from tests.support import ROOT, Command, Record, Writer, manifest_of, rejects_of, snapshot

DATA = ROOT / "data" / "leakage"
TABLES: dict[str, type[pa.DataFrameModel]] = {
    "leaks": leakage.Findings,
    "assignment": leakage.Assignment,
    "sizes": leakage.Sizes,
}
REPORTS = {"report.html", "report.md", "report.json", "manifest.json"}
SHOWN = ("--no-write", "--format", "json")


def record(case_id: str, split: str | None, question: str, **more: Any) -> Record:
    return {"case_id": case_id, "split": split, "question": question} | more


LEAKING = [
    record("d1", "development", "When does the desk open on Monday?", group="g"),
    record("d2", "development", "Who may use the bench by the door?", expected_answers=["members"]),
    record("t1", "test", "when does the desk open on monday", group="g"),
    record(
        "t2", "test", "Who sweeps the workshop on Fridays?", expected_answers=["the late shift"]
    ),
]
CLEAN = [LEAKING[1], LEAKING[3]]


def numbers(report: dict[str, Any]) -> dict[str, int]:
    """Findings by kind, those there are."""
    return {row["finding"]: row["n"] for row in report["kinds"] if row["n"]}


def test_the_shipped_data_leaks_as_its_page_says(cli: Command) -> None:
    shown = cli("leakage", DATA / "cases.jsonl", "--against", DATA / "prompts", *SHOWN)
    assert shown.code == 1
    report = shown.report()
    assert numbers(report) == {
        "group-across-splits": 3,
        "duplicate-question": 1,
        "near-duplicate-question": 2,
        "answer-in-question": 1,
        "question-in-prompt": 2,
        "answer-in-prompt": 4,
    }
    found = {(r["finding"], r["case_id"], r["other_case_id"]): r for r in report["findings"]}
    # 9 of 11 3-grams; 13 of 19, a character a word.
    assert found["near-duplicate-question", "hours-2", "hours-3"]["score"] == 9 / 11
    assert found["near-duplicate-question", "ja-1", "ja-2"]["score"] == 13 / 19
    assert found["question-in-prompt", "loan-6", None]["line"] == 6
    assert {"fees-2", "loan-2", "loan-6", "misc-1"} == {
        case for kind, case, _ in found if kind == "answer-in-prompt"
    }
    # "yes" stands in system.md.
    assert "yes" in (DATA / "prompts" / "system.md").read_text("utf-8")
    assert shown.err == "13 leaks, allowed 0\n"


def test_what_a_run_writes(cli: Command, written: Writer, tmp_path: Path) -> None:
    path = written(LEAKING)
    out = ("--out", tmp_path / "out", "--run-id", "r", "--format", "json")
    shown = cli("leakage", path, *out, "--assign")
    assert shown.code == 1
    folder = tmp_path / "out" / "leakage-r"
    assert shown.err == f"report: {folder / 'report.html'}\n2 leaks, allowed 0\n"
    assert {item.name for item in folder.iterdir()} == {f"{n}.parquet" for n in TABLES} | REPORTS
    for name, model in TABLES.items():
        table = pl.read_parquet(folder / f"{name}.parquet")
        model.to_schema().validate(table, lazy=True)
        assert dict(table.schema) == dtypes(model)
        assert table["run_id"].unique().to_list() == ["leakage-r"]
    manifest = manifest_of(folder)
    assert (manifest["kind"], manifest["status"], manifest["passed"]) == (
        *("leakage", "complete", False),
    )
    assert manifest["findings"]["duplicate-question"] == 1
    assert manifest["config"]["threshold"] == 0.6
    report = shown.report()
    assert json.loads((folder / "report.json").read_text("utf-8")) == report
    (row,) = [r for r in report["findings"] if r["finding"] == "duplicate-question"]
    assert (row["case_id"], row["split"], row["other_case_id"], row["other_split"]) == (
        *("d1", "development", "t1", "test"),
    )
    assert (row["text"], row["other_text"]) == (LEAKING[0]["question"], LEAKING[2]["question"])
    search = report["search"]
    assert search["miss"] == (1 - 0.6 ** search["rows"]) ** search["bands"] <= 0.001
    assert search["planted"] == search["found"] == 1_000


def test_from_python_the_same(written: Writer, tmp_path: Path) -> None:
    path = written(LEAKING)
    found = ragtriage.leakage(path, out=tmp_path / "out", run_id="r", assign=True)
    assert found.path == tmp_path / "out" / "leakage-r"
    assert not found.passed
    frames = {"leaks": found.findings, "assignment": found.assignment, "sizes": found.sizes}
    for name, frame in frames.items():
        assert frame is not None
        assert frame.equals(pl.read_parquet(found.path / f"{name}.parquet"))
    unwritten = ragtriage.leakage([path], write=False, max=2)
    assert (unwritten.path, unwritten.passed, unwritten.assignment) == (None, True, None)
    assert "2 leaks found" in repr(unwritten)
    with pytest.raises(ragtriage.UsageError, match=r"treshold: no such option .*threshold"):
        ragtriage.leakage(path, treshold=0.5)


@pytest.mark.parametrize(("allowed", "code"), [(0, 1), (1, 1), (2, 0), (3, 0)])
def test_more_than_allowed_fails(cli: Command, written: Writer, allowed: int, code: int) -> None:
    shown = cli("leakage", written(LEAKING), "--max", allowed, *SHOWN)
    assert shown.code == code
    assert shown.err == (f"2 leaks, allowed {allowed}\n" if code else "")
    assert cli("leakage", written(CLEAN, "clean.jsonl"), *SHOWN).code == 0


@pytest.mark.parametrize("shown", ["table", "markdown"])
def test_no_write(cli: Command, written: Writer, tmp_path: Path, shown: str) -> None:
    path = written(LEAKING)
    before = snapshot(tmp_path)
    printed = cli("leakage", path, "--no-write", "--format", shown)
    assert "2 leaks found" in printed.out.replace("`", "")
    assert "when does the desk open on monday" in printed.out
    assert "is missed with a probability of" in printed.out
    assert snapshot(tmp_path) == before


def test_identical_input_gives_identical_bytes(
    cli: Command, written: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    path = written(LEAKING)
    for name in ("a", "b"):
        assert cli("leakage", path, "--assign", "--out", tmp_path / name).code == 1
    a, b = ({Path(k).name: v for k, v in snapshot(tmp_path / n).items()} for n in ("a", "b"))
    assert a == b
    assert any(name.startswith("leakage-20231114T221320Z-") for name in a)


def test_the_order_of_rows_changes_no_table(written: Writer) -> None:
    one = ragtriage.leakage(written(LEAKING), write=False, assign=True, run_id="r")
    path = written(LEAKING[::-1], "turned.jsonl")
    other = ragtriage.leakage(path, write=False, assign=True, run_id="r")
    for name in ("findings", "assignment", "sizes"):
        assert getattr(one, name).equals(getattr(other, name))


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_other_formats(cli: Command, tmp_path: Path, form: str) -> None:
    frame = pl.DataFrame(LEAKING).drop("expected_answers")
    path = tmp_path / f"in.{form}"
    getattr(frame, f"write_{form}")(path)
    assert numbers(cli("leakage", path, *SHOWN).report()) == {
        "group-across-splits": 1,
        "duplicate-question": 1,
    }


def test_standard_input(cli: Command) -> None:
    content = "".join(json.dumps(row) + "\n" for row in LEAKING).encode()
    shown = cli("leakage", "-", *SHOWN, stdin=content)
    assert shown.report()["run"]["n_cases"] == 4


def test_names_are_mapped_and_unknown_fields_set_aside(cli: Command, written: Writer) -> None:
    rows = [
        {"id": r["case_id"], "query": r["question"], "fold": r["split"], "colour": "red"}
        for r in LEAKING
    ]
    path = written(rows)
    cli("leakage", path, "--map", "fold=split", *SHOWN).refuses("colour: not a known field")
    shown = cli("leakage", path, "--map", "fold=split", "--extra", "ignore", *SHOWN)
    assert numbers(shown.report()) == {"duplicate-question": 1}
    assert "fields as read: " in shown.err
    assert "fold = split" in shown.err
    assert any("colour" in note for note in shown.report()["run"]["notes"])
    cli("leakage", path, "--map", "fold=splits", *SHOWN).refuses("not one of our fields", "`split`")


def test_answer_is_the_expected_one_only_where_nothing_of_a_run_stands_beside_it(
    cli: Command, written: Writer
) -> None:
    rows = [
        {"case_id": "a", "question": "Is the desk by the east door?", "answer": "by the east door"},
        {"case_id": "b", "question": "Who sweeps?", "answer": None},
    ]
    for row, split in zip(rows, ("dev", "test"), strict=True):
        row["split"] = split
    alone = cli("leakage", written(rows), *SHOWN).report()
    assert numbers(alone) == {"answer-in-question": 1}
    assert any("read as the expected answer" in note for note in alone["run"]["notes"])
    traced = [row | {"retrieved_ids": ["p"]} for row in rows]
    run = cli("leakage", written(traced, "run.jsonl"), *SHOWN)
    assert (run.code, numbers(run.report())) == (0, {})


def test_without_splits_only_prompts_are_looked_into(cli: Command, written: Writer) -> None:
    rows = [{k: v for k, v in row.items() if k != "split"} for row in LEAKING]
    path = written(rows)
    cli("leakage", path, *SHOWN).refuses("no two splits", "--against", "--assign")
    prompt = written("Q: Who sweeps the workshop on Fridays? A: the late shift", "p.md")
    report = cli("leakage", path, "--against", prompt, *SHOWN).report()
    assert numbers(report) == {"question-in-prompt": 1, "answer-in-prompt": 1}
    unlooked = {row["finding"]: row["why"] for row in report["kinds"] if row["n"] is None}
    assert set(unlooked) == {
        *("group-across-splits", "duplicate-question"),
        *("near-duplicate-question", "answer-in-question"),
    }
    assert set(unlooked.values()) == {NO_SPLITS}


def test_one_split_is_enough_for_an_answer_in_its_question(cli: Command, written: Writer) -> None:
    rows = [
        record("a", "test", "Is the desk open at noon?", expected_answers=["noon"]),
        record("b", "test", "is the desk open at noon", expected_answers=["9 am"]),
    ]
    report = cli("leakage", written(rows), *SHOWN).report()
    assert numbers(report) == {"answer-in-question": 1}
    unlooked = {row["finding"] for row in report["kinds"] if row["why"] == NO_SPLITS}
    assert unlooked == {"group-across-splits", "duplicate-question", "near-duplicate-question"}
    unanswered = [{k: v for k, v in row.items() if k != "expected_answers"} for row in rows]
    cli("leakage", written(unanswered), *SHOWN).refuses("no two splits", "--against", "--assign")


def test_against_takes_all_that_a_glob_gives(cli: Command, written: Writer, tmp_path: Path) -> None:
    path = written(LEAKING)
    swept = written("Who sweeps the workshop on Fridays?", "p/a.md")
    shift = written("Ask the late shift.", "p/b.md")
    expected = {
        *("group-across-splits", "duplicate-question", "question-in-prompt", "answer-in-prompt"),
    }
    for arguments in (
        (path, "--against", swept, shift),
        (path, "--against", swept, shift, "--max", 9),
        (path, "--max", 9, f"--against={swept}", shift),
        (path, "--against", swept, "--max", 9, "--against", shift),
        ("--against", swept, "--against", shift, path),
        ("--against", tmp_path / "p", path),
    ):
        assert set(numbers(cli("leakage", *arguments, *SHOWN).report())) == expected
    # Two files of cases, and a prompt before them.
    halves = [written(LEAKING[:2], "1.jsonl"), written(LEAKING[2:], "2.jsonl")]
    for arguments in (("--against", swept, *halves), (*halves, "--against", swept)):
        assert set(numbers(cli("leakage", *arguments, *SHOWN).report())) == expected - {
            "answer-in-prompt"
        }


def test_development_may_stand_in_prompts(cli: Command, written: Writer) -> None:
    prompt = written(
        "When does the desk open on Monday? Who may use the bench by the door?", "p.md"
    )
    arguments = ("leakage", written(LEAKING), "--against", prompt, *SHOWN)
    found = [
        r for r in cli(*arguments).report()["findings"] if r["finding"] == "question-in-prompt"
    ]
    assert [row["case_id"] for row in found] == ["t1"]
    named = cli(*arguments, "--held-out", "development").report()["findings"]
    assert [r["case_id"] for r in named if r["finding"] == "question-in-prompt"] == ["d1", "d2"]
    cli(*arguments, "--held-out", "tests").refuses("no case has split 'tests'", "`test`")


def test_only_development_is_nothing_to_look_for(cli: Command, written: Writer) -> None:
    path, prompt = written(LEAKING[:2]), written("x", "p.md")
    cli("leakage", path, "--against", prompt, *SHOWN).refuses("nothing to look for", "--held-out")


PROMPTS: dict[str, str | bytes] = {
    "a/system.md": "Q: Who sweeps the workshop on Fridays?",
    "a/deep/examples.yaml": "- question: >-\n    Who sweeps the\n    workshop on Fridays?\n",
    "a/few.json": json.dumps({"shots": ["So:\nWho sweeps the workshop on Fridays?\n"]}),
    "a/prompt.py": 'P = """Who sweeps the workshop on Fridays?"""\n',
    "a/notes.txt": "\ufeffWho sweeps the workshop on Fridays?".encode("utf-16"),
    "a/bom.txt": "\ufeffWho sweeps the workshop on Fridays?".encode(),
    "a/.hidden.md": "Who sweeps the workshop on Fridays?",
    "a/.git/x": "Who sweeps the workshop on Fridays?",
    "a/picture.png": b"\x89PNG\0\0",
    "a/latin.txt": b"caf\xe9",
}


def test_folders_globs_and_what_is_no_text(cli: Command, written: Writer, tmp_path: Path) -> None:
    for name, content in PROMPTS.items():
        written(content, name)
    path = written(LEAKING)
    report = cli("leakage", path, "--against", tmp_path / "a", *SHOWN).report()
    found = [r for r in report["findings"] if r["finding"] == "question-in-prompt"]
    assert [os.path.relpath(row["file"], tmp_path) for row in found] == [
        *("a/bom.txt", "a/deep/examples.yaml", "a/few.json"),
        *("a/notes.txt", "a/prompt.py", "a/system.md"),
    ]
    assert [row["line"] for row in found] == [1, 2, 1, 1, 1, 1]
    unread = {Path(u["path"]).name: u["why"] for u in report["prompts"]["unread"]}
    assert unread == {"picture.png": "binary, not text", "latin.txt": "not UTF-8 text"}
    globbed = cli("leakage", path, "--against", tmp_path / "a" / "*.??", *SHOWN).report()
    assert [Path(f["path"]).name for f in globbed["prompts"]["files"]] == ["prompt.py", "system.md"]
    table = cli("leakage", path, "--against", tmp_path / "a", "--no-write", "--format", "table")
    assert "2 files not looked into" in table.out


def test_the_cases_themselves_are_no_prompt(cli: Command, written: Writer, tmp_path: Path) -> None:
    path = written(CLEAN, "a/cases.jsonl")
    written("nothing", "a/p.md")
    shown = cli("leakage", path, "--against", tmp_path / "a", *SHOWN)
    assert shown.code == 0
    assert shown.report()["prompts"]["unread"] == [
        {"path": str(path), "why": "holds the cases themselves"}
    ]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nowhere.md", None, "no such file"),
        ("no*.md", None, "no file matches"),
        ("x.bin", b"\0\1", "binary, not text"),
        ("x.txt", b"\xff\xfe\xfa", "not UTF-8 text"),
    ],
)
def test_a_prompt_that_cannot_be_read_is_refused(
    cli: Command, written: Writer, tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    if content is not None:
        written(content, name)
    path = written(LEAKING)
    arguments = ("--against", tmp_path / name, "--out", tmp_path / "out")
    cli("leakage", path, *arguments).refuses(name, words)
    assert not (tmp_path / "out").exists()


def test_a_folder_without_any_text_is_refused(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    written(b"\0", "a/x.bin")
    path = written(LEAKING)
    cli("leakage", path, "--against", tmp_path / "a", *SHOWN).refuses("nothing to look in", "x.bin")


def test_an_assignment(cli: Command, written: Writer) -> None:
    rows = [record(f"c{i}", None, f"question{i} about{i} this{i}") for i in range(8)]
    path = written([*LEAKING, *rows])
    kept = ("--assign", "--shares", "development=0.5,test=0.25,validation=0.25", "--seed", "3")
    report = cli("leakage", path, *kept, *SHOWN).report()
    made = report["assignment"]
    # Of the family that lies in two splits one case moves.
    assert (made["n_moved"], made["seed"]) == (1, 3)
    sizes = {row["split"]: (row["asked"], row["reached"]) for row in made["sizes"]}
    assert sizes == {"development": (6.0, 6), "test": (3.0, 3), "validation": (3.0, 3)}
    table = cli("leakage", path, *kept, "--no-write", "--format", "table").out
    assert "families 11; largest family 2 cases; cases moved 1" in table
    assert "asked 6.0 (50.0%)  reached 6 (50.0%)" in table


def test_an_assignment_needs_no_splits(cli: Command, written: Writer) -> None:
    rows = [{k: v for k, v in row.items() if k != "split"} for row in LEAKING]
    shown = cli("leakage", written(rows), "--assign", "--strata", "tag", *SHOWN)
    assert shown.code == 0
    assert shown.report()["assignment"]["n_families"] == 3


def test_options_in_a_file(cli: Command, written: Writer) -> None:
    path = written(LEAKING)
    config = written(
        f'cases = "{path}"\nthreshold = 0.5\nmax = 2\nassign = true\nno_write = true\n'
        "[shares]\ndevelopment = 0.5\ntest = 0.5\n",
        "c.toml",
    )
    shown = cli("leakage", "--config", config, "--format", "json")
    assert shown.code == 0, shown.err
    assert shown.report()["run"]["threshold"] == 0.5
    for allowed in (0, 1):
        assert cli("leakage", "--config", config, "--max", allowed, "--format", "json").code == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "no cases"),
        (("nowhere.jsonl",), "nowhere.jsonl"),
        (("-", "-"), "standard input can be read once only"),
        (("x", "--threshold", "0"), "--threshold"),
        (("x", "--threshold", "1.1"), "--threshold"),
        (("x", "--threshold", "nan"), "--threshold"),
        (("x", "--threshold", "high"), "--threshold"),
        (("x", "--max", "-1"), "--max"),
        (("x", "--min-answer-length", "0"), "--min-answer-length"),
        (("x", "--seed", "1"), "--seed is for --assign"),
        (("x", "--reassign"), "--reassign is for --assign"),
        (("x", "--strata", "tag"), "--strata is for --assign"),
        (("x", "--assign", "--strata", "split"), "--strata"),
        (("x", "--assign", "--shares", "a=0.5,b=0.4"), "the shares make 0.9, not 1"),
        (("x", "--assign", "--shares", "a=0.5,a=0.5"), "write each split once"),
        (("x", "--assign", "--shares", "a"), "--shares: 'a'"),
        (("x", "--assign", "--shares", "a=1,b=0"), "--shares: 'b=0'"),
        (("x", "--on-invalid", "skip"), "--on-invalid"),
        (("x", "--map", "query"), "write THEIRS=OURS"),
        (("x", "--map", "q=question", "--map", "q=group"), "'q' is mapped to 'question' and to"),
        (("x", "--format", "xml"), "--format"),
        (("x", "--run-id", "leakage-x"), "--run-id"),
        (("x", "--run-id", "../x"), "--run-id"),
    ],
)
def test_arguments_refused(
    cli: Command, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    cli("leakage", *arguments, "--out", tmp_path / "out").refuses(words)
    assert not (tmp_path / "out").exists()


def test_no_other_command_takes_its_folders_name(cli: Command, written: Writer) -> None:
    path = written([{"case_id": "a", "required_ids": ["p"], "retrieved_ids": ["p"]}])
    cli("evaluate", path, "--run-id", "leakage-a").refuses("'leakage-a' cannot name a run")
    cli("agreement", path, "--run-id", "leakage-a").refuses("'leakage-a' cannot name a run")


def test_broken_rows_are_refused_or_set_aside(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    path = written([*LEAKING, record("d1", "test", "Again?"), {"case_id": "z", "question": 7}])
    out = ("--out", tmp_path / "out", "--run-id")
    refused = cli("leakage", path, *out, "r")
    refused.refuses(f"{path}:5: case_id: 'd1' is not unique", f"{path}:6: question", "3 errors")
    folder = tmp_path / "out" / "leakage-r"
    assert {item.name for item in folder.iterdir()} == {"rejects", "manifest.json"}
    assert manifest_of(folder)["status"] == "refused"
    results.Rejects.to_schema().validate(pl.read_parquet(folder / "rejects/*.parquet"))
    kept = cli("leakage", path, *out, "q", "--on-invalid", "quarantine", "--format", "markdown")
    assert kept.code == 0
    assert "3 lines set aside in" in kept.out
    assert {row["line"] for row in rejects_of(tmp_path / "out" / "leakage-q")} == {1, 5, 6}


@pytest.mark.parametrize("content", ["", "\n"])
def test_an_empty_file_is_refused_and_leaves_nothing(
    cli: Command, written: Writer, tmp_path: Path, content: str
) -> None:
    path = written(content)
    cli("leakage", path, "--out", tmp_path / "out").refuses(str(path), "no case in it")
    assert not (tmp_path / "out").exists()


def test_an_existing_folder_is_left_alone(cli: Command, written: Writer, tmp_path: Path) -> None:
    arguments = ("leakage", written(LEAKING), "--out", tmp_path / "out", "--run-id", "r")
    assert cli(*arguments).code == 1
    before = snapshot(tmp_path)
    cli(*arguments).refuses("exists already")
    assert snapshot(tmp_path) == before


def test_the_contract_names_the_tables(cli: Command) -> None:
    shown = cli("schema", "--format", "json").report()
    assert {f"leakage/{name}" for name in TABLES} <= set(shown["tables"])
