"""What a home-grown field probably means, by its name and its values: for a person to check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

Kind = Literal["ids", "text", "label"]
_PASSAGE = "chunk|passage|doc|source|file"
# Our field, words in the name of theirs, and what is expected there.
_WORDS: tuple[tuple[str, str, Kind], ...] = (
    (
        "required_ids",
        r"gold|correct|relevant|expected_(?:ids|docs|chunks|sources|files)|truth_ids",
        "ids",
    ),
    (
        "retrieved_ids",
        r"retriev|hits|returned|results|candidates|chunks|passages|docs|documents",
        "ids",
    ),
    ("context_ids", r"context|packet|prompt_(?:ids|chunks)", "ids"),
    ("cited_ids", r"cit(?:ed|ations?)|references", "ids"),
    (
        "expected_answers",
        rf"^(?!.*(?:{_PASSAGE})).*(?:expected|reference|gold|ideal|truth)",
        "text",
    ),
    ("question", r"quer(?:y|ies)|question|prompt|utterance|^q$", "text"),
    ("answer", r"answer|response|output|completion|reply", "text"),
    ("answer_correct", r"^(?:is_)?correct$|answer_(?:is_)?(?:correct|right)$|^label$", "label"),
    ("case_id", r"(?:^|_)(?:id|uuid|key|case)$", "text"),
)
_GENERIC = ("id", "_id", "doc", "document", "chunk", "node", "text", "content", "value", "name")
# IDs are short and hold no sentence.
_LONGEST_ID = 200
# Between IDs in one cell, the likelier first.
_MARKS = (";", "|", ",")
_OF_IDS = re.compile("_ids$|" + "|".join(words for _, words, kind in _WORDS if kind == "ids"))
_OF_ANSWERS = re.compile("expected|reference|answer|ideal|truth")
_LABELS = ("true", "false")


def guesses(
    records: list[dict[str, Any]], known: set[str], unused: set[str], separator: str | None = None
) -> dict[str, str]:
    """Their paths to our fields: of keys in `unused`, to fields not yet `known`, each once."""
    first = [{k: v for k, v in record.items() if k in unused} for record in records[:20]]
    paths = dict.fromkeys(path for record in first for path, _ in _leaves(record, ""))
    found: dict[str, str] = {}
    for field, words, kind in _WORDS:
        if (
            (field in known and field != "case_id")
            or field in found.values()
            or (field == "case_id" and known - {"case_id"})
        ):
            continue
        for path in paths:
            name = _telling(path)
            values = _values(first, path)
            if path in found or not values or not re.search(words, name):
                continue
            if _fits(values, path, kind, separator) and (
                kind != "text" or _is_single(values, path, field, alone=len(first) == 1)
            ):
                found[path] = field
                break
    # An ID alone tells nothing of a case.
    return found if set(found.values()) - {"case_id"} else {}


def separator_in(records: list[dict[str, Any]]) -> str | None:
    """What probably separates the IDs of one text, such as `;` of `p1;p2`; None where nothing does.

    The number of items differs from text to text, which it does not where the mark belongs to
    every ID; and a comma, or what cuts out several words, must cut out IDs of another field, too.
    """
    fields: dict[str, list[str]] = {}
    for path, value in (pair for record in records for pair in _leaves(record, "")):
        if isinstance(value, str) and value.strip():
            fields.setdefault(path, []).append(value.strip())
    ids = {path: texts for path, texts in fields.items() if _holds_ids(_telling(path), texts)}
    others = [path for path in fields if path not in ids and _OF_ANSWERS.search(_telling(path))]
    answers = [text for path in others for text in fields[path]]
    # Expected answers would be cut as well.
    usable = [m for m in _MARKS if not any(m in text for text in answers)]
    return next((mark for mark in usable if _separates(mark, [*ids.values()])), None)


def _holds_ids(name: str, texts: list[str]) -> bool:
    return bool(_OF_IDS.search(name)) and all(text[0] not in "[{(" for text in texts)


def _separates(mark: str, fields: list[list[str]]) -> bool:
    cut = [[[*map(str.strip, text.split(mark))] for text in texts] for texts in fields]
    items = [{item for cell in cells for item in cell} for cells in cut]
    if not all(item and _is_id(item) for some in items for item in some):
        return False
    if len({len(cell) for cells in cut for cell in cells}) == 1:
        return False
    found = [{item for cell in cells if len(cell) > 1 for item in cell} for cells in cut]
    met = any(
        found[i] & items[j] for i in range(len(cut)) for j in range(len(cut)) if i != j and found[i]
    )
    words = any(" " in item for some in found for item in some)
    return any(found) and (met or (mark != "," and not words))


def _telling(path: str) -> str:
    """The last part of a path that says what is there: `hits` of `hits[].doc.id`."""
    parts = path.replace("[]", "").lower().split(".")
    while len(parts) > 1 and parts[-1] in _GENERIC:
        parts.pop()
    return parts[-1]


def _leaves(value: dict[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    for key, member in value.items():
        path = f"{before}{key}"
        if isinstance(member, dict):
            yield from _leaves(member, f"{path}.")
        elif isinstance(member, list) and member and isinstance(member[0], dict):
            yield from _leaves(member[0], f"{path}[].")
        else:
            yield path, member


def _values(records: list[dict[str, Any]], path: str) -> list[Any]:
    pairs = [pair for record in records for pair in _leaves(record, "")]
    return [value for name, value in pairs if name == path and value is not None]


def _fits(values: list[Any], path: str, kind: Kind, separator: str | None) -> bool:
    if kind == "label":
        return all(isinstance(v, bool) or str(v).lower() in _LABELS for v in values)
    if kind == "text":
        return True
    if separator is not None and _joined(values, separator):
        return True
    # Empty lists are lists of anything.
    return any(value != [] for value in values) and all(
        ("[]" in path and _is_id(value)) or _is_ids(value) for value in values
    )


def _is_single(values: list[Any], path: str, field: str, *, alone: bool) -> bool:
    # A document holds its records in one list; what is gathered within a record is no single value.
    if path.count("[]") > alone or (field != "case_id" and path.lower().endswith("id")):
        return False
    kinds = str | int if field == "case_id" else str
    return all(isinstance(value, kinds) and not isinstance(value, bool) for value in values)


def _joined(values: list[Any], separator: str) -> bool:
    """IDs between separators, in one text at least; a part with a blank in it is a sentence's."""
    if not all(isinstance(value, str) for value in values):
        return False
    parts = [part.strip() for value in values for part in value.split(separator)]
    return any(separator in value for value in values) and all(
        len(part) <= _LONGEST_ID and not re.search(r"[\s\[\]]", part) for part in parts
    )


def _is_ids(value: Any) -> bool:
    if isinstance(value, str):
        return value[:1] == "[" and value[-1:] == "]"
    return isinstance(value, list) and all(_is_id(item) for item in value)


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_ID and value.count(" ") < 4  # noqa: PLR2004 - a sentence has more
    return isinstance(value, int) and not isinstance(value, bool)
