"""A register of checks, one a reported fault, and what they may use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support import Command, Evaluate, Record, Writer


class Kit(NamedTuple):
    """What a check may use."""

    cli: Command
    written: Writer
    evaluated: Evaluate
    tmp_path: Path
    monkeypatch: pytest.MonkeyPatch


Check = Callable[[Kit], None]
CHECKS: dict[str, Check] = {}
SHOWN = ("--no-write", "--format", "json")


def fault(identity: str) -> Callable[[Check], Check]:
    """Register a check under the fault's ID."""

    def register(check: Check) -> Check:
        assert identity not in CHECKS
        CHECKS[identity] = check
        return check

    return register


def case(name: str, required: list[str], retrieved: list[str], **more: Any) -> Record:
    return {"case_id": name, "required_ids": required, "retrieved_ids": retrieved} | more
