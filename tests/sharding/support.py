"""What tests of shards share: a request carried out in one process, and in shards."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ragtriage.errors import RagtriageError
from ragtriage.pipeline import run_request
from ragtriage.read import batches, tables
from ragtriage.request import build_request
from ragtriage.sharding.jobs import fold_shard
from ragtriage.sharding.run import Pool, in_turn, run_in_shards
from tests.support import snapshot


class Outcome(NamedTuple):
    """What a run left behind, what it printed, and what it was refused for."""

    files: dict[str, bytes | None]
    passed: bool | None
    refused: str


def small_batches(
    monkeypatch: pytest.MonkeyPatch, size: int = 2_000, records: int = 5, rows: int = 5
) -> None:
    """So that a few records make many chunks."""
    monkeypatch.setattr(batches, "BATCH_BYTES", size)
    monkeypatch.setattr(batches, "BATCH_RECORDS", records)
    monkeypatch.setattr(tables, "CHUNK_ROWS", rows)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


def directly(inputs: list[Path], **options: Any) -> Outcome:
    """By one process."""
    return _outcome(run_request, inputs, options)


def in_shards(inputs: list[Path], wanted: int, pool: Pool = in_turn, **options: Any) -> Outcome:
    """In about so many shards."""
    return _outcome(lambda request: run_in_shards(request, pool, wanted=wanted), inputs, options)


def _outcome(carry_out: Any, inputs: list[Path], options: dict[str, Any]) -> Outcome:
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "out"
        request = build_request(
            {"inputs": [str(path) for path in inputs], "out": str(out), "run_id": "r", **options}
        )
        passed, refused = None, ""
        try:
            passed = carry_out(request).passed
        except RagtriageError as error:
            refused = f"{type(error).__name__}: {error}"
        left = {path.removeprefix(f"{out}/"): data for path, data in snapshot(out).items()}
        return Outcome(left, passed, refused.replace(str(out), "OUT"))


def assert_same(one: Outcome, other: Outcome) -> None:
    """The same files with the same bytes, the same verdict, the same messages in one order."""
    assert one.refused == other.refused
    assert one.passed == other.passed
    assert sorted(one.files) == sorted(other.files)
    for name, content in one.files.items():
        assert content == other.files[name], name


class CountingPool:
    """Carries out calls in turn and remembers them."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __call__(self, calls: Any) -> list[Any]:
        self.calls += calls
        return in_turn(calls)

    @property
    def folds(self) -> list[str]:
        """The shards that were evaluated, in the order of asking."""
        return [job.name for work, job in self.calls if work is fold_shard]
