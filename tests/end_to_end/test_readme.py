"""Every command of the README, run as a stranger would: in a copy, with an empty home."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+(?: \w+)?)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = BLOCK.findall(README)
SHELL = [text for language, text in BLOCKS if language == "sh"]
PYTHON = [text for language, text in BLOCKS if language == "python"]

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tracked files alone, with this environment standing in for the one `make` builds."""
    copy = tmp_path_factory.mktemp("checkout")
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in tracked.stdout.decode().split("\0"):
        source = ROOT / name
        if name and source.exists():
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    (copy / ".venv").symlink_to(Path(sys.prefix))
    return copy


def sh(checkout: Path, script: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C"}
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )


def test_the_first_block_is_the_two_commands() -> None:
    assert BLOCKS[0] == ("sh", "make demo\nmake test\n")


def test_the_demo_prints_what_the_readme_shows(checkout: Path, tmp_path: Path) -> None:
    done = sh(checkout, "touch .venv/.ready; make demo", tmp_path)
    assert done.returncode == 0, done.stderr
    shown = next(text for language, text in BLOCKS if language == "text")
    body, _, last = shown.partition("…\n")
    assert body.strip() in done.stdout
    assert re.fullmatch(r"report: reports/\d{8}T\d{6}Z-[0-9a-f]{8}/report\.html\n", last)
    report = done.stderr.strip().splitlines()[-1].removeprefix("report: ")
    assert (checkout / report).read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_other_commands_in_order(checkout: Path, tmp_path: Path) -> None:
    for script in SHELL[1:]:
        done = sh(checkout, script, tmp_path)
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
    refused = next(text for language, text in BLOCKS if language == "text" and "[id-wh" in text)
    done = sh(checkout, next(s for s in SHELL if "id-whitespace" in s), tmp_path)
    assert (done.stderr + done.stdout).strip() == refused.strip()


@pytest.mark.parametrize("title", ["Claims, reviewers and judges", "Splits that do not leak"])
def test_a_section_prints_what_it_shows(checkout: Path, tmp_path: Path, title: str) -> None:
    section = README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    blocks = BLOCK.findall(section)
    shown = [
        (script, excerpt)
        for (language, script), (after, excerpt) in pairwise(blocks)
        if (language, after) == ("sh", "text")
    ]
    assert len(shown) >= 2
    for script, excerpt in shown:
        done = sh(checkout, script, tmp_path)
        assert done.returncode == 0, done.stderr
        for piece in excerpt.split("…\n"):
            assert piece in done.stdout, piece


def test_the_comparison_prints_what_the_readme_shows(checkout: Path, tmp_path: Path) -> None:
    script = next(s for s in SHELL if "ragtriage compare" in s)
    done = sh(checkout, "rm -rf reports; " + script, tmp_path)
    assert done.returncode == 0, done.stderr
    shown = next(text for language, text in BLOCKS if language == "text" and "regressed" in text)
    assert shown.partition("…\n")[0].strip() in done.stdout
    assert "exit code 1" in done.stdout
    table = (checkout / "reports" / "compare-base-candidate" / "report.md").read_text("utf-8")
    assert "`context_recall` | 0.692 | 0.744" in table


def test_the_ci_section_tells_the_truth(checkout: Path, tmp_path: Path) -> None:
    section = README.partition("\n## A CI gate\n")[2].partition("\n## ")[0]
    gate, explain = (text for language, text in BLOCK.findall(section) if language == "sh")
    shown = next(text for language, text in BLOCK.findall(section) if language == "text")
    done = sh(checkout, "rm -rf reports/ci; " + gate + explain, tmp_path)
    assert done.returncode == 0, done.stderr
    assert '<testsuite id="0" package="ragtriage"' in (checkout / "my-junit.xml").read_text("utf-8")
    for piece in filter(None, shown.split("…\n")):
        assert piece in done.stdout, piece


def test_the_python_snippets(checkout: Path, tmp_path: Path) -> None:
    assert len(PYTHON) >= 2
    for snippet in PYTHON:
        script = tmp_path / "snippet.py"
        script.write_text(snippet, encoding="utf-8")
        done = sh(checkout, f".venv/bin/python {script}", tmp_path)
        assert done.returncode == 0, done.stderr


def test_paths_the_readme_names_exist() -> None:
    for name in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / name).exists(), name


def test_nothing_was_written_outside_the_checkout(checkout: Path, tmp_path: Path) -> None:
    done = sh(
        checkout,
        ".venv/bin/ragtriage evaluate data/contracts/answer.jsonl --contract answer",
        tmp_path,
    )
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []
