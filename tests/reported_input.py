"""Reported faults of group E: what files may hold, and what becomes of it."""

from __future__ import annotations

import pandera.polars as pa
import polars as pl
from pandera.api.polars.types import PolarsData

import ragtriage
from ragtriage.schemas.inputs import CaseRows
from tests.reported_kit import SHOWN, Kit, case, fault
from tests.support import by_case, manifest_of, rejects_of


@fault("E01")
def a_field_first_seen_late_is_kept(kit: Kit) -> None:
    records = [case(f"q{i}", ["a"], ["a"]) for i in range(300)]
    records[150:] = [record | {"weight": 2.0, "split": "late"} for record in records[150:]]
    cases = kit.evaluated(records).cases
    assert (cases["weight"].count(), cases["split"].count()) == (150, 150)
    assert cases["weight"][149:151].to_list() == [None, 2.0]


@fault("E09")
def a_shard_of_empty_lists_is_like_any_other(kit: Kit) -> None:
    empty = pl.DataFrame({"case_id": ["e"], "required_ids": [["x"]], "retrieved_ids": [[]]})
    full = pl.DataFrame({"case_id": ["f"], "required_ids": [["x"]], "retrieved_ids": [["x"]]})
    assert empty.schema["retrieved_ids"] == pl.List(pl.Null)
    paths = {name: kit.tmp_path / f"{name}.parquet" for name in "ef"}
    empty.write_parquet(paths["e"])
    full.write_parquet(paths["f"])
    for order in ("ef", "fe"):
        rows = by_case(ragtriage.evaluate([paths[name] for name in order], write=False))
        assert {name: row["retrieved_ids"] for name, row in rows.items()} == {"e": [], "f": ["x"]}
        assert {name: row["recall"] for name, row in rows.items()} == {"e": 0.0, "f": 1.0}


@fault("E12")
def gold_that_does_not_exist_stays_in_the_denominator(kit: Kit) -> None:
    corpus = kit.written([{"evidence_id": "d1"}], "corpus.jsonl")
    run = kit.evaluated([case("q", ["d1", "ghost"], ["d1"])], corpus=str(corpus))
    row = by_case(run)["q"]
    assert (row["recall"], row["findings"]) == (0.5, ["dangling-required"])
    assert run.evidence["lost_at"].to_list() == [None, "source"]


@fault("E14")
def what_is_dropped_is_counted(kit: Kit) -> None:
    path = kit.written([case(f"q{w}", ["a"], ["a"], weight=w) for w in (-1, 0, 3, 4)])
    out = ("--out", kit.tmp_path / "out", "--run-id", "r")
    shown = kit.cli("evaluate", path, "--on-invalid", "quarantine", "--format", "json", *out)
    assert shown.code == 0
    run = kit.tmp_path / "out" / "r"
    assert pl.read_parquet(run / "cases" / "*.parquet")["weight"].to_list() == [3.0, 4.0]
    assert [row["line"] for row in rejects_of(run)] == [1, 2]
    assert manifest_of(run)["lines"]["set_aside"] == 2


class _Broken(CaseRows):
    @pa.check("weight", title="weight", error="asks for what is not there")
    def refers_to_nothing(cls, data: PolarsData) -> pl.LazyFrame:  # noqa: N805 - as pandera has it
        return data.lazyframe.select(pl.col("no such column") > 0)


class _Lumped(CaseRows):
    @pa.check("weight", title="weight", error="one verdict for all rows")
    def aggregates(cls, data: PolarsData) -> pl.LazyFrame:  # noqa: N805 - as pandera has it
        return data.lazyframe.select(pl.col("weight").sum() < 0)


@fault("E16")
def a_broken_rule_is_our_fault_and_not_the_datas(kit: Kit) -> None:
    path = kit.written([case(name, ["a"], ["a"], weight=1.0) for name in "ab"])
    for model in (_Broken, _Lumped):
        kit.monkeypatch.setattr("ragtriage.admission.CaseRows", model)
        shown = kit.cli("evaluate", path, *SHOWN)
        assert shown.code == 3
        assert f"{path}:" not in shown.err
