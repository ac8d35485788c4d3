"""The wheel, built from a copy of the tree, and environments of its own to install it in."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support import ROOT

_KEPT = ("src", "schemas", "flows", "pyproject.toml", "README.md", "LICENSE")
_UV = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")


def build(target: Path) -> Path:
    """The wheel, in this folder; nothing is left in the tree."""
    with tempfile.TemporaryDirectory() as top:
        copy = Path(top) / "tree"
        copy.mkdir()
        for name in _KEPT:
            _copy(ROOT / name, copy / name)
        subprocess.run(
            [_UV, "build", "--quiet", "--wheel", "--out-dir", str(target), str(copy)],
            check=True,
            capture_output=True,
            timeout=300,
        )
    (built,) = target.glob("*.whl")
    return built


def install(what: str, environment: Path) -> None:
    """A new environment with this in it, a wheel with or without extras."""
    python = environment / "bin" / "python"
    subprocess.run([_UV, "venv", "--quiet", "-p", sys.executable, str(environment)], check=True)
    subprocess.run(
        [_UV, "pip", "install", "--quiet", "-p", str(python), what], check=True, timeout=300
    )


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        left = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(source, target, symlinks=True, ignore=left)
    else:
        shutil.copy2(source, target)
