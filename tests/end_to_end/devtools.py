"""A page in headless Chromium, driven over its debugging pipe: no port, no driver, no network."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--host-resolver-rules='MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'",
    "--remote-debugging-pipe",
)
_PATIENCE = 120


class Page:
    """One open page. `events`: what the browser told of it, in order."""

    def __init__(self, reading: int, writing: int) -> None:
        self.events: list[dict[str, Any]] = []
        self._reading, self._writing = reading, writing
        self._left = b""
        self._last = 0
        self._session: str | None = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command and its answer; events met on the way are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writing, json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == self._last:
                assert "error" not in told, told
                result: dict[str, Any] = told["result"]
                return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            read = os.read(self._reading, 1 << 20)
            assert read, "the browser has gone"
            self._left += read
        first, _, self._left = self._left.partition(b"\0")
        told: dict[str, Any] = json.loads(first)
        if "method" in told:
            self.events.append(told)
        return told

    def open(self, url: str) -> None:
        """Go there and wait until all of it has loaded."""
        self.ask("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, expression: str) -> Any:
        """The value of an expression in the page."""
        told = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait(self, expression: str) -> None:
        """Until the expression is true."""
        end = time.monotonic() + _PATIENCE
        while not self.run(expression):
            assert time.monotonic() < end, expression
            time.sleep(0.05)

    def choose(self, select: str, value: str) -> None:
        """Choose an option of a select element as a reader does."""
        self.run(
            f"(() => {{ const s = document.getElementById({select!r}); s.value = {value!r};"
            " s.dispatchEvent(new Event('change')); })()"
        )

    def resize(self, width: int, height: int, *, dark: bool = False) -> None:
        """A window of this size, in this colour scheme."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("Emulation.setEmulatedMedia", features=scheme)

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press and release a key: its name, its code, and the text it types."""
        known = {"key": key, "windowsVirtualKeyCode": code}
        down = known | ({"text": text} if text else {})
        self.ask("Input.dispatchKeyEvent", type="keyDown", **down)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **known)

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        wide: int = self.run("document.documentElement.scrollWidth - innerWidth")
        return max(0, wide)

    def screenshot(self, path: Path) -> None:
        """What is seen."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))

    def complaints(self) -> list[str]:
        """Errors and warnings of the console, exceptions, and what the policy stopped."""
        found = []
        for event in self.events:
            told = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(told["exceptionDetails"]))
            if event["method"] == "Runtime.consoleAPICalled" and told["type"] in (
                "error",
                "warning",
            ):
                found.append(str(told["args"]))
            if event["method"] == "Log.entryAdded":
                found.append(told["entry"]["text"])
        return found

    def requests(self) -> list[str]:
        """Every URL the page asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """An open page of a browser of its own."""
    chromium = shutil.which("chromium")
    assert chromium, "Debian's chromium is needed: apt-get install chromium"
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    line = f'exec "$0" {" ".join(_FLAGS)} --user-data-dir="$1" 3<&{theirs_in} 4>&{theirs_out}'
    process = subprocess.Popen(
        ["bash", "-c", line, chromium, str(profile)],
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Page(ours_in, ours_out)
    finally:
        process.terminate()
        process.wait(30)
        os.close(ours_in)
        os.close(ours_out)
