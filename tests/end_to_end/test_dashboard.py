"""The installed dashboard in a real browser: from a run to a case's evidence path, on loopback."""

from __future__ import annotations

import json
import re
import shlex
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.end_to_end.devtools import Page, browser
from tests.end_to_end.streamlit_page import chosen, go_to, pick, seen, settle
from tests.end_to_end.wheels import build, install
from tests.stored_runs import store_run
from tests.support import HANDBOOK, ROOT, lines_of, snapshot

pytestmark = pytest.mark.end_to_end

HTML = "<img src=http://evil.invalid/x onerror=document.title='owned'>"
MARKDOWN = "**bold** [link](http://evil.invalid) $x^2$ :red[red] `code`"
# What Vega says of every stacked chart of Streamlit's own.
_HARMLESS = "Scale bindings are currently only supported"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and its extra."""
    environment = tmp_path_factory.mktemp("dashboard") / "env"
    install(f"{build(tmp_path_factory.mktemp('dist'))}[dashboard]", environment)
    return environment


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def program(installed: Path, home: Path, *arguments: object) -> None:
    subprocess.run(
        [installed / "bin" / "ragtriage", *map(str, arguments)],
        cwd=home,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home)},
        check=True,
        capture_output=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def handbook(installed: Path, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both runs of the handbook, one of another schema version, one left unfinished."""
    top = tmp_path_factory.mktemp("handbook") / "reports"
    for name in ("a", "b"):
        cases = ("--cases", HANDBOOK / "cases.jsonl", "--corpus", HANDBOOK / "corpus.jsonl")
        trace = ("--trace", HANDBOOK / f"run-{name}.jsonl", "--k", 5)
        program(installed, home, "evaluate", *cases, *trace, "--out", top, "--run-id", name)
    store_run(top, "older", schema_version="0")
    (top / ".unfinished" / "half").mkdir(parents=True)
    return top


@pytest.fixture(scope="module")
def hostile(installed: Path, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run whose every text is markup."""
    folder = tmp_path_factory.mktemp("hostile")
    records: list[dict[str, Any]] = [
        {
            "case_id": f"{text} {number}",
            "question": text,
            "answer": text,
            "expected_answers": ["something else"],
            "tags": [text],
            "required_ids": [text],
            "retrieved_ids": ["x"],
            "context_ids": ["x"],
            "cited_ids": [text],
            "claims": [{"claim_id": text, "supported": False, "cited_ids": [], "text": text}],
        }
        for number, text in enumerate([HTML, MARKDOWN])
    ]
    (folder / "in.jsonl").write_text(lines_of(records), encoding="utf-8")
    out = folder / "reports"
    program(installed, home, "evaluate", folder / "in.jsonl", "--out", out, "--run-id", "hostile")
    return out


@contextmanager
def served(command: list[str], port: int, home: Path, cwd: Path) -> Iterator[str]:
    """Its address, while the server runs; it must end when interrupted."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _until_it_answers(process, address)
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    assert out == b""


def _until_it_answers(process: subprocess.Popen[bytes], address: str) -> None:
    end = time.monotonic() + 60
    while True:
        assert process.poll() is None, "the server has gone"
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                return
        except OSError:
            assert time.monotonic() < end, "no answer"
            time.sleep(0.2)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def dashboard(installed: Path, home: Path, top: Path, tmp_path: Path) -> Iterator[Page]:
    """The dashboard over a folder, open in a browser."""
    port = free_port()
    command = [str(installed / "bin" / "ragtriage"), "dashboard", str(top), "--port", str(port)]
    # A module of theirs that must not be ours.
    (tmp_path / "streamlit.py").write_text("raise RuntimeError('not ours')\n")
    with (
        served(command, port, home, tmp_path) as address,
        browser(tmp_path / "profile") as page,
    ):
        page.resize(1280, 1000)
        page.open(address)
        settle(page)
        yield page
        assert_sound(page, port)


def assert_sound(page: Page, port: int) -> None:
    """No error on the page or in its console, and nothing asked of anyone but the server."""
    assert page.run("document.querySelectorAll('[data-testid=stException]').length") == 0
    assert page.run("document.querySelectorAll('[data-testid=stAlertContentError]').length") == 0
    assert [told for told in page.complaints() if _HARMLESS not in told] == []
    sockets = [
        event["params"]["url"]
        for event in page.events
        if event["method"] == "Network.webSocketCreated"
    ]
    assert sockets
    for url in [*page.requests(), *sockets]:
        parts = urlsplit(url)
        assert parts.scheme in {"data", "blob"} or parts.netloc == f"127.0.0.1:{port}", url


def test_from_a_run_to_a_cases_evidence_path(
    installed: Path, home: Path, handbook: Path, tmp_path: Path
) -> None:
    """`renew-with-hold` lost its second passage at the context of three, which run b widened."""
    before = snapshot(handbook)
    with dashboard(installed, home, handbook, tmp_path) as page:
        assert " · b · passed · 50 cases" in chosen(page, "Run")
        assert "2 folders are not offered" in seen(page)
        when = json.loads((handbook / "a" / "manifest.json").read_text())["started"]
        pick(page, "Run", f"{when[:10]} {when[11:16]} · a ·")
        pick(page, "Slice", "tag")
        pick(page, "Value", "borrowing")
        pick(page, "Stage", "retrieval:")
        pick(page, "Break point", "context:")
        pick(page, "Case", "renew-with-hold")
        text = seen(page)
        assert "Requirement 2 of 2: holds-1\n" in text
        assert "✓ retrieved: rank 4\n" in text
        assert "✗ context: not in context (lost here)\n" in text
        go_to(page, "One case")
        page.screenshot(tmp_path / "wide.png")
        page.resize(390, 900)
        settle(page)
        page.wait("document.documentElement.scrollWidth <= 390")
        go_to(page, "One case")
        page.screenshot(tmp_path / "phone.png")
        assert (tmp_path / "phone.png").stat().st_size > 10_000
    assert snapshot(handbook) == before
    assert snapshot(home) == {}


def test_markup_in_data_is_text(installed: Path, home: Path, hostile: Path, tmp_path: Path) -> None:
    with dashboard(installed, home, hostile, tmp_path) as page:
        for number, text in enumerate([HTML, MARKDOWN]):
            pick(page, "Case", f"{text} {number}")
            shown = seen(page)
            assert shown.count(text) >= 4  # case ID, question, requirement, answer
            assert f"Requirement 1 of 1: {text}\n" in shown
            go_to(page, "Claims")
            page.screenshot(tmp_path / f"{number}.png")
        pick(page, "Slice", "tag")
        pick(page, "Value", MARKDOWN)
        assert chosen(page, "Value") == MARKDOWN
        assert "owned" not in page.run("document.title")
        made = "[src*='evil'], [href*='evil'], .katex, strong, code"
        assert page.run(f'document.querySelectorAll("{made}").length') == 0


def test_the_readmes_commands(installed: Path, home: Path, handbook: Path, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    (block,) = (block for block in blocks if "dashboard" in block)
    # The environment is made from the wheel here; what it takes and runs stands in the recipe.
    told = subprocess.run(
        [*shlex.split(block.removeprefix("$ ")), "-n", "--no-print-directory"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    *_, sync, last = told.stdout.splitlines()
    assert "--extra dashboard" in sync
    run = shlex.split(last)
    assert run[:2] == [".venv/bin/ragtriage", "dashboard"]
    (tmp_path / ".venv").symlink_to(installed)
    (tmp_path / "reports").symlink_to(handbook)
    with served(run, 8501, home, tmp_path) as address:
        assert address.endswith(":8501")
