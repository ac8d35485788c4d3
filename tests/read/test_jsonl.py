"""Lines however they are cut, ended and compressed."""

from __future__ import annotations

import gzip
import io
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.errors import InputError
from ragtriage.read import batches
from ragtriage.read.files import InputFile
from ragtriage.read.jsonl import batch_bytes, block_bounds, read_jsonl
from ragtriage.read.sources import sources_for
from ragtriage.request import build_request
from tests.read.mutations import files
from tests.read.support import Read, examples, gathered, read
from tests.support import Writer

SIZES = ((16 << 20, 100_000), (1, 100_000), (37, 100_000), (16 << 20, 1), (50, 2))
TEN = b"".join(b'{"case_id":"c%d"}\n' % i for i in range(10))


def outcome(found: Read) -> tuple[object, ...]:
    rows = [] if found.frame.is_empty() else found.frame.rows(named=True)
    return rows, found.faults, found.read, found.blank


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 33])
def test_records_decoded_piece_by_piece_stay_in_order(count: int) -> None:
    lines = [b'{"case_id":"c%d","weight":%d}' % (i, i + 1) for i in range(count)]
    found = read(b"\n".join(lines)).frame
    assert found["case_id"].to_list() == [f"c{i}" for i in range(count)]
    assert found["weight"].to_list() == list(range(1, count + 1))


@pytest.mark.thorough
def test_batches_of_any_size_read_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    @examples(20)
    @given(files(max_lines=12))
    def agree(content: bytes) -> None:
        results = []
        for size, number in SIZES:
            monkeypatch.setattr(batches, "BATCH_BYTES", size)
            monkeypatch.setattr(batches, "BATCH_RECORDS", number)
            results.append(outcome(read(content)))
        assert all(result == results[0] for result in results)

    agree()


@examples(60)
@given(
    st.lists(st.sampled_from((b"a", b"bb", b"", b"\r")), max_size=12),
    st.booleans(),
    st.sampled_from((None, ".gz")),
)
def test_every_line_is_in_one_batch_under_its_own_number(
    lines: list[bytes], ended: bool, compression: str | None
) -> None:
    content = b"\n".join(lines) + (b"\n" if ended else b"")
    expected = content.split(b"\n")
    if not expected[-1]:
        expected.pop()
    for size, number in SIZES:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(batches, "BATCH_BYTES", size)
            patch.setattr(batches, "BATCH_RECORDS", number)
            file = InputFile("f", Path("f"), "jsonl", compression)
            found = list(read_jsonl(io.BytesIO(content), file))
        numbered = {n: line for b in found for n, line in zip(b.numbers, b.lines, strict=True)}
        assert numbered == {i: line for i, line in enumerate(expected, 1) if line.strip()}
        assert sum(batch.blank for batch in found) == len(expected) - len(numbered)
        assert sum(batch.physical_lines for batch in found) == len(expected)  # type: ignore[attr-defined]
        assert all(len(batch.lines) + batch.blank <= number for batch in found)


@pytest.mark.parametrize(
    ("size", "step", "count"),
    [
        (0, 100, 0),
        (99, 100, 1),
        (200, 100, 2),
        (201, 51, 4),
        (686, 86, 8),
        (700, 88, 8),
        (800, 100, 8),
        (2_300, 96, 24),
        (2_401, 100, 24),
        (9_999, 100, 99),
    ],
)
def test_a_few_batches_are_an_even_number(
    size: int, step: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "BATCH_BYTES", 100)
    assert batch_bytes(size) == step
    stream = io.BytesIO(b"\n" * size)
    found = [batch.block for batch in read_jsonl(stream, InputFile("f", Path("f"), "jsonl"))]
    assert len(found) == count
    # A block ends with what is left of its last line: here with one more line break.
    bounds = block_bounds(stream, InputFile("f", Path("f"), "jsonl"))
    assert [len(block) for block in found if block] == [
        stop - start for start, stop in itertools.pairwise(bounds)
    ]


