"""The dashboard's questions, against runs whose cases are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragtriage
from ragtriage.dashboard import queries, texts
from ragtriage.dashboard.queries import NOT_PASSED, Choice
from ragtriage.errors import InputError
from ragtriage.read.browse import claims_table, offered, small_table
from ragtriage.read.runs import StoredRun, open_run
from ragtriage.schemas import results
from tests.support import HANDBOOK, ROOT, lines_of

STAGES = ("slice", "slice_value", "stage", "break_point", "n")


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the handbook's base run."""
    folder = tmp_path_factory.mktemp("reports")
    ragtriage.evaluate(
        None,
        cases=str(HANDBOOK / "cases.jsonl"),
        trace=str(HANDBOOK / "run-a.jsonl"),
        corpus=str(HANDBOOK / "corpus.jsonl"),
        k=5,
        slice="group",
        out=str(folder),
        run_id="base",
    )
    return folder


@pytest.fixture(scope="module")
def run(top: Path) -> StoredRun:
    return open_run(str(top / "base"))


@pytest.fixture(scope="module")
def stages(top: Path) -> pl.DataFrame:
    (folder,) = offered(str(top)).runs
    return small_table(folder, "stages.parquet", results.Stages, STAGES)


def test_each_slice_value_lists_the_cases_that_the_stage_table_counts(
    run: StoredRun, stages: pl.DataFrame
) -> None:
    values = queries.slice_values(stages)
    assert set(values) == {"all", "split", "tag", "answerable", "group"}
    for name, value in [(name, value) for name, found in values.items() for value in found]:
        known = queries.known_values(values, name)
        for stage, n in queries.stage_counts(stages, name, value).items():
            choice = Choice(name, value, known, stage)
            assert queries.n_chosen(run.cases, choice).collect().item() == n, choice


def test_each_break_point_lists_the_cases_that_the_stage_table_counts(
    run: StoredRun, stages: pl.DataFrame
) -> None:
    counts = queries.break_point_counts(stages, Choice(stage=NOT_PASSED))
    passed = queries.stage_counts(stages, "all", "all")["pass"]
    assert sum(counts.values()) == 50 - passed
    for point, n in counts.items():
        choice = Choice(stage=NOT_PASSED, break_point=point)
        assert queries.n_chosen(run.cases, choice).collect().item() == n, point


@pytest.mark.parametrize(
    ("known", "value", "wanted"),
    [
        (("x", "y"), "x", ["1", "3"]),
        (("x", "y"), "…", ["2", "3", "4"]),  # z and … are beyond what is kept apart
        (("x", "y", "z"), "…", ["2"]),  # a tag of that very name
    ],
)
def test_tags(known: tuple[str, ...], value: str, wanted: list[str]) -> None:
    tags = [["x"], ["y", "…"], ["x", "z"], ["z"], [], None]
    cases = pl.LazyFrame({"case_id": list("123456"), "tags": tags})
    found = cases.filter(queries._in_slice(Choice("tag", value, known)))
    assert found.collect()["case_id"].to_list() == wanted


@pytest.mark.parametrize(("value", "wanted"), [("dev", ["1"]), ("…", ["2"])])
def test_values_beyond_those_kept_apart(value: str, wanted: list[str]) -> None:
    """A case without the field is in no slice value, not in `…`."""
    cases = pl.LazyFrame({"case_id": list("123"), "split": ["dev", "rest", None]})
    found = cases.filter(queries._in_slice(Choice("split", value, ("dev",))))
    assert found.collect()["case_id"].to_list() == wanted


def test_pages_hold_each_chosen_case_once_in_the_order_of_the_run(run: StoredRun) -> None:
    choice = Choice()
    pages = [queries.case_page(run.cases, choice, page).collect() for page in range(3)]
    assert [len(page) for page in pages] == [25, 25, 0]
    together = pl.concat(pages)
    assert together["case_id"].to_list() == run.column("case_id").to_list()
    assert together.columns == ["case_id", "stage", "break_point", "question"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("RENEW-with", ["renew-with-hold"]), ("book club of TWELVE", ["club-room"]), (".*", [])],
)
def test_text_is_looked_for_as_it_stands(run: StoredRun, text: str, wanted: list[str]) -> None:
    found = queries.case_page(run.cases, Choice(text=text), 0).collect()
    assert found["case_id"].to_list() == wanted


