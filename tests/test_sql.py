"""The views and globs that dashboards read: fifty runs, an old one, and folders of other kinds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import ragtriage
from tests.stored_runs import FIRST, gate_row, mean_row, store_run
from tests.support import CONTRACTS, ROOT

CLAIMS = ROOT / "data" / "claims"
VIEWS = (ROOT / "sql" / "views.sql").read_text("utf-8")
N_STORED = 48


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`reports/` with fifty runs, two of them evaluated here."""
    home = tmp_path_factory.mktemp("home")
    out = home / "reports"
    ragtriage.evaluate(
        CONTRACTS / "answer.jsonl", contract="answer", k=[3], out=str(out), run_id="answers"
    )
    ragtriage.evaluate(
        CLAIMS / "cases.jsonl",
        reviews=str(CLAIMS / "reviews.jsonl"),
        contract="claims",
        k=[5],
        out=str(out),
        run_id="claimed",
    )
    for day in range(N_STORED):
        gates = [gate_row("recall@5 >= 0.6", 0.5, 0.6, passed=False)] if day % 2 else []
        summary = [mean_row("recall", 5, None if day == 3 else 0.5, 0 if day == 3 else 8, 10)]
        started = FIRST + timedelta(days=day)
        store_run(out, f"r{day:02}", started=started, summary=summary, gates=gates)
    return home


