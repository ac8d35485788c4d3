"""Hashes that shards keep on disk."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from ragtriage.read.repeats import holders, repeated, write_hashes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/dev/full")


@pytest.fixture
def few_files() -> Iterator[None]:
    """At most twenty more files may be open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(1)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 20, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("few_files")
def test_more_shards_than_files_may_be_open(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.npy" for number in range(50)]
    for number, file in enumerate(files):
        write_hashes(file, [pl.Series([number, 1000 + number % 49], dtype=pl.UInt64)])
    wanted = repeated(files)
    assert wanted.to_list() == [1000]
    assert [i for i, holds in enumerate(holders(files, wanted)) if holds] == [0, 49]


def test_a_full_disk_is_noticed() -> None:
    with pytest.raises(OSError, match="No space left"):
        write_hashes(Path("/dev/full"), [pl.Series([1], dtype=pl.UInt64)])
