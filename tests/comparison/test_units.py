"""Units of many slice values at once, against each value's pairs taken one by one."""

from __future__ import annotations

from collections import Counter, defaultdict

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from ragtriage.comparison.deltas import Scores
from ragtriage.comparison.units import ONE, group_codes, units_by_value
from tests.comparison.kit import RECALL
from tests.read.support import examples

VALUES = st.one_of(st.none(), st.sampled_from([0.0, 0.25, 1 / 3, 2 / 3, 1.0]))
PAIRS = st.lists(
    st.tuples(VALUES, VALUES, st.sampled_from([None, "g", "h"]), st.integers(0, 3)), max_size=12
)
MEMBERS = st.sets(st.tuples(st.sampled_from(["x", "y", "z"]), st.integers(0, 4)), max_size=8)


@examples(150)
@given(PAIRS, MEMBERS)
def test_each_value_has_the_units_of_its_pairs(
    pairs: list[tuple[float | None, float | None, str | None, int]], members: set[tuple[str, int]]
) -> None:
    base, candidate, groups, cells = zip(*pairs, strict=True) if pairs else ([], [], [], [])
    one, other = (pl.Series(values, dtype=pl.Float64) for values in (base, candidate))
    found = units_by_value(
        Scores(RECALL, one, other, one.ne_missing(other)),
        group_codes(pl.Series(groups, dtype=pl.String)),
        pl.Series(cells, dtype=pl.UInt32),
        pl.DataFrame(
            [("tag", value, cell) for value, cell in sorted(members)],
            schema={"slice": pl.String, "slice_value": pl.String, "cell": pl.UInt32},
            orient="row",
        ),
    )
    expected: dict[tuple[str, str], Counter[tuple[int, int]]] = defaultdict(Counter)
    for value in sorted({value for value, _ in members}):
        whole: dict[object, list[int]] = defaultdict(list)
        for place, (before, after, group, cell) in enumerate(pairs):
            if (value, cell) in members and before is not None and after is not None:
                whole[group or place].append(round((after - before) * ONE))
        for steps in whole.values():
            # A step a case is rounding: 1/3 + 1/3 - 2/3 is no difference.
            total = sum(steps) if abs(sum(steps)) > len(steps) else 0
            expected["tag", value][total, len(steps)] += 1
    assert {
        key: Counter(
            {
                (total, cases): count
                for total, cases, count in zip(
                    units.sums.tolist(), units.cases.tolist(), units.counts.tolist(), strict=True
                )
            }
        )
        for key, units in found.items()
    } == expected
    for units in found.values():
        kinds = list(zip(units.sums.tolist(), units.cases.tolist(), strict=True))
        assert kinds == sorted(kinds)
