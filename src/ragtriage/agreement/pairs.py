"""People held against each other, two by two and all together. No judge's label comes in here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import polars as pl

from ragtriage.agreement.coefficients import (
    NONE_SHARED,
    TWO_ONLY,
    Coefficient,
    Square,
    Votes,
    cohen_kappa,
    krippendorff_alpha,
    label_pairs,
    ratio,
)
from ragtriage.reviews.settle import TARGETS, target
from ragtriage.schemas.agreement import Pairs
from ragtriage.schemas.inputs import dtypes
from ragtriage.schemas.reviews import HUMAN, ITEM

ALL = "all"
NONE_SHARED_BY_ANY = "no item was labelled by two people"
# The number of pairs grows with the square of this. Beyond it, pairs of people who share no item
# at all are left to be counted.
LISTED_REVIEWERS = 200


class Labels(NamedTuple):
    """People's labels in whole numbers.

    `rows`: `item`, `target`, `reviewer` (place in `names`), `label`; null labels are left out.
    `names`: everybody who reviewed as a person, sorted. `targets`: `all`, then those that occur.
    """

    rows: pl.DataFrame
    names: list[str]
    targets: list[str]


def targets_of(rows: pl.DataFrame) -> list[str]:
    """`all`, then each kind of thing that some review is of."""
    occurring = set(rows.select(target().unique()).to_series())
    return [ALL, *(name for name in TARGETS if name in occurring)]


def pair_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Agreement per target over all people, then per pair of people and target.

    A null label is a missing one. Adjudications are made in sight of the labels they settle and
    enter no coefficient.

    Args:
        rows: reviews, with the columns of `schemas.reviews.Reviews`.

    Returns:
        The columns of `schemas.agreement.Pairs` but `run_id`. Over all people agreement is
        pooled: pairs of equal labels ÷ pairs of labels, an item with m labels giving
        m·(m - 1) ÷ 2. Pairs of people who share no item are listed with n = 0; beyond
        `LISTED_REVIEWERS` people only those who share one are.
    """
    labels = people(rows)
    squares = _squares(labels.rows)
    table = [*_over_all(labels, squares), *_by_pair(labels, squares)]
    schema = {name: dtype for name, dtype in dtypes(Pairs).items() if name != "run_id"}
    return pl.DataFrame(table, schema=schema, orient="row")


def unlisted_pairs(table: pl.DataFrame, rows: pl.DataFrame) -> int:
    """Pairs of people who share no item and were left out of the table for their number."""
    n = rows.filter(pl.col("kind") == HUMAN)["reviewer"].n_unique()
    listed = table.filter((pl.col("target") == ALL) & pl.col("reviewer_a").is_not_null()).height
    return n * (n - 1) // 2 - listed


def people(rows: pl.DataFrame) -> Labels:
    """People's labels, everything that is compared coded as a number."""
    persons = rows.filter(pl.col("kind") == HUMAN)
    names = persons["reviewer"].unique().sort()
    coded = persons.select(
        item=pl.struct(ITEM).rank("dense"),
        target=target(),
        reviewer=pl.col("reviewer").replace_strict(
            names, pl.int_range(names.len(), dtype=pl.UInt32, eager=True), return_dtype=pl.UInt32
        ),
        label="label",
    ).drop_nulls("label")
    return Labels(coded, names.to_list(), targets_of(rows))


# By target and pair of people.
_Squares = dict[str, dict[tuple[int, int], Square]]


def _over_all(labels: Labels, squares: _Squares) -> Iterator[dict[str, Any]]:
    votes, given = _votes(labels.rows), _given(labels.rows)
    for name in labels.targets:
        found = votes.get(name, Counter())
        by_person = [given[name, place] for place in range(len(labels.names))]
        kappa = _kappa_over_all(sum(n > 0 for n in by_person), squares.get(name, {}))
        yield {
            "target": name,
            "n_labels": sum(by_person),
            **_shared(found, NONE_SHARED_BY_ANY),
            "kappa": kappa.value,
            "kappa_reason": kappa.reason,
        }


