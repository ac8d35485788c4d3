"""`records`: home-grown golden sets, one record a case, with whatever names people gave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from typing import Any, BinaryIO

from ragtriage.read.batches import Batch, Reader
from ragtriage.read.files import InputFile
from ragtriage.read.presets.base import Asked, Preset, Sample, UnmappableError
from ragtriage.read.presets.foreign import first_byte, foreign_records
from ragtriage.read.presets.rows import Record, Row, batches_of
from ragtriage.read.presets.typed import typed
from ragtriage.read.presets.values import (
    boolean_of,
    groups_of,
    ids_of,
    opened,
    shown,
    text_of,
    texts_of,
)
from ragtriage.schemas.inputs import Cases, infos

# Lists of what must be found, and names of the one thing that must be.
_LISTS = ("expected_sources", "expected_files", "expected_ids", "gold_ids", "relevant_chunk_ids")
_ONE = ("expected_document_id", "expected_chunk_id", "expected_source", "gold_chunk_id", "gold_id")
_ABSTAINS = ("should_abstain", "expected_refusal")
_BEHAVIOURS = {
    "answer": True,
    "answers": True,
    "respond": True,
    "abstain": False,
    "abstains": False,
    "refuse": False,
    "refusal": False,
    "decline": False,
    "no_answer": False,
}
# A letter or two apart; more is another name.
_NEAR = 0.88
_TAGS = ("category", "difficulty", "type")
_EXPECTED = ("expected_answer", "reference", "ground_truth", "expected_output")


def _map(row: Row) -> Record:
    record = _under_our_names(row)
    _requirements(row, record)
    _answerable(row, record)
    _tags(row, record)
    if row.asked.options.get("extra") != "ignore":
        _misspelt(row, record)
    return record


@cache
def _aliases(role: str) -> dict[str, str]:
    """Names that stand for a field of ours in any contract."""
    return {
        name: field
        for field, info in infos(Cases).items()
        for name, usable in [
            (field, True),
            *((a.name, not a.restricted and a.role in (None, role)) for a in info.aliases),
        ]
        if usable and name not in _TAGS
    }


def _under_our_names(row: Row) -> Record:
    aliases = _aliases(row.asked.role)
    record: Record = {}
    givers: dict[str, str] = {}
    for name, field in sorted(aliases.items(), key=lambda pair: pair[0] == "answer"):
        if name not in row.members or name in row.asked.mapping:
            continue
        value = typed(field, row.get(name), row.asked.separator)
        if field in givers and value is not None:
            raise UnmappableError(field, f"given twice, as {givers[field]!r} and as {name!r}")
        if isinstance(value, str) and field in (
            "required_ids",
            "retrieved_ids",
            "context_ids",
            "cited_ids",
            "expected_answers",
            "tags",
        ):
            value = [value]
        if value is not None:
            record[field] = value
            givers[field] = name
    return record


def _requirements(row: Row, record: Record) -> None:
    separator = row.asked.separator
    for name in _LISTS:
        if (ids := ids_of("required_ids", row.get(name), separator)) is not None:
            _give(record, "required_ids", ids, name)
    _one_of_several(row, record)
    groups = row.get("required_support_groups")
    if groups is not None:
        record["required_groups"] = _by_place(groups, record.pop("required_ids", None))


def _one_of_several(row: Row, record: Record) -> None:
    """One ID, null for none; with others that will do as well, one group."""
    named = next((name for name in _ONE if row.has(name)), None)
    others = ids_of("required_groups", row.get("also_acceptable"), row.asked.separator)
    if named is None:
        if others:
            raise UnmappableError("required_groups", "also_acceptable, yet no ID it goes with")
        return
    one = texts_of("required_ids", opened("required_ids", row.get(named))) or []
    if others and not one:
        raise UnmappableError("required_groups", f"also_acceptable, yet {named} names no ID")
    if others:
        record["required_groups"] = [*record.get("required_groups", []), [*one, *others]]
    else:
        _give(record, "required_ids", one, named)


def _give(record: Record, field: str, value: Any, name: str) -> None:
    if field in record:
        raise UnmappableError(field, f"given a second time, as {name!r}; keep one of them")
    record[field] = value


def _by_place(groups: Any, listed: list[str] | None) -> list[list[str]]:
    """Groups of places in the record's own list of IDs, from 0; or of the IDs themselves."""
    name = "required_groups"
    groups = opened(name, groups)
    if not isinstance(groups, list) or listed is None:
        return groups_of(name, groups) or []
    found = []
    for group in groups:
        members = group if isinstance(group, list) else [group]
        found.append([_member(item, listed) for item in members])
    return [group for group in found if group]


