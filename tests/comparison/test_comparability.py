"""What may not be compared is refused by name; a flag that names it lets it pass, counted."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragtriage
from ragtriage import InputError
from ragtriage.comparison.comparability import LABELS
from tests.comparison.kit import HIT, MISS, case, changed, compared, delta, run_of
from tests.support import Record, lines_of

BOTH = [case("q1", HIT), case("q2", MISS), case("q3", HIT)]

# field: (value in the base, value in the candidate)
OTHER_LABELS: dict[str, tuple[Any, Any]] = {
    "question": ("question q1", "another question"),
    "required_ids": (["D"], ["D", "E"]),
    "required_groups": ([["D", "F"]], [["D", "G"]]),
    "grades": ([{"id": "D", "grade": 1}], [{"id": "D", "grade": 2}]),
    "answerable": (None, False),
    "allowed_ids": (["D", "x", "y"], ["D", "x"]),
    "forbidden_ids": ([], ["y"]),
    "required_claims": (["c"], ["c", "d"]),
    "expected_answers": (["yes"], ["no"]),
    "split": ("dev", "test"),
    "ambiguity": (None, "which year?"),
    "group": ("g1", "g2"),
    "tags": (["exception"], []),
    "weight": (1.0, 2.0),
}


def labelled(field: str, value: Any) -> list[Record]:
    """Three cases that all have the field, the first with this value."""
    neutral = {"required_ids": ["D"], "allowed_ids": ["D", "x", "y"]}
    kept = neutral.get(field, OTHER_LABELS[field][0])
    found = [record | {field: kept} for record in BOTH]
    found[0] |= {field: value}
    if field == "answerable" and value is False:
        found[0]["required_ids"] = []
    return found


def test_every_label_has_a_row_here() -> None:
    assert set(OTHER_LABELS) == set(LABELS)


@pytest.mark.thorough
@pytest.mark.parametrize("field", LABELS)
def test_a_changed_label_is_named_by_its_field(field: str, tmp_path: Path) -> None:
    base, candidate = (labelled(field, value) for value in OTHER_LABELS[field])
    with pytest.raises(InputError, match=f"label {field}.*1 of 3 cases.*q1.*--allow labels"):
        compared(tmp_path, base, candidate)
    found = compared(tmp_path, base, candidate, allow=["labels"])
    rows = {row["difference"]: row for row in found.report["differences"]}
    assert (rows[f"label {field}"]["n"], rows[f"label {field}"]["example_case_ids"]) == (1, ["q1"])


@pytest.mark.parametrize(
    ("field", "base", "candidate"),
    [
        ("required_ids", ["D", "E"], ["E", "D"]),
        ("tags", ["a", "b", "a"], ["b", "a"]),
        ("required_groups", [["D", "F"], ["G"]], [["G"], ["F", "D"]]),
        ("expected_answers", ["yes", "no"], ["no", "yes"]),
    ],
)
def test_the_order_of_a_set_is_no_difference(
    field: str, base: list[Any], candidate: list[Any], tmp_path: Path
) -> None:
    one, other = ([case("q1", HIT, **{field: value})] for value in (base, candidate))
    assert compared(tmp_path, one, other).report["differences"] == []


def test_a_dropped_and_an_added_case_are_named_counted_and_listed(tmp_path: Path) -> None:
    base, candidate = BOTH, [*BOTH[:2], case("q4", HIT), case("q5", MISS)]
    with pytest.raises(InputError) as refused:
        compared(tmp_path, base, candidate)
    said = str(refused.value)
    assert "cases dropped: base 1, candidate none (q3)" in said
    assert "cases added: base none, candidate 2 (q4, q5)" in said
    found = compared(tmp_path, base, candidate, allow=["cases"])
    assert found.report["comparison"]["n_paired"] == 2
    assert [(row["difference"], row["n"]) for row in found.report["differences"]] == [
        ("cases dropped", 1),
        ("cases added", 2),
    ]
    listed = changed(found)
    assert {name: row["change"] for name, row in listed.items()} == {
        "q3": "base-only",
        "q4": "candidate-only",
        "q5": "candidate-only",
    }
    assert (listed["q3"]["base_stage"], listed["q3"]["candidate_stage"]) == ("pass", None)
    assert listed["q4"]["recall_candidate"] == 1.0
    assert listed["q4"]["recall_base"] is None
    assert found.report["changed"]["base-only"] == 1
    assert delta(found, "recall")["n_paired"] == 2


def test_no_case_in_common_is_refused_whatever_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no case in common"):
        compared(tmp_path, [case("a", HIT)], [case("b", HIT)], allow=["cases", "labels"])


@pytest.mark.parametrize(
    ("base", "candidate", "says"),
    [
        ({"k": [5]}, {"k": [10]}, "cutoffs: base 5, candidate 10"),
        ({"k": [5, 10]}, {"k": [10, 5]}, "cutoffs: base 5, 10, candidate 10, 5"),
        ({}, {"normalizer": "squad"}, "normalizer: base lower-whitespace, candidate squad"),
        ({}, {"contract": "ranking"}, "contract: base auto, candidate ranking"),
        ({}, {"abstain_text": ["I do not know"]}, "abstain text: base none, candidate I do not"),
        # A phrase that reads as our word for none is a difference all the same.
        ({}, {"abstain_text": ["none"]}, "abstain text: base none, candidate none"),
    ],
)
def test_another_way_of_scoring_is_refused_by_name(
    base: Record, candidate: Record, says: str, tmp_path: Path
) -> None:
    runs = [run_of(tmp_path, BOTH, **options) for options in (base, candidate)]
    with pytest.raises(InputError, match=says):
        ragtriage.compare(*runs, write=False, allow=["cases", "labels", "corpus"])


def test_common_cutoffs_are_compared_where_that_is_allowed(tmp_path: Path) -> None:
    runs = [run_of(tmp_path, BOTH, k=k) for k in ([5, 1], [1, 10])]
    found = ragtriage.compare(*runs, write=False, allow="cutoffs")
    assert found.report["comparison"]["cutoffs"] == [1]
    assert set(found.deltas.filter(metric="recall")["k"]) == {None, 1}
    assert found.report["differences"][0]["n"] == 1
    apart = [run_of(tmp_path, BOTH, k=k) for k in ([5], [10])]
    with pytest.raises(InputError, match="cutoffs: base 5, candidate 10"):
        ragtriage.compare(*apart, write=False, allow="cutoffs")


def test_another_normaliser_where_that_is_allowed(tmp_path: Path) -> None:
    runs = [run_of(tmp_path, BOTH, normalizer=name) for name in ("exact", "squad")]
    found = ragtriage.compare(*runs, write=False, allow="normalizer")
    assert [row["difference"] for row in found.report["differences"]] == ["normalizer"]


def test_another_corpus_is_refused_and_allowed_by_name(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    files = []
    for name, revision in (("one", "1"), ("two", "2")):
        file = tmp_path / f"{name}.jsonl"
        rows = [{"evidence_id": "D", "revision": revision}, {"evidence_id": "x"}]
        file.write_text(lines_of(rows), "utf-8")
        files.append(str(file))
    runs = [run_of(tmp_path / "in", BOTH, corpus=[file]) for file in files]
    with pytest.raises(InputError, match=r"corpus: base [0-9a-f]{12}, candidate [0-9a-f]{12}"):
        ragtriage.compare(*runs, write=False)
    found = ragtriage.compare(*runs, write=False, allow=["corpus"])
    assert [(row["difference"], row["n"]) for row in found.report["differences"]] == [("corpus", 1)]
    bare = run_of(tmp_path / "in", BOTH)
    with pytest.raises(InputError, match="candidate none"):
        ragtriage.compare(runs[0], bare, write=False)


def test_about_is_printed_and_more_than_one_change_is_combined(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    texts = [
        'retriever = "bm25"\nchange = "none"\n[judge]\nsees = "answer"\n',
        'retriever = "dense"\nchange = "dense index"\n[judge]\nsees = "answer"\n',
        'retriever = "dense"\nchange = "two"\n[judge]\nsees = "all"\n',
    ]
    runs = []
    for i, text in enumerate(texts):
        file = tmp_path / f"about-{i}.toml"
        file.write_text(text, "utf-8")
        runs.append(run_of(tmp_path / "in", BOTH, about=str(file)))
    single = ragtriage.compare(runs[0], runs[1], write=False).report
    assert [row["key"] for row in single["about"]] == ["retriever", "change"]
    assert single["combined_change"] is False
    combined = ragtriage.compare(runs[0], runs[2], write=False).report
    assert {"key": "judge.sees", "base": "answer", "candidate": "all"} in combined["about"]
    assert combined["combined_change"] is True


def test_fields_that_only_one_run_observed_are_said(tmp_path: Path) -> None:
    without = [{k: v for k, v in record.items() if k != "context_ids"} for record in BOTH]
    found = compared(tmp_path, BOTH, without)
    assert found.report["comparison"]["notes"] == ["observed in the base run only: context_ids"]
    assert not found.passed
    assert any("coverage regression: context_recall" in line for line in found.failures)


def test_a_metric_that_one_table_lacks_is_said(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(lines_of(BOTH), "utf-8")
    runs = [ragtriage.evaluate(source, out=tmp_path, run_id=name).folder for name in "ab"]
    part = runs[1] / "cases" / "part-00000.parquet"
    pl.read_parquet(part).drop("r_precision").write_parquet(part)
    found = ragtriage.compare(*runs, write=False)
    assert "r_precision" not in set(found.deltas["metric"])
    note = "not in both runs' tables, hence not compared: r_precision"
    assert found.report["comparison"]["notes"] == [note]


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("side", [0, 1])
def test_a_value_that_is_no_number_is_none_of_ours(tmp_path: Path, value: float, side: int) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(lines_of(BOTH), "utf-8")
    runs = [ragtriage.evaluate(source, out=tmp_path, run_id=name).folder for name in "ab"]
    part = runs[side] / "cases" / "part-00000.parquet"
    pl.read_parquet(part).with_columns(recall=pl.lit(value)).write_parquet(part)
    with pytest.raises(ragtriage.InputError, match=f"run {'ab'[side]}: recall: .*no number"):
        ragtriage.compare(*runs, write=False)


def test_frames_are_evaluated_and_compared() -> None:
    base, candidate = (pl.DataFrame([case("q", ids)]) for ids in (HIT, MISS))
    found = ragtriage.compare(base, candidate.lazy(), write=False, k=[1], max_regressions=0)
    assert found.failures[-1] == "regressed: q"
    assert found.report["comparison"]["cutoffs"] == [1]
    with pytest.raises(ragtriage.UsageError, match="give a run's folder, a Run"):
        ragtriage.compare(base, 3, write=False)
