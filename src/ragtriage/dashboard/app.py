"""The Streamlit script: widgets over `queries` and `texts`. Run again from the top at each choice.

Text from data goes only where Streamlit shows plain text: `text`, `dataframe`, options of a
selectbox. Never into `markdown`, `write`, `caption`, a label or a message.
"""

from __future__ import annotations

import sys

import polars as pl
import streamlit as st

from ragtriage.dashboard import queries, texts
from ragtriage.dashboard.queries import NOT_PASSED, PAGE, Choice
from ragtriage.errors import InputError
from ragtriage.read.browse import Offered, claims_table, offered, small_table
from ragtriage.read.folders import StoredFolder
from ragtriage.read.runs import StoredRun, open_run
from ragtriage.read.stored import read_table
from ragtriage.schemas import results

_STAGES = ("slice", "slice_value", "stage", "break_point", "n")
_SUMMARY = ("metric", "k", "mean", "n_scored", "n_undefined", "n_not_run", "n_cases")
_SLICE = ("slice", "slice_value")
_MIXED = 50


def main(directory: str) -> None:
    """The whole page."""
    st.set_page_config(page_title="ragtriage", layout="wide")
    st.title("ragtriage")
    try:
        found = offered(directory)
        run = _pick_run(found)
        if run is not None:
            _show_run(run)
            _show_mix(found.runs)
    except InputError as error:
        st.error("This cannot be shown:")
        st.text(str(error))


def _pick_run(found: Offered) -> StoredFolder | None:
    run = None
    if found.runs:
        runs = {folder.name: folder for folder in found.runs}
        labels = {name: texts.run_label(folder) for name, folder in runs.items()}
        name = st.selectbox("Run, newest first", list(runs), format_func=labels.__getitem__)
        run = runs[name]
    else:
        st.info("No finished run here yet: `ragtriage evaluate` writes one.")
    if found.others:
        with st.expander(texts.others_told(found.others)):
            rows = [(texts.line(o.name), texts.line(o.reason)) for o in found.others]
            _table(pl.DataFrame(rows, schema=["folder", "why"], orient="row"))
    return run


def _show_run(run: StoredFolder) -> None:
    stages = small_table(run, "stages.parquet", results.Stages, _STAGES)
    choice = _pick_cases(stages)
    stored = open_run(str(run.path))
    case_id = _pick_case(stored, choice)
    if case_id is not None:
        _show_case(run, stored, case_id)
    st.header("Metrics")
    st.caption("Means over scored cases of this slice; an undefined case is in no mean.")
    summary = small_table(run, "summary.parquet", results.Summary, (*_SLICE, *_SUMMARY))
    _table(texts.metric_table(queries.metrics(summary, choice.slice, choice.value)))
    st.header("Findings")
    findings = small_table(run, "findings.parquet", results.Findings, ("finding", "n"))
    st.caption("Over all cases of the run.")
    _table(findings.rename({"n": "cases"}))


def _pick_cases(stages: pl.DataFrame) -> Choice:
    """Slice and value, stage, break point, a part of the text."""
    values = queries.slice_values(stages)
    first, second, third, fourth = st.columns(4)
    name = first.selectbox("Slice", list(values) or ["all"])
    value = second.selectbox("Value", values.get(name, ["all"]), format_func=texts.line)
    counts = queries.stage_counts(stages, name, value)
    stage = third.selectbox(
        "Stage", [NOT_PASSED, None, *counts], format_func=lambda s: texts.stage_label(s, counts)
    )
    choice = Choice(name, value, queries.known_values(values, name), stage)
    points = queries.break_point_counts(stages, choice)
    point = fourth.selectbox(
        "Break point", [None, *points], format_func=lambda p: texts.break_point_label(p, points)
    )
    text = st.text_input("Case ID or question contains", max_chars=200)
    return Choice(name, value, choice.known, stage, point, text)


def _pick_case(stored: StoredRun, choice: Choice) -> str | None:
    """A page of the chosen cases, and the one picked from it."""
    st.header("Cases")
    n = int(stored.read(queries.n_chosen(stored.cases, choice)).item())
    if not n:
        st.info("No case is like this.")
        return None
    pages = -(-n // PAGE)
    page = 1
    if pages > 1:
        # Another choice starts at its first page: its key makes another widget.
        page = int(st.number_input(f"Page of {pages:,}", 1, pages, key=f"page {choice}"))
    rows = stored.read(queries.case_page(stored.cases, choice, page - 1))
    st.caption(f"{(page - 1) * PAGE + 1:,} to {(page - 1) * PAGE + len(rows):,} of {n:,} cases")
    _table(texts.case_table(rows))
    labels = {row["case_id"]: texts.line(row["case_id"]) for row in rows.iter_rows(named=True)}
    picked: str | None = st.selectbox(
        "Case",
        list(labels),
        index=None,
        format_func=labels.__getitem__,
        placeholder="pick one to see its evidence path",
    )
    return picked


def _show_case(run: StoredFolder, stored: StoredRun, case_id: str) -> None:
    row = stored.read(queries.one_case(stored.cases, case_id)).row(0, named=True)
    ledger = stored.read(queries.one_case(stored.evidence, case_id)).sort("requirement")
    claims = stored.read(queries.one_case(claims_table(run), case_id))
    st.header("One case")
    st.text(texts.line(case_id, 1_000))
    st.text(texts.broke(row))
    if row["next_check"] is not None:
        st.text(f"Look first: {texts.line(row['next_check'], 1_000)}")
    st.subheader("Question")
    st.text(texts.block(row["question"]))
    st.subheader("Evidence path")
    if ledger.is_empty():
        st.caption("No evidence is required.")
    cutoffs = run.manifest["cutoffs"]
    for requirement in ledger.iter_rows(named=True):
        st.text(texts.requirement(requirement, len(ledger)))
        st.text(texts.path(requirement, cutoffs[0]))
    left, right = st.columns(2)
    with left:
        st.subheader("Expected")
        for answer in row["expected_answers"] or []:
            st.text(texts.block(answer))
        if not row["expected_answers"]:
            st.text("to abstain" if row["answerable"] is False else texts.NOT_RECORDED)
    with right:
        st.subheader("Answer")
        st.text(texts.judged(row) + (", abstained" if row["abstained"] else ""))
        st.text(texts.block(row["answer"]))
    if not claims.is_empty():
        st.subheader("Claims")
        _table(texts.claim_table(claims))
    st.subheader("What else is known")
    st.text(texts.facts(row))
    with st.expander("Metrics of this case"):
        _table(texts.value_table(row))


def _show_mix(runs: list[StoredFolder]) -> None:
    st.header("Stages over runs")
    newest = runs[:_MIXED]
    st.caption(f"All cases, newest run first; the {len(newest):,} newest of {len(runs):,} runs.")
    stages, lost = read_table(newest, "stages.parquet", results.Stages, (*_SLICE, "stage", "n"))
    if lost:
        st.caption(f"Runs whose stages cannot be read: {len(lost):,}.")
    # The chart puts its bars in alphabetical order, so each label begins with its place.
    labels = texts.bar_labels([run.name for run in newest])
    mix = queries.stage_mix(stages, labels)
    st.bar_chart(
        mix, x="run", y="cases", color="stage", horizontal=True, height=120 + 24 * len(newest)
    )
    with st.expander("As a table"):
        _table(mix)


def _table(frame: pl.DataFrame) -> None:
    st.dataframe(frame, hide_index=True)


if __name__ == "__main__":
    main(sys.argv[1])
