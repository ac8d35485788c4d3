"""Where a comparison may be written: beside runs, never within one, nor over another comparison."""

from __future__ import annotations

import json
from pathlib import Path

from ragtriage.errors import UsageError
from ragtriage.read.runs import looks_like_run


def check_place(out: str, sides: tuple[str, str]) -> None:
    """A finished run's folder is never written to, not even beside its files.

    Raises:
        UsageError: `out` lies within one of the sides.
    """
    place = Path(out).resolve()
    for run in filter(looks_like_run, sides):
        if place.is_relative_to(Path(run).resolve()):
            raise UsageError(f"--out: {out} lies within {run}, a run; choose another")


def check_same_two(path: Path, two: tuple[str, str]) -> None:
    """Only these two may be compared again: `a-b` with `c` has the folder of `a` with `b-c`.

    Raises:
        UsageError: the folder holds the comparison of two others.
    """
    others = _compared_in(path)
    if others is not None and others != two:
        raise UsageError(f"--out: {path} compares {' and '.join(others)}; choose another")


def _compared_in(folder: Path) -> tuple[str, str] | None:
    """The two runs whose comparison a folder holds; None where it holds none that can be read."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return str(manifest["base"]["run_id"]), str(manifest["candidate"]["run_id"])
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return None
