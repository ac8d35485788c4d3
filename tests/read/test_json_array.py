"""An array's elements, whatever stands in them and wherever the blocks end."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.errors import InputError
from ragtriage.read import batches
from ragtriage.read.files import InputFile
from ragtriage.read.json_array import read_json_array
from tests.read.support import examples, read

FILE = InputFile("in.json", Path("in.json"), "json")
TRICKY = st.sampled_from(("[", "]", "{", "}", ",", '"', "\\", '\\"', "],[", '"]', "\n", "é", " "))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TRICKY | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TRICKY, inner, max_size=3),
    max_leaves=6,
)
GAPS = st.text(" \t\r\n", max_size=3)


class Slow(io.BytesIO):
    """Gives at most so many bytes at a time, after the head."""

    def __init__(self, content: bytes, size: int) -> None:
        super().__init__(content)
        self._size = size

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(size if self.tell() == 0 else self._size)


def elements(content: bytes, size: int = 1 << 20) -> list[tuple[int, bytes]]:
    found = read_json_array(Slow(content, size), FILE)
    return [pair for b in found for pair in zip(b.numbers, b.lines, strict=True)]


@st.composite
def arrays(draw: st.DrawFn) -> tuple[bytes, list[int], list[Any]]:
    """An array's text, the line where each element starts, and the elements."""
    values = draw(st.lists(VALUES, max_size=5))
    text, lines = draw(GAPS) + "[" + draw(GAPS), []
    for i, value in enumerate(values):
        text += ("," if i else "") + draw(GAPS)
        lines.append(text.count("\n") + 1)
        ascii_ = draw(st.booleans())
        text += json.dumps(value, indent=draw(st.sampled_from((None, 1))), ensure_ascii=ascii_)
        text += draw(GAPS)
    return (text + "]" + draw(GAPS)).encode("utf-8", "surrogatepass"), lines, values


@examples(80)
@given(arrays(), st.integers(1, 30))
def test_elements_are_what_json_reads_at_every_read_size(
    array: tuple[bytes, list[int], list[Any]], size: int
) -> None:
    content, lines, values = array
    for some in (size, 1, 1 << 20):
        found = elements(content, some)
        assert [line for line, _ in found] == lines
        assert [json.loads(text.decode("utf-8", "surrogatepass")) for _, text in found] == values


@examples(150)
@given(arrays(), st.data())
def test_what_json_refuses_is_refused_or_its_element_is(
    array: tuple[bytes, list[int], list[Any]], data: st.DataObject
) -> None:
    content, *_ = array
    at = data.draw(st.integers(0, len(content)))
    mark = data.draw(
        st.sampled_from((b"", b"[", b"]", b"{", b"}", b",", b'"', b"x", b"\x0b", b"\\"))
    )
    changed = content[:at] + mark + content[at + data.draw(st.integers(0, 1)) :]

    def parsed(text: bytes) -> Any:
        try:
            return json.loads(text.decode("utf-8", "surrogatepass"))
        except ValueError:
            return ValueError

    expected = parsed(changed)
    try:
        found = [parsed(text) for _, text in elements(changed, data.draw(st.integers(1, 9)))]
    except InputError:
        assert not isinstance(expected, list)
        return
    if isinstance(expected, list):
        assert found == expected
    else:
        assert ValueError in found


REFUSED = {
    b"": "1: record: the file is empty or holds no array",
    b" \n ": "1: record: the file is empty or holds no array",
    b'{"case_id": "a"}': "1: record: the file is not a JSON array",
    b'{"case_id": "a"}\n{"case_id": "b"}\n': "1: record: the file is not a JSON array",
    b'x [{"case_id": "a"}]': "1: record: the file is not a JSON array",
    b'"x" [{"case_id": "a"}]': "1: record: the file is not a JSON array",
    b'[{"case_id": "a"}] x': "1: record: there is text after the array",
    b'[{"case_id": "a"}]\n\n[]': "record: there is text after the array",
    b'[{"case_id": "a"}]]': "record: there is text after the array",
    b'[{"case_id": "a"}] "': "record: there is text after the array",
    b'[{"case_id": "a"}\x0b': "record: the array does not end",
    b'[{"case_id": "a"},\n{"case_id": "b"}': "record: the array does not end",
    b'[{"case_id": "a"},\n{"case_id": "b]': "record: the array does not end",
    b'[{"case_id": "a"}}': "record: the array is closed by the wrong bracket",
}


