"""The wheel alone, in an environment of its own, run where other `flows` and `schemas` lie."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.end_to_end.wheels import build, install
from tests.support import CONTRACTS

pytestmark = pytest.mark.end_to_end


LOADED = """
import sys
import ragtriage
ragtriage.evaluate("answer.jsonl", contract="answer", write=False)
print(*sorted({name.split(".")[0] for name in sys.modules}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dist"))


def test_its_top_level_is_ragtriage_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"ragtriage"}
    for needed in (
        "py.typed",
        "dashboard/app.py",
        "flows/evaluate.py",
        "schemas/inputs.py",
        "publish/templates/page.css",
        "publish/templates/report.css",
        "publish/templates/words.toml",
        "publish/templates/history.js",
        "publish/templates/views.sql",
    ):
        assert f"ragtriage/{needed}" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_it_runs_where_other_flows_and_schemas_lie(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "env"
    install(str(wheel), environment)
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
