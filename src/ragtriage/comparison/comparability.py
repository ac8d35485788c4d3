"""May two runs be compared? Every difference by name, counted, and whether it was allowed.

What a run's manifest tells, and what people said of each case beforehand. Nothing the system
did is looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from ragtriage.comparison.pairing import Pairs
from ragtriage.errors import InputError
from ragtriage.read.runs import StoredRun
from ragtriage.schemas.fields import ITEMS_ALONE
from ragtriage.schemas.texts import TEXT_FIELDS
from ragtriage.without_text import config_without_text

EXAMPLES = 10
# Fields that are read at once: some hold text.
_FIELDS = 8
# What people said of a case before any system saw it; `answerable` as every rule used it.
LABELS = (
    "question",
    "required_ids",
    "required_groups",
    "grades",
    "answerable",
    "allowed_ids",
    "forbidden_ids",
    "required_claims",
    "expected_answers",
    "split",
    "ambiguity",
    "group",
    "tags",
    "weight",
)
# Of these, what cannot be compared where a run was written without texts.
UNCOMPARED = tuple(name for name in LABELS if name in TEXT_FIELDS)
# Order says nothing in these: evidence is a set, answers are alternatives.
_SETS = (
    "required_ids",
    "required_groups",
    "grades",
    "allowed_ids",
    "forbidden_ids",
    "required_claims",
    "expected_answers",
    "tags",
)
# Configuration that changes what a metric or a stage means, and how each is asked for.
_MEANING = {
    "contract": "--contract",
    "normalizer": "--normalizer",
    "abstain_text": "--abstain-text",
    "judge": "--judge",
}
# This key of `--about` says in words what the other differences come to.
_NAMES_THE_CHANGE = "change"


@dataclass(frozen=True)
class Difference:
    """One named difference. `allow`: the name that lets it pass, None when nothing does."""

    name: str
    base: str
    candidate: str
    n: int
    allow: str | None
    allowed: bool
    case_ids: list[str] = field(default_factory=list)
    hint: str = ""

    def __str__(self) -> str:
        """What differs and what to do about it."""
        cases = f" ({', '.join(self.case_ids[:3])}{', …' if self.n > 3 else ''})"  # noqa: PLR2004 - a few
        shown = cases if self.case_ids else ""
        what = f"{self.name}: base {self.base}, candidate {self.candidate}{shown}"
        flag = f"--allow {self.allow}" if self.allow else ""
        return f"{what}; {' or '.join(part for part in (self.hint, flag) if part)}"


@dataclass(frozen=True)
class About:
    """Keys of `--about` that differ; more than one is a combined change."""

    changed: dict[str, tuple[str | None, str | None]]

    @property
    def combined(self) -> bool:
        """Did more than one thing change? `change` only puts the rest into words."""
        return len([key for key in self.changed if key != _NAMES_THE_CHANGE]) > 1


def differences(
    base: StoredRun, candidate: StoredRun, pairs: Pairs, allow: tuple[str, ...]
) -> list[Difference]:
    """Every difference between the runs that bears on what may be said of them."""
    return [
        *configuration(base, candidate, allow),
        *_cases(pairs, allow),
        *_labels(base, candidate, pairs, allow),
    ]


def refuse(found: Iterable[Difference]) -> None:
    """Stop at differences that nobody allowed.

    Raises:
        InputError: naming each of them.
    """
    refused = [str(difference) for difference in found if not difference.allowed]
    if refused:
        raise InputError("\n".join(["the runs cannot be compared:", *refused]))


def configuration(
    base: StoredRun, candidate: StoredRun, allow: tuple[str, ...], *, no_text: bool = False
) -> list[Difference]:
    """How the two were evaluated: contract, cutoffs, normaliser and the like, corpus."""
    one, other = base.manifest, candidate.manifest
    return [*settings(one, other, allow, no_text=no_text), *_corpus(base, candidate, allow)]


def settings(
    base: dict[str, Any],
    candidate: dict[str, Any],
    allow: tuple[str, ...],
    *,
    no_text: bool = False,
) -> list[Difference]:
    """What two manifests say of how to score; known before a row is read.

    `no_text`: texts are named by their digests.
    """
    found = []
    one, other = base["cutoffs"], candidate["cutoffs"]
    if one != other:
        # Without a common cutoff there is nothing that `--allow` could compare.
        flag = "cutoffs" if set(one) & set(other) else None
        hint = "evaluate both with the same --k"
        found.append(_differs("cutoffs", _words(one), _words(other), flag, allow, hint))
    configs = [manifest["config"] for manifest in (base, candidate)]
    if no_text or any(config.get("no_text") for config in configs):
        configs = [config_without_text(config) for config in configs]
    for name, option in _MEANING.items():
        values = [config.get(name) for config in configs]
        # A manifest has lists where a request has tuples.
        one, other = (list(v) if isinstance(v, tuple) else v for v in values)
        if one != other:
            flag = name if name == "normalizer" else None
            hint = f"evaluate both with the same {option}"
            shown = (_words(one), _words(other))
            found.append(_differs(name.replace("_", " "), *shown, flag, allow, hint))
    return found


def about(base: StoredRun, candidate: StoredRun) -> About:
    """Which keys of the about tables differ, with both values; nested keys dotted."""
    one, other = (dict(_flat(run.manifest["about"])) for run in (base, candidate))
    keys = dict.fromkeys((*one, *other))
    changed = {
        key: (one.get(key), other.get(key)) for key in keys if one.get(key) != other.get(key)
    }
    return About(changed)


def _differs(
    name: str, base: str, candidate: str, flag: str | None, allow: tuple[str, ...], hint: str
) -> Difference:
    return Difference(name, base, candidate, 1, flag, flag is not None and flag in allow, [], hint)


def _corpus(base: StoredRun, candidate: StoredRun, allow: tuple[str, ...]) -> list[Difference]:
    one, other = (_digests(run) for run in (base, candidate))
    if one == other:
        return []
    shown = [", ".join(digest[:12] for digest in digests) or "none" for digests in (one, other)]
    hint = "evaluate both against the same corpus"
    return [_differs("corpus", shown[0], shown[1], "corpus", allow, hint)]


def _digests(run: StoredRun) -> list[str]:
    files = [file for file in run.manifest["inputs"] if file.get("role") == "corpus"]
    return sorted(str(file.get("sha256")) for file in files)


def _cases(pairs: Pairs, allow: tuple[str, ...]) -> list[Difference]:
    found = []
    sides = (("cases dropped", pairs.base_only), ("cases added", pairs.candidate_only))
    for place, (name, ids) in enumerate(sides):
        n = len(ids)
        if n:
            one, other = (f"{n:,}", "none") if place == 0 else ("none", f"{n:,}")
            examples = ids.sort().head(EXAMPLES).to_list()
            hint = "compare runs over the same cases"
            found.append(Difference(name, one, other, n, "cases", "cases" in allow, examples, hint))
    return found


def _labels(
    base: StoredRun, candidate: StoredRun, pairs: Pairs, allow: tuple[str, ...]
) -> list[Difference]:
    """Field by field, a few columns in memory at a time."""
    found = []
    hidden = UNCOMPARED if without_text(base, candidate) else ()
    known = base.columns & candidate.columns
    names = [name for name in LABELS if name in known and name not in hidden]
    values = pairs.blocks(base, candidate, names, at_once=_FIELDS)
    for name, (one, other) in zip(names, values, strict=True):
        rows = _differing(one, other, name)
        if len(rows):
            ids = pairs.ids.gather(rows).sort().head(EXAMPLES).to_list()
            shown = f"differs on {len(rows):,} of {len(pairs.ids):,} cases"
            found.append(
                Difference(
                    f"label {name}", "as evaluated", shown, len(rows), "labels",
                    "labels" in allow, ids, "compare runs over the same labels",
                )
            )  # fmt: skip
    return found


def without_text(*runs: StoredRun) -> bool:
    """Was one of the runs written without its texts?"""
    return any(run.manifest["config"].get("no_text") for run in runs)


def _differing(one: pl.Series, other: pl.Series, name: str) -> pl.Series:
    """Places of the pairs whose values differ."""
    if _same(one, other):
        return pl.Series(dtype=pl.get_index_type())
    places = one.ne_missing(other).arg_true()
    if name not in _SETS or places.is_empty():
        return places
    pairs_of_values = zip(one.gather(places).to_list(), other.gather(places).to_list(), strict=True)
    return places.filter(pl.Series([_as_set(a) != _as_set(b) for a, b in pairs_of_values]))


def _same(one: pl.Series, other: pl.Series) -> bool:
    """Are two columns alike throughout? Lists are told apart by members, far quicker than whole."""
    if isinstance(one.dtype, pl.List) and isinstance(other.dtype, pl.List):
        alike = one.list.len().equals(other.list.len())
        return alike and _same(_members(one), _members(other))
    return one.dtype == other.dtype and one.equals(other)


def _members(lists: pl.Series) -> pl.Series:
    return lists.explode(**ITEMS_ALONE)


def _as_set(value: Any) -> Any:
    """A list whose order does not matter in one order, its members' too."""
    if isinstance(value, list):
        return sorted({repr(_as_set(item)) for item in value})
    return value


def _words(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value) or "none"
    return "none" if value is None else str(value)


def _flat(value: Any, name: str = "") -> list[tuple[str, str]]:
    if not isinstance(value, dict):
        return [(name, _words(value))]
    named = [(f"{name}.{key}" if name else str(key), inner) for key, inner in value.items()]
    return [pair for key, inner in named for pair in _flat(inner, key)]
