"""The fast path and the exact path take the same lines, and take them for the same values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from ragtriage.read import batches
from tests.read import strict
from tests.read.mutations import files
from tests.read.support import examples, read

BOM = b"\xef\xbb\xbf"


def same(left: Any, right: Any) -> bool:
    """Equal to the last bit and of equal type, but for the sign of zero."""
    if isinstance(left, float) and isinstance(right, float):
        return repr(left + 0.0) == repr(right + 0.0)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    return type(left) is type(right) and bool(left == right)


def check(content: bytes, contract: str) -> None:
    lines = content.removeprefix(BOM).split(b"\n")
    if not lines[-1]:
        lines.pop()
    accepted, set_aside, blank = strict.file_of(lines, contract)
    found = read(content, contract=contract)
    assert found.lines == list(accepted), (content, found.places)
    for row, expected in zip(found.rows, accepted.values(), strict=True):
        assert same(row, expected), (content, row, expected)
    assert {fault.line for fault in found.faults} == set_aside
    assert (found.read, found.blank) == (len(lines), blank)


@pytest.mark.parametrize("key", [b"case_id", b"\\u0063ase_id"], ids=["plain", "escaped"])
@pytest.mark.parametrize("text", [b"", b" ", b"\\u001f", b" \\u001c", b"\\u0085", b"\\u200b", b"x"])
def test_blank_tags_are_none_however_a_line_is_read(key: bytes, text: bytes) -> None:
    check(b'{"%s":"a","category":"a","difficulty":"%s"}' % (key, text), "answer")


@pytest.mark.thorough
@pytest.mark.parametrize("contract", ["auto", "answer"])
@pytest.mark.parametrize("batch", [(16 << 20, 100_000), (64, 2), (1, 1)])
def test_a_line_is_taken_if_and_only_if_a_strict_reading_takes_it(
    monkeypatch: pytest.MonkeyPatch, contract: str, batch: tuple[int, int]
) -> None:
    monkeypatch.setattr(batches, "BATCH_BYTES", batch[0])
    monkeypatch.setattr(batches, "BATCH_RECORDS", batch[1])

    @examples(30)
    @given(files())
    def agrees(content: bytes) -> None:
        check(content, contract)

    agrees()
