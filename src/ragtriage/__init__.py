"""Says, case by case, which part of a retrieval-augmented assistant broke."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragtriage.version import __version__

if TYPE_CHECKING:
    from ragtriage.accepting import accept_run, accepted_run
    from ragtriage.agreement_run import Agreement, measure_agreement
    from ragtriage.comparing import Comparison, compare
    from ragtriage.converting import convert
    from ragtriage.errors import InputError, RagtriageError, UsageError
    from ragtriage.history_run import History, build_history
    from ragtriage.leakage_run import Leakage, leakage
    from ragtriage.pipeline import evaluate, evaluate_systems
    from ragtriage.read.accepted import Accepted
    from ragtriage.run import Run

__all__ = [
    "Accepted",
    "Agreement",
    "Comparison",
    "History",
    "InputError",
    "Leakage",
    "RagtriageError",
    "Run",
    "UsageError",
    "__version__",
    "accept_run",
    "accepted_run",
    "build_history",
    "compare",
    "convert",
    "evaluate",
    "evaluate_systems",
    "leakage",
    "measure_agreement",
]

_HOMES = {
    "Accepted": "ragtriage.read.accepted",
    "Agreement": "ragtriage.agreement_run",
    "History": "ragtriage.history_run",
    "InputError": "ragtriage.errors",
    "Leakage": "ragtriage.leakage_run",
    "RagtriageError": "ragtriage.errors",
    "UsageError": "ragtriage.errors",
    "Run": "ragtriage.run",
    "compare": "ragtriage.comparing",
    "convert": "ragtriage.converting",
    "Comparison": "ragtriage.comparing",
    "accept_run": "ragtriage.accepting",
    "accepted_run": "ragtriage.accepting",
    "build_history": "ragtriage.history_run",
    "evaluate": "ragtriage.pipeline",
    "evaluate_systems": "ragtriage.pipeline",
    "leakage": "ragtriage.leakage_run",
    "measure_agreement": "ragtriage.agreement_run",
}


def __getattr__(name: str) -> Any:
    """Load a public name at its first use: `--version` and `--help` need no polars."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ragtriage' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - late on purpose, see above

    return getattr(import_module(_HOMES[name]), name)