def test_a_line_longer_than_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_BYTES", 100)
    long = b'{"case_id":"long","answer":"%s"}\n' % (b"x" * 10_000)
    found = read(TEN + long + TEN.replace(b':"c', b':"d'))
    assert found.lines == list(range(1, 22))
    assert found.rows[10] == {"case_id": "long", "answer": "x" * 10_000}


ENDS = {
    "no-final-newline": TEN.rstrip(b"\n"),
    "crlf": TEN.replace(b"\n", b"\r\n"),
    "bom": b"\xef\xbb\xbf" + TEN,
    "bom-crlf": b"\xef\xbb\xbf" + TEN.replace(b"\n", b"\r\n"),
    "spaces-around": TEN.replace(b"\n", b" \t\n \t"),
}


@pytest.mark.parametrize("kind", ENDS)
def test_ends_of_lines(kind: str) -> None:
    found = read(ENDS[kind])
    assert found.lines == list(range(1, 11))
    assert [row["case_id"] for row in found.rows] == [f"c{i}" for i in range(10)]
    assert found.read - found.blank == 10


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"\n\r\n \t\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"]
)
def test_nothing_there(content: bytes) -> None:
    found = read(content)
    assert found.frame.is_empty()
    assert found.read == found.blank == content.count(b"\n")


def test_blank_lines_are_counted_and_keep_their_numbers() -> None:
    found = read(b'\n{"case_id":"a"}\n\n \r\n{"case_id":"b"}\n\t')
    assert (found.lines, found.read, found.blank) == ([2, 5], 6, 4)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "utf-32-be"])
def test_other_encodings(encoding: str) -> None:
    content = TEN.decode().encode(encoding)
    if encoding in ("utf-16", "utf-32"):
        named = rf"in\.jsonl:1: encoding: the file is {encoding.upper()}; save it as UTF-8"
        with pytest.raises(InputError, match=named):
            read(content)
    else:
        assert read(content).frame.is_empty()


def zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstd}


@pytest.fixture
def packed(written: Writer) -> Callable[[bytes, str], Read]:
    def read_packed(content: bytes, suffix: str) -> Read:
        path = written(content, f"in.jsonl{suffix}")
        return gathered(sources_for((str(path),), "records", build_request({}), None)[0])

    return read_packed


@pytest.mark.parametrize("suffix", PACKERS)
def test_one_or_more_compressed_members(packed: Callable[[bytes, str], Read], suffix: str) -> None:
    pack = PACKERS[suffix]
    # A record may begin in one member and end in the next.
    content = pack(TEN[:25]) + pack(b"") + pack(TEN[25:])
    assert packed(content, suffix).lines == list(range(1, 11))
    assert packed(pack(b""), suffix).frame.is_empty()


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_compressed_file_cut_anywhere_is_refused(
    packed: Callable[[bytes, str], Read], suffix: str
) -> None:
    content = PACKERS[suffix](TEN * 20)
    for end in range(1, len(content)):
        with pytest.raises(
            InputError, match=r"in\.jsonl\.\w+: .*(cut short; copy it again|damaged)"
        ):
            packed(content[:end], suffix)


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_damaged_byte_is_told_or_harmless(
    packed: Callable[[bytes, str], Read], suffix: str
) -> None:
    content = PACKERS[suffix](TEN * 20)
    sound = outcome(packed(content, suffix))
    refused = 0
    for at in range(len(content)):
        damaged = bytearray(content)
        damaged[at] ^= 0xFF
        try:
            assert outcome(packed(bytes(damaged), suffix)) == sound
        except InputError:
            refused += 1
    assert refused > len(content) // 2


@pytest.mark.parametrize("suffix", PACKERS)
def test_what_is_not_compressed_at_all(packed: Callable[[bytes, str], Read], suffix: str) -> None:
    for content in (TEN, PACKERS[suffix](TEN) + b"junk"):
        with pytest.raises(InputError, match=rf"damaged \{suffix}: .*; check the file"):
            packed(content, suffix)


def test_a_frame_that_swells_is_read_in_pieces(packed: Callable[[bytes, str], Read]) -> None:
    line = b'{"case_id":"a","answer":"' + b"x" * (8 << 20) + b'"}\n'
    found = packed(zstd(line), ".zst")
    assert len(found.frame["answer"][0]) == 8 << 20
