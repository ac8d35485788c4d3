"""BEIR's folders: which judgements, and IDs that do not meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.read.presets.kit import jsonl
from tests.support import Command, Printed

HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "set"
    (found / "qrels").mkdir(parents=True)
    (found / "queries.jsonl").write_bytes(
        jsonl({"_id": "1", "text": "?"}, {"_id": "2", "text": "!"})
    )
    (found / "qrels" / "test.tsv").write_text(f"{HEADER}1\ta\t1\n", encoding="utf-8")
    (tmp_path / "run").write_text("1 Q0 a 1 1 t\n", encoding="utf-8")
    return found


def evaluated(cli: Command, folder: Path, *more: object, run: str = "run") -> Printed:
    given = ("--from", "beir", "--cases", folder, "--trace", folder.parent / run)
    return cli("evaluate", *given, *more, "--no-write", "--format", "json")


def cases_of(shown: Printed) -> list[tuple[str, str | None]]:
    return [(case["case_id"], case["question"]) for case in shown.report()["cases"]]


def test_judged_queries_are_cases_and_the_others_are_counted(cli: Command, folder: Path) -> None:
    shown = evaluated(cli, folder)
    assert cases_of(shown) == [("1", "?")]
    notes = "\n".join(shown.report()["run"]["notes"])
    assert f"queries without a judgement in {folder}/qrels/test.tsv, no cases: 1" in notes


def test_the_split_is_test_or_the_one_that_is_named(cli: Command, folder: Path) -> None:
    (folder / "qrels" / "dev.tsv").write_text(f"{HEADER}2\ta\t1\n", encoding="utf-8")
    assert cases_of(evaluated(cli, folder)) == [("1", "?")]
    more = ("--qrels-split", "dev", "--unknown-trace", "ignore")
    assert cases_of(evaluated(cli, folder, *more)) == [("2", "!")]
    evaluated(cli, folder, "--qrels-split", "train").refuses("'train'; there are dev, test")
    (folder / "qrels" / "test.tsv").unlink()
    assert cases_of(evaluated(cli, folder, "--unknown-trace", "ignore")) == [("2", "!")]


def test_several_splits_without_test_must_be_chosen_from(cli: Command, folder: Path) -> None:
    for name in ("dev.tsv", "train.tsv"):
        (folder / "qrels" / name).write_text(f"{HEADER}2\ta\t1\n", encoding="utf-8")
    (folder / "qrels" / "test.tsv").unlink()
    evaluated(cli, folder).refuses("--qrels-split", "there are dev, train")


def test_qrels_may_be_four_columns_after_all(cli: Command, folder: Path) -> None:
    (folder / "qrels" / "test.tsv").write_text("1\tQ0\ta\t2\n", encoding="utf-8")
    assert cases_of(evaluated(cli, folder)) == [("1", "?")]


@pytest.mark.parametrize(
    ("judged", "asked", "hint"),
    [
        (["S-1", "S-2"], ["1", "2"], "the IDs of the judgements begin with 'S-'"),
        (["1", "2"], ["S-1", "S-2"], "the IDs of the queries begin with 'S-'"),
        (["x", "y"], ["1", "2"], "give both files the same IDs"),
    ],
)
def test_ids_that_do_not_meet_are_shown(
    cli: Command, folder: Path, judged: list[str], asked: list[str], hint: str
) -> None:
    rows = "".join(f"{one}\ta\t1\n" for one in judged)
    (folder / "qrels" / "test.tsv").write_text(HEADER + rows, encoding="utf-8")
    (folder / "queries.jsonl").write_bytes(jsonl(*({"_id": one, "text": "?"} for one in asked)))
    evaluated(cli, folder).refuses("no judged query is in", repr(judged[0]), repr(asked[0]), hint)


def test_a_query_that_is_there_twice_goes_with_its_case(cli: Command, folder: Path) -> None:
    twice = jsonl({"_id": "1", "text": "?"}, {"_id": "2", "text": "!"}, {"_id": "1", "text": "??"})
    (folder / "queries.jsonl").write_bytes(twice)
    evaluated(cli, folder).refuses("queries.jsonl:3", "'1' is not unique, first at", ":1")


@pytest.mark.parametrize("name", ["qrels", "set"])
def test_a_folder_that_is_none_of_theirs(cli: Command, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / "run").write_text("1 Q0 a 1 1 t\n", encoding="utf-8")
    evaluated(cli, tmp_path / name).refuses("no folder `qrels` in it")


def test_passages_are_read_where_asked_for(cli: Command, folder: Path) -> None:
    (folder / "corpus.jsonl").write_bytes(jsonl({"_id": "b", "title": "B", "text": "b"}))
    more = ("--corpus", folder, "--corpus-from", "beir")
    [case] = evaluated(cli, folder, *more).report()["cases"]
    assert "dangling-required" in case["findings"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("[1]", "expected one object of queries"),
        ("{", "not valid JSON"),
        ('{"1": {"a": 1}, "1": {}}', "more than once; keep one [duplicate-key]"),
        ('{"1": {"\\ud800": 1}}', "surrogate"),
        ('{"1":\n{"\udcff": 1}}', ":2: record: not valid UTF-8 text"),
    ],
)
def test_results_that_are_none(cli: Command, folder: Path, content: str, why: str) -> None:
    (folder.parent / "r.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    evaluated(cli, folder, run="r.json").refuses("r.json", why)
