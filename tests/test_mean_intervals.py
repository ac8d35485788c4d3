"""Intervals of means: only when asked, groups whole, the same bytes whatever the chunks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ragtriage
from ragtriage.read import batches
from tests.support import Command, Writer, lines_of

Record = dict[str, Any]


def records(n: int, group: Any = None, hit: Any = None) -> list[Record]:
    return [
        {
            "case_id": f"c{i}",
            "required_ids": ["a"],
            "retrieved_ids": ["a" if (hit(i) if hit else i % 3) else "b"],
            "group": group(i) if group else None,
            "split": "x" if i % 2 else "y",
        }
        for i in range(n)
    ]


def interval_of(path: Path, metric: str = "recall", **options: Any) -> Record:
    table = ragtriage.evaluate(path, intervals=True, write=False, **options).report["intervals"]
    assert table is not None
    (row,) = [r for r in table if (r["slice"], r["metric"], r["k"]) == ("all", metric, None)]
    return dict(row)


def test_against_a_bootstrap_by_hand(written: Writer) -> None:
    row = interval_of(written(records(300)))
    drawn = np.random.default_rng(3).binomial(300, 2 / 3, 20_000) / 300
    low, high = np.percentile(drawn, (2.5, 97.5))
    assert row["mean"] == pytest.approx(2 / 3)
    assert row["low"] == pytest.approx(low, abs=1.01 / 300)
    assert row["high"] == pytest.approx(high, abs=1.01 / 300)
    assert (row["n_scored"], row["n_units"]) == (300, 300)


def test_groups_are_drawn_whole(written: Writer) -> None:
    # Four groups, of which two are right throughout: with chance 1/16 none of these is drawn.
    cases = records(40, group=lambda i: f"g{i // 10}", hit=lambda i: i < 20)
    row = interval_of(written(cases))
    assert (row["low"], row["high"], row["n_units"], row["mean"]) == (0.0, 1.0, 4, 0.5)


@pytest.mark.parametrize(
    ("cases", "says"),
    [
        (records(1), "nothing to draw from"),
        (records(6, group=lambda _: "one"), "nothing to draw from"),
        (records(6, hit=lambda _: True), "the same mean"),
    ],
)
def test_none_where_it_would_mislead(written: Writer, cases: list[Record], says: str) -> None:
    row = interval_of(written(cases))
    assert (row["low"], row["high"]) == (None, None)
    assert says in row["note"]


def test_chunks_and_order_change_nothing(written: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = records(50, group=lambda i: f"g{i % 7}" if i % 2 else None)
    whole = interval_of(written(cases))
    monkeypatch.setattr(batches, "BATCH_RECORDS", 7)
    assert interval_of(written(list(reversed(cases)), "other.jsonl")) == whole


def test_the_seed_decides(written: Writer) -> None:
    path = written(records(500))
    rows = [interval_of(path, seed=seed) for seed in (1, 1, 2)]
    assert rows[0] == rows[1]
    assert (rows[0]["seed"], rows[2]["seed"]) == (1, 2)


def test_named_slices_have_their_own(written: Writer) -> None:
    run = ragtriage.evaluate(
        written(records(60)), intervals=True, slice=["split"], write=False, k=[1]
    )
    table = pl.DataFrame(run.report["intervals"])
    recall = table.filter((pl.col("metric") == "recall") & pl.col("k").is_null())
    assert recall.select("slice", "slice_value").rows() == [
        ("all", "all"),
        ("split", "x"),
        ("split", "y"),
    ]
    means = run.summary.join(table, on=["slice", "slice_value", "metric", "k"], nulls_equal=True)
    assert means.height == table.height
    assert means.select(((pl.col("mean") - pl.col("mean_right")).abs() < 1e-9).all()).item()
    assert (means["n_scored"] == means["n_scored_right"]).all()


def test_shown_only_when_asked(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text(lines_of(records(30)))
    out = ("--out", tmp_path / "out", "--run-id")
    plain = cli("evaluate", tmp_path / "c.jsonl", *out, "plain", "--format", "table")
    asked = cli("evaluate", tmp_path / "c.jsonl", *out, "asked", "--format", "table", "--intervals")
    assert (plain.code, asked.code) == (0, 0), asked.err
    assert "95% interval" not in plain.out
    assert "95% interval" in asked.out
    assert not (tmp_path / "out" / "plain" / "intervals.parquet").exists()
    for name in ("report.md", "report.html"):
        assert "95% interval" in (tmp_path / "out" / "asked" / name).read_text()
        assert "95% interval" not in (tmp_path / "out" / "plain" / name).read_text()
    table = pl.read_parquet(tmp_path / "out" / "asked" / "intervals.parquet")
    assert set(table["run_id"]) == {"asked"}
