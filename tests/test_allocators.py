"""Freed pages stay at hand: what is taken again is not asked of the system once more."""

from __future__ import annotations

import subprocess
import sys

import pytest

_TAKE_AND_FREE = """
import os, resource, sys
if sys.argv[1] == "kept":
    from ragtriage.allocators import keep_freed_pages
    keep_freed_pages("evaluate")
import numpy as np
def take():
    several = [np.ones(1_500_000) for _ in range(3)]
take()
take()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    take()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(os.environ.get("_RJEM_MALLOC_CONF", ""))
"""


def _told(how: str) -> list[str]:
    command = [sys.executable, "-c", _TAKE_AND_FREE, how]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the GNU C library")
def test_arrays_take_the_pages_of_the_last_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("_RJEM_MALLOC_CONF", raising=False)
    left_alone, kept = _told("alone"), _told("kept")
    # Ten times 36 MB are 88,000 pages; left alone, large pages may be what is given.
    assert int(kept[0]) < int(left_alone[0]) / 10
    assert left_alone[1] == ""
    assert kept[1].startswith("dirty_decay_ms:5000,")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the GNU C library")
@pytest.mark.parametrize("name", ["MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"])
def test_limits_that_the_user_chose_stay(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    kept = int(_told("kept")[0])
    monkeypatch.setenv(name, "200000")
    assert int(_told("kept")[0]) > 10 * kept


def test_what_the_user_chose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_RJEM_MALLOC_CONF", "dirty_decay_ms:1")
    assert _told("kept")[1] == "dirty_decay_ms:1"
