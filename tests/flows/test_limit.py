"""A step in a process of its own: its result, its errors, its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragtriage.errors import InputError, RagtriageError, TimeLimitError
from ragtriage.flows.limit import Deadline
from ragtriage.pipeline import input_digests, run_folder
from ragtriage.read.folders import UNFINISHED
from ragtriage.request import EvaluateRequest
from tests.support import CONTRACTS, INVALID

pytestmark = pytest.mark.end_to_end

ANSWERS = str(CONTRACTS / "answer.jsonl")


def test_without_a_limit_the_work_is_done_here() -> None:
    assert Deadline.after(None).within("asking", "out", os.getpid) == os.getpid()


def test_with_a_limit_another_process_does_it() -> None:
    parent = Deadline.after(60).within("asking", "out", os.getppid)
    assert parent == os.getpid()


def test_a_run_in_a_process_of_its_own(tmp_path: Path) -> None:
    request = EvaluateRequest(inputs=(ANSWERS,), contract="answer", out=str(tmp_path), run_id="one")
    digests = input_digests(request)
    path = Deadline.after(60).within("evaluating", str(tmp_path), run_folder, request, digests)
    assert path == tmp_path / "one"
    assert (path / "report.html").is_file()


def test_a_refusal_comes_back_word_for_word(tmp_path: Path) -> None:
    request = EvaluateRequest(inputs=(str(INVALID / "type.jsonl"),), out=str(tmp_path))
    with pytest.raises(InputError) as here:
        run_folder(request, {})
    with pytest.raises(InputError) as there:
        Deadline.after(60).within("evaluating", str(tmp_path), run_folder, request, {})
    # The file that holds all the faults is named after the run.
    assert str(there.value).splitlines()[:-1] == str(here.value).splitlines()[:-1]


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_the_limit_ends_the_work_and_clears_what_it_left(tmp_path: Path, seconds: float) -> None:
    half = tmp_path / UNFINISHED / "half"
    half.mkdir(parents=True)
    half.with_name("half~lock").touch()
    start = time.monotonic()
    with pytest.raises(TimeLimitError, match="stopped while sleeping"):
        Deadline.after(seconds).within("sleeping", str(tmp_path), time.sleep, 60)
    assert time.monotonic() - start < 20
    assert list(tmp_path.iterdir()) == []


def test_a_deadline_is_shared_by_all_steps() -> None:
    deadline = Deadline(5.0, ends=time.monotonic() - 1)
    with pytest.raises(TimeLimitError, match="time limit of 5 s: stopped while asking"):
        deadline.within("asking", "out", os.getpid)


def test_a_process_that_is_killed_is_said_to_be() -> None:
    with pytest.raises(RagtriageError, match=r"evaluating died \(killed by SIGKILL\)"):
        Deadline.after(60).within("evaluating", "out", signal.raise_signal, signal.SIGKILL)


def test_an_unforeseen_error_comes_with_its_traceback() -> None:
    with pytest.raises(RagtriageError, match=r"exit code 1(?s:.*)FileNotFoundError"):
        Deadline.after(60).within("reading", "out", os.stat, "no/such/file")


def test_it_dies_with_the_process_that_waits_for_it(tmp_path: Path) -> None:
    script = (
        "import sys, time\n"
        "from tests.flows.heart import beat\n"
        "from ragtriage.flows.limit import Deadline\n"
        "Deadline.after(60).within('beating', 'out', beat, sys.argv[1])\n"
    )
    heart = tmp_path / "heart"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, "-c", script, str(heart)], env=environment)
    try:
        _wait_until(heart.exists)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    child = int(heart.read_text())
    _wait_until(lambda: not _alive(child))


def _alive(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def _wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(400):
        if holds():
            return
        time.sleep(0.05)
    pytest.fail("it did not come to pass")
