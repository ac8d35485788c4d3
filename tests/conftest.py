"""Fixtures for tests that drive the whole program."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Fewer drawn examples by default than in CI. No deadline: how long one takes says more of the
# machine than of the code.
_EXAMPLES = int(os.environ.get("RAGTRIAGE_EXAMPLES", "15"))
settings.register_profile("ragtriage", max_examples=_EXAMPLES, deadline=None)
settings.load_profile("ragtriage")

# Frames of tests are small, and two workers fill two cores: threads would only be in the way. CI
# asks for more, and tests of threads start processes of their own. Read when polars is imported.
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import ragtriage  # noqa: E402 - after the setting above
from ragtriage.cli import run  # noqa: E402 - after the setting above
from tests.support import Command, Evaluate, Printed, Writer, lines_of  # noqa: E402 - after the setting above


class _Stdin:
    """Standard input as bytes."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command line, in this process."""

    def command(*arguments: object, stdin: bytes | None = None) -> Printed:
        if stdin is not None:
            monkeypatch.setattr("sys.stdin", _Stdin(stdin))
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Printed(code, *capsys.readouterr())

    return command


@pytest.fixture
def written(tmp_path: Path) -> Writer:
    """Writes records, text or bytes to a file of this test."""

    def write(content: Iterable[Mapping[str, Any]] | str | bytes, name: str = "in.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else lines_of(content)
            path.write_text(text, encoding="utf-8", newline="")
        return path

    return write


@pytest.fixture
def evaluated(written: Writer) -> Evaluate:
    """Evaluates records in memory through the Python function."""

    def evaluate(records: Iterable[Mapping[str, Any]], **options: Any) -> ragtriage.Run:
        return ragtriage.evaluate(written(records), write=False, **options)

    return evaluate
