"""A JSON array of records, cut into its elements without holding the whole file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from ragtriage.errors import InputError
from ragtriage.read.batches import WHITE, Batch, BatchBuilder, skip_bom
from ragtriage.read.files import InputFile


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+("?)|[\[\]{},]', re.DOTALL)
_MARK = re.compile(rb"[\[\]{},]")
_OPEN, _CLOSE = b"[{", b"]}"


def read_json_array(
    stream: _Readable, file: InputFile, *, first_line: int = 1, inner: bool = False
) -> Iterator[Batch]:
    """Batches of the array's elements, each at the line where it starts.

    `inner`: the array is part of a document, which goes on behind it.

    Raises:
        InputError: the file is not one JSON array.
    """
    cutter = _Cutter(file, first_line, inner=inner)
    builder = BatchBuilder(with_raws=False)
    data = skip_bom(stream.read(4), file)
    block = stream.read(1 << 20)
    while block or data:
        elements, data = cutter.cut(data + block, last=not block)
        for line, element in elements:
            builder.add(element, line, element)
            if builder.full:
                yield builder.take()
        if not block or cutter.done:
            break
        # An element is looked at from its start each time: take more the longer it gets.
        block = stream.read(max(1 << 20, len(data)))
    cutter.finish()
    yield builder.take()


class _Cutter:
    """Follows brackets and strings; knows nothing else of JSON."""

    def __init__(self, file: InputFile, line: int, *, inner: bool) -> None:
        self._file = file
        self._inner = inner
        self._depth = 0
        self._line = line
        self._started = False
        self._ended = False
        self._after_comma = False

    @property
    def done(self) -> bool:
        """Is all there is to be read of an inner array read?"""
        return self._inner and self._ended

    def cut(self, data: bytes, *, last: bool) -> tuple[list[tuple[int, bytes]], bytes]:
        """The elements that end in `data`, and the rest to be seen again with what follows."""
        elements: list[tuple[int, bytes]] = []
        start, unclosed = self._follow(_TOKEN.finditer(data), data, 0, elements)
        if last and unclosed is not None:
            # No string can begin behind a quote that none closes.
            start, _ = self._follow(_MARK.finditer(data, unclosed), data, start, elements)
        rest = data[start:]
        if self._ended:
            if not self._inner and rest.strip(WHITE):
                self._refuse("there is text after the array")
            return elements, b""
        # Brackets inside an unfinished element are met again with the rest of it.
        self._depth = 1 if self._started else 0
        return elements, rest

    def _follow(
        self,
        tokens: Iterator[re.Match[bytes]],
        data: bytes,
        start: int,
        elements: list[tuple[int, bytes]],
    ) -> tuple[int, int | None]:
        """Where what is not dealt with begins, and a string that does not end."""
        for token in tokens:
            if self.done:
                break
            mark = token.group()[:1]
            if mark == b'"':
                if not token[1]:
                    return start, token.start()
            elif self._ends_something(mark, data, start, token.start(), elements):
                start = token.end()
        return start, None

    def _ends_something(
        self, mark: bytes, data: bytes, start: int, end: int, elements: list[tuple[int, bytes]]
    ) -> bool:
        """Follow one bracket or comma; True where what stands before it is dealt with."""
        if self._ended:
            self._refuse("there is text after the array")
        if mark in _OPEN:
            self._depth += 1
            if self._depth > 1:
                return False
            self._begin(data[start:end], mark)
            return True
        if mark in _CLOSE:
            self._depth -= 1
            if self._depth > 0:
                return False
            if mark != b"]":
                self._refuse("the array is closed by the wrong bracket")
            self._element(data[start:end], elements, closing=True)
            self._ended = True
            return True
        if self._depth > 1:
            return False
        self._element(data[start:end], elements, closing=False)
        self._after_comma = True
        return True

    def finish(self) -> None:
        """All is read: the array must have ended."""
        if not self._started:
            self._refuse("the file is empty or holds no array")
        if not self._ended:
            self._refuse("the array does not end")

    def _begin(self, before: bytes, mark: bytes) -> None:
        if before.strip(WHITE) or mark != b"[":
            self._refuse("the file is not a JSON array of records (for one record a line: .jsonl)")
        self._line += before.count(b"\n")
        self._started = True

    def _element(self, text: bytes, elements: list[tuple[int, bytes]], *, closing: bool) -> None:
        body = text.strip(WHITE)
        if body or not closing or self._after_comma:
            lead = text[: len(text) - len(text.lstrip(WHITE))]
            elements.append((self._line + lead.count(b"\n"), body))
        self._line += text.count(b"\n")

    def _refuse(self, why: str) -> None:
        raise InputError(
            f"{self._file.name}:{self._line}: record: {why}; give one JSON array [json-syntax]"
        )
