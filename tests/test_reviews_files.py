"""Reviews files as people make them: every format, and what is broken in each told by its place."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.support import Command, cases_in, lines_of, manifest_of, rejects_of

Record = dict[str, Any]
COLUMNS = "case_id,claim_id,reviewer,kind,label"


def case(name: str) -> Record:
    claims = [{"claim_id": "a", "supported": None, "cited_ids": ["e"]}]
    return {"case_id": name, "required_ids": ["e"], "context_ids": ["e"], "claims": claims}


def review(name: str = "x", **more: Any) -> Record:
    row = {"case_id": name, "claim_id": "a", "reviewer": "p", "kind": "human", "label": True}
    return row | more


GOOD = [review(), review("y", label=False)]


def as_parquet(rows: list[Record]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(rows).write_parquet(buffer)
    return buffer.getvalue()


@pytest.fixture
def evaluated(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Evaluate cases `x` and `y`, a shard each, with reviews files of these contents."""
    monkeypatch.chdir(tmp_path)
    Path("cases").mkdir()
    for name in ("x", "y"):
        Path("cases", f"{name}.jsonl").write_text(lines_of([case(name)]))

    def run(files: dict[str, bytes | str], *options: str) -> Any:
        for name, content in files.items():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
        given = [word for name in files for word in ("--reviews", name)]
        return cli("evaluate", "cases", *given, "--out", "o", "--run-id", "r", *options)

    return run


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "content", "blank"),
    [
        ("r.jsonl", lines_of(GOOD), 0),
        ("r.jsonl", b"\xef\xbb\xbf" + lines_of(GOOD).replace("\n", "\r\n\r\n").encode(), 2),
        ("r.jsonl.gz", gzip.compress(lines_of(GOOD).encode()), 0),
        ("r.json", json.dumps(GOOD, indent=1), 0),
        ("r.csv", f"{COLUMNS}\nx,a,p,human,true\ny,a,p,human,false\n", 0),
        (
            "r.tsv",
            "\ufeff" + f"{COLUMNS}\r\nx,a,p,human,true\r\n\r\ny,a,p,human,false".replace(",", "\t"),
            1,
        ),
        ("r.parquet", as_parquet(GOOD), 0),
        ("r.jsonl", lines_of([review(note="n\x00" * 2_000_000), *GOOD[1:]]), 0),
    ],
    ids=["jsonl", "bom-crlf", "gz", "json", "csv", "tsv", "parquet", "huge-note"],
)
def test_every_format_says_the_same(
    evaluated: Any, name: str, content: bytes | str, blank: int
) -> None:
    done = evaluated({name: content}, "--format", "json")
    assert done.code == 0, done.err
    stages = {name: row["stage"] for name, row in cases_in(done.report()).items()}
    assert stages == {"x": "pass", "y": "generation"}
    lines = manifest_of(Path("o/r"))["lines"]
    assert lines == {"read": 4 + blank, "accepted": 4, "set_aside": 0, "blank": blank}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("r.jsonl", lines_of([review(), review("y", label=1)]), ["r.jsonl:2: label: a label"]),
        ("r.jsonl", lines_of([review(label=0.5)]), ["r.jsonl:1: label: a label must be"]),
        ("r.csv", f"{COLUMNS}\nx,a,p,human,yes\n", ["r.csv:2: label: a label must be"]),
        ("r.csv", f"{COLUMNS}\nx,a,p\n", ["r.csv:2: record: 3 cells under 5 columns"]),
        ("r.json", json.dumps([GOOD[0], 5]), ["r.json:1: record: the record is not an object"]),
        ("r.jsonl", lines_of([review("x", case_id=None)]), ["r.jsonl:1: case_id: missing"]),
        ("r.jsonl", lines_of([review(reviewer="p\x1b")]), ["r.jsonl:1: reviewer: an ID has"]),
        ("r.jsonl", '{"case_id": "x", "case_id": "y"}\n', ["r.jsonl:1: case_id: the key is given"]),
        ("r.jsonl", b'{"case_id": "\xff"}\n', ["r.jsonl:1: record: not valid UTF-8"]),
        (
            "r.jsonl",
            lines_of([review(kind="adjudication"), review("y", kind="judge")]),
            [f"r.jsonl:{line}: kind: p: the reviewer's labels are both" for line in (1, 2)],
        ),
        (
            "r.jsonl",
            lines_of([review(wholly="x")]),
            ["r.jsonl:1: wholly: not a known field; remove it, or pass --extra ignore"],
        ),
    ],
)
def test_a_broken_review_is_told_by_its_place_and_may_be_set_aside(
    evaluated: Any, name: str, content: bytes | str, places: list[str]
) -> None:
    refused = evaluated({name: content})
    refused.refuses(*places)
    assert len(rejects_of(Path("o/r"))) >= len(places)
    done = evaluated({name: content}, "--on-invalid", "quarantine", "--run-id", "kept")
    assert done.code == 0, done.err
    lines = manifest_of(Path("o/kept"))["lines"]
    assert lines["set_aside"] == len(places)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.parquet", as_parquet([review(label=1)]), "r.parquet: label: the column is Int64"),
        ("r.parquet", b"PAR1", "r.parquet: not a Parquet file"),
        ("r.json", json.dumps({"reviews": GOOD}), "r.json:1: record: the file is not a JSON array"),
        ("r.csv", "", "r.csv:1: header: the file is empty"),
        ("r.jsonl.gz", b"{}", "r.jsonl.gz: damaged .gz"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_error(
    evaluated: Any, name: str, content: bytes | str, message: str
) -> None:
    evaluated({name: content}, "--on-invalid", "quarantine").refuses(message)


@pytest.mark.parametrize("content", ["", "\n \n", lines_of([review(label=None)])])
def test_reviews_that_say_nothing_leave_every_label_unknown(evaluated: Any, content: str) -> None:
    done = evaluated({"r.jsonl": content}, "--format", "json")
    assert done.code == 0, done.err
    assert {row["answer_label"] for row in cases_in(done.report()).values()} == {None}
    manifest_of(Path("o/r"))


def test_a_file_named_twice_is_refused_and_a_copy_contradicts_it(evaluated: Any) -> None:
    folder = {"f/1.jsonl": lines_of(GOOD), "f/2.jsonl": ""}
    evaluated(folder, "--reviews", "f").refuses("f/1.jsonl: given twice; name the file once")
    copies = {"f/1.jsonl": lines_of(GOOD), "copy.jsonl": lines_of(GOOD)}
    evaluated(copies).refuses("copy.jsonl:2: reviewer: p labelled the same thing more than once")
    assert manifest_of(Path("o/r"))["lines"]["set_aside"] == 4


def test_fields_set_aside_are_counted(evaluated: Any) -> None:
    reviews = lines_of([review(mood="x"), review("y", mood=None)])
    done = evaluated({"r.jsonl": reviews}, "--extra", "ignore", "--format", "json")
    assert done.code == 0, done.err
    notes = done.report()["run"]["notes"]
    assert notes == ["unknown fields set aside (--extra ignore): mood (2)"]
