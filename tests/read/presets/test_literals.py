"""What somebody printed as a list: JSON and Python's literals, and what only looks like them."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.read.presets import values
from ragtriage.read.presets.base import UnmappableError
from ragtriage.read.presets.literals import is_set, literal

# text of a list, its items as IDs
LISTS: list[tuple[str, list[str]]] = [
    (
        "['a', 1.50, 1e3, -5, -0, 9007199254740993]",
        ["a", "1.50", "1e3", "-5", "-0", str(2**53 + 1)],
    ),
    ("('é', \"it's\", u'x',)", ["é", "it's", "x"]),
    ("['a',\n 'é', 'b']", ["a", "é", "b"]),
    ("[['a']]", [["a"]]),  # type: ignore[list-item]
    ("['tab\\t', 'q\\'']", ["tab\t", "q'"]),
]


@pytest.mark.parametrize(("text", "items"), LISTS)
def test_items_are_as_they_are_spelt(text: str, items: list[Any]) -> None:
    read = literal(text)
    assert [item if isinstance(item, list) else str(item) for item in read] == items


# Python computes another value from each of these than the ID that stands there.
COMPUTED = [
    "[0x10]",
    "[0X1f]",
    "[0b1]",
    "[0o7]",
    "[1_000, 'x']",
    "[1_0.5, 'x']",
    "[00, 'x']",
    "[--5, 'x']",
    "[1j]",
    "[b'a']",
    "[f'a']",
    "['a' 'b']",
    "['a'\n 'b']",
    "['é' 'b']",
    "['it''s']",
    "['''a''']",
    "{'a', 'b'}",
    "[{'a'}]",
    "[inf, 'x']",
]


@pytest.mark.parametrize("text", COMPUTED)
def test_what_would_be_computed_is_no_literal(text: str) -> None:
    assert literal(text) is None


# With a separator, brackets around a list of one are no part of it.
BRACKETED = [text for text in COMPUTED if text[0] == "["]
QUOTED = [text for text in BRACKETED if text[1] in "'\""]


@pytest.mark.parametrize(
    ("text", "separator"), [(t, None) for t in BRACKETED] + [(t, "|") for t in QUOTED]
)
def test_and_becomes_no_id_either(text: str, separator: str | None) -> None:
    with pytest.raises(UnmappableError, match="looks like a list"):
        values.ids_of("required_ids", text, separator)


@given(st.lists(st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False)))
def test_what_python_prints_is_read(items: list[int | str | float]) -> None:
    assert [str(item) for item in literal(repr(items))] == [str(item) for item in items]


SETS = [
    ("{'a'}", True),
    ("{1, 2}", True),
    ("{1}", False),
    ("{a}", False),
    ("{3F25-04E0}", False),
    ("{a, b}", False),
    ("{'a': 1}", False),
]


@pytest.mark.parametrize(("text", "expected"), SETS)
def test_a_set_is_told_from_an_id_in_braces(text: str, expected: bool) -> None:
    assert is_set(text) is expected


def test_what_python_would_warn_of_is_read_in_silence() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert literal(r"['C:\docs', 'b']") == [r"C:\docs", "b"]
    assert not told