def test_the_evidence_path_of_a_case(run: StoredRun) -> None:
    """Of `renew-with-hold`, borrow-3 is cited; holds-1 is fourth of 5, and 3 fit the context."""
    ledger = queries.one_case(run.evidence, "renew-with-hold").collect()
    rows = ledger.sort("requirement").to_dicts()
    assert [texts.requirement(row, len(rows)) for row in rows] == [
        "Requirement 1 of 2: borrow-3",
        "Requirement 2 of 2: holds-1",
    ]
    assert texts.path(rows[1], 5).splitlines() == [
        "✓ source: in source, index, chunks",
        "✓ retrieved: rank 4",
        "✓ top 5: within cutoff",
        "✗ context: not in context (lost here)",
        "○ cited: not cited",
    ]
    row = queries.one_case(run.cases, "renew-with-hold").collect().row(0, named=True)
    assert texts.broke(row) == "retrieval / context: retrieved, left out of the context"
    assert texts.judged(row) == "wrong (staff)"
    assert "missing: holds-1" in texts.facts(row).splitlines()


def test_metrics_stand_beside_what_they_are_of(top: Path, run: StoredRun) -> None:
    (folder,) = offered(str(top)).runs
    columns = ("slice", "slice_value", "metric", "k", "mean")
    counts = ("n_scored", "n_undefined", "n_not_run", "n_cases")
    summary = small_table(folder, "summary.parquet", results.Summary, (*columns, *counts))
    shown = texts.metric_table(queries.metrics(summary, "answerable", "false"))
    assert "recall@5" in shown["metric"].to_list()
    parts = shown["scored"] + shown["undefined"] + shown["not run"]
    assert parts.to_list() == shown["cases"].to_list()
    undefined = shown.filter(pl.col("scored") == 0)
    assert not undefined.is_empty()
    assert set(undefined["mean"]) == {"undefined"}
    row = queries.one_case(run.cases, "renew-with-hold").collect().row(0, named=True)
    values = {row["metric"]: row for row in texts.value_table(row).to_dicts()}
    assert values["context_recall"] == {"metric": "context_recall", "value": "0.500", "of": "1 / 2"}
    assert values["unauthorized_cited"]["value"] in {"0", "undefined"}
    assert "context_recall_numerator" not in values


def test_claims_with_their_labels(tmp_path: Path, top: Path) -> None:
    claims = ROOT / "data" / "claims"
    ragtriage.evaluate(
        claims / "cases.jsonl",
        contract="claims",
        reviews=str(claims / "reviews.jsonl"),
        out=str(tmp_path),
        run_id="r",
    )
    (folder,) = offered(str(tmp_path)).runs
    labels = {}
    for case in ("sprinkler", "shed-size", "rain-barrels"):
        shown = texts.claim_table(queries.one_case(claims_table(folder), case).collect())
        labels |= dict(zip(shown["claim"], shown["label"], strict=True))
    assert labels["timer"] == "unsupported"
    assert labels["ask-first"] == "disputed"
    assert labels["lid"] == "omitted"
    (without,) = offered(str(top)).runs
    assert claims_table(without).collect().is_empty()


def test_stages_over_runs_in_the_order_given() -> None:
    rows = [
        ("new", "all", "all", "pass", None, 3),
        ("new", "all", "all", "not_run", "error", 1),
        ("old", "all", "all", "retrieval", "context", 1),
        ("old", "all", "all", "retrieval", "ranking", 2),
        ("old", "tag", "x", "retrieval", "ranking", 2),
    ]
    stages = pl.DataFrame(rows, schema=["run", *STAGES], orient="row")
    mix = queries.stage_mix(stages, texts.bar_labels(["old", "new"]))
    assert mix.rows() == [
        ("1 old", "retrieval", 3),
        ("2 new", "pass", 3),
        ("2 new", "not run", 1),
    ]


def test_a_table_that_is_gone_is_named(top: Path) -> None:
    (folder,) = offered(str(top)).runs
    with pytest.raises(InputError, match=r"run base: none\.parquet is not there"):
        small_table(folder, "none.parquet", results.Stages, STAGES)


def test_text_from_data_is_made_visible(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"case_id": "c", "question": "a\u202eb\nc", "answer": "", "answerable": True}
    ]
    (tmp_path / "in.jsonl").write_text(lines_of(records), encoding="utf-8")
    out = tmp_path / "out"
    ragtriage.evaluate(tmp_path / "in.jsonl", out=str(out), run_id="r")
    run = open_run(str(out / "r"))
    row = queries.one_case(run.cases, "c").collect().row(0, named=True)
    assert texts.block(row["question"]) == "a\\u202eb\nc"
    assert texts.block(row["answer"]) == "(empty)"
    assert texts.block(row["context_text"]) == "not recorded"
    shown = texts.case_table(queries.case_page(run.cases, Choice(), 0).collect())
    assert shown["question"].to_list() == ["a\\u202eb\\nc"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [(None, "not recorded"), ("x" * 201, "x" * 200 + "… cut, 201 characters in all"), ("", "")],
)
def test_a_line(text: str | None, shown: str) -> None:
    assert texts.line(text) == shown


@pytest.mark.parametrize(("items", "shown"), [(None, "not recorded"), ([], "none")])
def test_no_ids_and_none_recorded_are_told_apart(items: list[str] | None, shown: str) -> None:
    assert texts.ids(items) == shown
