"""Reviews for tests, and every number computed a second time: loops and fractions, no frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

import polars as pl
from hypothesis import strategies as st

from ragtriage.schemas.inputs import dtypes
from ragtriage.schemas.reviews import Reviews

Review = Mapping[str, Any]
Item = tuple[str, str | None, str | None]
TARGETS = ("claim", "answer", "relevance", "claim-passage")


def review(
    case_id: str, reviewer: str, label: bool | None, kind: str = "human", **more: Any
) -> dict[str, Any]:
    """One review of a whole answer, unless `claim_id` or `evidence_id` are given."""
    empty = {"claim_id": None, "evidence_id": None, "note": None}
    return {**empty, "case_id": case_id, "reviewer": reviewer, "label": label, "kind": kind, **more}


def votes(labels: Mapping[str, str], kind: str = "human") -> list[dict[str, Any]]:
    """A string of labels by each reviewer, one character an answer: T, F, `?` (open), or a gap."""
    said = {"T": True, "F": False, "?": None}
    return [
        review(f"c{place}", reviewer, said[mark], kind)
        for reviewer, marks in labels.items()
        for place, mark in enumerate(marks)
        if mark != " "
    ]


def frame(reviews: Iterable[Review]) -> pl.DataFrame:
    """Reviews as the program holds them."""
    return pl.DataFrame(list(reviews), schema=dtypes(Reviews))


def item_of(row: Review) -> Item:
    return row["case_id"], row["claim_id"], row["evidence_id"]


def target_of(row: Review) -> str:
    if row["claim_id"] is not None:
        return "claim" if row["evidence_id"] is None else "claim-passage"
    return "answer" if row["evidence_id"] is None else "relevance"


def settled(reviews: Iterable[Review]) -> dict[Item, bool]:
    """What each item is settled to be; items that are not are absent."""
    by_item: dict[Item, list[Review]] = {}
    for row in reviews:
        by_item.setdefault(item_of(row), []).append(row)
    found = {}
    for item, rows in by_item.items():
        given = [row for row in rows if row["label"] is not None]
        verdicts = {row["label"] for row in given if row["kind"] == "adjudication"}
        people = {row["label"] for row in given if row["kind"] == "human"}
        deciding = verdicts or people
        if len(deciding) == 1:
            found[item] = deciding.pop()
    return found


def kappa(pairs: list[tuple[bool, bool]]) -> Fraction | None:
    """Cohen's κ from its definition."""
    n = len(pairs)
    if not n:
        return None
    observed = Fraction(sum(a == b for a, b in pairs), n)
    chance = sum(
        Fraction(sum(a == label for a, _ in pairs), n)
        * Fraction(sum(b == label for _, b in pairs), n)
        for label in (True, False)
    )
    return None if chance == 1 else (observed - chance) / (1 - chance)


def alpha(units: list[list[bool]]) -> Fraction | None:
    """Krippendorff's α from its definition: every ordered pair of labels of a unit."""
    seen = {(a, b): Fraction(0) for a in (True, False) for b in (True, False)}
    for labels in units:
        for i, a in enumerate(labels):
            for j, b in enumerate(labels):
                if i != j:
                    seen[a, b] += Fraction(1, len(labels) - 1)
    n_true = seen[True, True] + seen[True, False]
    n_false = seen[False, True] + seen[False, False]
    n = n_true + n_false
    expected = 2 * n_true * n_false
    return None if not expected else 1 - (n - 1) * (seen[True, False] * 2) / expected


def pair_rows(reviews: list[Review]) -> dict[tuple[str | None, str | None, str], dict[str, Any]]:
    """What the pair table must say, by reviewers and target."""
    people = [row for row in reviews if row["kind"] == "human"]
    names = sorted({row["reviewer"] for row in people})
    occurring = {target_of(row) for row in reviews}
    rows = {}
    for target in ("all", *(name for name in TARGETS if name in occurring)):
        labels: dict[Item, dict[str, bool]] = {}
        for row in people:
            if row["label"] is not None and target in ("all", target_of(row)):
                labels.setdefault(item_of(row), {})[row["reviewer"]] = row["label"]
        active = sorted({name for by_name in labels.values() for name in by_name})
        two = active if len(active) == 2 else None
        rows[None, None, target] = _pair_row(labels, names) | {
            "kappa": kappa(_both(labels, *two)) if two else None
        }
        for a, b in combinations(names, 2):
            rows[a, b, target] = _pair_row(labels, [a, b]) | {"kappa": kappa(_both(labels, a, b))}
    return rows


def _both(labels: dict[Item, dict[str, bool]], a: str, b: str) -> list[tuple[bool, bool]]:
    return [(said[a], said[b]) for said in labels.values() if a in said and b in said]


def _pair_row(labels: dict[Item, dict[str, bool]], names: list[str]) -> dict[str, Any]:
    units = [[said[name] for name in names if name in said] for said in labels.values()]
    shared = [unit for unit in units if len(unit) > 1]
    met = [pair for unit in shared for pair in combinations(unit, 2)]
    agreed = sum(a == b for a, b in met)
    return {
        "n_labels": sum(map(len, units)),
        "n": len(shared),
        "n_pairs": len(met),
        "agreed": agreed,
        "agreement": Fraction(agreed, len(met)) if met else None,
        "alpha": alpha(shared),
    }


def judge_rows(reviews: list[Review]) -> dict[tuple[str, str], dict[str, Any]]:
    """What the judge table must say, by judge and target."""
    label = settled(reviews)
    occurring = {target_of(row) for row in reviews}
    rows = {}
    for judge in sorted({row["reviewer"] for row in reviews if row["kind"] == "judge"}):
        for target in ("all", *(name for name in TARGETS if name in occurring)):
            given = [
                row
                for row in reviews
                if row["reviewer"] == judge
                and row["kind"] == "judge"
                and row["label"] is not None
                and target in ("all", target_of(row))
            ]
            pairs = [(r["label"], label[item_of(r)]) for r in given if item_of(r) in label]
            counts = {
                "tp": pairs.count((True, True)),
                "fp": pairs.count((True, False)),
                "tn": pairs.count((False, False)),
                "fn": pairs.count((False, True)),
            }
            rows[judge, target] = {
                "n_labels": len(given),
                "n": len(pairs),
                **counts,
                "sensitivity": _over(counts["tp"], counts["fn"]),
                "specificity": _over(counts["tn"], counts["fp"]),
                "precision": _over(counts["tp"], counts["fp"]),
                "kappa": kappa(pairs),
            }
    return rows


def _over(part: int, rest: int) -> Fraction | None:
    return Fraction(part, part + rest) if part + rest else None


@st.composite
def drawn_reviews(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Reviews of few items by few names: people, judges and adjudicators, with gaps."""
    voices = [("ann", "human"), ("bob", "human"), ("cy", "human"), ("di", "human")]
    voices += [("judge-1", "judge"), ("judge-2", "judge"), ("eve", "adjudication")]
    items = st.tuples(
        st.sampled_from(["c1", "c2", "c3"]),
        st.sampled_from([None, "k1", "k2"]),
        st.sampled_from([None, "p1"]),
    )
    keys = draw(st.lists(st.tuples(items, st.sampled_from(voices)), unique=True, max_size=40))
    labels = st.sampled_from([True, True, False, None])
    return [
        review(case, name, draw(labels), kind, claim_id=claim, evidence_id=passage)
        for (case, claim, passage), (name, kind) in keys
    ]
