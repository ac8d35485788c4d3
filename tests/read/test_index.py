"""Which IDs are not unique, over batches, files and kinds of records; hashes accuse nobody."""

from __future__ import annotations

import polars as pl
import pytest

from ragtriage.read import batches, index, tables, text
from tests.read.support import duplicates, source_of
from tests.support import Command, Writer, manifest_of, rejects_of


def line(case_id: str, more: str = "") -> bytes:
    return f'{{"case_id": "{case_id}"{more}}}\n'.encode()


@pytest.mark.parametrize("records", [1, 2, 100_000])
def test_repeats_over_files_and_batches(monkeypatch: pytest.MonkeyPatch, records: int) -> None:
    monkeypatch.setattr(batches, "BATCH_RECORDS", records)
    one = source_of(line("a") + b"\n" + line("b") + line("c") + line("b"), "one.jsonl")
    two = source_of(b'[{"case_id": "x"},\n{"qid": "c"}, {"case_id": "y"}]', "two.json")
    three = source_of(b'case_id,answer\n"a","1\n2"\nz,\n', "three.csv")
    assert duplicates(one, two, three) == {
        "a": ("one.jsonl", 1),
        "b": ("one.jsonl", 3),
        "c": ("one.jsonl", 4),
    }


@pytest.mark.parametrize(
    "fault",
    [', "weight": "x"', ', "zzz": 1', ', "answer": "\\ud800"', ', "answer": "1", "answer": "2"'],
)
@pytest.mark.parametrize("faulty_first", [True, False])
def test_a_faulty_record_repeats_an_id_all_the_same(
    cli: Command, written: Writer, fault: str, faulty_first: bool
) -> None:
    pair = [line("a", fault), line("a")]
    content = b"".join(pair if faulty_first else pair[::-1]) + line("b")
    path = written(content)
    options = ("--on-invalid", "quarantine", "--out", path.parent, "--run-id", "r")
    assert cli("evaluate", path, *options).code == 0
    run = path.parent / "r"
    rules = sorted((row["line"], row["rule"]) for row in rejects_of(run))
    assert [pair for pair in rules if pair[1] == "duplicate-case-id"] == [
        (1, "duplicate-case-id"),
        (2, "duplicate-case-id"),
    ]
    assert len(rules) == 3
    assert manifest_of(run)["lines"] == {"read": 3, "accepted": 1, "set_aside": 2, "blank": 0}


def test_colliding_hashes_accuse_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def constant(ids: list[str] | pl.Series) -> pl.Series:
        return pl.Series([7] * len(ids), dtype=pl.UInt64)

    for module in (index, text, tables):
        monkeypatch.setattr(module, "hash_ids", constant)
    content = b"".join(line(f"c{i}", ', "answer": "\\":"' if i % 3 else "") for i in range(50))
    assert duplicates(source_of(content)) == {}
    again = source_of(line("d") + line("c7"), "again.jsonl")
    assert duplicates(source_of(content), again) == {"c7": ("in.jsonl", 8)}


def test_ids_that_look_alike_are_different() -> None:
    ids = ("a", "A", "a ", "\u00e9", "e\u0301", "", " ", "1", "01", "\\u0061\\u0301")
    assert duplicates(source_of(b"".join(map(line, ids)))) == {}
    assert duplicates(source_of(line("\\u0061") + line("a"))) == {"a": ("in.jsonl", 1)}
