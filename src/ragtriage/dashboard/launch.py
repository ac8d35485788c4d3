"""Starts the dashboard: Streamlit on loopback, reporting to nobody. It replaces this process."""

from __future__ import annotations

import os
import socket
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from ragtriage.errors import UsageError
from ragtriage.read.browse import offered

ADDRESS = "127.0.0.1"
INSTALL = "pip install 'ragtriage[dashboard]'"
_OPTIONS = {
    "server.headless": "true",
    "server.address": ADDRESS,
    "server.fileWatcherType": "none",
    "browser.gatherUsageStats": "false",
    "browser.serverAddress": ADDRESS,
    "client.toolbarMode": "minimal",
    "client.showErrorDetails": "none",
}


def check(directory: str, port: int) -> None:
    """Can a dashboard be started?

    Raises:
        UsageError: Streamlit is not installed, or the port is taken.
        InputError: there is no such folder.
    """
    if find_spec("streamlit") is None:
        raise UsageError(f"the dashboard needs Streamlit: {INSTALL}")
    offered(directory)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(f"--port: {port} cannot be used: {reason}; give another") from None


def command(directory: str, port: int) -> list[str]:
    """The command line of the server; `-P`: no file of the working folder shadows a module."""
    app = Path(__file__).with_name("app.py")
    options = {**_OPTIONS, "server.port": str(port)}
    flags = [f"--{name}={value}" for name, value in options.items()]
    run = [sys.executable, "-P", "-m", "streamlit", "run", str(app), *flags]
    return [*run, "--", str(Path(directory).absolute())]


def start(directory: str, port: int) -> NoReturn:
    """Become the server. What it prints goes to stderr."""
    sys.stdout.flush()
    os.dup2(2, 1)
    line = command(directory, port)
    os.execv(line[0], line)  # noqa: S606 - our own interpreter, no shell
