"""Which files an input names, and their bytes. What the bytes mean is for the format modules."""

from __future__ import annotations

import glob
import gzip
import hashlib
import io
import os
import shlex
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from ragtriage.errors import InputError

SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}
COMPRESSED = (".gz", ".zst")


@dataclass(frozen=True)
class InputFile:
    """One file to read: `name` is how messages call it, `path` where its bytes are."""

    name: str
    path: Path
    format: str
    compression: str | None = None
    role: str = "records"
    content: bytes | None = None


def find_files(
    arguments: tuple[str, ...], role: str, spill: Path | None, otherwise: str | None = None
) -> list[InputFile]:
    """The files that the arguments name, in their order; folders and globs in name order.

    Args:
        arguments: paths, folders, globs, or `-` for standard input.
        role: records, cases, trace or corpus.
        spill: the folder where standard input is kept for the second pass; None keeps it in
            memory.
        otherwise: the format of a file whose name tells none; without it such a file is refused.

    Raises:
        InputError: nothing there, not readable by its name, a folder without such files, or a file
            is named twice.
    """
    found: list[InputFile] = []
    for argument in arguments:
        if argument == "-":
            found.append(_standard_input(role, spill))
        elif os.path.isdir(argument):
            found.extend(_in_folder(argument, role))
        elif os.path.exists(argument) or not glob.has_magic(argument):
            found.append(_one_file(argument, role, otherwise))
        else:
            found.extend(_matching(argument, role, otherwise))
    _each_once(found)
    return found


def _each_once(files: list[InputFile]) -> None:
    """Read twice, every case of a file would be a repeat of itself."""
    seen: dict[str, InputFile] = {}
    told: dict[str, None] = {}
    for file in files:
        first = seen.setdefault(os.path.realpath(file.path), file)
        if first is not file and file.content is None:
            which = "given twice" if first.name == file.name else f"the same file as {first.name}"
            told[f"{file.name}: {which}; name the file once"] = None
    if told:
        raise InputError("\n".join(told))


def format_of(name: str) -> tuple[str, str | None] | None:
    """Format and compression by the file's name, or None."""
    lowered = name.lower()
    compression = next((suffix for suffix in COMPRESSED if lowered.endswith(suffix)), None)
    stem = lowered.removesuffix(compression or "")
    known = SUFFIXES.get(os.path.splitext(stem)[1])
    if known is None or (known == "parquet" and compression):
        return None
    return known, compression


@contextmanager
def open_bytes(file: InputFile) -> Iterator[BinaryIO]:
    """The file's bytes, decompressed.

    Raises:
        InputError: it cannot be opened, or is not what its suffix says.
    """
    try:
        with _raw(file) as raw:
            yield _decompressed(raw, file)
    except zlib.error as error:
        raise InputError(
            f"{file.name}: damaged {file.compression}: {error}; copy it again"
        ) from None
    except OSError as error:
        # gzip reports damage as an OSError without an errno.
        what = error.strerror or f"damaged {file.compression or 'file'}: {error}"
        raise InputError(f"{file.name}: {what}; check the file") from None
    except EOFError:
        raise InputError(f"{file.name}: the compressed file is cut short; copy it again") from None


@dataclass(frozen=True)
class Fingerprint:
    """What a file was when it was first read."""

    sha256: str
    size: int
    modified_ns: int


def fingerprint(file: InputFile) -> Fingerprint:
    """SHA-256 and size of the file as stored (compressed files as they lie on disk)."""
    digest = hashlib.sha256()
    size = 0
    try:
        with _raw(file) as raw:
            modified = os.fstat(raw.fileno()).st_mtime_ns if file.content is None else 0
            while block := raw.read(1 << 20):
                digest.update(block)
                size += len(block)
    except OSError as error:
        raise InputError(f"{file.name}: {error.strerror}; check the file") from None
    return Fingerprint(digest.hexdigest(), size, modified)


def unchanged(file: InputFile, seen: Fingerprint) -> bool:
    """Is the file still what was fingerprinted, by size and time of change?"""
    return file.content is not None or stands(file) == (seen.size, seen.modified_ns)


