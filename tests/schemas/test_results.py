"""What a run writes passes the models that describe it."""

from __future__ import annotations

from pathlib import Path

import pandera.polars as pa
import polars as pl
import pytest

from ragtriage.metrics import columns_for
from ragtriage.schemas import results
from ragtriage.schemas.inputs import dtypes
from tests.support import INVALID, Command, Writer, lines_of

TABLES: dict[str, type[pa.DataFrameModel]] = {
    "cases/*.parquet": results.CaseResults,
    "evidence/*.parquet": results.Evidence,
    "claims/*.parquet": results.Claims,
    "rejects/*.parquet": results.Rejects,
    "summary.parquet": results.Summary,
    "stages.parquet": results.Stages,
    "findings.parquet": results.Findings,
    "gates.parquet": results.Gates,
}


@pytest.fixture(scope="module", params=["plain", "rich"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from ragtriage.cli import run  # noqa: PLC0415 - the fixture of one test would not do

    out = tmp_path_factory.mktemp("out")
    records = [{"case_id": f"c{i}"} for i in range(3)]
    if request.param == "rich":
        records = [
            {
                "case_id": f"c{i}",
                "split": "dev" if i % 2 else None,
                "tags": ["x"] if i % 3 else None,
                "weight": 1.5,
                "required_ids": ["p", "q"] if i else [],
                "grades": [{"id": "p", "grade": 2}],
                "retrieved_ids": ["P", "q"] if i % 2 else [],
                "context_ids": ["q"] if i % 3 else None,
                "cited_ids": ["z"],
                "claims": [{"claim_id": "a", "supported": True}],
                "required_claims": ["a"],
                "answer": "yes" if i % 4 else None,
                "expected_answers": ["Yes"],
                "answer_correct": [True, False, None][i % 3],
                "error": "timeout" if i == 5 else None,
            }
            for i in range(12)
        ]
    path = out / "in.jsonl"
    path.write_text(lines_of(records) + "{\n", encoding="utf-8")
    options = (
        ["--k", "5", "--k", "1", "--gate", "n.recall@5 >= 0"] if request.param == "rich" else []
    )
    options += ["--on-invalid", "quarantine", "--out", str(out), "--run-id", "r"]
    assert run(["evaluate", str(path), *options]) == 0
    return out / "r"


@pytest.mark.parametrize("table", TABLES)
def test_every_table_passes_its_model(folder: Path, table: str) -> None:
    model = TABLES[table]
    if table == "claims/*.parquet" and not (folder / "claims").exists():
        # The plain input has no claims: the columns of its cases say so.
        assert pl.read_parquet(folder / "cases/*.parquet")["claims"].null_count() == 3
        return
    frame = pl.read_parquet(folder / table)
    if model is results.CaseResults:
        metrics = {name for column in columns_for((5, 1, 10)) for name in column.schema}
        extra = set(frame.columns) - set(dtypes(model))
        assert extra <= metrics
        frame = frame.drop(extra)
    model.to_schema().validate(frame, lazy=True)
    assert dict(frame.schema) == dtypes(model)
    assert frame["run_id"].unique().to_list() in ([], ["r"])
    assert frame.height or table in (
        "summary.parquet",
        "gates.parquet",
        "findings.parquet",
        "evidence/*.parquet",
    )


def test_every_parquet_file_is_of_a_described_table(folder: Path) -> None:
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")}
    described = {
        path.relative_to(folder).as_posix() for table in TABLES for path in folder.glob(table)
    }
    assert found == described


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(path.name for path in INVALID.glob("*.jsonl")))
def test_rejects_pass_their_model(cli: Command, tmp_path: Path, name: str) -> None:
    stem = name.split(".", maxsplit=1)[0]
    reviews = INVALID / f"{stem}.reviews.jsonl"
    if reviews.exists():
        inputs = [INVALID / f"{stem}.cases.jsonl", "--reviews", reviews]
    elif ".cases" in name or ".trace" in name:
        inputs = [
            "--cases",
            INVALID / f"{stem}.cases.jsonl",
            "--trace",
            INVALID / f"{stem}.trace.jsonl",
        ]
    else:
        inputs = [INVALID / name]
    cli("evaluate", *inputs, "--on-invalid", "quarantine", "--out", tmp_path, "--run-id", "r")
    frame = pl.read_parquet(tmp_path / "r" / "rejects" / "*.parquet")
    results.Rejects.to_schema().validate(frame, lazy=True)
    assert frame.height


def test_shards_need_not_have_the_same_fields(
    cli: Command, written: Writer, tmp_path: Path
) -> None:
    full = {
        "required_ids": ["p"],
        "required_groups": [["p"]],
        "grades": [{"id": "p", "grade": 1}],
        "retrieved_ids": ["p"],
        "context_ids": ["p"],
        "cited_ids": ["p"],
        "claims": [],
        "allowed_ids": None,
        "answer": "x",
        "weight": 1,
    }
    for name, value in full.items():
        written([{"case_id": name, name: value}], f"shards/{name}.jsonl")
    written([{"case_id": "all", **full}, {"case_id": "full", **full}], "shards/z.jsonl")
    shown = cli("evaluate", tmp_path / "shards", "--out", tmp_path / "out", "--run-id", "r")
    assert shown.code in (0, 1), shown.err
    cases = pl.read_parquet(tmp_path / "out" / "r" / "cases" / "*.parquet")
    assert cases.height == len(full) + 2
