"""The wheel alone, in an environment of its own, run where other `flows` and `schemas` lie."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support import CONTRACTS, ROOT

pytestmark = pytest.mark.end_to_end


LOADED = """
import sys
import ragtriage
ragtriage.evaluate("answer.jsonl", contract="answer", write=False)
print(*sorted({name.split(".")[0] for name in sys.modules}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is left in the tree."""
    copy = tmp_path_factory.mktemp("tree") / "tree"
    kept = ("src", "schemas", "flows", "pyproject.toml", "README.md", "LICENSE")
    copy.mkdir()
    for name in kept:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source,
                copy / name,
                symlinks=True,
                ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"),
            )
        else:
            shutil.copy2(source, copy / name)
    target = tmp_path_factory.mktemp("dist")
    uv = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")
    subprocess.run(
        [uv, "build", "--quiet", "--wheel", "--out-dir", str(target), str(copy)],
        check=True,
        capture_output=True,
        timeout=300,
    )
    (built,) = target.glob("*.whl")
    return built


def test_its_top_level_is_ragtriage_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"ragtriage"}
    for needed in (
        "py.typed",
        "flows/evaluate.py",
        "schemas/inputs.py",
        "publish/templates/report.html.j2",
        "publish/templates/report.css",
        "publish/templates/words.toml",
        "publish/templates/history.js",
        "publish/templates/views.sql",
    ):
        assert f"ragtriage/{needed}" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_it_runs_where_other_flows_and_schemas_lie(wheel: Path, tmp_path: Path) -> None:
    uv = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")
    environment = tmp_path / "env"
    subprocess.run([uv, "venv", "--quiet", "-p", sys.executable, str(environment)], check=True)
    subprocess.run(
        [uv, "pip", "install", "--quiet", "-p", str(environment / "bin" / "python"), str(wheel)],
        check=True,
        timeout=300,
    )
    elsewhere = tmp_path / "project"
    for name in ("flows", "schemas"):
        (elsewhere / name).mkdir(parents=True)
        (elsewhere / name / "__init__.py").write_text("raise RuntimeError('not ours')\n")
    shutil.copy2(CONTRACTS / "answer.jsonl", elsewhere)
    done = subprocess.run(
        [
            str(environment / "bin" / "ragtriage"),
            "evaluate",
            "answer.jsonl",
            "--contract",
            "answer",
        ],
        cwd=elsewhere,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(elsewhere)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "4 of 6 cases did not pass" in done.stdout
    modules = subprocess.run(
        [
            str(environment / "bin" / "python"),
            "-c",
            LOADED,
        ],
        cwd=elsewhere,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    loaded = set(modules.stdout.split())
    assert loaded.isdisjoint({"prefect", "pandas", "flows", "schemas", "jinja2", "rich"})