def stands(file: InputFile) -> tuple[int, int] | None:
    """Size and time of the last change of a file on disk; None where there is none."""
    try:
        now = file.path.stat()
    except OSError:
        return None
    return now.st_size, now.st_mtime_ns


def _standard_input(role: str, spill: Path | None) -> InputFile:
    data = sys.stdin.buffer
    if spill is None:
        return InputFile("-", Path("-"), "jsonl", None, role, data.read())
    spill.mkdir(parents=True, exist_ok=True)
    kept = spill / f"input-{role}"
    with kept.open("wb") as target:
        while block := data.read(1 << 20):
            target.write(block)
    return InputFile("-", kept, "jsonl", None, role)


def _one_file(name: str, role: str, otherwise: str | None = None) -> InputFile:
    if not os.path.exists(name):
        raise InputError(f"{name}: no such file; check the path")
    if not os.path.isfile(name):
        raise InputError(f"{name}: not a regular file; give a file, a folder or a glob")
    known = format_of(name)
    if known is None and otherwise is not None:
        known = otherwise, next((s for s in COMPRESSED if name.lower().endswith(s)), None)
    if known is None:
        endings = ", ".join(SUFFIXES)
        raise InputError(
            f"{name}: cannot tell the format by the name; use one of {endings} (JSON and CSV also "
            f".gz or .zst), or a preset: ragtriage inspect {shlex.quote(name)} says which"
        )
    shown = os.fsencode(name).decode("utf-8", "backslashreplace")
    return InputFile(shown, Path(name), *known, role)


def _in_folder(folder: str, role: str) -> list[InputFile]:
    names = sorted(
        os.path.join(parent, name)
        for parent, folders, files in os.walk(folder, onerror=_unreadable)
        for name in files
        if format_of(name) and not _hidden(os.path.relpath(os.path.join(parent, name), folder))
    )
    if not names:
        raise InputError(f"{folder}: the folder has no file we can read ({', '.join(SUFFIXES)})")
    return [_one_file(name, role) for name in names]


def _unreadable(error: OSError) -> None:
    raise InputError(f"{error.filename}: {error.strerror}; check the folder") from None


def _hidden(relative: str) -> bool:
    return any(part.startswith(".") for part in Path(relative).parts)


def _matching(pattern: str, role: str, otherwise: str | None) -> list[InputFile]:
    names = sorted(name for name in glob.glob(pattern, recursive=True) if os.path.isfile(name))
    if not names:
        raise InputError(f"{pattern}: no file matches; check the pattern")
    return [_one_file(name, role, otherwise) for name in names]


@contextmanager
def _raw(file: InputFile) -> Iterator[BinaryIO]:
    if file.content is not None:
        yield io.BytesIO(file.content)
        return
    with file.path.open("rb") as raw:
        yield raw


def _decompressed(raw: BinaryIO, file: InputFile) -> BinaryIO:
    if file.compression == ".gz":
        return cast("BinaryIO", io.BufferedReader(gzip.GzipFile(fileobj=raw)))
    if file.compression == ".zst":
        return cast("BinaryIO", io.BufferedReader(_Zstandard(raw), 1 << 16))
    return raw


class _Zstandard(io.RawIOBase):
    """Decompresses one frame after another; unlike zstandard's own reader it minds a cut."""

    # A few compressed bytes may stand for very many: little at a time bounds the memory.
    _TAKEN = 1 << 10

    def __init__(self, raw: BinaryIO) -> None:
        import zstandard  # noqa: PLC0415 - only for files that need it

        self._raw = raw
        self._zstandard = zstandard
        self._frame: Any = None
        self._compressed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if not self._compressed:
                self._compressed = self._raw.read(self._TAKEN)
            if not self._compressed:
                if self._frame is not None:
                    raise EOFError
                return 0
            self._ready = memoryview(self._decompress())
        taken = min(len(buffer), len(self._ready))
        buffer[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken

    def _decompress(self) -> bytes:
        if self._frame is None:
            self._frame = self._zstandard.ZstdDecompressor().decompressobj()
        try:
            data: bytes = self._frame.decompress(self._compressed)
        except self._zstandard.ZstdError as error:
            raise OSError(str(error)) from None
        self._compressed = b""
        if self._frame.eof:
            self._compressed = self._frame.unused_data
            self._frame = None
        return data
