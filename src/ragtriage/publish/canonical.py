"""Cases as our own JSON lines: what `convert` writes. The file appears whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec
import polars as pl

from ragtriage.errors import UsageError
from ragtriage.read.files import format_of
from ragtriage.schemas.inputs import CASE_FIELDS, EVIDENCE_FIELDS

# Where null is a value: a silence, or a list that was not observed on this row.
_ALWAYS = ("case_id", "answer", *EVIDENCE_FIELDS)


@contextmanager
def canonical_file(path: str, *, replace: bool) -> Iterator[BinaryIO]:
    """A file to write, which takes its name only once everything is in it.

    Raises:
        UsageError: its name says that it is no JSON lines, it is there already and may not be
            replaced, or cannot be written.
    """
    target = Path(path)
    if format_of(target.name) not in (None, ("jsonl", None)):
        raise UsageError(f"--out: {path}: what is written is JSON lines; name it .jsonl")
    if target.exists() and not replace:
        raise UsageError(f"--out: {path} exists already; choose another name, or pass --force")
    if target.exists() and not target.is_file():
        # The file takes the name of what is there: of a device or folder nothing would be left.
        raise UsageError(f"--out: {path}: not a regular file; choose another name")
    try:
        handle, unfinished = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    except OSError as error:
        raise UsageError(f"--out: {path}: {error.strerror}; choose another place") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(unfinished, 0o666 & ~mask)
        os.replace(unfinished, target)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise


def write_cases(cases: pl.DataFrame, fields: set[str], stream: BinaryIO) -> None:
    """A record for each case, with the fields that the input supplies."""
    names = [name for name in CASE_FIELDS if name in fields]
    for row in cases.select(*names, "none_given").iter_rows(named=True):
        # Source and answer given as null say so in scalars only; lists need the label itself.
        if row.pop("none_given") and row.get("answerable") is None:
            row["answerable"] = False
        record = {n: v for n, v in row.items() if v is not None or n in _ALWAYS}
        stream.write(msgspec.json.encode(record) + b"\n")
