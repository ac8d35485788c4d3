"""A run's folder is there whole, or not at all."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import polars as pl
import pytest
from polars.exceptions import ComputeError

from ragtriage.errors import InputError, UsageError
from ragtriage.publish.folder import RunFolder, to_json, writing

FRAME = pl.DataFrame({"a": [1, 2]})


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_json_holds_no_character_that_moves_a_terminal() -> None:
    value = {"question": "".join(map(chr, range(0xA0))) + "##[é"}
    text = to_json(value)
    assert [char for char in text if not char.isprintable()] == ["\n"] * text.count("\n")
    assert json.loads(text) == value


def test_nothing_is_visible_before_publish(tmp_path: Path) -> None:
    folder = RunFolder(str(tmp_path / "out"), "one")
    folder.open()
    folder.write_table("summary.parquet", FRAME)
    folder.write_text("report.md", "a\nb")
    assert not list((tmp_path / "out").glob("*/summary.parquet"))
    assert not folder.path.exists()
    folder.publish()
    assert everything(tmp_path / "out") == ["one", "one/report.md", "one/summary.parquet"]
    assert pl.read_parquet(folder.path / "summary.parquet").to_dict(as_series=False) == {
        "run_id": ["one", "one"],
        "a": [1, 2],
    }


def test_a_run_given_up_leaves_nothing(tmp_path: Path) -> None:
    folder = RunFolder(str(tmp_path / "out"), "one")
    folder.open()
    folder.write_table("cases/part-00000.parquet", FRAME)
    folder.spill.mkdir()
    (folder.spill / "input").write_text("input")
    folder.close()
    assert everything(tmp_path / "out") == []


def test_what_a_dead_run_left_is_removed_and_a_living_one_is_not(tmp_path: Path) -> None:
    out = tmp_path / "out"
    dead = out / ".unfinished" / "dead"
    dead.mkdir(parents=True)
    (dead / "summary.parquet").write_text("half")
    (out / ".unfinished" / "dead~lock").touch()
    (out / ".unfinished" / "dead~spill").mkdir()
    (out / ".unfinished" / "dead~spill" / "input").write_text("half")
    living = RunFolder(str(out), "living")
    living.open()
    other = RunFolder(str(out), "other")
    other.open()
    assert everything(out / ".unfinished") == ["living", "living~lock", "other", "other~lock"]
    other.publish()
    living.publish()
    assert everything(out) == ["living", "other"]


def test_what_lies_there_without_a_lock_is_dead(tmp_path: Path) -> None:
    unfinished = tmp_path / ".unfinished"
    for name in ("20260101T000000Z-deadbeef", "x~shards", "x~old", "y.old"):
        (unfinished / name / "cases").mkdir(parents=True)
        (unfinished / name / "cases" / "part-00000.parquet").write_text("half")
    (unfinished / "a file of somebody's").touch()
    named_alike = [RunFolder(str(tmp_path), name) for name in ("y", "z.old")]
    for folder in named_alike:
        folder.open()
        folder.write_text("report.md", "whole")
        folder.attempts.mkdir()
    later = RunFolder(str(tmp_path), "later")
    later.open()
    theirs = ["a file of somebody's", "later", "later~lock"]
    living = ["y", "y~lock", "y~shards", "z.old", "z.old~lock", "z.old~shards"]
    assert sorted(path.name for path in unfinished.iterdir()) == theirs + living
    for folder in (*named_alike, later):
        folder.publish()
    assert everything(tmp_path / "y") == everything(tmp_path / "z.old") == ["report.md"]


@pytest.mark.parametrize("ending", [".old", ".lock", ".shards", ".spill"])
def test_runs_of_like_names_leave_each_other_alone(tmp_path: Path, ending: str) -> None:
    (tmp_path / "y").mkdir()
    (tmp_path / "y" / "manifest.json").write_text("{}")
    one = RunFolder(str(tmp_path), "y", replace=True)
    other = RunFolder(str(tmp_path), f"y{ending}")
    for folder in (one, other):
        folder.open()
        folder.write_text("report.md", folder.run_id)
    one.publish()
    other.publish()
    assert (tmp_path / "y" / "report.md").read_text() == "y"
    assert (tmp_path / f"y{ending}" / "report.md").read_text() == f"y{ending}"


def test_a_run_id_is_taken_once(tmp_path: Path) -> None:
    first = RunFolder(str(tmp_path), "same")
    first.open()
    with pytest.raises(UsageError, match="being written"):
        RunFolder(str(tmp_path), "same").open()
    first.publish()
    with pytest.raises(UsageError, match="exists already"):
        RunFolder(str(tmp_path), "same").open()


def test_a_finished_folder_is_never_replaced(tmp_path: Path) -> None:
    folder = RunFolder(str(tmp_path), "same")
    folder.open()
    (tmp_path / "same").mkdir()
    (tmp_path / "same" / "theirs").touch()
    with pytest.raises(UsageError, match="exists already"):
        folder.publish()
    folder.close()
    assert everything(tmp_path) == ["same", "same/theirs"]


def test_an_output_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot be written.*nothing was published"):
        RunFolder(str(tmp_path / "file" / "out"), "one").open()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (OSError("No space left on device (os error 28)"), "No space left on device"),
        (
            ComputeError(
                "File out of specification: underlying IO error: File too large (os error 27)"
            ),
            "File too large",
        ),
        (
            ComputeError("File out of specification: Invalid thrift: transport error"),
            "not all of it could be stored",
        ),
        (ComputeError("something else\nand more"), "something else"),
    ],
)
def test_why_nothing_was_written_is_said_without_hidden_names(
    tmp_path: Path, error: Exception, expected: str
) -> None:
    folder = RunFolder(str(tmp_path), "one")
    said = f"cannot be written: {expected}; check --out, permissions and space; nothing was"
    for target, shown in ((folder.attempts / "00000-x" / "cases", tmp_path), (tmp_path / "b",) * 2):
        with pytest.raises(InputError) as caught, writing(target):
            raise error
        assert str(caught.value).startswith(f"{shown}: {said}")


def test_a_dangling_link_takes_the_name_too(tmp_path: Path) -> None:
    os.symlink(tmp_path / "nowhere", tmp_path / "one")
    with pytest.raises(UsageError, match="exists already"):
        RunFolder(str(tmp_path), "one").open()
