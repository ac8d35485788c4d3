"""One pass gives what two passes give, and gives way to them where the input is not as it began."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragtriage
from ragtriage import pipeline
from ragtriage.errors import InputError, RagtriageError
from ragtriage.evaluation import Evaluation
from ragtriage.read import batches
from tests.support import Record, lines_of


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_RECORDS", 3)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each attempt at an evaluation, whether one pass was enough to go by."""
    made: list[bool] = []

    class Watched(Evaluation):
        def run(self, *given: Any) -> Any:
            try:
                return super().run(*given)
            finally:
                made.append(self.admission.once)

    monkeypatch.setattr(pipeline, "Evaluation", Watched)
    return made


def record(i: int) -> Record:
    return {
        "case_id": f"c{i}",
        "required_ids": [f"d{i % 3}"],
        "retrieved_ids": ["d0", "d1"],
        "context_ids": ["d0"],
        "cited_ids": ["d0"],
        "answer": "yes",
        "answer_correct": i % 2 == 0,
    }


def lines(n: int = 10) -> list[str]:
    return lines_of(record(i) for i in range(n)).splitlines(keepends=True)


def written(text: str, path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def told(inputs: list[str], out: Path, *, once: bool, **options: Any) -> dict[str, Any]:
    """All that an evaluation leaves behind, but for what a clock says."""
    folder = out / ("once" if once else "twice")
    with pytest.MonkeyPatch.context() as patch:
        if not once:
            made = pipeline.Evaluation
            patch.setattr(
                pipeline, "Evaluation", lambda *a, **named: made(*a, **(named | {"once": False}))
            )
        error = ""
        try:
            ragtriage.evaluate(inputs, out=folder, run_id="r", **options)
        except RagtriageError as raised:
            error = str(raised).replace(str(folder), "OUT")
    return {"error": error} | _left(folder / "r")


def _left(folder: Path) -> dict[str, Any]:
    tables = {
        str(path.relative_to(folder)): pl.read_parquet(path).to_dicts()
        for path in sorted(folder.rglob("*.parquet"))
    }
    manifest: dict[str, Any] = {}
    if (folder / "manifest.json").is_file():
        manifest = json.loads((folder / "manifest.json").read_text())
        for name in ("started", "timings"):
            del manifest[name]
    return {"manifest": manifest, **tables}


def test_a_clean_file_is_read_once(tmp_path: Path, passes: list[bool]) -> None:
    path = written("".join(lines()), tmp_path / "a.jsonl")
    assert told([path], tmp_path, once=True) == told([path], tmp_path, once=False)
    assert passes == [True, False]


def test_files_of_one_kind_are_read_once_and_listed_in_their_order(
    tmp_path: Path, passes: list[bool]
) -> None:
    text = lines()
    paths = [
        written("".join(text[start : start + 4]), tmp_path / f"{start}.jsonl")
        for start in (0, 4, 8)
    ]
    corpus = written(lines_of({"evidence_id": f"d{i}"} for i in range(3)), tmp_path / "k.jsonl")
    one, two = (told(paths, tmp_path, once=once, corpus=corpus) for once in (True, False))
    assert one == two
    assert [entry["role"] for entry in one["manifest"]["inputs"]] == ["records"] * 3 + ["corpus"]
    assert passes == [True, False]


SPOILERS: dict[str, str | Record] = {
    "a repeated ID": record(0),
    "a further field": record(99) | {"question": "why?"},
    "a missing field": {k: v for k, v in record(99).items() if k != "cited_ids"},
    "an unknown field": record(99) | {"colour": "red"},
    "a wrong type": record(99) | {"answer_correct": "yes"},
    "another name": {("contexts" if k == "context_ids" else k): v for k, v in record(99).items()},
    "a blank line": "\n",
    "no JSON": "{\n",
    "no object": "[]\n",
    "a repeated key": '{"case_id": "x", ' + json.dumps(record(99))[1:] + "\n",
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("what", "mode"),
    [*((what, "quarantine") for what in SPOILERS), ("a repeated ID", "fail"), ("no JSON", "fail")],
)
def test_a_late_surprise_is_met_as_if_it_had_been_known(
    what: str, mode: str, tmp_path: Path, passes: list[bool]
) -> None:
    spoiler = SPOILERS[what]
    text = [*lines(), spoiler if isinstance(spoiler, str) else lines_of([spoiler])]
    path = written("".join(text), tmp_path / "a.jsonl")
    one, two = (told([path], tmp_path, once=once, on_invalid=mode) for once in (True, False))
    assert one == two
    assert passes == [True, False, False], "begun in one pass, done in two"


@pytest.mark.thorough
@pytest.mark.parametrize("what", ["a repeated ID", "a further field", "another name", "no JSON"])
def test_a_file_that_is_unlike_the_first_is_read_with_the_first_in_two_passes(
    what: str, tmp_path: Path, passes: list[bool]
) -> None:
    spoiler = SPOILERS[what]
    paths = [
        written("".join(lines()), tmp_path / "a.jsonl"),
        written(spoiler if isinstance(spoiler, str) else lines_of([spoiler]), tmp_path / "b.jsonl"),
    ]
    assert told(paths, tmp_path, once=True) == told(paths, tmp_path, once=False)
    assert passes == [True, False, False]


def test_a_value_at_fault_needs_no_second_pass(tmp_path: Path, passes: list[bool]) -> None:
    text = [*lines(), lines_of([record(99) | {"retrieved_ids": ["d0", " "]}])]
    path = written("".join(text), tmp_path / "a.jsonl")
    options = {"on_invalid": "quarantine"}
    one, two = (told([path], tmp_path, once=once, **options) for once in (True, False))
    assert one == two
    assert len(one["rejects/part-00000.parquet"]) == 1
    assert passes == [True, False]


def test_a_gate_on_a_field_that_comes_later_is_asked_of_the_whole_file(
    tmp_path: Path, passes: list[bool]
) -> None:
    late = record(99) | {"abstained": False}
    path = written("".join([*lines(), lines_of([late])]), tmp_path / "a.jsonl")
    options = {"gate": "n.over_refusal >= 0"}
    one, two = (told([path], tmp_path, once=once, **options) for once in (True, False))
    assert one == two
    assert not one["error"]
    assert passes == [True, False, False]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", "\n" + "".join(lines())),
        ("a.json", json.dumps([record(i) for i in range(5)])),
        ("a.jsonl", ""),
    ],
)
def test_where_the_start_speaks_against_it_two_passes_are_made_at_once(
    name: str, text: str, tmp_path: Path, passes: list[bool]
) -> None:
    path = written(text, tmp_path / name)
    assert told([path], tmp_path, once=True) == told([path], tmp_path, once=False)
    assert passes == [False, False]


def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, passes: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written("".join(lines()), tmp_path / "a.jsonl")
    stood = iter([(1, 1), (1, 2)])
    monkeypatch.setattr("ragtriage.read.once.stands", lambda _file: next(stood))
    with pytest.raises(InputError, match="changed while it was read"):
        ragtriage.evaluate(path, out=tmp_path / "out", run_id="r")
    assert passes == [True]
    assert not (tmp_path / "out").exists()
