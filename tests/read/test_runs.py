"""Stored runs: read as far as asked for; what is no finished run is refused with its reason."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragtriage
from ragtriage import InputError
from ragtriage.read.runs import looks_like_run, open_run
from tests.support import INVALID, Writer, lines_of, snapshot

RECORDS = [
    {"case_id": name, "required_ids": ["a"], "retrieved_ids": ["a"], "answer_correct": True}
    for name in ("q1", "q2")
]


@pytest.fixture(scope="module")
def evaluated_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    source = folder / "in.jsonl"
    source.write_text(lines_of(RECORDS), "utf-8")
    return ragtriage.evaluate(source, out=folder / "out", run_id="r").folder


@pytest.fixture
def folder(evaluated_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(evaluated_once, tmp_path / "out" / "r"))


def test_a_finished_run_and_one_of_its_columns(folder: Path) -> None:
    run = open_run(str(folder))
    assert (run.run_id, run.manifest["cutoffs"]) == ("r", [10])
    assert run.column("case_id").to_list() == ["q1", "q2"]
    assert run.evidence.select("ids").collect()["ids"].to_list() == [["a"], ["a"]]
    assert looks_like_run(str(folder))


def test_few_rows_keep_no_text_of_the_others(written: Writer, tmp_path: Path) -> None:
    texts = [f"a question that is longer than twelve letters: {i:05d}" for i in range(2_000)]
    many = [RECORDS[0] | {"case_id": f"q{i}", "question": text} for i, text in enumerate(texts)]
    run = open_run(str(ragtriage.evaluate(written(many), out=str(tmp_path / "out")).folder))
    asked = run.cases.select("case_id", "question")
    wanted = pl.LazyFrame({"case_id": ["q7", "q1999"]})
    few = run.few(asked.join(wanted, on="case_id", how="semi"))
    assert sorted(few.rows()) == [("q1999", texts[1999]), ("q7", texts[7])]
    # In a list, a text is pickled with all that it is held together with.
    assert len(pickle.dumps(few.select(pl.all().implode()))) < 5_000
    none = run.few(asked.filter(pl.lit(value=False)))
    assert (none.height, none.columns) == (0, ["case_id", "question"])


def test_parts_stay_in_order(written: Writer, tmp_path: Path) -> None:
    many = [RECORDS[0] | {"case_id": f"q{i}"} for i in range(30)]
    folder = ragtriage.evaluate(written(many), out=str(tmp_path / "out")).folder
    (part,) = (folder / "cases").iterdir()
    frame = pl.read_parquet(part)
    ledger = pl.read_parquet(folder / "evidence" / "*.parquet")
    for i in range(12):  # part-10 stands after part-9, not after part-1
        rows = frame[i * 2 : i * 2 + 2] if i < 11 else frame[22:]
        rows.write_parquet(folder / "cases" / f"part-{i:05d}.parquet")
        of_these = ledger.filter(pl.col("case_id").is_in(rows["case_id"].implode()))
        of_these.write_parquet(folder / "evidence" / f"part-{i:05d}.parquet")
    assert open_run(str(folder)).column("case_id").to_list() == [f"q{i}" for i in range(30)]


Damage = Callable[[Path], None]


def edit(**changes: object) -> Damage:
    def damage(folder: Path) -> None:
        file = folder / "manifest.json"
        manifest = json.loads(file.read_text("utf-8")) | changes
        kept = {name: value for name, value in manifest.items() if value != "gone"}
        file.write_text(json.dumps(kept), "utf-8")

    return damage


def remove(name: str) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()

    return damage


def dangling(name: str) -> Damage:
    def damage(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to("nowhere")

    return damage


def write(name: str, text: str) -> Damage:
    return lambda folder: (folder / name).write_text(text, "utf-8") and None


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (remove("manifest.json"), "not a finished run"),
        (write("manifest.json", "{"), "cannot be read as a manifest"),
        (write("manifest.json", "[" * 100_000), "cannot be read as a manifest"),
        (write("manifest.json", "[]"), "not a run's manifest"),
        (edit(schema_version="0"), "schema version '0'; this program reads '1'; evaluate"),
        (edit(schema_version="gone"), "schema version None"),
        (edit(status="refused"), "the run is 'refused', not complete"),
        (edit(kind="comparison"), "a comparison of two runs, not a run"),
        (edit(cutoffs="gone", rows="gone"), "manifest.json lacks cutoffs, rows"),
        (edit(config=[]), "manifest.json lacks config"),
        (edit(config={"slice": 3}), "manifest.json lacks config"),
        (edit(cutoffs=["10"]), "manifest.json lacks cutoffs"),
        (edit(fields=[{}]), "manifest.json lacks fields"),
        (edit(inputs=[1]), "manifest.json lacks inputs"),
        (edit(rows={"cases": 2}), "manifest.json lacks rows"),
        (edit(run_id="../../x"), "'../../x' names no run of ours"),
        (edit(rows={"cases": 3, "not_run": 0}), "2 cases where manifest.json says 3: not whole"),
        (remove("cases"), "no cases/part-*.parquet"),
        (remove("evidence"), "no evidence/part-*.parquet"),
        (write("cases/part-00000.parquet", "torn"), "cases/ cannot be read"),
        (dangling("cases/part-00000.parquet"), "cases/part-00000.parquet is no file"),
    ],
)
def test_what_is_no_finished_run(folder: Path, damage: Damage, says: str) -> None:
    damage(folder)
    assert looks_like_run(str(folder))
    with pytest.raises(InputError) as refused:
        open_run(str(folder))
    assert says in str(refused.value)
    assert str(folder) in str(refused.value)


def copied(table: str, place: int) -> Damage:
    def damage(folder: Path) -> None:
        part = folder / table / "part-00000.parquet"
        shutil.copy(part, folder / table / f"part-{place:05d}.parquet")

    return damage


def retyped(table: str, column: str, dtype: pl.DataType) -> Damage:
    def damage(folder: Path) -> None:
        part = folder / table / "part-00000.parquet"
        pl.read_parquet(part).with_columns(pl.col(column).cast(dtype)).write_parquet(part)

    return damage


def emptied(table: str, column: str) -> Damage:
    def damage(folder: Path) -> None:
        part = folder / table / "part-00000.parquet"
        rows = pl.read_parquet(part)
        nothing = pl.lit(None, rows.schema[column]).alias(column)
        rows.with_columns(nothing).write_parquet(part)

    return damage


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (emptied("cases", "stage"), "cases/ has rows without stage"),
        (copied("evidence", 1), "evidence/part-00001.parquet has no cases/part-00001.parquet"),
        (copied("cases", 1), "cases/part-00001.parquet has no evidence/part-00001.parquet"),
        (retyped("cases", "line", pl.String()), "cases/: line is String, not Int64"),
        (retyped("evidence", "requirement", pl.Int8()), "evidence/: requirement is Int8, not"),
        (retyped("cases", "recall_at_10", pl.String()), "recall_at_10 is String, not Float64"),
    ],
)
def test_tables_that_are_not_as_we_write_them(folder: Path, damage: Damage, says: str) -> None:
    damage(folder)
    with pytest.raises(InputError) as refused:
        ragtriage.compare(folder, folder, write=False)
    assert says in str(refused.value)


@pytest.mark.parametrize("closed", [".", "manifest.json"])
def test_what_nobody_may_look_into(
    folder: Path, closed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told as the system tells it: file modes do not hold where tests run as root."""
    stat, read = Path.stat, Path.read_text

    def refuse(path: Path) -> None:
        if path.is_relative_to(folder / closed):
            raise PermissionError(13, "Permission denied", str(path))

    def no_stat(path: Path, **options: Any) -> os.stat_result:
        if closed == ".":
            refuse(path)
        return stat(path, **options)

    def no_text(path: Path, *rest: Any, **options: Any) -> str:
        refuse(path)
        return read(path, *rest, **options)

    monkeypatch.setattr(Path, "stat", no_stat)
    monkeypatch.setattr(Path, "read_text", no_text)
    with pytest.raises(InputError) as refused:
        ragtriage.compare(folder, folder, write=False)
    assert str(refused.value) == f"{folder}: cannot be opened: Permission denied; check permissions"


