"""A list of records within one JSON document, reached without holding the document."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import BinaryIO

from ragtriage.errors import InputError
from ragtriage.read.batches import Batch, skip_bom
from ragtriage.read.files import InputFile
from ragtriage.read.json_array import read_json_array

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|"|[\[\]{}:]', re.DOTALL)
_BLOCK = 1 << 20


def read_nested(stream: BinaryIO, file: InputFile, paths: tuple[str, ...]) -> Iterator[Batch]:
    """Batches of the elements of the first list at one of `paths`, each at its own line.

    Raises:
        InputError: there is no such list.
    """
    data = skip_bom(stream.read(4), file)
    while True:
        block = stream.read(max(_BLOCK, len(data)))
        data += block
        found = _list_at(data, paths)
        if found is not None:
            break
        if not block:
            named = " or ".join(f"`{path}`" for path in paths)
            raise InputError(
                f"{file.name}: record: no list at {named}; is this the right preset? "
                "`ragtriage inspect` says what fits [not-an-object]"
            )
    rest = _Rest(data[found:], stream)
    yield from read_json_array(rest, file, first_line=1 + data.count(b"\n", 0, found), inner=True)


def _list_at(data: bytes, paths: tuple[str, ...]) -> int | None:
    """Where the list begins, as far as the text goes."""
    keys: list[str | None] = []
    text = b""
    for token in _TOKEN.finditer(data):
        mark = token.group()
        if mark == b'"':
            return None  # a string that goes on behind the text
        if mark[:1] == b'"':
            text = mark
        elif mark == b":":
            keys[-1:] = [_name(text)]
        elif mark in b"[{":
            # The document itself, and the items of lists, have no key.
            here = None if None in keys else ".".join(key or "" for key in keys)
            if mark == b"[" and here in paths:
                return token.start()
            keys.append(None)
        else:
            keys = keys[:-1]
    return None


def _name(text: bytes) -> str | None:
    try:
        name = json.loads(text)
    except ValueError:
        return None
    return name if isinstance(name, str) else None


class _Rest(io.RawIOBase):
    """What was read already, then the rest of the stream."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        if not self._head:
            return self._stream.read(size)
        taken = self._head if size < 0 else self._head[:size]
        self._head = self._head[len(taken) :]
        return taken
