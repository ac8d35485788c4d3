"""Long tables of many runs as dense series: every value at its run, every gap a null."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from ragtriage.history.series import choose_slices, slice_series
from ragtriage.schemas import results
from tests.stored_runs import frame_of, mean_row, stage_row

RUNS = ["old", "mid", "new"]
WHERE = (("all", "all"), ("tag", "x"), ("tag", "y"))


def _summary(rows: list[tuple[str, dict[str, object]]]) -> pl.DataFrame:
    return _tagged(frame_of(results.Summary, [row for _, row in rows]), rows)


def _stages(rows: list[tuple[str, dict[str, object]]]) -> pl.DataFrame:
    return _tagged(frame_of(results.Stages, [row for _, row in rows]), rows)


def _tagged(frame: pl.DataFrame, rows: list[tuple[str, dict[str, object]]]) -> pl.DataFrame:
    return frame.with_columns(pl.Series("run", [run for run, _ in rows], pl.String))


def test_an_undefined_mean_and_an_absent_run_are_different_gaps() -> None:
    summary = _summary(
        [
            ("new", mean_row("recall", 5, 0.25, 4, 10)),
            ("old", mean_row("recall", 5, None, 0, 8)),
            ("new", mean_row("reciprocal_rank", None, 0.0, 10, 10)),
        ]
    )
    stages = _stages([("old", stage_row("pass", 8, 8)), ("new", stage_row("retrieval", 10, 10))])
    (series,) = slice_series(RUNS, summary, stages, [("all", "all")])
    assert series["metrics"] == {
        "recall@5": {"mean": [None, None, 0.25], "n": [0, None, 4]},
        "reciprocal_rank": {"mean": [None, None, 0.0], "n": [None, None, 10]},
    }
    assert series["cases"] == [8, None, 10]
    # No case of `old` broke at retrieval: that is 0. Of `mid` nothing is known.
    assert series["stages"] == {"pass": [8, None, 0], "retrieval": [0, None, 10]}


def test_break_points_of_one_stage_add_up() -> None:
    rows = [
        stage_row("retrieval", n, 10) | {"break_point": point}
        for n, point in ((2, "filter"), (3, "index"))
    ]
    stages = _stages([("old", row) for row in rows])
    (series,) = slice_series(["old"], _summary([]), stages, [("all", "all")])
    assert series["stages"] == {"retrieval": [5]}
    assert series["cases"] == [5]


def test_slices_fit_the_budget_and_all_cases_always_do() -> None:
    rows = [
        ("old", mean_row("recall", 5, 0.5, 9, 9)),
        ("new", mean_row("recall", 5, 0.5, 9, 9)),
        ("new", mean_row("recall", 5, 0.5, 3, 3, slice="tag", value="once, many cases")),
        ("old", mean_row("recall", 5, 0.5, 1, 1, slice="tag", value="in both")),
        ("new", mean_row("recall", 5, 0.5, 1, 1, slice="tag", value="in both")),
        ("new", mean_row("recall", 5, 0.5, 2, 2, slice="tag", value="once, fewer")),
    ]
    order = [
        ("all", "all"),
        ("tag", "in both"),
        ("tag", "once, many cases"),
        ("tag", "once, fewer"),
    ]
    for budget, n in ((0, 1), (3, 1), (4, 2), (5, 3), (6, 4)):
        assert choose_slices(_summary(rows), _stages([]), budget) == (order[:n], 4 - n)


def test_nothing_at_all() -> None:
    assert choose_slices(_summary([]), _stages([]), 10) == ([], 0)
    assert slice_series(RUNS, _summary([]), _stages([]), []) == []


@settings(deadline=None)
@given(
    st.dictionaries(
        st.tuples(
            st.sampled_from(RUNS), st.sampled_from(WHERE), st.sampled_from(["recall", "hit"])
        ),
        st.tuples(st.none() | st.floats(0, 1), st.integers(0, 50)),
        min_size=1,
    )
)
def test_every_row_stands_at_its_place(
    cells: dict[tuple[str, tuple[str, str], str], tuple[float | None, int]],
) -> None:
    rows = [
        (run, mean_row(metric, 5, mean, n, 50, slice=where[0], value=where[1]))
        for (run, where, metric), (mean, n) in cells.items()
    ]
    summary, stages = _summary(rows), _stages([])
    chosen, omitted = choose_slices(summary, stages, len(rows))
    assert omitted == 0
    found = {}
    for series in slice_series(RUNS, summary, stages, chosen):
        where = (series["slice"], series["value"])
        for label, values in series["metrics"].items():
            for run, mean, n in zip(RUNS, values["mean"], values["n"], strict=True):
                if n is not None:
                    found[run, where, label.removesuffix("@5")] = (mean, n)
    expected = {
        key: (None if mean is None else round(mean, 6), n) for key, (mean, n) in cells.items()
    }
    assert found.keys() == expected.keys()
    for key, (mean, n) in expected.items():
        assert found[key][1] == n
        assert (found[key][0] is None) == (mean is None)
        assert mean is None or abs((found[key][0] or 0.0) - mean) <= 1e-6
