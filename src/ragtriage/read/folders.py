"""What stands in a folder of runs: each sub-folder by what it is, or the reason why it is none.

Reads manifests alone. Nothing here fails because of what one sub-folder holds.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from ragtriage.errors import InputError
from ragtriage.schemas.results import SCHEMA_VERSION

Kind = Literal["run", "comparison", "agreement", "leakage", "unfinished", "other"]

UNFINISHED = ".unfinished"
_MANIFEST = "manifest.json"
# A manifest of ten thousand inputs is a few megabytes; what is larger is something else.
_LARGEST = 1 << 26
_KINDS: dict[Any, Kind] = {
    None: "run",
    "comparison": "comparison",
    "agreement": "agreement",
    "leakage": "leakage",
}
# A comparison's name holds two run IDs; what may stand in a link needs no escape.
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_NEEDED: dict[Kind, dict[str, type]] = {
    "run": {"passed": bool, "version": str, "contract": str, "cutoffs": list, "rows": dict},
    "comparison": {"passed": bool, "base": dict, "candidate": dict, "changed": dict, "rows": dict},
    "agreement": {},
    "leakage": {},
}
_COUNTS = {"run": ("cases", "not_run"), "comparison": ("paired",), "agreement": (), "leakage": ()}


@dataclass(frozen=True)
class StoredFolder:
    """One sub-folder. `reason`: why it cannot be used as what it is, None where it can."""

    name: str
    path: Path
    kind: Kind
    reason: str | None = None
    manifest: dict[str, Any] = field(default_factory=dict)

    @property
    def started(self) -> datetime:
        """When it was written; only of a folder without a reason."""
        return moment(self.manifest["started"])


def moment(text: str) -> datetime:
    """A manifest's time stamp.

    Raises:
        ValueError: it is none, or has no offset.
    """
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError("no offset")
    return found


def stored_folders(directory: str) -> list[StoredFolder]:
    """Every sub-folder of a folder of runs, by name; unfinished runs last.

    Raises:
        InputError: there is no such folder, or it cannot be listed.
    """
    top = Path(directory)
    found = [stored_folder(top / name) for name in _names(top, directory) if name != UNFINISHED]
    try:
        unfinished = _names(top / UNFINISHED, "")
    except InputError:
        # None there, or gone while we looked.
        unfinished = []
    reason = "being written, or left by a process that died"
    return found + [
        StoredFolder(name, top / UNFINISHED / name, "unfinished", reason) for name in unfinished
    ]


def _names(top: Path, shown: str) -> list[str]:
    try:
        with os.scandir(top) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except (OSError, ValueError) as error:
        # A name with a NUL in it is no error of the system's.
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{shown}: {reason}; give the folder that runs are written to") from None


def stored_folder(path: Path) -> StoredFolder:
    """What one folder is."""
    try:
        manifest = _manifest(path / _MANIFEST)
    except _NoManifestError as error:
        return StoredFolder(path.name, path, "other", str(error))
    kind = _KINDS.get(_hashable(manifest.get("kind")), "other")
    reason = _fault(manifest, kind, path.name)
    return StoredFolder(path.name, path, kind, reason, manifest)


class _NoManifestError(Exception):
    """Why there is no manifest to read."""


def _manifest(file: Path) -> dict[str, Any]:
    try:
        if not file.is_file():
            raise _NoManifestError(f"no {_MANIFEST} in it: not a finished run")
        if file.stat().st_size > _LARGEST:
            raise _NoManifestError(f"{_MANIFEST} is too large to be a run's")
        manifest = msgspec.json.decode(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _NoManifestError(f"{_MANIFEST} cannot be read: {reason}") from None
    if not isinstance(manifest, dict) or "schema_version" not in manifest:
        raise _NoManifestError(f"{_MANIFEST} is not one of ragtriage")
    return manifest


def _hashable(kind: Any) -> Any:
    return kind if kind is None or isinstance(kind, str) else ""


def _fault(manifest: dict[str, Any], kind: Kind, name: str) -> str | None:
    """Why a manifest of ours cannot be used, the first reason that applies."""
    if kind == "other":
        return f"of a kind this program does not know: {manifest.get('kind')!r}"
    version, status = manifest["schema_version"], manifest.get("status")
    if version != SCHEMA_VERSION:
        return f"schema version {version!r}; this program reads {SCHEMA_VERSION!r}"
    if status == "refused":
        return "its input was refused: nothing was evaluated"
    if status != "complete":
        return f"its status is {status!r}, not complete"
    lacking = _lacking(manifest, kind)
    if lacking:
        return f"{_MANIFEST} lacks {', '.join(lacking)}"
    if manifest["run_id"] != name:
        return f"a copy, or renamed: {_MANIFEST} names {manifest['run_id']!r}"
    return None if _NAME.fullmatch(name) else "its name is no run ID"


def _lacking(manifest: dict[str, Any], kind: Kind) -> list[str]:
    needed = {"run_id": str, "started": str, **_NEEDED[kind]}
    lacking = [name for name, type_ in needed.items() if type(manifest.get(name)) is not type_]
    if lacking:
        return lacking
    try:
        moment(manifest["started"])
    except ValueError:
        lacking.append("a time in `started`")
    counts = [name for name in _COUNTS[kind] if type(manifest["rows"].get(name)) is not int]
    return lacking + [f"rows.{name}" for name in counts]
