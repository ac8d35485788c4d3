"""What cannot go on ends with code 3, never with that of a failed gate."""

from __future__ import annotations

from typing import Any

import pytest
from polars.exceptions import PanicException

from ragtriage import pipeline
from tests.support import CONTRACTS, Command

ASKED = ("evaluate", CONTRACTS / "answer.jsonl", "--contract", "answer", "--no-write")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (PanicException("could not spawn threads: ThreadPoolBuildError"), "no room for another"),
        (PanicException("OS can't spawn worker thread: unavailable"), "no room for another"),
        (RuntimeError("can't start new thread"), "no room for another"),
        (MemoryError(), "out of memory"),
        (OSError(12, "Cannot allocate memory"), "out of memory"),
    ],
)
def test_no_room_is_said_in_a_users_words(
    cli: Command, monkeypatch: pytest.MonkeyPatch, error: BaseException, expected: str
) -> None:
    shown = failing(cli, monkeypatch, error)
    assert shown.code == 3
    assert shown.err.startswith(expected)
    assert "Traceback" not in shown.err


@pytest.mark.parametrize("error", [PanicException("index out of bounds"), RuntimeError("cheese")])
def test_what_nobody_foresaw_is_an_internal_error(
    cli: Command, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    shown = failing(cli, monkeypatch, error)
    assert shown.code == 3
    assert shown.err.startswith("ragtriage: internal error")
    assert str(error) in shown.err


def test_what_only_ends_the_process_is_left_alone(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit):
        failing(cli, monkeypatch, SystemExit(5))


def failing(cli: Command, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> Any:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(pipeline, "run_request", fails)
    return cli(*ASKED)
