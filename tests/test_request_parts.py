"""Keywords from Python: one for several, paths for names, and nothing that is no input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragtriage
from ragtriage.errors import UsageError
from ragtriage.request_parts import plain_values, write_said
from tests.support import HANDBOOK, ROOT


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, []),
        ("a", ["a"]),
        (Path("a"), ["a"]),
        (["a", Path("b")], ["a", "b"]),
        (("a",), ["a"]),
        ([], []),
        (3, [3]),
        ([None, 3], [None, 3]),
        (b"a", [b"a"]),
    ],
)
def test_one_several_or_none(given: Any, expected: list[Any]) -> None:
    assert plain_values({"cases": given, "out": Path("o")}, ("cases",)) == {
        "cases": expected,
        "out": "o",
    }


CASES, RUN = HANDBOOK / "cases.jsonl", HANDBOOK / "run-a.jsonl"


@pytest.mark.parametrize(
    ("call", "given", "options"),
    [
        ("evaluate", (None,), {"cases": CASES, "trace": RUN}),
        ("compare", (RUN, RUN), {"cases": CASES}),
        ("leakage", (CASES,), {}),
        ("measure_agreement", (ROOT / "data" / "claims" / "reviews.jsonl",), {}),
    ],
)
def test_no_write_as_the_command_line_has_it(
    call: str,
    given: tuple[Path | None, ...],
    options: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert getattr(ragtriage, call)(*given, no_write=True, **options).path is None
    assert not list(tmp_path.iterdir())
    assert getattr(ragtriage, call)(*given, no_write=False, **options).path.is_dir()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"no_write": True, "write": True}, "contradict"),
        ({"no_write": False, "write": False}, "contradict"),
        ({"no_write": 1}, "--no-write: 1: give True or False"),
    ],
)
def test_no_write_that_says_nothing_clear(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        write_said(options)


def test_no_write_and_write_may_agree() -> None:
    assert write_said({"no_write": True, "write": False}) == {"write": False}


@pytest.mark.parametrize(("call", "what"), [("leakage", "cases"), ("measure_agreement", "reviews")])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "no {}; give"),
        ([], "no {}; give"),
        (3, "--{}: 3: input should be a valid string"),
        ([b"a"], "--{}: b'a': input should be a valid string"),
    ],
)
def test_what_is_no_input_is_a_usage_error(call: str, what: str, given: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said.format(what)):
        getattr(ragtriage, call)(given)
