"""Prompts and example files, read as text whatever their format. Nothing is looked for here."""

from __future__ import annotations

import codecs
import glob
import hashlib
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from ragtriage.errors import InputError


@dataclass(frozen=True)
class PromptFile:
    """A file as text."""

    name: str
    text: str
    sha256: str
    size: int


@dataclass
class Prompts:
    """`files`: read. `unread`: names and why not; only of files found in a folder or by a glob."""

    files: list[PromptFile] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)


def read_prompts(arguments: tuple[str, ...], cases: Collection[str]) -> Prompts:
    """All files that the arguments name: files, folders (without hidden ones) and globs.

    Args:
        arguments: paths as given.
        cases: files that hold the cases themselves: they are passed over.

    Raises:
        InputError: a name leads nowhere, a file named as such cannot be read as text, or none can.
    """
    prompts = Prompts()
    own = {os.path.realpath(name) for name in cases}
    seen: set[str] = set()
    for name, named in _names(arguments):
        real = os.path.realpath(name)
        if real in seen:
            continue
        seen.add(real)
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")
        if real in own:
            prompts.unread.append((shown, "holds the cases themselves"))
            continue
        file, why = _read(name, shown)
        if file is not None:
            prompts.files.append(file)
        elif named:
            raise InputError(f"{shown}: {why}; give files of text with --against")
        else:
            prompts.unread.append((shown, why))
    if not prompts.files:
        told = "".join(f"\n{name}: {why}" for name, why in prompts.unread[:10])
        raise InputError(f"--against: no file could be read as text; nothing to look in{told}")
    return prompts


def _names(arguments: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Each file, and whether it was named as such."""
    for argument in arguments:
        if os.path.isdir(argument):
            yield from ((name, False) for name in _in_folder(argument))
        elif os.path.exists(argument):
            yield argument, True
        elif glob.has_magic(argument):
            found = sorted(filter(os.path.isfile, glob.glob(argument, recursive=True)))
            if not found:
                raise InputError(f"{argument}: no file matches; check the pattern")
            yield from ((name, False) for name in found)
        else:
            raise InputError(f"{argument}: no such file; check the path")


def _in_folder(folder: str) -> list[str]:
    names = []
    for parent, folders, files in os.walk(folder, onerror=_unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        names += [os.path.join(parent, name) for name in files if not name.startswith(".")]
    if not names:
        raise InputError(f"{folder}: the folder has no file; check the path")
    return sorted(names)


def _unreadable(error: OSError) -> None:
    raise InputError(f"{error.filename}: {error.strerror}; check the folder") from None


def _read(name: str, shown: str) -> tuple[PromptFile | None, str]:
    """The file, or why it is none."""
    if not os.path.isfile(name):
        return None, "not a regular file"
    try:
        with open(name, "rb") as stream:
            data = stream.read()
    except OSError as error:
        return None, error.strerror or "cannot be read"
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if not marked and b"\0" in data:
        return None, "binary, not text"
    try:
        text = data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        return None, "not UTF-8 text"
    return PromptFile(shown, text, hashlib.sha256(data).hexdigest(), len(data)), ""
