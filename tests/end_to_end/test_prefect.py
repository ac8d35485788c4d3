"""The flow against a real Prefect server on loopback, with a home of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.servers import posted, running_server
from tests.support import CONTRACTS, HANDBOOK, INVALID, ROOT

pytestmark = pytest.mark.end_to_end

ANSWERS = str(CONTRACTS / "answer.jsonl")


def command(
    *arguments: object, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "ragtriage.cli", *map(str, arguments)],
        env={**kept, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=120,
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The settings that lead to a server of this module's own."""
    with running_server(tmp_path_factory.mktemp("prefect")) as settings:
        yield settings


def test_direct_and_flow_give_equal_bytes(server: dict[str, str], tmp_path: Path) -> None:
    asked = ("evaluate", ANSWERS, "--contract", "answer", "--run-id", "same", "--format", "json")
    pinned = {"SOURCE_DATE_EPOCH": "1700000000"}
    direct = command(*asked, "--out", tmp_path / "direct", **pinned)
    flow = command(*asked, "--out", tmp_path / "flow", "--prefect", **pinned, **server)
    assert (direct.returncode, flow.returncode) == (0, 0), flow.stderr
    assert direct.stdout == flow.stdout
    names = sorted(p.relative_to(tmp_path / "direct") for p in (tmp_path / "direct").rglob("*"))
    assert names == sorted(p.relative_to(tmp_path / "flow") for p in (tmp_path / "flow").rglob("*"))
    for name in names:
        one, other = tmp_path / "direct" / name, tmp_path / "flow" / name
        assert one.is_dir() or one.read_bytes() == other.read_bytes(), name


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((ANSWERS, "--contract", "answer", "--gate", "recall@10 >= 0.99"), 1),
        ((INVALID / "type.jsonl",), 2),
        (("missing.jsonl",), 2),
    ],
)
def test_exit_codes_and_messages_are_the_same(
    server: dict[str, str], tmp_path: Path, arguments: tuple[object, ...], code: int
) -> None:
    asked = ("evaluate", *arguments, "--out", tmp_path / "out")
    direct = command(*asked, "--run-id", "direct")
    flow = command(*asked, "--run-id", "flow", "--prefect", **server)
    assert (direct.returncode, flow.returncode) == (code, code), flow.stderr
    assert "Traceback" not in flow.stderr
    said = [line for line in direct.stderr.splitlines() if "/direct/" not in line]
    assert said
    for line in said:
        assert line in flow.stderr


