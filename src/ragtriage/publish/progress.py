"""How far a long run has come: one line on a terminal's stderr, gone when the run is done."""

from __future__ import annotations

import atexit
import time
from typing import TextIO

_QUIET_SECONDS = 1.0
_EVERY_SECONDS = 0.2
_CLEAR = "\r\x1b[2K"


class Progress:
    """Callable with a step and the lines read so far; short runs show nothing."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._start = time.monotonic()
        self._last = 0.0
        atexit.register(self.clear)

    def __call__(self, step: str, lines: int) -> None:
        """Show where we are, not more often than anybody can read."""
        now = time.monotonic()
        if now - self._start < _QUIET_SECONDS or now - self._last < _EVERY_SECONDS:
            return
        self._last = now
        done = f" {lines:,} lines" if lines else ""
        self._stream.write(f"{_CLEAR}{step} …{done}")
        self._stream.flush()

    def clear(self) -> None:
        """Take the line away again."""
        if self._last:
            self._stream.write(_CLEAR)
            self._stream.flush()
            self._last = 0.0
