"""What the dashboard offers and how it is started; the page itself is tested in a browser."""

from __future__ import annotations

import os
import socket
from datetime import timedelta
from pathlib import Path

import pytest

from ragtriage.dashboard import launch, texts
from ragtriage.read.browse import offered
from tests.stored_runs import FIRST, gate_row, store_run
from tests.support import Command


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As though Streamlit were installed."""
    monkeypatch.setattr(launch, "find_spec", lambda _: object())


def test_runs_newest_first_and_what_is_none_with_its_reason(tmp_path: Path) -> None:
    store_run(tmp_path, "older", started=FIRST)
    failed = [gate_row("recall@5 >= 0.6", 0.5, 0.6, passed=False)]
    store_run(tmp_path, "newer", started=FIRST + timedelta(days=1), gates=failed)
    store_run(tmp_path, "ancient", schema_version="0")
    store_run(tmp_path, "compare-a-b", kind="comparison", base={}, candidate={}, changed={})
    (tmp_path / ".unfinished" / "half").mkdir(parents=True)
    found = offered(str(tmp_path))
    assert [texts.run_label(run) for run in found.runs] == [
        "2024-01-02 03:00 · newer · gate failed · 10 cases",
        "2024-01-01 03:00 · older · passed · 10 cases",
    ]
    told = {folder.name: folder.reason for folder in found.others}
    assert set(told) == {"ancient", "half", "compare-a-b"}
    assert "schema version '0'" in str(told["ancient"])
    assert texts.others_told(found.others) == "3 folders are not offered"
    assert texts.others_told([]) == ""


def test_without_streamlit_it_says_how_to_install_it(cli: Command, tmp_path: Path) -> None:
    cli("dashboard", tmp_path).refuses(launch.INSTALL)


@pytest.mark.usefixtures("installed")
def test_no_such_folder(cli: Command, tmp_path: Path) -> None:
    cli("dashboard", tmp_path / "none").refuses("none", "No such file")


@pytest.mark.usefixtures("installed")
def test_a_port_that_is_taken(cli: Command, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind((launch.ADDRESS, 0))
        taken.listen()
        port = taken.getsockname()[1]
        cli("dashboard", tmp_path, "--port", port).refuses(f"--port: {port} cannot be used")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("port", ["0", "65536", "x"])
def test_no_port(cli: Command, tmp_path: Path, port: str) -> None:
    cli("dashboard", tmp_path, "--port", port).refuses("--port")


@pytest.mark.usefixtures("installed")
def test_it_becomes_a_server_on_loopback_that_reports_to_nobody(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, line: lines.append(line))
    monkeypatch.setattr(os, "dup2", lambda *_: None)
    (tmp_path / "--odd").mkdir()
    monkeypatch.chdir(tmp_path)
    with socket.socket() as free:
        free.bind((launch.ADDRESS, 0))
        port = free.getsockname()[1]
    done = cli("dashboard", "--port", port, "--", "--odd")
    assert done.out == ""
    assert f"http://127.0.0.1:{port}" in done.err
    (line,) = lines
    assert {"--server.address=127.0.0.1", "--browser.gatherUsageStats=false"} <= set(line)
    assert f"--server.port={port}" in line
    assert line[-2:] == ["--", str(tmp_path / "--odd")]
    assert Path(line[line.index("run") + 1]).is_file()
