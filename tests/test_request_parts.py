"""Keywords from Python: one for several, paths for names, and nothing that is no input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragtriage
from ragtriage.errors import UsageError
from ragtriage.request_parts import plain_values


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
