"""Reading ahead changes nothing but the time it takes."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from ragtriage.read.ahead import ahead


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "ragtriage-read"]


def test_the_same_items_in_their_order() -> None:
    assert list(ahead(range(100))) == list(range(100))
    assert list(ahead([])) == []
    assert list(ahead([None, 0])) == [None, 0]
    assert not readers()


def test_what_the_maker_raises_is_raised_in_its_place() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise KeyError("mine")

    found = []
    with pytest.raises(KeyError, match="mine"):
        found.extend(iter(ahead(items())))
    assert not readers()


def test_only_so_many_are_made_before_they_are_asked_for() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for i in range(100):
            made.append(i)
            yield i

    reading = ahead(items())
    assert next(reading) == 0
    # One in hand, one waiting, one being offered.
    assert len(made) <= 3
    reading.close()
    assert len(made) <= 3
    assert not readers()
