"""Whatever stands under a mapped name, as the type of our field. No names, no presets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from ragtriage.read.presets.base import UnmappableError
from ragtriage.read.presets.values import (
    answers_of,
    between_bars,
    boolean_of,
    grade_of,
    groups_of,
    ids_of,
    opened,
    score_of,
    shown,
    text_of,
)
from ragtriage.schemas.fields import CLAIMS, GRADES, ID_GROUPS
from ragtriage.schemas.inputs import Cases, dtypes, infos

_DTYPES = dtypes(Cases)
# Lists in which null under a scalar's name never means none.
_PLAIN_LISTS = {
    name
    for name, info in infos(Cases).items()
    if _DTYPES[name] == pl.List(pl.String) and not any(a.scalar or a.joins for a in info.aliases)
}
# Names of an ID and of a grade in lists of judged documents.
_ID_KEYS = ("id", "document_id", "doc_id", "docid", "chunk_id", "_id")
_GRADE_KEYS = ("grade", "relevance", "label", "score", "query_relevance_label", "rel")


def typed(name: str, value: Any, separator: str | None = None) -> Any:
    """A value for our field `name`.

    Raises:
        UnmappableError: it cannot be one.
    """
    dtype = _DTYPES[name]
    if dtype == pl.Boolean:
        return boolean_of(name, value)
    if dtype == pl.Float64:
        return None if value in (None, "") else score_of(name, value)
    if dtype == ID_GROUPS:
        return groups_of(name, value, separator)
    if dtype == GRADES:
        return _grades(name, value)
    if dtype == CLAIMS:
        return _claims(name, value)
    if name == "expected_answers" and separator is None:
        value = answers_of(name, value) if isinstance(value, str) else value
    if isinstance(dtype, pl.List):
        value = opened(name, value, separator)
        value = _items(name, between_bars(value) if name.endswith("_ids") else value)
        # Text that is no list stays text: whether null then means none, the whole file tells.
        return value if isinstance(value, str) else ids_of(name, value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return text_of(name, value)


def listed(name: str, value: Any) -> Any:
    """One text as a list of one, where the whole file need not be asked what null means."""
    return [value] if isinstance(value, str) and name in _PLAIN_LISTS else value


def _items(name: str, value: Any) -> Any:
    """Objects by their ID; a scalar number as text."""
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return text_of(name, value)
    return [_id_in(name, item) if isinstance(item, dict) else item for item in value]


def _id_in(name: str, item: dict[str, Any]) -> Any:
    found = next((item[key] for key in _ID_KEYS if item.get(key) is not None), None)
    if found is None:
        raise UnmappableError(name, f"{shown(item)} has no ID; map the path to it")
    return found


def _claims(name: str, value: Any) -> list[Any] | None:
    """Claims as they stand, their members as text, IDs and label."""
    value = opened(name, value)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise UnmappableError(name, f"expected a list of claims, got {shown(value)}")
    takes: dict[str, Callable[[str, Any], Any]] = {
        "claim_id": text_of,
        "text": text_of,
        "cited_ids": ids_of,
        "supported": boolean_of,
    }
    return [
        {key: takes[key](name, held) if key in takes else shown(held) for key, held in item.items()}
        for item in value
    ]


def _grades(name: str, value: Any) -> list[dict[str, Any]] | None:
    value = opened(name, value)
    if value is None:
        return None
    if isinstance(value, dict):
        return [{"id": key, "grade": grade_of(name, grade)} for key, grade in value.items()]
    if not isinstance(value, list):
        raise UnmappableError(name, f"expected judged documents, got {shown(value)}")
    graded = []
    for item in value:
        grades = [item[key] for key in _GRADE_KEYS if key in item] if isinstance(item, dict) else []
        if not grades:
            raise UnmappableError(name, f"{shown(item)} has no grade; give an ID and a grade")
        graded.append({"id": text_of(name, _id_in(name, item)), "grade": grade_of(name, grades[0])})
    return graded
