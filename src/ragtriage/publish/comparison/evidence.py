"""What the formats say alike of tests and intervals."""

from __future__ import annotations

from collections.abc import Iterable

from ragtriage.publish import wording
from ragtriage.publish.comparison import document as doc
from ragtriage.publish.comparison.words import label, signed

NOTES = {
    "tests": (
        "Two-sided sign-flip tests of the paired differences, groups flipped whole; p corrected "
        "by Holm over the defined members of the family."
    ),
    "intervals": (
        "Cluster bootstrap, 95 percent: how far a mean difference could move with other cases of "
        "the same kind. From few units it comes out too narrow."
    ),
}


def test_lines(report: doc.ComparisonReport) -> list[tuple[str, str, str, str, str, str]]:
    """Each test that has a p, the smallest first: where, units, method, p, corrected, smallest."""
    defined = [row for row in report["tests"] or [] if row["p"] is not None]
    return [
        (
            _member(row),
            f"{row['n_differing']:,} of {row['n_units']:,}",
            row["method"],
            p_value(row["p"]),
            p_value(row["p_adjusted"]),
            p_value(row["p_smallest"]),
        )
        for row in sorted(defined, key=lambda row: float(row["p"]))
    ]


def untested(report: doc.ComparisonReport) -> list[tuple[str, int]]:
    """Why members of the family have no p, and how many."""
    reasons: dict[str, int] = {}
    for row in report["tests"] or []:
        if row["p"] is None:
            reasons[row["note"]] = reasons.get(row["note"], 0) + 1
    return list(reasons.items())


def interval_lines(report: doc.ComparisonReport) -> list[tuple[str, str, str, str]]:
    """Each defined interval: where, the difference, from and to, units drawn from."""
    return [
        (
            _member(row),
            signed(row["delta"]),
            f"{signed(row['low'])} to {signed(row['high'])}",
            f"{row['n_units']:,}",
        )
        for row in report["intervals"] or []
        if row["low"] is not None
    ]


def without_interval(report: doc.ComparisonReport) -> int:
    """Members of the family without an interval."""
    return sum(row["low"] is None for row in report["intervals"] or [])


def _member(row: dict[str, object]) -> str:
    name = label(str(row["metric"]), row["k"] if isinstance(row["k"], int) else None)
    where = "" if row["slice"] == "all" else f" [{row['slice']}={row['slice_value']}]"
    return name + where


def p_value(p: float | None) -> str:
    """Two digits; never 0."""
    if p is None:
        return wording.UNDEFINED
    return f"{p:.2g}" if p >= 0.001 else f"{p:.1e}"  # noqa: PLR2004 - three decimals


def seeds(rows: Iterable[dict[str, object]] | None) -> str:
    """The seed and number of samples of what was drawn, if anything was."""
    drawn = [row for row in rows or [] if row["seed"] is not None]
    if not drawn:
        return ""
    return f"seed {drawn[0]['seed']}, {drawn[0]['samples']:,} samples"
