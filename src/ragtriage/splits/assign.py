"""A proposed split for every case: families stay whole, shares are met as well as they allow."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

import polars as pl

from ragtriage.schemas.leakage import Assignment, Sizes
from ragtriage.splits.leaks import in_columns

ALL = ("all", "all")

Strata = Counter[tuple[str, str]]


@dataclass(frozen=True)
class Proposal:
    """`assignment`, `sizes`: the tables but for the run.

    `n_families`; `largest`: cases of the largest; `n_moved`: cases that change their split.
    """

    assignment: pl.DataFrame
    sizes: pl.DataFrame
    n_families: int
    largest: int
    n_moved: int


@dataclass
class _Family:
    name: str
    members: list[int]
    strata: Strata
    given: Counter[str]


def propose(
    cases: pl.DataFrame,
    families: pl.Series,
    shares: Mapping[str, float],
    *,
    seed: int,
    by_tag: bool,
    reassign: bool,
) -> Proposal:
    """A split for each case.

    Families are taken largest first, those of one size in an order that the seed and their names
    decide. Each goes where the share asked for is filled least, counted with half of it: over all
    cases and, `by_tag`, over the cases of each of its tags as well.

    Unless `reassign`, a family of which cases have a split stays there, with all its other cases:
    one that lies in several moves whole to the one with most of it, then the first by name.

    Args:
        cases: `case_id` (in order), `split`, `tags`.
        families: the family of each case.
        shares: the share of each split, in sum 1.
        seed: any number; the same one gives the same proposal whatever the order of rows.
        by_tag: keep the shares within each tag as well.
        reassign: forget the splits that cases have.
    """
    kept = cases["split"] if not reassign else pl.Series([None] * cases.height, dtype=pl.String)
    tags = cases["tags"] if by_tag else pl.Series([None] * cases.height, dtype=pl.List(pl.String))
    grouped = _families(families, kept, tags)
    filled: dict[str, Strata] = defaultdict(Counter)
    proposed = kept.to_list()
    free = []
    for family in grouped:
        if not family.given:
            free.append(family)
            continue
        home = min(family.given, key=lambda split: (-family.given[split], split))
        for member in family.members:
            proposed[member] = home
        filled[home].update(family.strata)
    totals: Strata = Counter()
    for family in grouped:
        totals.update(family.strata)
    free.sort(key=lambda family: (-len(family.members), _drawn(seed, family.name)))
    for family in free:
        split = _emptiest(family.strata, filled, shares)
        filled[split].update(family.strata)
        for member in family.members:
            proposed[member] = split
    return _proposal(
        cases, families, pl.Series(proposed, dtype=pl.String), shares, (filled, totals)
    )


def _families(families: pl.Series, kept: pl.Series, tags: pl.Series) -> list[_Family]:
    found: dict[str, _Family] = {}
    for place, (name, split) in enumerate(zip(families, kept, strict=True)):
        family = found.setdefault(name, _Family(name, [], Counter(), Counter()))
        family.members.append(place)
        family.strata.update(_strata_of(tags[place]))
        if split is not None:
            family.given[split] += 1
    return list(found.values())


def _strata_of(tags: pl.Series | None) -> list[tuple[str, str]]:
    return [ALL, *(("tag", tag) for tag in sorted(set(tags if tags is not None else ())))]


def _drawn(seed: int, name: str) -> bytes:
    return blake2b(f"{seed}:{name}".encode("utf-8", "surrogatepass")).digest()


def _emptiest(strata: Strata, filled: Mapping[str, Strata], shares: Mapping[str, float]) -> str:
    """The split whose share is filled least with half the family in it; else the first as asked."""

    def fill(split: str) -> float:
        # Webster's rule for seats: a small split gets its case once half of one is due.
        taken = sum(n * (2 * filled[split][stratum] + n) for stratum, n in strata.items())
        return taken / shares[split]

    return min(shares, key=fill)


def _proposal(
    cases: pl.DataFrame,
    families: pl.Series,
    proposed: pl.Series,
    shares: Mapping[str, float],
    counts: tuple[Mapping[str, Strata], Strata],
) -> Proposal:
    rows = cases.select("case_id", "split").with_columns(
        families.alias("family"), proposed.alias("proposed_split")
    )
    rows = rows.with_columns(
        family_size=pl.len().over("family"),
        moved=(pl.col("split") != pl.col("proposed_split")).fill_null(False),
    )
    return Proposal(
        assignment=in_columns(rows, Assignment),
        sizes=_sizes(shares, *counts),
        n_families=rows["family"].n_unique(),
        largest=max(rows["family_size"], default=0),
        n_moved=int(rows["moved"].sum()),
    )


def _sizes(
    shares: Mapping[str, float], filled: Mapping[str, Strata], totals: Strata
) -> pl.DataFrame:
    names = [*shares, *sorted(set(filled) - set(shares))]
    rows = [
        {
            "stratum": stratum[0],
            "stratum_value": stratum[1],
            "split": split,
            "asked_share": shares.get(split),
            "asked": shares[split] * totals[stratum] if split in shares else None,
            "reached": filled[split][stratum] if split in filled else 0,
            "reached_share": (filled[split][stratum] if split in filled else 0) / totals[stratum],
        }
        for stratum in sorted(totals)
        for split in names
    ]
    return in_columns(pl.DataFrame(rows), Sizes)
