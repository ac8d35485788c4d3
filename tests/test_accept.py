"""`ragtriage accept`: which run the next one is held against."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ragtriage
from tests.stored_runs import gate_row, store_run
from tests.support import Command, snapshot


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Two good runs, one whose gate failed, and what is no run."""
    for name in ("a", "b"):
        store_run(tmp_path, name)
    store_run(tmp_path, "failed", gates=[gate_row("recall@5 >= 0.6", 0.5, 0.6, passed=False)])
    store_run(tmp_path, "refused", status="refused", passed=None)
    store_run(tmp_path, "old", schema_version="0")
    store_run(tmp_path, "agreement-x", kind="agreement")
    store_run(tmp_path / ".unfinished", "late", run_id="elsewhere")
    return tmp_path


def test_one_after_the_other(cli: Command, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    before = snapshot(top / "a", top / "b")
    done = cli("accept", top / "a")
    assert (done.code, done.out, done.err) == (0, "accepted: a\n", "")
    assert cli("accept", "b", "--out", top).out == "accepted: b, before it a\n"
    assert json.loads((top / "accepted.json").read_text()) == {
        "run_id": "b",
        "accepted_at": "2026-01-01T00:00:00Z",
        "passed": True,
        "previous": "a",
    }
    assert snapshot(top / "a", top / "b") == before
    found = ragtriage.accepted_run(top)
    assert found is not None
    assert (found.run_id, found.previous, found.path) == ("b", "a", top / "b")


def test_accepting_again_changes_nothing(cli: Command, top: Path) -> None:
    for name in ("a", "b"):
        cli("accept", top / name)
    before = snapshot(top)
    assert cli("accept", f"{top / 'b'}/").out == "accepted: b, before it a\n"
    assert snapshot(top) == before


def test_failed_gates_need_force(cli: Command, top: Path) -> None:
    cli("accept", top / "failed").refuses("its gates failed", "--force")
    assert ragtriage.accepted_run(top) is None
    done = cli("accept", top / "failed", "--force")
    assert (done.code, done.out) == (0, "accepted: failed, although its gates failed\n")
    assert json.loads((top / "accepted.json").read_text())["passed"] is False


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("refused", "its input was refused"),
        ("old", "schema version '0'"),
        ("agreement-x", "not a run but the report of one agreement"),
        (".unfinished/late", "names 'elsewhere'"),
        ("nowhere", "no such run"),
        ("a/manifest.json", "no such run"),
    ],
)
def test_what_is_no_finished_run_is_never_accepted(
    cli: Command, top: Path, run: str, words: str, force: bool
) -> None:
    cli("accept", top / run, *["--force"] * force).refuses(run, words)
    assert not (top / "accepted.json").exists()


def test_from_within_the_run(cli: Command, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(top / "a")
    assert cli("accept", ".").out == "accepted: a\n"
    assert (top / "accepted.json").exists()


def test_an_accepted_run_that_is_gone_is_said(top: Path) -> None:
    ragtriage.accept_run(top / "a")
    (top / "a" / "manifest.json").unlink()
    with pytest.raises(ragtriage.InputError, match=r"accepted\.json: .*a: not a finished run"):
        ragtriage.accepted_run(top)


@pytest.mark.parametrize("text", ["{", "[]", '{"run_id": 1}', '{"run_id": "a"}'])
def test_a_broken_file_is_said_and_kept(cli: Command, top: Path, text: str) -> None:
    (top / "accepted.json").write_text(text)
    with pytest.raises(ragtriage.InputError, match="remove it and accept a run again"):
        ragtriage.accepted_run(top)
    cli("accept", top / "a").refuses("accepted.json: cannot be read")
    assert (top / "accepted.json").read_text() == text