@pytest.mark.parametrize("content", REFUSED)
def test_what_is_not_one_array(content: bytes) -> None:
    with pytest.raises(InputError) as refused:
        read(content, "in.json")
    assert str(refused.value).startswith("in.json:")
    assert REFUSED[content] in str(refused.value)
    assert str(refused.value).endswith("; give one JSON array [json-syntax]")


def test_records_over_several_lines_with_scalars_among_them() -> None:
    content = (
        b'\xef\xbb\xbf[\n  {\n    "case_id": "a",\n    "tags": [\n "x\\n]"\n]\n  },\n  7,\n'
        b'  "b",\n  {"case_id": "c"}, null,\n\n  {"case_id": \n"d",},\n  {"case_id": "e"}\n,]\n'
    )
    found = read(content, "in.json")
    assert found.rows == [{"case_id": "a", "tags": ["x\n]"]}, {"case_id": "c"}, {"case_id": "e"}]
    assert found.lines == [2, 10, 14]
    assert found.places == [
        (8, "record", "not-an-object"),
        (9, "record", "not-an-object"),
        (10, "record", "not-an-object"),
        (12, "record", "json-syntax"),
        (15, "record", "json-syntax"),
    ]
    assert found.faults[3].raw == '{"case_id": \n"d",}'
    assert found.read == 8


def test_a_repeated_key_on_a_line_of_its_own() -> None:
    content = b'[{"case_id": "a"}, {"case_id": "b", "case_id"\n: "c"}]'
    assert read(content, "in.json").places == [(1, "case_id", "duplicate-key")]


def test_an_empty_array() -> None:
    found = read(b" [ \n ] ", "in.json")
    assert (found.frame.height, found.read) == (0, 0)


@pytest.mark.parametrize("size", [1, 100])
def test_batches_of_any_size(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    records = [{"case_id": f"c{i}", "answer": "]\n" * i} for i in range(50)]
    content = json.dumps(records, indent=2).encode()
    whole = read(content, "in.json")
    monkeypatch.setattr(batches, "BATCH_BYTES", size)
    cut = read(content, "in.json")
    assert len(cut.chunks) > 10
    assert cut.frame.equals(whole.frame)
    assert cut.lines == list(range(2, 202, 4))


def test_one_huge_element() -> None:
    record = {"case_id": "a", "answer": 'x["' * 1_000_000}
    assert read(json.dumps([record, record]).encode(), "in.json").rows == [record, record]


def test_an_element_of_many_tokens_is_read_in_time() -> None:
    # What stands before a token is not copied for each of them: half a minute otherwise.
    content = json.dumps([["a"] * 300_000]).encode()
    [batch] = [batch for batch in read_json_array(io.BytesIO(content), FILE) if batch.lines]
    assert batch.lines == [content[1:-1]]


def test_a_string_that_does_not_end_spares_the_records_before_it() -> None:
    whole = b'[{"a": 1},\n{"a": "x},\n{"a": 2}]'
    assert elements(whole) == [(1, b'{"a": 1}'), (2, b'{"a": "x},\n{"a": 2}')]


def test_many_quotes_in_a_string_that_does_not_end_are_looked_at_once() -> None:
    started = time.process_time()
    with pytest.raises(InputError, match="does not end"):
        elements(b'["' + b'\\"' * 30_000)
    # Each of them once more for each of them would take many times as long.
    assert time.process_time() - started < 1
