"""Where a report says to find what it leaves out: a file, if any was written."""

from __future__ import annotations


def kept(file: str, *, written: bool) -> str:
    """` in pairs.parquet`; where nothing was written, that the rest is left out."""
    return f" in {file}" if written else " left out"
