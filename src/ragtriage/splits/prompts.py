"""Which questions and answers stand in prompts and example files, word for word."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import polars as pl

from ragtriage.schemas.leakage import ANSWER_IN_PROMPT, QUESTION_IN_PROMPT
from ragtriage.splits.leaks import LISTED, Found, answers_of, as_findings
from ragtriage.splits.words import GRAM, keys_of, n_words

# Shorter questions stand in any text.
MIN_QUESTION_WORDS = GRAM
_PATTERNS_AT_ONCE = 50_000
_BETWEEN_FILES = "\n"
_SPACE = 0x20
_UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


class PromptText(NamedTuple):
    """A file that was read as text."""

    name: str
    text: str


class Haystack:
    """Files as one long key, with the way back from a place in it to file and line."""

    def __init__(self, files: list[PromptText]) -> None:
        names: list[int] = []
        numbers: list[int] = []
        raw: list[str] = []
        for place, file in enumerate(files):
            lines = file.text.splitlines()
            names += [place] * (len(lines) + 1)
            numbers += range(1, len(lines) + 2)
            raw += [*lines, _BETWEEN_FILES]
        lines_frame = pl.DataFrame(
            {"file": names, "line": numbers, "raw": raw},
            schema={"file": pl.UInt32, "line": pl.Int64, "raw": pl.String},
        )
        keys = keys_of(pl.Series(map(_unescaped, raw), dtype=pl.String))
        keys = pl.select(
            pl.when(lines_frame["raw"] == _BETWEEN_FILES)
            .then(pl.lit(_BETWEEN_FILES))
            .otherwise(keys)
        ).to_series()
        self._lines = lines_frame.with_columns(key=keys).drop_nulls("key")
        self._names = pl.Series([file.name for file in files], dtype=pl.String)
        self._key = " " + " ".join(self._lines["key"]) + " "
        self._spaces = np.flatnonzero(np.frombuffer(self._key.encode(), np.uint8) == _SPACE)
        self._ends = n_words(self._lines["key"]).cum_sum().to_numpy()

    def where(self, keys: pl.Series) -> pl.DataFrame:
        """Where each key stands: `key`, `file`, `line` (the first in the file) and its `raw` text.

        Args:
            keys: distinct keys, none null.
        """
        hay = pl.Series([self._key])
        found, offsets = [], []
        for some in pl.select(" " + keys + " ").iter_slices(_PATTERNS_AT_ONCE):
            patterns = some.to_series().implode()
            # Both go through the text alike, so that their results stand side by side.
            found.append(hay.str.extract_many(patterns, overlapping=True).explode().drop_nulls())
            offsets.append(hay.str.find_many(patterns, overlapping=True).explode().drop_nulls())
        if not found:
            return self._at(pl.Series(dtype=pl.String), pl.Series(dtype=pl.UInt32))
        return self._at(pl.concat(found).str.strip_chars(" "), pl.concat(offsets))

    def _at(self, keys: pl.Series, offsets: pl.Series) -> pl.DataFrame:
        words = np.searchsorted(self._spaces, offsets.to_numpy())
        rows = np.searchsorted(self._ends, words, side="right")
        at = self._lines[rows].select("file", "line", "raw").with_columns(key=keys)
        first = at.sort("key", "file", "line").unique(["key", "file"], keep="first")
        return first.with_columns(file=self._names.gather(first["file"])).sort("key", "file")


def question_leaks(cases: pl.DataFrame, haystack: Haystack) -> Found:
    """Cases whose question stands in a file; each case and file is a finding."""
    asked = cases.filter(n_words(cases["key"]) >= MIN_QUESTION_WORDS)
    asked = asked.select("case_id", "split", "key", text="question")
    return _found(asked, haystack, QUESTION_IN_PROMPT)


def answer_leaks(cases: pl.DataFrame, haystack: Haystack, min_length: int) -> Found:
    """Cases of which an expected answer stands in a file; each case, answer and file is one."""
    told = answers_of(cases, min_length)
    told = told.select("case_id", "split", key="answer_key", text="answer")
    return _found(told, haystack, ANSWER_IN_PROMPT)


def _found(needles: pl.DataFrame, haystack: Haystack, kind: str) -> Found:
    where = haystack.where(needles["key"].unique().sort())
    rows = needles.join(where, on="key").sort("case_id", "key", "file")
    named = rows.head(LISTED).select(
        "case_id",
        "split",
        "file",
        "line",
        "text",
        score=pl.lit(1.0),
        pairs=pl.lit(1),
        other_text=pl.col("raw").str.strip_chars(),
    )
    return Found(as_findings(named, kind), rows.height)


def _unescaped(line: str) -> str:
    r"""Escapes of JSON and source code as what they stand for: `\n` is no letter n."""
    if "\\" not in line:
        return line
    plain = _UNICODE_ESCAPE.sub(lambda match: chr(int(match[1], 16)), line)
    return re.sub(r"\\[nrtfb\"'/\\]", " ", plain)
