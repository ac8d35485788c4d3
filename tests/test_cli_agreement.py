"""`ragtriage agreement`: what it writes, prints, refuses and repeats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandera.polars as pa
import polars as pl
import pytest

import ragtriage
from ragtriage.schemas import agreement, results
from ragtriage.schemas.inputs import dtypes
from tests.agreement.plain import votes
from tests.support import Command, Writer, manifest_of, rejects_of, snapshot

TABLES: dict[str, type[pa.DataFrameModel]] = {
    "pairs": agreement.Pairs,
    "judges": agreement.Judges,
    "disagreements": agreement.Disagreements,
    "judge-disagreements": agreement.JudgeDisagreements,
}
REVIEWS = (
    votes({"ann": "TTFF", "bob": "TFFT"})
    + votes({"j": "TTTF"}, "judge")
    + votes({"eve": " T"}, "adjudication")
)


def test_what_a_run_writes(cli: Command, written: Writer, tmp_path: Path) -> None:
    path = written(REVIEWS)
    shown = cli("agreement", path, "--out", tmp_path / "out", "--run-id", "r", "--format", "json")
    assert shown.code == 0, shown.err
    folder = tmp_path / "out" / "agreement-r"
    assert shown.err == f"report: {folder / 'report.html'}\n"
    assert {item.name for item in folder.iterdir()} == {
        *(f"{name}.parquet" for name in TABLES),
        *("report.html", "report.md", "report.json", "manifest.json"),
    }
    for name, model in TABLES.items():
        table = pl.read_parquet(folder / f"{name}.parquet")
        model.to_schema().validate(table, lazy=True)
        assert dict(table.schema) == dtypes(model)
        assert table["run_id"].unique().to_list() == ["agreement-r"]
    manifest = manifest_of(folder)
    assert (manifest["kind"], manifest["status"]) == ("agreement", "complete")
    assert manifest["config"]["min_validated"] == 30
    assert manifest["inputs"][0]["path"] == str(path)
    assert manifest["inputs"][0]["lines"] == len(REVIEWS)
    report = shown.report()
    assert json.loads((folder / "report.json").read_text("utf-8")) == report
    # c1 was settled, c3 was not; the judge erred on c2.
    assert [entry["case_id"] for entry in report["disputed"]] == ["c3"]
    assert [entry["case_id"] for entry in report["adjudicated"]] == ["c1"]
    assert [entry["case_id"] for entry in report["judge_disagreements"]] == ["c2"]


def test_from_python_the_same(written: Writer, tmp_path: Path) -> None:
    path = written(REVIEWS)
    found = ragtriage.measure_agreement(path, out=tmp_path / "out", run_id="r", min_validated=3)
    assert found.path == tmp_path / "out" / "agreement-r"
    for name in TABLES:
        table = pl.read_parquet(found.path / f"{name}.parquet")
        assert getattr(found, name.replace("-", "_")).equals(table)
    assert found.judges["validated"].to_list() == [True, True]
    unwritten = ragtriage.measure_agreement([path], write=False)
    assert unwritten.path is None
    assert "1 of 4 items is disputed" in repr(unwritten)


@pytest.mark.parametrize("shown", ["table", "markdown"])
def test_no_write(cli: Command, written: Writer, tmp_path: Path, shown: str) -> None:
    path = written(REVIEWS)
    before = snapshot(tmp_path)
    printed = cli("agreement", path, "--no-write", "--format", shown)
    assert printed.code == 0
    assert "1 of 4 items is disputed and unsettled" in printed.out
    assert snapshot(tmp_path) == before


def test_standard_input(cli: Command) -> None:
    content = "".join(json.dumps(row) + "\n" for row in REVIEWS).encode()
    shown = cli("agreement", "-", "--no-write", "--format", "json", stdin=content)
    assert shown.code == 0, shown.err
    assert shown.report()["run"]["n_reviews"] == len(REVIEWS)


def test_csv(cli: Command, written: Writer) -> None:
    text = "case_id,reviewer,kind,label\nc,ann,human,true\nc,bob,human,false\n"
    shown = cli("agreement", written(text, "in.csv"), "--no-write", "--format", "json")
    assert shown.code == 0, shown.err
    assert shown.report()["overall"][0]["n"] == 1


def test_identical_input_gives_identical_bytes(
    cli: Command, written: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    path = written(REVIEWS)
    for name in ("a", "b"):
        assert cli("agreement", path, "--out", tmp_path / name).code == 0
    a, b = ({Path(k).name: v for k, v in snapshot(tmp_path / n).items()} for n in ("a", "b"))
    assert a == b
    assert any(name.startswith("agreement-20231114T221320Z-") for name in a)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"kind": "robot"}, "kind: not one of human, judge, adjudication"),
    ({"kind": None}, "kind: missing"),
    ({"reviewer": " "}, "reviewer: holds a blank"),
    ({"label": "yes"}, "label: a label must be true or false"),
    ({"lable": True}, "lable: not a known field"),
    ({"case_id": "c0"}, "reviewer: ann labelled the same thing more than once, first at "),
    ({"reviewer": "j"}, "kind: j: the reviewer's labels are both a judge's and a person's"),
]


@pytest.mark.parametrize(("change", "words"), BAD)
def test_a_broken_row_is_refused_or_set_aside(
    cli: Command, written: Writer, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    bad = {"case_id": "x", "reviewer": "ann", "kind": "human", "label": True} | change
    path = written([*REVIEWS, bad])
    line = len(REVIEWS) + 1
    refused = cli("agreement", path, "--out", tmp_path / "out", "--run-id", "r")
    refused.refuses(f"{path}:{line}: {words}", "nothing compared")
    folder = tmp_path / "out" / "agreement-r"
    assert {item.name for item in folder.iterdir()} == {"rejects", "manifest.json"}
    assert manifest_of(folder)["status"] == "refused"
    results.Rejects.to_schema().validate(pl.read_parquet(folder / "rejects/*.parquet"))
    assert line in {row["line"] for row in rejects_of(folder)}
    arguments = ("--on-invalid", "quarantine", "--out", tmp_path / "out", "--run-id", "q")
    kept = cli("agreement", path, *arguments, "--format", "markdown")
    assert kept.code == 0, kept.err
    folder = tmp_path / "out" / "agreement-q"
    manifest = manifest_of(folder)
    places = {(row["source_file"], row["line"]) for row in rejects_of(folder)}
    assert manifest["lines"]["set_aside"] == len(places)
    assert "set aside in" in kept.out


def test_nothing_left_is_refused(cli: Command, written: Writer, tmp_path: Path) -> None:
    path = written([{"case_id": "c", "reviewer": "ann", "kind": "robot", "label": True}])
    arguments = ("--on-invalid", "quarantine", "--out", tmp_path / "out", "--run-id", "r")
    cli("agreement", path, *arguments).refuses("no review left")
    assert manifest_of(tmp_path / "out" / "agreement-r")["status"] == "refused"


@pytest.mark.parametrize("content", ["", "\n"])
def test_an_empty_file_is_refused_and_leaves_nothing(
    cli: Command, written: Writer, tmp_path: Path, content: str
) -> None:
    path = written(content)
    cli("agreement", path, "--out", tmp_path / "out").refuses(str(path), "no review")
    assert not (tmp_path / "out").exists()


def test_unknown_fields_may_be_set_aside_and_are_told(cli: Command, written: Writer) -> None:
    path = written([row | {"colour": "red"} for row in REVIEWS])
    cli("agreement", path, "--no-write").refuses("colour: not a known field")
    shown = cli("agreement", path, "--no-write", "--extra", "ignore", "--format", "markdown")
    assert shown.code == 0
    assert "unknown fields set aside" in shown.out
    assert "colour" in shown.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "no reviews"),
        (("nowhere.jsonl",), "nowhere.jsonl"),
        (("-", "-"), "standard input can be read once only"),
        (("x", "--min-validated", "0"), "--min-validated"),
        (("x", "--min-validated", "many"), "--min-validated"),
        (("x", "--on-invalid", "skip"), "--on-invalid"),
        (("x", "--format", "xml"), "--format"),
        (("x", "--run-id", "agreement-x"), "--run-id"),
        (("x", "--run-id", "../x"), "--run-id"),
    ],
)
def test_arguments_refused(
    cli: Command, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    cli("agreement", *arguments, "--out", tmp_path / "out").refuses(words)
    assert not (tmp_path / "out").exists()


def test_python_refuses_unknown_options() -> None:
    with pytest.raises(ragtriage.UsageError, match="min_validate: no such option"):
        ragtriage.measure_agreement("x", min_validate=3)


def test_an_existing_folder_is_left_alone(cli: Command, written: Writer, tmp_path: Path) -> None:
    arguments = ("agreement", written(REVIEWS), "--out", tmp_path / "out", "--run-id", "r")
    assert cli(*arguments).code == 0
    before = snapshot(tmp_path)
    cli(*arguments).refuses("exists already")
    assert snapshot(tmp_path) == before


def test_the_contract_names_the_tables(cli: Command) -> None:
    shown = cli("schema", "--format", "json").report()
    assert {f"agreement/{name}" for name in TABLES} <= set(shown["tables"])
    assert "reviewer" in shown["inputs"]["reviews"]
