"""Nights on a real Prefect server with a real worker, from the README's commands to kill -9."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from tests.end_to_end.servers import got, posted, running_server, started
from tests.support import ROOT

pytestmark = pytest.mark.end_to_end

T = TypeVar("T")
COMMANDS = (
    (ROOT / "README.md").read_text(encoding="utf-8").split("```sh schedule\n")[1].split("```")[0]
).splitlines()
# Sooner than people need, so that nobody waits for a clock.
HASTE = {
    "PREFECT_WORKER_QUERY_SECONDS": "1",
    "PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS": "1",
    "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "2",
}
OUT = "my-nights"
ENDED = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


class Place(NamedTuple):
    """A folder as the README's reader has it, with server and worker at work on it."""

    folder: Path
    settings: dict[str, str]
    environment: dict[str, str]
    log: Path
    first: subprocess.CompletedProcess[str]


def shell(line: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """One command, as a person types it in that folder."""
    return subprocess.run(
        ["bash", "-c", f"cd {shlex.quote(str(folder))} && {line}"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The seven commands of the README; only the port is another."""
    server, export, wait, pool, deploy, worker, run = COMMANDS
    assert (server, worker[-2:]) == ("prefect server start &", " &")
    assert export == "export PREFECT_API_URL=http://127.0.0.1:4200/api"
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copy2(ROOT / "prefect.yaml", folder)
    shutil.copytree(ROOT / "data" / "handbook", folder / "data" / "handbook")
    home = tmp_path_factory.mktemp("home")
    with running_server(home, **HASTE) as settings:
        tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        paths = os.pathsep.join(path for path in sys.path if path)
        environment = {"PATH": tools, "PYTHONPATH": paths, "LC_ALL": "C.UTF-8", **settings}
        for line in (wait, pool, deploy):
            done = shell(line, folder, environment)
            assert done.returncode == 0, done.stdout + done.stderr
        command = worker.removesuffix(" &").split()
        command[0] = str(Path(sys.executable).parent / command[0])
        log = home / "worker.log"
        with started(command, log, environment, cwd=folder):
            yield Place(folder, settings, environment, log, shell(run, folder, environment))


def triggered(place: Place, **changes: Any) -> str:
    """A run of `nightly` on request, its parameters changed; its ID."""
    deployment = got(place.settings, "deployments/name/nightly/nightly")
    asked = deployment["parameters"]["request"]
    request = {**asked, **changes, "evaluate": {**asked["evaluate"], **changes.get("evaluate", {})}}
    what = f"deployments/{deployment['id']}/create_flow_run"
    return str(posted(place.settings, what, parameters={"request": request})["id"])


def ended(place: Place, flow_run: str) -> dict[str, Any]:
    """The flow run, once it is over."""
    return until(
        lambda: found if (found := run_of(place, flow_run))["state"]["type"] in ENDED else None
    )


def run_of(place: Place, flow_run: str) -> dict[str, Any]:
    found = got(place.settings, f"flow_runs/{flow_run}")
    assert isinstance(found, dict)
    return found


def until(found: Callable[[], T | None], pause: float = 0.3) -> T:
    """What is found at last; asked anew after a pause."""
    end = time.monotonic() + 240
    while time.monotonic() < end:
        value = found()
        if value:
            return value
        time.sleep(pause)
    pytest.fail("it did not come to pass")


def artifacts_of(place: Place, flow_run: str) -> str:
    """All that a flow run left in Prefect, as one text."""
    left = posted(place.settings, "artifacts/filter", limit=200)
    return "\n".join(str(one["data"]) for one in left if one["flow_run_id"] == flow_run)


def runs_in(folder: Path) -> set[str]:
    """IDs of the published runs."""
    return {path.parent.name for path in folder.glob("*/summary.parquet")}


def test_the_readmes_commands_lead_to_an_accepted_run(place: Place) -> None:
    assert place.first.returncode == 0, place.first.stdout + place.first.stderr
    reports = place.folder / OUT
    accepted = json.loads((reports / "accepted.json").read_text(encoding="utf-8"))
    assert accepted["run_id"] in runs_in(reports)
    runs = posted(place.settings, "flow_runs/filter", sort="START_TIME_ASC", limit=1)
    assert f"accepted: {accepted['run_id']}" in runs[0]["state"]["message"]
    left = artifacts_of(place, runs[0]["id"])
    assert f"# Night `{accepted['run_id']}`: passed" in left
    for page in (reports / accepted["run_id"] / "report.html", reports / "index.html"):
        assert page.is_file()
        assert page.as_uri() in left


def test_the_deployments_are_as_prefect_yaml_says(place: Place) -> None:
    for name in ("evaluate", "nightly"):
        found = got(place.settings, f"deployments/name/{name}/{name}")
        assert found["entrypoint"] == f"ragtriage.flows.{name}.{name}"
        assert found["global_concurrency_limit"]["limit"] == 1
        assert found["concurrency_options"]["collision_strategy"] == "ENQUEUE"
        assert found["work_pool_name"] == "ragtriage"
    (schedule,) = [one["schedule"] for one in found["schedules"]]
    assert (schedule["cron"], schedule["timezone"]) == ("30 3 * * *", "Europe/Berlin")
    models = found["parameter_openapi_schema"]["definitions"]
    for name in ("NightlyRequest", "EvaluateRequest"):
        assert all(field["description"] for field in models[name]["properties"].values())


def test_the_other_deployment(place: Place) -> None:
    """Within its time limit, so in a process of its own."""
    before = runs_in(place.folder / OUT)
    deployment = got(place.settings, "deployments/name/evaluate/evaluate")["id"]
    run = ended(place, posted(place.settings, f"deployments/{deployment}/create_flow_run")["id"])
    assert run["state"]["type"] == "COMPLETED", run["state"]["message"]
    assert run["state"]["message"].startswith("28 of 50 cases did not pass")
    assert len(runs_in(place.folder / OUT) - before) == 1


def test_a_night_that_the_schedule_starts(place: Place) -> None:
    """A second schedule, due in a few seconds and then not for a day."""
    before = runs_in(place.folder / OUT)
    deployment = got(place.settings, "deployments/name/nightly/nightly")["id"]
    due = (datetime.now(UTC) + timedelta(seconds=5)).isoformat()
    daily = {"active": True, "schedule": {"interval": 86_400, "anchor_date": due}}
    posted(place.settings, f"deployments/{deployment}/schedules", daily)

    def scheduled() -> dict[str, Any] | None:
        runs = posted(place.settings, "flow_runs/filter", limit=200)
        over = [one for one in runs if one["auto_scheduled"] and one["state"]["type"] in ENDED]
        return over[0] if over else None

    run = until(scheduled)
    assert run["state"]["type"] == "COMPLETED", run["state"]["message"]
    assert "No difference" in run["state"]["message"]
    (new,) = runs_in(place.folder / OUT) - before
    assert f"# Night `{new}`: passed" in artifacts_of(place, run["id"])
    accepted = json.loads((place.folder / OUT / "accepted.json").read_text(encoding="utf-8"))
    assert (place.folder / OUT / f"compare-{accepted['run_id']}-{new}").is_dir()


def test_an_input_that_comes_late_is_read_at_the_next_try(place: Place) -> None:
    run_a = place.folder / "data" / "handbook" / "run-a.jsonl"
    late = run_a.with_name("late.jsonl")
    flow_run = triggered(
        place, evaluate={"trace": [f"data/handbook/{late.name}"], "out": "late-input"}
    )
    until(lambda: "Retry 1/2" in place.log.read_text(encoding="utf-8"), 0.05)
    shutil.copy2(run_a, late)
    state = ended(place, flow_run)["state"]
    assert state["type"] == "COMPLETED", state["message"]
    assert len(runs_in(place.folder / "late-input")) == 1


class Two(NamedTuple):
    """Two nights triggered at the same time: gates that fail, and labels that changed."""

    gates: dict[str, Any]
    labels: dict[str, Any]
    published: set[str]


@pytest.fixture(scope="module")
def two(place: Place) -> Two:
    cases = place.folder / "data" / "handbook" / "cases.jsonl"
    changed = cases.with_name("changed.jsonl")
    changed.write_text(
        cases.read_text("utf-8").replace(
            '"required_ids": ["hours-1"]', '"required_ids": ["hours-2"]'
        ),
        encoding="utf-8",
    )
    before = runs_in(place.folder / OUT)
    run_b = "data/handbook/run-b.jsonl"
    gate = ["stage.generation <= 0.01"]
    asked = [
        triggered(place, evaluate={"trace": [run_b], "gate": gate}),
        triggered(place, evaluate={"cases": [f"data/handbook/{changed.name}"]}),
    ]
    gates, labels = (ended(place, one) for one in asked)
    return Two(gates, labels, runs_in(place.folder / OUT) - before)


def test_two_triggers_at_once_run_one_after_the_other(two: Two) -> None:
    first, second = sorted((two.gates, two.labels), key=lambda run: str(run["start_time"]))
    assert first["end_time"] <= second["start_time"]
    assert len(two.published) == 2


def test_failed_gates_are_a_failed_state_with_their_messages(place: Place, two: Two) -> None:
    state = two.gates["state"]
    assert state["type"] == "FAILED"
    assert "gate failed: stage.generation <= 0.01" in state["message"]
    assert "gate failed: --max-regressions 0: 3 cases" in state["message"]
    assert "regressed: item-limit, passport-photos, saturday-hours" in state["message"]
    left = artifacts_of(place, two.gates["id"])
    for said in ("stage.generation", "item-limit", "report.html", "index.html", ": failed"):
        assert said in left
    history = (place.folder / OUT / "index.html").read_text(encoding="utf-8")
    assert all(run_id in history for run_id in two.published)


def test_labels_changed_overnight_lose_no_run(place: Place, two: Two) -> None:
    state = two.labels["state"]
    assert state["type"] == "FAILED"
    assert "label required_ids" in state["message"]
    assert "--allow labels" in state["message"]
    assert "Traceback" not in state["message"]
    left = artifacts_of(place, two.labels["id"])
    assert any(f"# Night `{run_id}`: failed" in left for run_id in two.published)


@pytest.fixture(scope="module")
def large(place: Place) -> Path:
    """An input that takes a second or two."""
    path = place.folder / "large.jsonl"
    line = (
        '{"case_id": "case-%d", "question": "question %d", "required_ids": ["a-%d", "b"], '
        '"retrieved_ids": ["a-%d", "c", "d", "e", "f"], "context_ids": ["c", "d"], '
        '"answer_correct": true}\n'
    )
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(line % (i, i, i, i) for i in range(200_000))
    return path


def working(out: Path) -> int | None:
    """The process that is writing a run to this folder now, once there is one."""
    if not list(out.glob(".unfinished/*~lock")):
        return None
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
                files = [os.readlink(one) for one in (entry / "fd").iterdir()]
            except OSError:
                continue
            if b"ragtriage.flows.child" in command and any(str(out) in file for file in files):
                return int(entry.name)
    return None


def status(process: int) -> dict[str, str]:
    """What the system says of a process; nothing if it is gone."""
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def gone(process: int) -> bool:
    return status(process).get("State", "Z")[0] in "ZX"


def over(place: Place, large: Path, out: str, **more: Any) -> str:
    """A night over the large input, in a folder of its own."""
    asked = {
        "inputs": [large.name], "cases": [], "trace": [], "corpus": [], "about": None, "out": out,
    }  # fmt: skip
    return triggered(place, evaluate=asked, **more)


def test_kill_9_of_the_flow_leaves_no_half_run_and_the_next_is_clean(
    place: Place, large: Path
) -> None:
    out = place.folder / "killed"
    flow_run = over(place, large, out.name)
    child = until(lambda: working(out), 0.01)
    flow = int(status(child)["PPid"])
    os.kill(flow, signal.SIGKILL)
    until(lambda: gone(child) and gone(flow), 0.01)
    assert runs_in(out) == set()
    assert [path.name for path in out.iterdir()] == [".unfinished"]
    assert ended(place, flow_run)["state"]["type"] == "CRASHED"
    again = ended(place, triggered(place, evaluate={"out": out.name}))
    assert again["state"]["type"] == "COMPLETED", again["state"]["message"]
    (run_id,) = runs_in(out)
    assert {path.name for path in out.iterdir()} == {run_id, "accepted.json", "index.html"}


def test_the_time_limit_ends_work_that_hangs(place: Place, large: Path) -> None:
    out = place.folder / "late"
    flow_run = over(place, large, out.name, time_limit=20)
    child = until(lambda: working(out), 0.01)
    os.kill(child, signal.SIGSTOP)
    run = ended(place, flow_run)
    assert run["state"]["type"] == "FAILED"
    assert "time limit of 20 s: stopped while evaluating" in run["state"]["message"]
    assert run["total_run_time"] < 40
    assert gone(child)
    assert list(out.iterdir()) == []
