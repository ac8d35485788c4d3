"""Presets by name: layouts that people hold, each read by one module of this folder."""

from __future__ import annotations

from importlib import import_module

from ragtriage.errors import UsageError, nearest
from ragtriage.read.presets.base import CORPUS, Preset

__all__ = ["CORPUS", "PRESETS", "Preset", "preset"]

# One line a preset: its name and its module, which defines PRESET.
_MODULES = {
    "records": "records",
    "ragas": "ragas",
    "azure": "azure",
    "autorag": "autorag",
    "llamaindex": "llamaindex",
    "promptfoo": "promptfoo",
    "openinference": "openinference",
    "deepeval": "deepeval",
    "ragchecker": "ragchecker",
    "mtrag": "mtrag",
    "evidence-sets": "evidence_sets",
    "trec": "trec",
    "beir": "beir",
    "trec-rag": "trec_rag",
}

PRESETS = tuple(_MODULES)


def preset(name: str) -> Preset:
    """The preset of that name; its module is loaded at first use.

    Raises:
        UsageError: there is none.
    """
    if name not in _MODULES:
        near = nearest(name, list(PRESETS))
        raise UsageError(f"--from: no preset {name!r}{near}; one of {', '.join(PRESETS)}")
    found: Preset = import_module(f"{__name__}.{_MODULES[name]}").PRESET
    return found