def _two_runs(out: Path) -> None:
    for name in ("a", "b"):
        done = command(
            "evaluate", "--cases", HANDBOOK / "cases.jsonl", "--k", "5", "--out", out,
            "--trace", HANDBOOK / f"run-{name}.jsonl", "--run-id", name,
            SOURCE_DATE_EPOCH="1700000000",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


def test_a_comparison_is_the_same_directly_and_as_a_flow(
    server: dict[str, str], tmp_path: Path
) -> None:
    pinned = {"SOURCE_DATE_EPOCH": "1700000000"}
    codes, shown = [], []
    for name, more in (("direct", ()), ("flow", ("--prefect",))):
        _two_runs(tmp_path / name)
        asked = ("--max-regressions", "2", "--test", "--format", "json", "--out", ".")
        done = command("compare", "a", "b", *asked, *more, cwd=tmp_path / name, **pinned, **server)
        codes.append(done.returncode)
        shown.append(done.stdout)
        assert "gate failed: --max-regressions 2: 3 cases" in done.stderr
    assert codes == [1, 1]
    assert shown[0] == shown[1]
    for file in (tmp_path / "direct" / "compare-a-b").iterdir():
        other = tmp_path / "flow" / "compare-a-b" / file.name
        assert file.read_bytes() == other.read_bytes(), file.name
    runs = posted(server, "flow_runs/filter", sort="START_TIME_DESC", limit=1)
    assert runs[0]["state"]["type"] == "FAILED"
    assert "--max-regressions 2" in runs[0]["state"]["message"]
    artifacts = posted(server, "artifacts/filter", limit=50)
    texts = [str(a["data"]) for a in artifacts if a["flow_run_id"] == runs[0]["id"]]
    assert any("3 of 50 cases regressed" in text for text in texts)


def test_evaluate_with_a_baseline_is_two_flows(server: dict[str, str], tmp_path: Path) -> None:
    _two_runs(tmp_path)
    done = command(
        "evaluate", "--cases", HANDBOOK / "cases.jsonl", "--trace", HANDBOOK / "run-b.jsonl",
        "--k", "5", "--out", tmp_path, "--run-id", "c", "--baseline", tmp_path / "a",
        "--max-regressions", "2", "--prefect", **server,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "regressed: item-limit, passport-photos, saturday-hours" in done.stderr
    assert (tmp_path / "compare-a-c" / "report.html").is_file()


def test_inputs_of_a_comparison_are_evaluated_in_the_flow(
    server: dict[str, str], tmp_path: Path
) -> None:
    sides = [HANDBOOK / f"run-{name}.jsonl" for name in "ab"]
    cases = ("--cases", HANDBOOK / "cases.jsonl", "--k", "5", "--out", tmp_path)
    done = command("compare", *sides, *cases, "--prefect", **server)
    assert done.returncode == 0, done.stderr
    assert "3 of 50 cases regressed" in done.stdout
    assert len(list(tmp_path.iterdir())) == 3
    wrong = command("compare", tmp_path / "none", *sides[:1], *cases, "--prefect", **server)
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr


def test_a_failed_gate_is_a_failed_state_that_says_which(
    server: dict[str, str], tmp_path: Path
) -> None:
    gate = "stage.generation <= 0.01"
    done = command(
        "evaluate", ANSWERS, "--contract", "answer", "--gate", gate, "--prefect",
        "--out", tmp_path / "out", **server,
    )  # fmt: skip
    assert done.returncode == 1
    runs = posted(server, "flow_runs/filter", sort="START_TIME_DESC", limit=1)
    assert runs[0]["state"]["type"] == "FAILED"
    assert gate in runs[0]["state"]["message"]
    artifacts = posted(server, "artifacts/filter", limit=20)
    mine = [a for a in artifacts if a["flow_run_id"] == runs[0]["id"]]
    assert {a["type"] for a in mine} == {"markdown"}
    texts = "\n".join(str(a["data"]) for a in mine)
    assert gate in texts
    assert "Where the cases broke" in texts
    assert "report.html" in texts


def test_wrong_parameters_are_refused_by_prefect(server: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text(
        "from prefect.exceptions import ParameterTypeError\n"
        "from ragtriage.flows.evaluate import evaluate\n"
        "for wrong in ({'k': [0]}, {'contract': 'none'}, {'no_such': 1}, {'min_recall': 2.0}):\n"
        "    try:\n"
        f"        evaluate({{'inputs': [{ANSWERS!r}], **wrong}})\n"
        "    except ParameterTypeError as error:\n"
        "        print('refused', *wrong)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **server},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.split("\n")[:4] == [
        "refused k",
        "refused contract",
        "refused no_such",
        "refused min_recall",
    ], done.stderr


@pytest.mark.parametrize("url", ["", "http://127.0.0.1:9/api", "ftp://nowhere/api"])
def test_no_server_is_one_message_with_the_two_commands(url: str, tmp_path: Path) -> None:
    start = time.monotonic()
    done = command(
        "evaluate", ANSWERS, "--contract", "answer", "--prefect", "--out", tmp_path / "out",
        HOME=str(tmp_path), PREFECT_API_URL=url,
    )  # fmt: skip
    assert time.monotonic() - start < 10
    assert done.returncode == 2
    assert "prefect server start" in done.stderr
    assert "export PREFECT_API_URL=" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_never_answers_is_given_up_in_time(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/api"
        start = time.monotonic()
        done = command("evaluate", ANSWERS, "--prefect", HOME=str(tmp_path), PREFECT_API_URL=url)
    assert time.monotonic() - start < 10
    assert done.returncode == 2
    assert "no server answers" in done.stderr


@pytest.mark.parametrize(("extra", "says"), [(("--no-write",), "--no-write"), (("-",), "input")])
def test_what_cannot_be_a_flow(extra: tuple[str, ...], says: str) -> None:
    source = () if "-" in extra else (ANSWERS,)
    done = command("evaluate", *source, *extra, "--prefect")
    assert done.returncode == 2
    assert says in done.stderr


def test_the_readmes_flow(server: dict[str, str], tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = readme.split("```sh prefect\n")[1].split("```")[0].splitlines()
    export, command_line = script
    assert export == "export PREFECT_API_URL=http://127.0.0.1:4200/api"
    program, *arguments = command_line.split()
    assert program == "ragtriage"
    given = [str(ROOT / a) if a.startswith("data/") else a for a in arguments]
    done = command(*given, "--out", tmp_path / "out", **server)
    assert done.returncode == 0, done.stderr
    assert "4 of 6 cases did not pass" in done.stdout
