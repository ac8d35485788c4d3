"""A finished run's manifest: whether the folder holds a run that we can read, and its entries.

The tables beside it are `run_tables`' matter.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ragtriage.errors import InputError
from ragtriage.read.folders import UNFINISHED
from ragtriage.request_parts import RUN_ID
from ragtriage.schemas.results import SCHEMA_VERSION

_FILE = "manifest.json"


def read_manifest(path: str) -> dict[str, Any]:
    """The manifest of the finished run in a folder.

    Raises:
        InputError: there is no such folder, or it holds no finished run of this schema version.
    """
    try:
        manifest = _manifest(Path(path), path)
    except PermissionError as error:
        raise InputError(f"{path}: cannot be opened: {error.strerror}; check permissions") from None
    _check(manifest, path)
    return manifest


def run_within(folder: Path) -> Path | None:
    """The first finished run in a folder that is none itself, if it holds runs."""
    if not folder.is_dir() or (folder / _FILE).exists() or (folder / "cases").exists():
        return None
    try:
        inner = sorted(folder.iterdir())
    except OSError:
        return None
    return next(
        (run for run in inner if (run / _FILE).is_file() and (run / "cases").is_dir()), None
    )


def _manifest(folder: Path, path: str) -> dict[str, Any]:
    if not folder.exists():
        raise InputError(f"{path}: no such run; give a finished run's folder")
    if not folder.is_dir():
        raise InputError(f"{path}: not a run; give a finished run's folder, DIR/<run_id>")
    file = folder / _FILE
    if inner := run_within(folder):
        raise InputError(f"{path}: a folder of runs, not a run; name one, for example {inner}")
    if UNFINISHED in folder.absolute().parts or not file.is_file():
        raise InputError(f"{path}: not a finished run: it has no manifest.json that is in force")
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except PermissionError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: cannot be read as a manifest: {error}") from None
    if not isinstance(manifest, dict):
        raise InputError(f"{file}: not a run's manifest")
    return manifest


def _check(manifest: dict[str, Any], path: str) -> None:
    if manifest.get("kind") == "comparison":
        raise InputError(f"{path}: a comparison of two runs, not a run")
    version = manifest.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(
            f"{path}: schema version {version!r}; this program reads {SCHEMA_VERSION!r}; "
            "evaluate its input again"
        )
    if manifest.get("status") != "complete":
        raise InputError(
            f"{path}: the run is {manifest.get('status')!r}, not complete: nothing was evaluated"
        )
    lacking = [name for name, holds in _NEEDED.items() if not holds(manifest.get(name))]
    if lacking:
        raise InputError(f"{path}: manifest.json lacks {', '.join(lacking)}: not a run of ours")
    if not RUN_ID.fullmatch(str(manifest["run_id"])):
        raise InputError(f"{path}: manifest.json: {manifest['run_id']!r} names no run of ours")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_config(value: Any) -> bool:
    return _is_table(value) and _list_of(_is_text)(value.get("slice") or [])


def _is_rows(value: Any) -> bool:
    return _is_table(value) and all(_is_count(value.get(name)) for name in ("cases", "not_run"))


def _list_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(holds(item) for item in value)


# Every entry that is relied on, and what it must be.
_NEEDED: dict[str, Callable[[Any], bool]] = {
    "run_id": _is_text,
    "contract": _is_text,
    "cutoffs": _list_of(_is_count),
    "normalizer": _is_text,
    "config": _is_config,
    "about": _is_table,
    "fields": _list_of(_is_text),
    "inputs": _list_of(_is_table),
    "rows": _is_rows,
}
