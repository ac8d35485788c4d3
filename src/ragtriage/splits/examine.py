"""All that splits are held to: which findings can be looked for, and what they come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import polars as pl

from ragtriage.schemas.leakage import (
    ANSWER_IN_PROMPT,
    ANSWER_IN_QUESTION,
    DUPLICATE,
    GROUP,
    KINDS,
    NEAR,
    QUESTION_IN_PROMPT,
)
from ragtriage.splits.leaks import (
    Found,
    answer_in_question_leaks,
    as_findings,
    duplicate_leaks,
    group_leaks,
    near_leaks,
)
from ragtriage.splits.near import Search, near_pairs
from ragtriage.splits.prompts import Haystack, answer_leaks, question_leaks
from ragtriage.splits.words import GRAM, n_words
from ragtriage.without_text import columns_without_text

NO_SPLITS = "no two splits in the input"
NO_FILES = "no file given with --against"


@dataclass
class Examined:
    """What was found: `found` by kind, or in `unlooked` why a kind was not looked for.

    `near`: near duplicates among `keys`, the distinct ones, wherever they lie; `search` says how
    they were looked for (None where nothing asked for them).
    """

    keys: pl.Series
    near: pl.DataFrame
    search: Search | None = None
    found: dict[str, Found] = field(default_factory=dict)
    unlooked: dict[str, str] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Findings of all kinds."""
        return sum(found.n for found in self.found.values())

    def without_text(self) -> Examined:
        """The same findings, by ID and score alone."""
        found = {
            kind: Found(columns_without_text(leaks.rows, "text", "other_text"), leaks.n)
            for kind, leaks in self.found.items()
        }
        return replace(self, found=found)

    @property
    def rows(self) -> pl.DataFrame:
        """The listed findings, kind by kind."""
        none = as_findings(pl.DataFrame(schema={"case_id": pl.String}), GROUP)
        return pl.concat([none, *(self.found[kind].rows for kind in KINDS if kind in self.found)])


def examine(
    cases: pl.DataFrame,
    haystack: Haystack | None,
    held_out: pl.Series,
    *,
    threshold: float,
    min_answer_length: int,
    pair_up: bool,
) -> Examined:
    """All findings of these cases.

    Args:
        cases: as `splits.intake.take_in` gives them.
        haystack: files to look into, if any.
        held_out: cases whose questions and answers are to stand in none of them.
        threshold: similarity from which questions are near duplicates.
        min_answer_length: shorter answers are looked for nowhere.
        pair_up: find near duplicates even where there are no splits to compare.
    """
    keys = cases["key"].drop_nulls().unique().sort()
    split = cases["split"].drop_nulls().n_unique() > 1
    examined = Examined(keys, pl.DataFrame(schema={"a": pl.UInt32, "b": pl.UInt32}))
    if split or pair_up:
        examined.near, examined.search = near_pairs(keys, threshold)
    asked = None if keys.len() else "no `question` in the input"
    told = None if cases["expected_answers"].list.len().sum() else "no expected answer in the input"
    grouped = None if cases["group"].count() else "no `group` in the input"
    between = None if split else NO_SPLITS
    unsplit = None if cases["split"].count() else NO_SPLITS
    files = None if haystack is not None else NO_FILES
    hidden = cases.filter(held_out)
    hay = haystack or Haystack([])
    steps: dict[str, tuple[str | None, Callable[[], Found]]] = {
        GROUP: (between or grouped, lambda: group_leaks(cases)),
        DUPLICATE: (between or asked, lambda: duplicate_leaks(cases)),
        NEAR: (between or asked, lambda: near_leaks(cases, keys, examined.near)),
        ANSWER_IN_QUESTION: (
            unsplit or asked or told,
            lambda: answer_in_question_leaks(cases, min_answer_length),
        ),
        QUESTION_IN_PROMPT: (files or asked, lambda: question_leaks(hidden, hay)),
        ANSWER_IN_PROMPT: (files or told, lambda: answer_leaks(hidden, hay, min_answer_length)),
    }
    for kind, (why_not, look) in steps.items():
        if why_not is None:
            examined.found[kind] = look()
        else:
            examined.unlooked[kind] = why_not
    return examined


def can_be_looked_at(cases: pl.DataFrame) -> bool:
    """Is there anything to find in the cases alone: two splits, or a question and its answer?"""
    n_splits = cases["split"].drop_nulls().n_unique()
    answered = pl.col("key").is_not_null() & (pl.col("expected_answers").list.len() > 0)
    return n_splits > 1 or (n_splits == 1 and not cases.filter(answered).is_empty())


def n_short(cases: pl.DataFrame) -> int:
    """Cases whose question has too few words for a 3-gram."""
    return int((n_words(cases["key"].drop_nulls()) < GRAM).sum())