@pytest.fixture(scope="module")
def crowded(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same beside what is no run of this version."""
    crowded = tmp_path_factory.mktemp("crowded")
    out = crowded / "reports"
    shutil.copytree(home / "reports", out)
    ragtriage.measure_agreement(str(CLAIMS / "reviews.jsonl"), out=str(out), run_id="x")
    compared = out / "compare-answers-claimed"
    compared.mkdir()
    (compared / "manifest.json").write_text(
        json.dumps(
            {"run_id": compared.name, "kind": "comparison", "status": "complete"}
            | {"schema_version": "1"}
        )
    )
    deltas = pl.DataFrame({"run_id": [compared.name], "case_id": ["c"], "stage": ["pass"]})
    for name in ("cases", "deltas", "transitions"):
        deltas.write_parquet(compared / f"{name}.parquet")
    for name, text in {"broken": "{", "foreign": "[]", "bytes": "\xff"}.items():
        (out / name).mkdir()
        (out / name / "manifest.json").write_text(text, encoding="latin-1")
    shutil.copytree(out / "r00", out / "a-copy")
    shutil.copytree(out / "r01", out / ".unfinished" / "r99")
    (out / "index.html").write_text("")
    return crowded


@pytest.fixture
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory."""
    with duckdb.connect() as connection:
        yield connection


def counts(database: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Rows of every view."""
    views = database.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    return {name: int(database.table(name).count("*").fetchall()[0][0]) for (name,) in views}


def columns(database: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """Names and types of a table's columns, in order."""
    return {row[0]: row[1] for row in database.execute(f"DESCRIBE FROM {table}").fetchall()}


def test_fifty_runs_as_one_table(home: Path) -> None:
    pattern = str(home / "reports" / "*" / "summary.parquet")
    frame = pl.read_parquet(pattern)
    assert frame["run_id"].n_unique() == 50
    rows = duckdb.execute("SELECT count(*), count(DISTINCT run_id) FROM read_parquet(?)", [pattern])
    assert rows.fetchall() == [(frame.height, 50)]
    for name in ("stages", "findings", "gates"):
        assert pl.read_parquet(home / "reports" / "*" / f"{name}.parquet").height > 0


def test_the_views_show_every_run(
    home: Path, database: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    database.execute(VIEWS)
    found = counts(database)
    assert found["runs"] == 50
    assert found["summary"] == pl.read_parquet("reports/*/summary.parquet").height
    assert found["metric_history"] == found["summary"]
    assert found["gates"] == found["gate_history"] == N_STORED // 2
    assert found["cases"] == 6 + 20
    claims = pl.read_parquet("reports/*/claims/part-*.parquet")
    assert found["claims"] == claims.height > 0
    assert found["evidence"] == pl.read_parquet("reports/*/evidence/part-*.parquet").height
    # README: 4 of 6 answers did not pass, and 14 of 20 cases with claims.
    assert found["failing_cases"] == 4 + 14


def test_columns_and_types_are_the_contracts(
    home: Path, database: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    database.execute(VIEWS)
    files = {
        "cases": "claimed/cases/part-00000.parquet",
        "evidence": "claimed/evidence/part-00000.parquet",
        "claims": "claimed/claims/part-00000.parquet",
    } | {name: f"claimed/{name}.parquet" for name in ("summary", "stages", "findings", "gates")}
    for name, file in files.items():
        stored = columns(database, f"read_parquet('reports/{file}')")
        shown = columns(database, name)
        assert {column: shown[column] for column in stored} == stored, name
        assert name == "cases" or list(shown) == list(stored), name
    # Cutoffs differ between the runs: both stand side by side, null where a run has none.
    cases = columns(database, "cases")
    assert {"recall_at_3", "recall_at_5"} <= set(cases)
    assert "stored_in" not in cases
    found = database.execute(
        "SELECT run_id, count(recall_at_3) FROM cases GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    assert found == [("answers", 4), ("claimed", 0)]


def test_what_dashboards_ask(
    home: Path, database: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    database.execute(VIEWS)
    history = database.execute(
        "SELECT run_id, mean, n_scored, n_cases FROM metric_history "
        "WHERE label = 'recall@5' AND slice = 'all' AND run_id LIKE 'r%'"
    ).fetchall()
    assert [row[0] for row in history] == [f"r{day:02}" for day in range(N_STORED)]
    assert history[3][1:] == (None, 0, 10)
    assert history[4][1:] == (0.5, 8, 10)
    mix = database.execute(
        "SELECT sum(n), any_value(n_cases), sum(share_of_all) FROM stage_mix "
        "WHERE slice = 'all' AND run_id = 'answers'"
    ).fetchall()
    assert mix[0][:2] == (6, 6)
    assert mix[0][2] == pytest.approx(1)


def test_folders_of_other_kinds_change_nothing(
    home: Path, crowded: Path, database: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    database.execute(VIEWS)
    expected = counts(database)
    monkeypatch.chdir(crowded)
    assert counts(database) == expected


@pytest.fixture(scope="module")
def few(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four of the runs."""
    few = tmp_path_factory.mktemp("few")
    for name in ("answers", "claimed", "r00", "r01"):
        shutil.copytree(home / "reports" / name, few / "reports" / name)
    return few


def _old(out: Path, change: Any) -> None:
    """A run of schema version 0 that happens to have tables of our names."""
    folder = store_run(out, "ancient", schema_version="0")
    shutil.copytree(out / "answers" / "cases", folder / "cases")
    for path in (folder / "summary.parquet", folder / "cases" / "part-00000.parquet"):
        change(pl.read_parquet(path)).write_parquet(path)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.with_columns(added=pl.lit("x")),
        lambda frame: frame.drop([c for c in ("mean", "stage", "question") if c in frame.columns]),
        lambda frame: frame.with_columns(pl.col(pl.Float64, pl.Int64).cast(pl.String)),
        lambda frame: frame.with_columns(pl.lit("ancient").alias("run_id")).head(0),
    ],
    ids=["a further column", "columns missing", "other types", "no rows"],
)
def test_an_older_run_beside_new_ones(
    few: Path,
    tmp_path: Path,
    database: duckdb.DuckDBPyConnection,
    monkeypatch: pytest.MonkeyPatch,
    change: Any,
) -> None:
    monkeypatch.chdir(few)
    database.execute(VIEWS)
    expected = counts(database)
    means = database.execute("SELECT * FROM summary ORDER BY ALL").fetchall()
    shutil.copytree(few / "reports", tmp_path / "reports")
    _old(tmp_path / "reports", change)
    monkeypatch.chdir(tmp_path)
    database.execute(VIEWS)
    assert counts(database) == expected
    assert database.execute("SELECT * FROM summary ORDER BY ALL").fetchall() == means
    assert database.execute("SELECT typeof(mean) FROM summary LIMIT 1").fetchall() == [("DOUBLE",)]
    assert "ancient" not in str(database.execute("SELECT DISTINCT run_id FROM cases").fetchall())
    # The page names it and shows none of it.
    document = ragtriage.build_history("reports").document
    assert [entry["name"] for entry in document["others"]] == ["ancient"]
    assert len(document["runs"]) == 4


def test_the_history_of_the_crowded_folder(crowded: Path) -> None:
    (crowded / "reports" / "index.html").unlink()
    document = ragtriage.build_history(crowded / "reports").document
    assert len(document["runs"]) == 50
    assert (document["n_comparisons"], document["n_agreements"]) == (0, 1)
    assert {entry["name"] for entry in document["others"]} == {
        *("broken", "foreign", "bytes", "a-copy", "r99", "compare-answers-claimed"),
    }
