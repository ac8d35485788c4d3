"""Shards or one process: the same bytes, verdict and messages."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage import summary
from ragtriage.format_options import FormatOptions
from ragtriage.read import batches, jsonl
from ragtriage.request import OPTION_NAMES
from tests.benchmarks.generate import write_cases, write_claims
from tests.sharding.support import (
    CountingPool,
    Outcome,
    assert_same,
    directly,
    in_shards,
    small_batches,
)
from tests.strategies import Fixture, fixtures
from tests.support import lines_of

Record = dict[str, Any]
pytestmark = pytest.mark.thorough

EXAMPLES = int(os.environ.get("RAGTRIAGE_EXAMPLES", "1"))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    small_batches(monkeypatch)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """Twenty cases in six batches."""
    write_cases(tmp_path / "cases.jsonl", 20)
    return tmp_path / "cases.jsonl"


def case(name: str, **more: Any) -> Record:
    return {"case_id": name, "required_ids": ["a"], "retrieved_ids": ["a", "b"], **more}


def same(inputs: list[Path], shards: int = 3, *, at_least: int = 2, **options: Any) -> Outcome:
    """The outcome of both; `at_least`: so many shards were evaluated."""
    one, pool = directly(inputs, **options), CountingPool()
    assert_same(one, in_shards(inputs, shards, pool, **options))
    assert len(set(pool.folds)) >= at_least
    return one


def in_batches(rows: list[Record], path: Path, monkeypatch: pytest.MonkeyPatch, n: int) -> Path:
    """The rows in a file that is read in about so many batches."""
    path.write_text(lines_of(rows))
    monkeypatch.setattr(batches, "BATCH_RECORDS", len(rows))
    monkeypatch.setattr(batches, "BATCH_BYTES", path.stat().st_size // n - 20)
    # Not an even number, but so many.
    monkeypatch.setattr(jsonl, "_MANY", 0)
    return path


def test_any_number_of_shards(cases: Path) -> None:
    options = {"k": [5, 1], "intervals": True, "slice": ["split"], "gate": ["recall@5 >= 1"]}
    done = directly([cases], **options)
    assert done.passed is False
    assert len([name for name in done.files if name.startswith("r/cases/part-")]) == 5
    for shards, expected in ((3, 3), (99, 5)):
        pool = CountingPool()
        assert_same(done, in_shards([cases], shards, pool, **options))
        assert len(pool.folds) == expected


def test_every_format_beside_each_other(cases: Path, tmp_path: Path) -> None:
    lines = cases.read_text().splitlines(keepends=True)
    parts = [lines[i::4] for i in range(4)]
    (tmp_path / "one.jsonl").write_text("\n" + "".join(parts[0]))
    (tmp_path / "two.json").write_text("[" + ",".join(parts[1]) + "]")
    (tmp_path / "three.jsonl.gz").write_bytes(gzip.compress("".join(parts[2]).encode()))
    (tmp_path / "four.jsonl").write_text("".join(parts[3]))
    pl.read_ndjson(tmp_path / "four.jsonl").write_parquet(tmp_path / "four.parquet")
    (tmp_path / "five.csv").write_text("case_id,answer\nz1,x\nz2,y\n")
    (tmp_path / "six.jsonl").write_text("")
    names = ("one.jsonl", "two.json", "three.jsonl.gz", "four.parquet", "five.csv", "six.jsonl")
    same([tmp_path / name for name in names], 8)


def test_claims(tmp_path: Path) -> None:
    write_claims(tmp_path / "cases.jsonl", tmp_path / "reviews.jsonl", 12)
    with (tmp_path / "cases.jsonl").open("a") as more:
        more.write(lines_of([case("bad", weight=-1)]))
    done = same([tmp_path / "cases.jsonl"], 3, on_invalid="quarantine")
    assert [name for name in done.files if name.startswith("r/claims/part-")]


def test_no_shard_tells_a_text(tmp_path: Path) -> None:
    write_claims(tmp_path / "cases.jsonl", tmp_path / "reviews.jsonl", 12)
    with (tmp_path / "cases.jsonl").open("a") as more:
        more.write(lines_of([case("bad", weight=-1, question="SECRET")]))
    done = same([tmp_path / "cases.jsonl"], 3, on_invalid="quarantine", no_text=True)
    assert not [name for name, content in done.files.items() if b"SECRET" in (content or b"")]


def test_a_corpus_is_opened_once_for_all_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [case(f"a{i}", required_ids=["a", "c"]) for i in range(8)]
    corpus = [{"evidence_id": name, "equivalence_group": "g"} for name in ("a", "b")]
    (tmp_path / "corpus.jsonl").write_text(lines_of(corpus))
    given = in_batches(rows, tmp_path / "in.jsonl", monkeypatch, 3)
    done = same([given], corpus=[str(tmp_path / "corpus.jsonl")])
    assert b"dangling-required" in (done.files["r/report.json"] or b"")


def test_a_corpus_that_is_refused_stops_every_shard(cases: Path, tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"evidence_id": "a"}\n{"evidence_id": "a"}\n')
    done = same([cases], corpus=[str(tmp_path / "corpus.jsonl")])
    assert "'a' is not unique" in done.refused


@pytest.mark.parametrize(("bad", "on_invalid"), [(0, "fail"), (9, "fail"), (9, "quarantine")])
def test_a_bad_record_wherever_it_stands(cases: Path, bad: int, on_invalid: str) -> None:
    lines = cases.read_text().splitlines()
    lines[bad] = lines[bad].replace('"split"', '"weight": -1, "split"')
    cases.write_text("\n".join(lines))
    done = same([cases], 4, on_invalid=on_invalid)
    assert done.passed or f":{bad + 1}: weight" in done.refused


@pytest.mark.parametrize("on_invalid", ["fail", "quarantine"])
def test_a_repeat_in_a_far_shard_names_both_lines(
    cases: Path, tmp_path: Path, on_invalid: str
) -> None:
    (tmp_path / "more.jsonl").write_text(lines_of([case("case-00000002"), case("x"), case("x")]))
    given = [cases, tmp_path / "more.jsonl"]
    done = same(given, 12, on_invalid=on_invalid)
    if on_invalid == "fail":
        assert f"{cases}:3: case_id: 'case-00000002' is not unique, first at {cases}:3" in (
            done.refused
        )
        assert f"more.jsonl:1: case_id: 'case-00000002' is not unique, first at {cases}:3" in (
            done.refused
        )


def test_a_copy_repeats_every_id_and_a_file_is_named_once(cases: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(cases.read_bytes())
    assert "is not unique" in same([cases, copy], 6).refused
    assert "given twice; name the file once" in same([cases, cases], 6, at_least=0).refused


def test_files_that_cannot_be_read_are_all_named(cases: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes("\ufeff{}".encode("utf-16"))
    (tmp_path / "b.parquet").write_bytes(b"PAR1 not really")
    done = same([tmp_path / "a.jsonl", cases, tmp_path / "b.parquet"], 6, at_least=0)
    assert "UTF-16" in done.refused
    assert "b.parquet: not a Parquet file" in done.refused


def test_unknown_fields_are_counted_over_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [case(f"a{i}", **{f"u{i % 7}": [1, {"deep": 2}]}) for i in range(20)]
    given = in_batches(rows, tmp_path / "in.jsonl", monkeypatch, 3)
    done = same([given], extra="ignore")
    assert b"u6 (2)" in (done.files["r/report.md"] or b"")


def test_groups_across_splits_in_far_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [case(f"a{i}", group=f"g{i % 7}", split="dev" if i < 10 else "test") for i in range(20)]
    given = in_batches(rows, tmp_path / "in.jsonl", monkeypatch, 3)
    done = same([given], intervals=True)
    assert b"group-across-splits" in (done.files["r/report.json"] or b"")


@pytest.mark.parametrize("meet", [True, False])
def test_ids_that_no_shard_shares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meet: bool
) -> None:
    rows = [case(f"a{i}", required_ids=[f"r{i}"], retrieved_ids=[f"x{i}"]) for i in range(40)]
    if meet:
        rows[19]["retrieved_ids"] = ["r0"]
    given = in_batches(rows, tmp_path / "in.jsonl", monkeypatch, 3)
    done = same([given])
    assert (b"disjoint-ids" in (done.files["r/report.json"] or b"")) is not meet


@pytest.mark.parametrize(("shown", "every"), [(1, False), (7, False), (7, True)])
def test_cases_that_reports_show(
    cases: Path, monkeypatch: pytest.MonkeyPatch, shown: int, every: bool
) -> None:
    for module in ("evaluation", "sharding.jobs"):
        monkeypatch.setattr(f"ragtriage.{module}.SHOWN_CASES", shown)
    same([cases], 4, all_cases=every)


@pytest.mark.parametrize(
    ("groups", "again"),
    [
        # Each shard meets the values in the run's order.
        ([0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2], 0),
        # The second meets five others first and sums what the first knows under the rest.
        ([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 9, 8, 7, 6, 5, 0, 1, 2, 9, 8], 1),
        # Too many only over all of them.
        ([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 9, 8, 7, 1, 0, 9, 8, 7, 6, 5], 1),
        ([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 9, 8, 7, 9, 8, 7, 9, 8, 7, 9], 0),
    ],
)
def test_slice_values_kept_apart_are_the_first_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: list[int], again: int
) -> None:
    monkeypatch.setattr(summary, "MOST_VALUES", 4)
    rows = [
        case(f"a{i:02}", group=f"g{group}", tags=[f"t{group}", "…"], weight=1.5 + group)
        for i, group in enumerate(groups)
    ]
    given = in_batches(rows, tmp_path / "in.jsonl", monkeypatch, 2)
    done, pool = directly([given], slice=["group"]), CountingPool()
    assert_same(done, in_shards([given], 2, pool, slice=["group"]))
    assert len(pool.folds) == 2 + again


@settings(max_examples=3 * min(EXAMPLES, 10))
@given(drawn=fixtures(min_cases=4, max_cases=12), shards=st.integers(2, 4))
def test_drawn_cases(tmp_path_factory: pytest.TempPathFactory, drawn: Fixture, shards: int) -> None:
    records, _, corpus, ks, contract = drawn
    folder = tmp_path_factory.mktemp("in")
    options: dict[str, Any] = {"k": list(ks), "contract": contract, "slice": ["group"]}
    if corpus is not None:
        (folder / "corpus.jsonl").write_text(lines_of(corpus))
        options["corpus"] = [str(folder / "corpus.jsonl")]
    with pytest.MonkeyPatch.context() as patched:
        given = in_batches(records, folder / "in.jsonl", patched, shards)
        same([given], shards, at_least=1, **options)


def test_every_option_of_a_request_is_held_equal_somewhere_here() -> None:
    """A new option must be thought of: does a shard know what it needs to?"""
    of_presets = {info.alias or name for name, info in FormatOptions.model_fields.items()}
    assert set(OPTION_NAMES) - (of_presets - {"map"}) == {
        *("inputs", "cases", "trace", "corpus", "reviews", "contract", "k", "map", "extra"),
        *("on_invalid", "unknown_trace", "missing_trace", "unknown_review", "judge"),
        *("min_validated", "normalizer", "abstain_text", "slice", "intervals", "seed", "about"),
        *("gate", "min_recall", "min_context_precision", "min_mrr", "min_citation_coverage"),
        *("min_citation_validity", "out", "run_id", "write", "all_cases", "no_text"),
    }
