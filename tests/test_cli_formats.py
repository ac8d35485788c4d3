"""The same records in every file type say the same; what is not such a file is refused."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

import ragtriage
from ragtriage.schemas.inputs import Cases, dtypes
from tests.support import Command, Record, Writer, lines_of

RECORDS: list[Record] = [
    {
        "case_id": "007",
        "question": 'Where is "it", and when?',
        "split": "test",
        "tags": ["x", "y"],
        "weight": 1.5,
        "answerable": True,
        "required_ids": ["08", "caf\u00e9"],
        "grades": [{"id": "08", "grade": 2}, {"id": "caf\u00e9", "grade": 1}],
        "retrieved_ids": ["p1", "08"],
        "cited_ids": ["08"],
        "answer": "line one\nline two",
        "answer_correct": None,
    },
    {
        "case_id": "8",
        "question": None,
        "split": "test",
        "tags": [],
        "weight": None,
        "answerable": False,
        "required_ids": [],
        "grades": [],
        "retrieved_ids": [],
        "cited_ids": [],
        "answer": None,
        "answer_correct": None,
    },
    {
        "case_id": "1e3",
        "question": "\u4f55?",
        "split": "dev",
        "tags": ["z"],
        "weight": 2.0,
        "answerable": None,
        "required_ids": ["p1"],
        "grades": [{"id": "p1", "grade": 1}],
        "retrieved_ids": ["p1", "p1", "p2"],
        "cited_ids": ["p2"],
        "answer": "x",
        "answer_correct": True,
    },
]


def delimited(delimiter: str, records: list[Record] = RECORDS) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(records[0])
    for record in records:
        writer.writerow(
            [
                json.dumps(v, ensure_ascii=False) if isinstance(v, list | bool) else v
                for v in record.values()
            ]
        )
    return text.getvalue()


def parquet(records: list[Record] = RECORDS) -> bytes:
    schema = {name: dtype for name, dtype in dtypes(Cases).items() if name in records[0]}
    buffer = io.BytesIO()
    pl.DataFrame(records, schema=schema).write_parquet(buffer)
    return buffer.getvalue()


TEXT = lines_of(RECORDS)
FORMS: dict[str, Callable[[], str | bytes]] = {
    "x.jsonl": lambda: TEXT,
    "x.ndjson": lambda: TEXT,
    "X.JSONL": lambda: TEXT,
    "x.jsonl.gz": lambda: gzip.compress(TEXT.encode()),
    "x.jsonl.zst": lambda: zstandard.ZstdCompressor().compress(TEXT.encode()),
    "two-frames.jsonl.zst": lambda: b"".join(
        zstandard.ZstdCompressor().compress(part.encode()) for part in (TEXT[:100], TEXT[100:])
    ),
    "x.json": lambda: json.dumps(RECORDS),
    "pretty.json": lambda: json.dumps(RECORDS, indent=2, ensure_ascii=False),
    "x.json.gz": lambda: gzip.compress(json.dumps(RECORDS).encode()),
    "x.csv": lambda: delimited(","),
    "x.tsv": lambda: delimited("\t"),
    "x.csv.gz": lambda: gzip.compress(delimited(",").encode()),
    "x.parquet": parquet,
    "bom.jsonl": lambda: "\ufeff" + TEXT,
    "bom.json": lambda: "\ufeff" + json.dumps(RECORDS),
    "bom.csv": lambda: "\ufeff" + delimited(","),
    "crlf.jsonl": lambda: TEXT.replace("\n", "\r\n"),
    "open-end.jsonl": lambda: TEXT.rstrip("\n"),
    "crlf-open-end.jsonl": lambda: TEXT.rstrip("\n").replace("\n", "\r\n"),
    "open-end.csv": lambda: delimited(",").rstrip("\n"),
}


def told(run: ragtriage.Run) -> list[Record]:
    """The case table without what names the place."""
    rows = run.cases.select(pl.exclude("run_id", "source_file", "line")).to_dicts()
    assert rows
    return rows


@pytest.fixture(scope="module")
def expected() -> list[Record]:
    frame = pl.DataFrame(
        RECORDS, schema={n: t for n, t in dtypes(Cases).items() if n in RECORDS[0]}
    )
    rows = told(ragtriage.evaluate(frame, write=False))
    assert [row["case_id"] for row in rows] == ["007", "8", "1e3"]
    # A few values by hand, so that all forms cannot be wrong together.
    assert [row["recall_at_10"] for row in rows] == [0.5, None, 1.0]
    assert [row["stage"] for row in rows] == ["retrieval", "pass", "citation"]
    assert rows[0]["answer"] == "line one\nline two"
    return rows


@pytest.mark.thorough
@pytest.mark.parametrize("name", FORMS)
def test_every_form_says_the_same(written: Writer, expected: list[Record], name: str) -> None:
    run = ragtriage.evaluate(written(FORMS[name](), name), write=False)
    assert told(run) == expected
    lines = run.report["run"]["lines"]
    assert (lines["accepted"], lines["set_aside"], lines["blank"]) == (3, 0, 0)


def test_standard_input(cli: Command, tmp_path: Path, expected: list[Record]) -> None:
    out = tmp_path / "out"
    shown = cli("evaluate", "-", "--out", out, "--run-id", "r", stdin=TEXT.encode())
    assert shown.code == 0, shown.err
    cases = pl.read_parquet(out / "r" / "cases" / "*.parquet")
    assert cases["source_file"].unique().to_list() == ["-"]
    assert cases.drop("run_id", "source_file", "line").to_dicts() == expected
    assert [path.name for path in out.iterdir()] == ["r"]
    assert cli("validate", "-", stdin=TEXT.encode()).code == 0
    printed = cli("evaluate", "-", "--no-write", "--format", "json", stdin=TEXT.encode())
    assert printed.report()["run"]["n_cases"] == 3


def test_standard_input_names_its_line(cli: Command) -> None:
    cli("validate", "-", stdin=TEXT.encode() + b"\n{}\n").refuses("-:5: case_id: ")


def shards(folder: Path, names: list[str]) -> None:
    for i, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {"case_id": f"c{i}", "required_ids": ["p"], "retrieved_ids": ["p"]}
        if name.endswith(".parquet"):
            path.write_bytes(parquet([record]))
        else:
            path.write_text(lines_of([record]), "utf-8")


SHARDS = [f"fold=00{i}/part-{i}.jsonl" for i in range(5)]
SHARDS += [f"fold=00{i}/part-{i}.parquet" for i in range(5, 10)]


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["folder", "glob", "files"])
def test_shards_in_order_and_without_columns_of_their_folders(tmp_path: Path, form: str) -> None:
    folder = tmp_path / "runs"
    shards(folder, SHARDS)
    (folder / "notes.txt").write_text("not a record", "utf-8")
    source: Any = folder
    if form == "glob":
        source = str(folder / "*" / "part-*")
    elif form == "files":
        source = [folder / name for name in SHARDS]
    run = ragtriage.evaluate(source, write=False)
    assert run.cases["case_id"].to_list() == [f"c{i}" for i in range(10)]
    assert run.cases["source_file"].to_list() == [str(folder / name) for name in SHARDS]
    assert "fold" not in run.cases.columns
    assert run.cases["line"].to_list() == [1] * 10
    assert [entry["accepted"] for entry in run.report["run"]["inputs"]] == [1] * 10


def test_an_id_is_unique_over_all_files(cli: Command, tmp_path: Path) -> None:
    shards(tmp_path, ["a.jsonl"])
    shards(tmp_path, ["b.parquet"])
    shown = cli("validate", tmp_path / "a.jsonl", tmp_path / "b.parquet")
    first = f"first at {tmp_path / 'a.jsonl'}:1"
    shown.refuses(f"{tmp_path / 'a.jsonl'}:1: case_id: ", f"{tmp_path / 'b.parquet'}:1: case_id: ")
    assert shown.err.count(first) == 2


GOOD = '{"case_id": "a", "retrieved_ids": ["p1"]}'
GZIP = gzip.compress(TEXT.encode())
ZSTD = zstandard.ZstdCompressor().compress(TEXT.encode())
REFUSED: dict[str, tuple[str, str | bytes, str]] = {
    "UTF-16 JSON lines": ("x.jsonl", GOOD.encode("utf-16"), "UTF-16"),
    "UTF-16 CSV": ("x.csv", "case_id\na\n".encode("utf-16"), "UTF-16"),
    "UTF-16 JSON": ("x.json", f"[{GOOD}]".encode("utf-16"), "UTF-16"),
    "not gzip": ("x.jsonl.gz", GOOD, "x.jsonl.gz"),
    "gzip cut short": ("x.jsonl.gz", GZIP[:-30], "cut short"),
    "not zstandard": ("x.jsonl.zst", GOOD, "x.jsonl.zst"),
    "zstandard cut short": ("x.jsonl.zst", ZSTD[:-30], "cut short"),
    "zstandard cut short after whole lines": ("x.jsonl.zst", ZSTD + ZSTD[:9], "cut short"),
    "gzip cut short after whole lines": ("x.jsonl.gz", GZIP + GZIP[:9], "cut short"),
    "zstandard damaged": ("x.jsonl.zst", ZSTD[:40] + b"\0\xff" * 9 + ZSTD[58:], "x.jsonl.zst: "),
    "gzip damaged": ("x.jsonl.gz", GZIP[:40] + b"\0\xff" * 9 + GZIP[58:], "x.jsonl.gz: "),
    "not Parquet": ("x.parquet", GOOD, "x.parquet"),
    "Parquet cut short": ("x.parquet", parquet()[:-40], "x.parquet"),
    "object for an array": ("x.json", GOOD, "x.json:1: "),
    "array without end": ("x.json", f"[{GOOD},", "does not end"),
    "text after the array": ("x.json", f"[{GOOD}] {GOOD}", "after the array"),
    "empty JSON": ("x.json", "", "x.json:1: "),
    "fault in an array": ("x.json", f'[{GOOD},\n{{"case_id": 7}}]', "x.json:2: case_id: "),
    "syntax in an array": ("x.json", f"[{GOOD},\n\n {{case_id}}]", "x.json:3: record: "),
    "too few cells": ("x.csv", "case_id,question\na,q\nb\n", "x.csv:3: record: "),
    "open quote": ("x.csv", 'case_id,question\na,q\nb,"q\n', "x.csv:3: record: "),
    "row after a cell of two lines": (
        "x.csv",
        'case_id,question\na,"q\nr"\nb\n',
        "x.csv:4: record: ",
    ),
    "a header twice": ("x.csv", "case_id,question,question\na,q,q\n", "[duplicate-key]"),
    "an unknown header": ("x.csv", "case_id,quest\na,q\n", "quest"),
    "list as text": ("x.csv", "case_id,retrieved_ids\ng,[]\na,p1\n", "x.csv:3: retrieved_ids: "),
    "list as Python": ("x.csv", "case_id,retrieved_ids\ng,[]\na,\"['p1']\"\n", "[type]"),
    "label as text": ("x.csv", "case_id,answer_correct\ng,true\na,yes\n", "[answer-label]"),
    "empty CSV": ("x.csv", "", "x.csv:1: "),
    "Latin-1 CSV": ("x.csv", "case_id,question\ng,q\na,caf\xe9\n".encode("latin-1"), "[encoding]"),
    "header without rows": ("x.csv", "case_id,question\n", "no case"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_such_a_file_is_refused(cli: Command, written: Writer, what: str) -> None:
    name, content, words = REFUSED[what]
    cli("evaluate", written(content, name), "--no-write").refuses(words)


@pytest.mark.parametrize(
    ("column", "values", "rule"),
    [
        ("case_id", [1], "type"),
        ("retrieved_ids", ["p1"], "type"),
        ("retrieved_ids", [[1]], "type"),
        ("answer_correct", ["yes"], "answer-label"),
        ("answerable", [1], "answer-label"),
        ("weight", ["1"], "type"),
        ("quest", ["q"], "unknown-field"),
    ],
)
def test_a_wrong_parquet_column_is_one_fault_of_the_file(
    cli: Command, tmp_path: Path, column: str, values: list[Any], rule: str
) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"case_id": ["a"]} | {column: values}).write_parquet(path)
    shown = cli("evaluate", path, "--no-write")
    shown.refuses(f"{path}: {column}: ", f"[{rule}]")
    assert len(shown.err.splitlines()) == 1


def test_faults_in_parquet_name_the_row(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"case_id": ["a", "b", "a"], "weight": [1.0, 0.0, 1.0]}).write_parquet(path)
    shown = cli("evaluate", path, "--no-write")
    shown.refuses(*(f"{path}:{row}: " for row in (1, 2, 3)), "3 errors")
