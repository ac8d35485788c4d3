"""Whose runs lie in run files: a system a file, or a tag where a topic has rows of several."""

from __future__ import annotations

import os
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ragtriage.read.files import COMPRESSED, InputFile, open_bytes
from ragtriage.read.trec.columns import BLOCK_BYTES, read_blocks
from ragtriage.read.trec.reading import RUN


class System(NamedTuple):
    """A system's name and where its rows are: a file, and in it those of a tag (None: all)."""

    name: str
    file: InputFile
    tag: str | None


def systems_in(files: list[InputFile]) -> list[System]:
    """The systems whose runs the files hold, each under a name of its own.

    A system is called by its tag, or where another file has that tag too by its file's name.
    """
    found = [(file, tags_in(file)) for file in files]
    named = Counter(tag for _, tags in found for tag in tags)
    stems = Counter(_stem(file) for file in files)
    systems = []
    for file, tags in found:
        stem = _stem(file) if stems[_stem(file)] == 1 else file.name
        if not tags:
            systems.append(System(stem, file, None))
        for tag in tags:
            own = tag if named[tag] == 1 else stem if len(tags) == 1 else f"{stem}:{tag}"
            systems.append(System(own, file, tag if len(tags) > 1 else None))
    return systems


def tags_in(file: InputFile) -> tuple[str, ...]:
    """The tags that are systems' names: several only where a topic has rows of several."""
    if file.content is not None:
        return _tags(file)
    status = os.stat(file.path)
    return _remembered(file, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _remembered(file: InputFile, _size: int, _modified: int) -> tuple[str, ...]:
    # One command asks more than once, and a file can be long.
    return _tags(file)


def _tags(file: InputFile) -> tuple[str, ...]:
    first = _only_tag(file)
    if first is not None:
        return (first,)
    with open_bytes(file) as stream:
        pairs = [
            block.frame.select("topic", "tag").unique(maintain_order=True)
            for block in read_blocks(stream, file, RUN)
        ]
    if not pairs:
        return ()
    known = pl.concat(pairs).unique(maintain_order=True)
    tags = tuple(known["tag"].unique(maintain_order=True))
    if len(tags) > 1 and not known["topic"].is_duplicated().any():
        return ()
    return tags


def _only_tag(file: InputFile) -> str | None:
    """The tag that ends every line, where that can be seen without cutting the lines up."""
    with open_bytes(file) as stream:
        head = stream.readline()
        cells = head.split()
        if len(cells) != len(RUN.columns) or not head.endswith(cells[-1] + b"\n"):
            return None
        end = head[len(head) - len(cells[-1]) - 2 :]
        rest = b""
        while block := stream.read(BLOCK_BYTES):
            block = rest + block
            cut = block.rfind(b"\n") + 1
            if block.count(end, 0, cut) != block.count(b"\n", 0, cut):
                return None
            rest = block[cut:]
    if rest and not rest.endswith(end[:-1]):
        return None
    try:
        return cells[-1].decode()
    except UnicodeDecodeError:
        return None


def _stem(file: InputFile) -> str:
    name = Path(file.name).name
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    return Path(name).stem or name
