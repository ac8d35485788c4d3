"""What tests of presets share: a small file of each layout and what it must come to."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from tests.support import Record, lines_of


@dataclass(frozen=True)
class Example:
    """Files of one layout, how they are given, and what they must come to.

    `arguments`: of `convert` and `evaluate`; a name in `files`, or of their
    folder, stands for that file. `expected`:
    our records, in order. `rejected`: (line, field, part of the reason) of each record set aside.
    `known_by`: the file that `inspect` must recognise.
    """

    files: Mapping[str, bytes]
    arguments: tuple[str, ...]
    expected: list[Record]
    rejected: list[tuple[int, str, str]] = field(default_factory=list)
    known_by: str = ""

    def given(self, folder: Path) -> list[str]:
        """The files written, and the arguments with their paths."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        known = {*self.files, *(name.split("/")[0] for name in self.files)}
        return [str(folder / a) if a in known else a for a in self.arguments]


def asked(question: str) -> str:
    """The ID that is made from a question."""
    return "q-" + hashlib.sha256(question.encode()).hexdigest()[:16]


def jsonl(*records: Any) -> bytes:
    return lines_of(records).encode()


def as_json(value: Any) -> bytes:
    return json.dumps(value, indent=1, ensure_ascii=False).encode()


def parquet(rows: list[Record], **schema: Any) -> bytes:
    stored = io.BytesIO()
    pl.DataFrame(rows, schema=schema or None).write_parquet(stored)
    return stored.getvalue()
