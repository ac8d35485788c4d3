"""A Prefect server on loopback with a home of its own, and what its API says."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def running_server(home: Path, **more: str) -> Iterator[dict[str, str]]:
    """Start a server; the settings that lead to it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "HOME": str(home),
        "PREFECT_HOME": str(home),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        **more,
    }
    command = [sys.executable, "-m", "prefect", "server", "start", "--port", str(port)]
    with started(command, home / "server.log", {**os.environ, **settings}) as process:
        _wait_for(settings["PREFECT_API_URL"], process)
        yield settings


@contextmanager
def started(
    command: list[str], log: Path, environment: dict[str, str], cwd: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a session of its own, ended with all that it started."""
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command, env=environment, stdout=stream, stderr=stream, cwd=cwd, start_new_session=True
        )
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(120):
        assert process.poll() is None, "the server ended"
        try:
            urllib.request.urlopen(f"{url}/health", timeout=1).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    pytest.fail("the server did not come up")


def posted(server: dict[str, str], what: str, *items: Any, **body: Any) -> Any:
    """What the API answers to a request whose body is a list of items, or an object."""
    return _asked(server, what, json.dumps(list(items) or body).encode())


def got(server: dict[str, str], what: str) -> Any:
    """What the API answers to a request without one."""
    return _asked(server, what, None)


def _asked(server: dict[str, str], what: str, body: bytes | None) -> Any:
    request = urllib.request.Request(
        f"{server['PREFECT_API_URL']}/{what}",
        data=body,
        headers={"content-type": "application/json"},
    )
    for _ in range(20):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            # SQLite is busy with another writer; the server asks to come back.
            if error.code != 503:
                raise
            time.sleep(0.5)
    pytest.fail(f"the server stays busy: {what}")