def _kappa_over_all(n_people: int, squares: dict[tuple[int, int], Square]) -> Coefficient:
    """κ where exactly two people gave labels; else why there is none."""
    if not squares:
        return Coefficient(None, NONE_SHARED_BY_ANY)
    if n_people > 2:  # noqa: PLR2004 - two is what Cohen's κ is about
        return Coefficient(None, TWO_ONLY)
    (square,) = squares.values()
    return cohen_kappa(square)


def _by_pair(labels: Labels, squares: _Squares) -> Iterator[dict[str, Any]]:
    given = _given(labels.rows)
    sharing = squares.get(ALL, {})
    few = len(labels.names) <= LISTED_REVIEWERS
    places = combinations(range(len(labels.names)), 2) if few else iter(sorted(sharing))
    for a, b in places:
        for name in labels.targets:
            square = squares.get(name, {}).get((a, b), Square(0, 0, 0, 0))
            kappa = cohen_kappa(square)
            yield {
                "reviewer_a": labels.names[a],
                "reviewer_b": labels.names[b],
                "target": name,
                "n_labels": given[name, a] + given[name, b],
                **_shared(_votes_in(square), NONE_SHARED),
                **square._asdict(),
                "kappa": kappa.value,
                "kappa_reason": kappa.reason,
            }


def _shared(votes: Votes, none_shared: str) -> dict[str, Any]:
    pairs, agreed = label_pairs(votes)
    alpha = krippendorff_alpha(votes, none_shared)
    return {
        "n": sum(n for counts, n in votes.items() if sum(counts) > 1),
        "n_pairs": pairs,
        "agreed": agreed,
        "agreement": ratio(agreed, pairs, none_shared).value,
        "alpha": alpha.value,
        "alpha_reason": alpha.reason,
    }


def _votes_in(square: Square) -> Votes:
    return {
        (2, 0): square.both_true,
        (1, 1): square.only_a_true + square.only_b_true,
        (0, 2): square.both_false,
    }


def _votes(rows: pl.DataFrame) -> dict[str, Counter[tuple[int, int]]]:
    """By target, items by how many called them true and how many false."""
    items = rows.group_by("item", "target").agg(true=pl.col("label").sum(), of=pl.len())
    counted = items.group_by("target", "true", "of").agg(n=pl.len())
    votes: dict[str, Counter[tuple[int, int]]] = {}
    for name, true, of, n in counted.iter_rows():
        for group in (name, ALL):
            votes.setdefault(group, Counter())[true, of - true] += n
    return votes


def _squares(rows: pl.DataFrame) -> _Squares:
    """The two-by-two table of what both labelled."""
    cells: dict[tuple[str, int, int], Counter[tuple[bool, bool]]] = {}
    for name, a, b, by_a, by_b, n in _met(rows):
        for group in (name, ALL):
            cells.setdefault((group, a, b), Counter())[by_a, by_b] += n
    squares: _Squares = {}
    for (group, a, b), cell in cells.items():
        squares.setdefault(group, {})[a, b] = Square(
            cell[True, True], cell[True, False], cell[False, True], cell[False, False]
        )
    return squares


def _met(rows: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Every two labels of one item, counted: target, both people, both labels, how often.

    Labels stand sorted by item and person; those `apart` rows from each other are met at once, so
    that memory does not grow with the square of the labels of an item.
    """
    left = rows.sort("item", "reviewer").with_columns(of=pl.len().over("item"))
    apart = 1
    while (left := left.filter(pl.col("of") > apart)).height:
        met = left.select(
            "target",
            same=pl.col("item") == pl.col("item").shift(-apart),
            a="reviewer",
            b=pl.col("reviewer").shift(-apart),
            by_a="label",
            by_b=pl.col("label").shift(-apart),
        )
        yield from (
            met.filter("same")
            .group_by("target", "a", "b", "by_a", "by_b")
            .agg(n=pl.len())
            .iter_rows()
        )
        apart += 1


def _given(rows: pl.DataFrame) -> Counter[tuple[str, int]]:
    """By target and person, the labels given."""
    given: Counter[tuple[str, int]] = Counter()
    for name, person, n in rows.group_by("target", "reviewer").agg(n=pl.len()).iter_rows():
        given[name, person] += n
        given[ALL, person] += n
    return given
