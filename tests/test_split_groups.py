"""`group-across-splits` in `evaluate`: counted over the whole input, in chunks or all at once."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage import split_groups
from ragtriage.split_groups import SplitGroups
from tests.support import Command, Evaluate, Record, Writer

SCHEMA = {"case_id": pl.String, "group": pl.String, "split": pl.String}
NAMES = st.sampled_from([None, "a", "b", "c", "d"])


def frame(rows: list[tuple[str | None, str | None]], start: int = 0) -> pl.DataFrame:
    named = [(f"c{start + i}", *row) for i, row in enumerate(rows)]
    return pl.DataFrame(named, schema=SCHEMA, orient="row")


def plain(rows: list[tuple[str | None, str | None]]) -> int:
    """Cases of groups seen in two splits, by dictionaries."""
    splits: dict[str, list[str]] = defaultdict(list)
    for group, split in rows:
        if group is not None and split is not None:
            splits[group].append(split)
    return sum(len(seen) for seen in splits.values() if len(set(seen)) > 1)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(NAMES, NAMES), max_size=30),
    st.integers(1, 7),
    st.integers(0, 30),
)
def test_chunks_and_merging_do_not_matter(
    rows: list[tuple[str | None, str | None]], size: int, cut: int
) -> None:
    chunked, left, right = SplitGroups(), SplitGroups(), SplitGroups()
    for start in range(0, len(rows), size):
        chunked.add(frame(rows[start : start + size], start))
    left.add(frame(rows[:cut]))
    right.add(frame(rows[cut:], cut))
    left.merge(right)
    assert chunked.result(10)[0] == left.result(10)[0] == plain(rows)
    assert chunked.result(10) == left.result(10)


def test_examples_are_first_cases_in_order() -> None:
    watch = SplitGroups()
    watch.add(frame([("g", "dev"), ("h", "dev"), ("g", "dev"), ("g", "test"), ("k", "dev")]))
    watch.add(frame([("g", "train"), ("h", "dev")], 5))
    assert watch.result(10) == (4, ["c0", "c3", "c5"])
    assert watch.result(1) == (4, ["c0"])


def test_all_are_counted_where_not_all_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_groups, "_NAMED", 3)
    watch = SplitGroups()
    for start in range(0, 40, 4):
        rows: list[Any] = [(f"g{start // 4}", "dev"), (f"g{start // 4}", "test")] * 2
        watch.add(frame(rows, start))
    assert watch.result(10) == (40, ["c0", "c1", "c4"])


def test_what_is_kept_grows_with_groups_not_with_cases() -> None:
    watch = SplitGroups()
    for _ in range(50):
        watch.add(frame([("g", "dev"), ("h", "test")] * 500))
    watch.result(1)
    assert watch._known.height == 2
    assert watch._more == []


def record(case_id: str, **fields: Any) -> Record:
    return {"case_id": case_id, "required_ids": ["p"], "retrieved_ids": ["p"]} | fields


SPREAD = [
    record("a", group="g", split="development"),
    record("b", group="g", split="test"),
    record("c", group="g", split="validation"),
    record("d", group="h", split="test"),
    record("e", group="h", split="test", error="timed out"),
    record("f", split="test"),
]


def test_a_family_over_three_splits_is_a_finding(evaluated: Evaluate) -> None:
    run = evaluated(SPREAD)
    (row,) = run.findings.filter(finding="group-across-splits").to_dicts()
    assert (row["n"], row["example_case_ids"]) == (3, ["a", "b", "c"])


def test_the_gate_holds_and_fails(cli: Command, written: Writer) -> None:
    gate = ("--gate", "finding.group-across-splits == 0", "--no-write", "--format", "json")
    failed = cli("evaluate", written(SPREAD), *gate)
    assert failed.code == 1
    assert "3 does not meet == 0" in failed.err
    assert cli("evaluate", written(SPREAD[2:]), *gate).code == 0


@pytest.mark.parametrize("lacking", ["group", "split"])
def test_a_gate_on_what_is_not_observed_is_refused(
    cli: Command, written: Writer, lacking: str
) -> None:
    records = [{name: v for name, v in row.items() if name != lacking} for row in SPREAD]
    path = written(records)
    gate = ("--gate", "finding.group-across-splits == 0", "--no-write")
    cli("evaluate", path, *gate).refuses(f"not observed: the input has no {lacking}")
    assert cli("evaluate", path, "--no-write").code == 0
