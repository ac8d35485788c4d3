"""What a run loads: heavy libraries are for those who ask for what needs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import HANDBOOK

HEAVY = {
    "dask",
    "distributed",
    "krippendorff",
    "matplotlib",
    "pandas",
    "plotly",
    "prefect",
    "prefect_dask",
    "pyarrow",
    "rensa",
    "scipy",
    "streamlit",
}
_LOADED = """
import sys
from ragtriage.cli import main
try:
    main()
except SystemExit as ended:
    print(ended.code or 0, *sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def loaded(*arguments: str) -> tuple[int, set[str]]:
    """The exit code of a command, and the top-level modules it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, *arguments], capture_output=True, text=True, check=True
    )
    code, *names = done.stderr.splitlines()[-1].split()
    return int(code), set(names)


def test_a_whole_run_loads_no_plotting_no_server_and_no_other_frames(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    run = str(HANDBOOK / "run-a.jsonl")
    cases = str(HANDBOOK / "cases.jsonl")
    code, names = loaded("evaluate", "--cases", cases, "--trace", run, "--out", out)
    assert code in {0, 1}
    assert (tmp_path / "out").is_dir()
    assert "polars" in names
    assert not names & HEAVY


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("evaluate", "--help")])
def test_help_loads_no_frames_at_all(arguments: tuple[str, ...]) -> None:
    code, names = loaded(*arguments)
    assert code == 0
    assert not names & (HEAVY | {"polars", "pandera", "jinja2", "pydantic"})


def test_polars_has_numpy_before_there_is_a_second_thread() -> None:
    """Whoever loads polars first gets a stand-in for numpy, which is not made for threads."""
    asked = (
        "import polars, numpy, ragtriage.schemas.fields\n"
        "assert polars._dependencies.numpy is numpy, polars._dependencies.numpy"
    )
    subprocess.run([sys.executable, "-c", asked], check=True)


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ragtriage", "evaluate", "nowhere.jsonl"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "nowhere.jsonl: no such file; check the path\n"