def test_a_folder_of_runs_names_one(folder: Path) -> None:
    for sides in ((folder.parent, folder), (folder, folder.parent)):
        with pytest.raises(InputError) as refused:
            ragtriage.compare(*sides, write=False)
        assert str(refused.value).endswith(
            f"a folder of runs, not a run; name one, for example {folder}"
        )


def test_a_slice_that_a_run_cannot_have_had_is_not_looked_for(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    edit(config=manifest["config"] | {"slice": ["retrieved_ids"]})(folder)
    found = ragtriage.compare(folder, folder, write=False)
    assert "retrieved_ids" not in found.deltas["slice"].to_list()


def test_a_case_table_without_cases_is_none_of_ours(folder: Path) -> None:
    pl.DataFrame({"x": [1, 2]}).write_parquet(folder / "cases" / "part-00000.parquet")
    with pytest.raises(InputError, match="cases/ has no case_id, question"):
        open_run(str(folder))


def test_a_case_twice_is_none_of_ours(folder: Path) -> None:
    part = folder / "cases" / "part-00000.parquet"
    pl.read_parquet(part).with_columns(case_id=pl.lit("q1")).write_parquet(part)
    with pytest.raises(InputError, match="a case ID is there twice"):
        ragtriage.compare(folder, folder, write=False)


def test_a_torn_column_is_said_when_it_is_read(folder: Path) -> None:
    part = folder / "cases" / "part-00000.parquet"
    content = bytearray(part.read_bytes())
    content[4:-2000] = b"\0" * (len(content) - 2004)
    part.write_bytes(bytes(content))
    with pytest.raises(InputError, match="cannot be read"):
        ragtriage.compare(folder, folder, write=False)


def test_what_is_not_there_and_what_is_still_being_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such run"):
        open_run(str(tmp_path / "nowhere"))
    file = tmp_path / "file.parquet"
    file.touch()
    with pytest.raises(InputError, match="not a run; give a finished run's folder"):
        open_run(str(file))
    unfinished = tmp_path / "out" / ".unfinished" / "r"
    (unfinished / "cases").mkdir(parents=True)
    (unfinished / "manifest.json").write_text("{}", "utf-8")
    assert looks_like_run(str(unfinished))
    with pytest.raises(InputError, match="not a finished run"):
        open_run(str(unfinished))


def test_a_refused_run_is_refused(written: Writer, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        ragtriage.evaluate(INVALID / "type.jsonl", out=str(tmp_path / "out"), run_id="r")
    with pytest.raises(InputError, match="the run is 'refused'"):
        ragtriage.compare(tmp_path / "out" / "r", written(RECORDS), out=str(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_inputs_are_not_runs(tmp_path: Path, written: Writer) -> None:
    assert not looks_like_run(str(written(RECORDS)))
    (tmp_path / "shards").mkdir()
    assert not looks_like_run(str(tmp_path / "shards"))


def test_reading_leaves_a_run_as_it_was(folder: Path, tmp_path: Path) -> None:
    before = snapshot(folder)
    ragtriage.compare(folder, folder, out=str(tmp_path / "elsewhere"))
    ragtriage.compare(folder, folder, out=str(folder.parent))
    assert snapshot(folder) == before
