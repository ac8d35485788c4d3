"""What the requests of all commands are made of, and how plain values become one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from os import PathLike, fspath
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, Field, StrictStr, ValidationError

from ragtriage.errors import UsageError, nearest
from ragtriage.schemas.inputs import CASE_FIELDS

RUN_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}")
# Folders of other commands begin with these.
_RESERVED = ("compare-", "agreement-", "leakage-")
Request = TypeVar("Request", bound=BaseModel)


def _plain_run_id(run_id: str | None) -> str | None:
    if run_id is not None and (not RUN_ID.fullmatch(run_id) or run_id.startswith(_RESERVED)):
        known = ", ".join(f"'{prefix}'" for prefix in _RESERVED[:-1])
        raise ValueError(
            f"{run_id!r} cannot name a run: use letters, digits, '.', '_', '-', "
            f"not starting with '.', {known} or '{_RESERVED[-1]}'"
        )
    return run_id


def _read_once(names: tuple[str, ...]) -> tuple[str, ...]:
    if names.count("-") > 1:
        raise ValueError("standard input can be read once only")
    return names


def _known_fields(mapping: dict[str, str]) -> dict[str, str]:
    for ours in mapping.values():
        if ours not in CASE_FIELDS:
            near = nearest(ours, list(CASE_FIELDS))
            raise ValueError(f"{ours!r} is not one of our fields{near}")
    return mapping


# A name for a folder that no other command's folder can have.
RunId = Annotated[StrictStr | None, AfterValidator(_plain_run_id)]
# What a command reads that takes one kind of file.
Files = Annotated[tuple[StrictStr, ...], Field(min_length=1), AfterValidator(_read_once)]
# Their names for fields of the case record.
Mapped = Annotated[dict[StrictStr, StrictStr], AfterValidator(_known_fields)]


def built(model: type[Request], options: dict[str, Any], files: str | None = None) -> Request:
    """A request from plain values. `files`: the option without which there is nothing to read.

    Raises:
        UsageError: a value is wrong; the message names each option at fault.
    """
    known = option_names(model)
    unknown = [name for name in options if name not in known]
    if unknown:
        raise UsageError(f"{unknown[0]}: no such option{nearest(unknown[0], known)}")
    if files is not None and not options.get(files):
        raise UsageError(f"no {files}; give a file, a folder, a glob or -")
    try:
        return model(**options)
    except ValidationError as error:
        raise UsageError("; ".join(_readable(item) for item in error.errors())) from None


def option_names(model: type[BaseModel]) -> list[str]:
    """What users call the fields of a request."""
    return [info.alias or name for name, info in model.model_fields.items()]


def _readable(item: Any) -> str:
    """One of pydantic's errors as a user reads it, the option first."""
    location = [str(part) for part in item["loc"] if not isinstance(part, int)]
    text = str(item["msg"]).removeprefix("Value error, ")
    if not location:
        return text
    option = "--" + location[0].replace("_", "-")
    value = item.get("input")
    if item["type"] == "value_error":
        return f"{option}: {text}"
    return f"{option}: {value!r}: {text[:1].lower()}{text[1:]}"


def plain_values(options: dict[str, Any], lists: Collection[str]) -> dict[str, Any]:
    """Keywords from Python as a request takes them: names for paths, `lists` also of one."""
    plain = {n: _several(v) if n in lists else _plain_path(v) for n, v in options.items()}
    return write_said(plain)


def write_said(options: dict[str, Any]) -> dict[str, Any]:
    """Keywords in which `no_write`, as the command line has it, is said by `write`.

    Raises:
        UsageError: `no_write` is neither true nor false, or `write` says otherwise.
    """
    said = dict(options)
    no_write = said.pop("no_write", None)
    if no_write is None:
        return said
    if not isinstance(no_write, bool):
        raise UsageError(f"--no-write: {no_write!r}: give True or False")
    if said.setdefault("write", not no_write) is no_write:
        raise UsageError("write and no_write contradict each other; give one of them")
    return said


def _several(values: Any) -> list[Any]:
    """A list of what may be one, several or none; what it holds is the request's to check."""
    if values is None:
        return []
    alone = isinstance(values, str | bytes | PathLike) or not isinstance(values, Iterable)
    return [_plain_path(value) for value in ([values] if alone else values)]


def _plain_path(value: Any) -> Any:
    return fspath(value) if isinstance(value, PathLike) else value
