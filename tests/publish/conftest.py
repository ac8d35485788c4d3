"""The hand-built report for every test here, whatever way pytest imports this folder."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from ragtriage.publish.document import Report


def _load() -> ModuleType:
    place = Path(__file__).with_name("sample.py")
    spec = importlib.util.spec_from_file_location("publish_sample", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def sample() -> ModuleType:
    """The module sample.py: builders for cases, requirements and whole reports."""
    return _load()


@pytest.fixture
def report(sample: ModuleType) -> Report:
    """A report with every stage and break point."""
    made: Report = sample.report()
    return made


@pytest.fixture
def hostile(sample: ModuleType) -> Report:
    """The same with hostile text in every place that can hold text."""
    made: Report = sample.hostile_report()
    return made


@pytest.fixture
def ordinary(sample: ModuleType) -> Report:
    """A run as most are."""
    made: Report = sample.ordinary_report()
    return made
