"""Says, case by case, which part of a retrieval-augmented assistant broke."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragtriage.version import __version__

if TYPE_CHECKING:
    from ragtriage.agreement_run import Agreement, measure_agreement
    from ragtriage.errors import InputError, RagtriageError, UsageError
    from ragtriage.leakage_run import Leakage, leakage
    from ragtriage.pipeline import evaluate
    from ragtriage.run import Run

__all__ = [
    "Agreement",
    "InputError",
    "Leakage",
    "RagtriageError",
    "Run",
    "UsageError",
    "__version__",
    "evaluate",
    "leakage",
    "measure_agreement",
]

_HOMES = {
    "Agreement": "ragtriage.agreement_run",
    "InputError": "ragtriage.errors",
    "Leakage": "ragtriage.leakage_run",
    "RagtriageError": "ragtriage.errors",
    "UsageError": "ragtriage.errors",
    "Run": "ragtriage.run",
    "evaluate": "ragtriage.pipeline",
    "leakage": "ragtriage.leakage_run",
    "measure_agreement": "ragtriage.agreement_run",
}


def __getattr__(name: str) -> Any:
    """Load a public name at its first use: `--version` and `--help` need no polars."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ragtriage' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - late on purpose, see above

    return getattr(import_module(_HOMES[name]), name)
