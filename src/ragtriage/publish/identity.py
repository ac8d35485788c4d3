"""A run's name and time: the only place that asks the clock, chance or SOURCE_DATE_EPOCH."""

from __future__ import annotations

import hashlib
import os
import secrets
from datetime import UTC, datetime

from ragtriage.errors import UsageError


def started_at() -> datetime:
    """Now, or the moment that SOURCE_DATE_EPOCH names.

    Raises:
        UsageError: SOURCE_DATE_EPOCH is not a number of seconds.
    """
    pinned = os.environ.get("SOURCE_DATE_EPOCH")
    if not pinned:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(int(pinned), UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"SOURCE_DATE_EPOCH: {pinned!r} is not a whole number of seconds since 1970"
        ) from None


def stamp(started: datetime) -> str:
    """A moment as manifests and reports have it."""
    return f"{started:%Y-%m-%dT%H:%M:%SZ}"


def moment() -> str:
    """The same as text, for what is told of a refusal; 1970 where that very name is refused."""
    try:
        return stamp(started_at())
    except UsageError:
        return "1970-01-01T00:00:00Z"


def is_pinned() -> bool:
    """Must repeats be byte-identical, time stamps included?"""
    return bool(os.environ.get("SOURCE_DATE_EPOCH"))


def pinned_seconds(timings: dict[str, float]) -> dict[str, float]:
    """How long each step took; 0 when times are pinned."""
    return {step: 0.0 if is_pinned() else round(s, 3) for step, s in timings.items()}


def new_run_id(started: datetime, configuration: str) -> str:
    """`YYYYMMDDTHHMMSSZ-xxxxxxxx`; the suffix is chance, or a digest when pinned."""
    suffix = (
        hashlib.sha256(configuration.encode()).hexdigest()[:8]
        if is_pinned()
        else secrets.token_hex(4)
    )
    return f"{started:%Y%m%dT%H%M%SZ}-{suffix}"
