"""The files of `templates/`, as text."""

from __future__ import annotations

from importlib import resources


def template(name: str) -> str:
    """A file of `templates/`."""
    return resources.files(__package__).joinpath("templates", name).read_text("utf-8")