def _member(item: Any, listed: list[str]) -> str:
    if isinstance(item, str) and item in listed:
        return item
    if isinstance(item, int) and not isinstance(item, bool) and 0 <= item < len(listed):
        return listed[item]
    raise UnmappableError(
        "required_groups",
        f"{shown(item)} is neither one of the record's IDs nor a place among them (0 to "
        f"{len(listed) - 1})",
    )


def _answerable(row: Row, record: Record) -> None:
    for name in _ABSTAINS:
        if (label := boolean_of("answerable", row.get(name))) is not None:
            record["answerable"] = _agreed(record, not label)
    word = row.get("expected_behavior", "expected_behaviour")
    if word is not None:
        key = str(word).strip().lower().replace(" ", "_").replace("-", "_")
        if key not in _BEHAVIOURS:
            known = ", ".join(_BEHAVIOURS)
            raise UnmappableError("answerable", f"{shown(word)}: expected one of {known}")
        record["answerable"] = _agreed(record, _BEHAVIOURS[key])
    gold = next((name for name in _ONE if row.has(name)), None)
    expected = next((name for name in _EXPECTED if row.has(name)), None)
    if gold and expected and row.members[gold] is None and row.members[expected] is None:
        record.setdefault("answerable", False)


def _agreed(record: Record, label: bool) -> bool:  # noqa: FBT001 - the label itself
    if record.get("answerable") not in (None, label):
        raise UnmappableError("answerable", "two fields of the record contradict each other")
    return label


def _tags(row: Row, record: Record) -> None:
    joined = []
    for name in _TAGS:
        if name in row.asked.mapping:
            continue
        value = row.get(name)
        if value is not None and (text := text_of("tags", value)) and text.strip():
            joined.append(f"{name}={text}")
    if joined:
        record["tags"] = [*(record.get("tags") or []), *joined]


def _misspelt(row: Row, record: Record) -> None:
    """A name nobody asked for that is nearly one of ours: rather refused than dropped."""
    for name in row.unused():
        field = _near(name, row.asked.role)
        inside = any(
            path.removeprefix(row.asked.within).startswith(name) for path in row.asked.mapping
        )
        if field and field not in record and not inside:
            raise UnmappableError(
                name[:80], f"not a known field{field}; correct it, --map it, or --extra ignore"
            )


@cache
def _near(name: str, role: str) -> str:
    close = get_close_matches(name.lower(), list(_aliases(role)), n=1, cutoff=_NEAR)
    return f" (did you mean `{close[0]}`?)" if close else ""


def _reader(asked: Asked) -> Reader:
    prefixes = {path[: path.index("[].") + 3] for path in asked.mapping if "[]." in path}
    prefix = prefixes.pop() if len(prefixes) == 1 else ""
    shared = prefix and all(path.startswith(prefix) for path in asked.mapping)

    def read(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
        where: tuple[str, ...] = ()
        told = asked
        if shared and file.format == "json" and first_byte(stream) == b"{":
            where, told = (prefix.removesuffix("[]."),), replace(asked, within=prefix)
        yield from batches_of(foreign_records(stream, file, where), _map, told)

    return read


def _recognise(sample: Sample) -> str | None:
    found = sample.keys & {*_LISTS, *_ONE, *_ABSTAINS, "expected_behavior", "also_acceptable"}
    return f"has {', '.join(sorted(found))}" if found else None


PRESET = Preset(
    name="records",
    about="home-grown records of no particular tool",
    layout="JSON lines, JSON, CSV, TSV or Parquet, one record a case, or a list of them within one "
    "JSON document; the names of our fields, `expected_sources`, `expected_files`, "
    "`expected_document_id`, `gold_chunk_id`, `also_acceptable`, `should_abstain`, …, and whatever "
    "`--map` leads to",
    maps_to="every field of the case record",
    quirks=(
        "no `id`: it is made from the question",
        "IDs as integers",
        "one ID where a list is meant, null for none",
        "`also_acceptable` beside `gold_chunk_id`: one group, any of it will do",
        "`required_support_groups` of places in the record's own list",
        "`should_abstain`, `expected_refusal`, `expected_behavior` say what is answerable",
        "`category`, `type`, `difficulty` are tags",
        "lists as JSON text, Python literals, `a | b`, or with `--list-separator`",
        "questions and answers in separate files: `--cases` and `--trace`, and `convert`",
    ),
    reader=_reader,
    recognise=_recognise,
)
