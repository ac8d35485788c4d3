"""Leaves texts out of what is going to be written or printed: `--no-text`.

Frames and faults in, frames and faults out. Which fields are texts stands in `schemas.texts`.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import polars as pl

from ragtriage.errors import RagtriageError
from ragtriage.read.chunk import RowFault
from ragtriage.schemas.rules import message
from ragtriage.schemas.texts import CLAIM_TEXT, LEFT_OUT, MARKED, NULLED, REVIEW_TEXT

# Their messages hold IDs and places alone, and say which.
_SPEAKING = ("duplicate-case-id", "unknown-case", "missing-trace", "unknown-claim")
# Their field may be any key that a record has; that of every other rule is a field of the schema.
_OF_ANY_KEY = ("unknown-field", "duplicate-key", "encoding")
# What reads as the name of a field; any other key of a record may be a question itself.
_NAME = re.compile(r"[A-Za-z_$@][\w.$@:/\[\]-]{0,63}", re.ASCII)
_KEY = "key left out"


def cases_without_text(cases: pl.DataFrame) -> pl.DataFrame:
    """Cases with the text fields null; of `error` and `ambiguity`, that they are set is left."""
    set_still = [
        pl.when(pl.col(name).is_not_null()).then(pl.lit(LEFT_OUT)).alias(name)
        for name in MARKED
        if name in cases.columns
    ]
    nulled = [
        pl.lit(None, cases.schema[name]).alias(name) for name in NULLED if name in cases.columns
    ]
    claims = [_without_member("claims", CLAIM_TEXT)] if "claims" in cases.columns else []
    return cases.with_columns(*nulled, *set_still, *claims)


def columns_without_text(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """These columns null."""
    return frame.with_columns(pl.lit(None, frame.schema[name]).alias(name) for name in names)


def voices_without_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Disagreements without the notes of those who labelled."""
    lists = [_without_member(name, REVIEW_TEXT) for name in ("labels", "adjudications")]
    return frame.with_columns(lists)


def fault_without_text(fault: RowFault) -> RowFault:
    """A fault that quotes nothing: no raw record, and the rule's own words."""
    words = fault.message if fault.rule in _SPEAKING else message(fault.rule)
    theirs = fault.rule in _OF_ANY_KEY and not _NAME.fullmatch(fault.field)
    field = _KEY if theirs else fault.field
    return fault._replace(field=field, raw=None, message=words)


def names_without_text(counted: Mapping[str, int]) -> dict[str, int]:
    """Counts by key, those of keys that read as no field's name under one.

    What readers count in brackets beside fields is said in their own words, and stays.
    """
    told: dict[str, int] = {}
    for name, n in counted.items():
        stays = _NAME.fullmatch(name) or (name[:1] == "(" and name[-1:] == ")")
        shown = name if stays else _KEY
        told[shown] = told.get(shown, 0) + n
    return told


def digests(texts: Iterable[str]) -> list[str]:
    """What tells one text from another, and no more."""
    return [text if _is_digest(text) else _digest(text) for text in texts]


def config_without_text(config: dict[str, Any]) -> dict[str, Any]:
    """A manifest's configuration: of the texts in it, digests."""
    return config | {"abstain_text": digests(config.get("abstain_text") or ())}


@contextmanager
def nothing_quoted(*, no_text: bool) -> Iterator[None]:
    """What nobody foresaw is told by its kind and place alone: its message may hold any text.

    Raises:
        RagtriageError: in place of an unforeseen error.
    """
    try:
        yield
    except RagtriageError:
        raise
    except Exception as error:
        if not no_text:
            raise
        places = "".join(traceback.format_tb(error.__traceback__))
        kind = type(error).__name__
        raise RagtriageError(
            f"ragtriage: internal error, {kind}; its message is left out (--no-text)\n{places}"
        ) from None


def _without_member(column: str, member: str) -> pl.Expr:
    nothing = pl.lit(None, pl.String).alias(member)
    return pl.col(column).list.eval(
        pl.when(pl.element().is_not_null()).then(pl.element().struct.with_fields(nothing))
    )


def _digest(text: str) -> str:
    return "sha256:" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _is_digest(text: str) -> bool:
    return text.startswith("sha256:") and len(text) == len("sha256:") + 64
