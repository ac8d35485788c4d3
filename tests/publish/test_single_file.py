"""A file beside the runs is whole whenever it is read, whoever writes at the same time."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest

from ragtriage.errors import InputError
from ragtriage.publish.single_file import replace_file


def test_many_writers_and_a_reader(tmp_path: Path) -> None:
    target = tmp_path / "index.html"
    texts = {str(number) * 20_000 for number in range(8)}
    replace_file(target, min(texts))
    writers = [threading.Thread(target=replace_file, args=(target, text)) for text in texts]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert target.read_text() in texts
    for writer in writers:
        writer.join()
    assert target.read_text() in texts
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_where_a_folder_cannot_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(fcntl, "flock", refused)
    other = tmp_path / ".index.html.feedbeef.part"
    other.write_text("of another process, for all we know")
    replace_file(tmp_path / "index.html", "text")
    assert (tmp_path / "index.html").read_text() == "text"
    assert other.exists()


def test_a_lone_surrogate_can_be_written(tmp_path: Path) -> None:
    replace_file(tmp_path / "a", "\ud800")
    assert (tmp_path / "a").read_bytes() == rb"\ud800"


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file"):
        replace_file(tmp_path / "none" / "index.html", "")
    assert os.listdir(tmp_path) == []
