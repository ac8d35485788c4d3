"""The comparison on paper: hostile text, one verdict everywhere, tables that keep their models."""

from __future__ import annotations

import html as html_entities
import json
import os
import subprocess
import sys
from pathlib import Path

import pandera.polars as pa
import polars as pl
import pytest

import ragtriage
from ragtriage.metrics import columns_for
from ragtriage.publish.comparison import evidence, html, markdown, terminal, words
from ragtriage.schemas import comparison as models
from ragtriage.schemas.inputs import dtypes
from tests.comparison.kit import HIT, MISS, case, compared
from tests.comparison.test_changes import mixed
from tests.publish.test_markdown import ALIVE, INLINE, parse
from tests.support import ROOT, lines_of, snapshot

HOSTILE = "<script>alert(1)</script> | [x](javascript:1) `tick` \u202egnirts \x1b[31m\n# head"


@pytest.fixture
def hostile(tmp_path: Path) -> ragtriage.Comparison:
    """Hostile text in every place of a comparison that can hold text."""
    name = HOSTILE.replace("\u202e", "").replace("\x1b", "").replace("\n", " ")
    more = {"question": HOSTILE, "tags": [HOSTILE], "split": HOSTILE, "expected_answers": [HOSTILE]}
    more["required_ids"] = [name]
    base = [case(f"{name} {i}", [name], answer=HOSTILE, **more) for i in range(3)]
    candidate = [row | {"retrieved_ids": MISS, "context_ids": MISS, "answer": "no"} for row in base]
    candidate[2]["error"] = HOSTILE
    (tmp_path / "in").mkdir()
    about = []
    for i, text in enumerate(("one", HOSTILE)):
        file = tmp_path / f"about-{i}.toml"
        file.write_text(f"{json.dumps(HOSTILE)} = {json.dumps(text)}\nretriever = '{i}'", "utf-8")
        about.append(str(file))
    runs = []
    for i, records in enumerate((base, candidate)):
        source = tmp_path / "in" / f"{i}.jsonl"
        source.write_text(lines_of(records), "utf-8")
        runs.append(ragtriage.evaluate(source, about=about[i], write=False, run_id=f"r{i}"))
    return ragtriage.compare(*runs, write=False, test=True, intervals=True, slice="split")


def test_definitions_stand_without_the_marks_of_markdown(tmp_path: Path) -> None:
    """`allowed_ids` is a name there, and no code in a page."""
    leaks = [case("q", ids, allowed_ids=["D"]) for ids in (["D"], ["D", "x"])]
    found = compared(tmp_path, leaks[:1], leaks[1:])
    assert "`" in found.report["definitions"]["unauthorized_retrieved"]
    page = html.render(found.report)
    assert "outside allowed_ids or in forbidden_ids" in page
    assert "`" not in page
    run = ragtriage.evaluate(pl.DataFrame(leaks[1:]), out=str(tmp_path / "out"))
    page = (run.folder / "report.html").read_text("utf-8")
    assert "outside <code>allowed_ids</code> or in <code>forbidden_ids</code>" in page


def test_html_holds_it_as_text(hostile: ragtriage.Comparison) -> None:
    page = html.render(hostile.report)
    assert "<script" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "<script>alert(1)</script>" in html_entities.unescape(page)
    assert "3 of 3 cases regressed" in page


def test_markdown_holds_it_as_code(hostile: ragtriage.Comparison) -> None:
    page = markdown.render(hostile.report)
    assert not set("\x1b\u202e\x00\r\t") & set(page)
    tokens = parse(page)
    inline = [child for token in tokens for child in token.children or []]
    assert {child.type for child in inline} <= INLINE
    outside = [child.content for child in inline if child.type.startswith("text")]
    assert not [text for text in outside if ALIVE.search(text)]
    # A heading of ours and no other, and every row of a table with all its cells.
    headings = [t for t in tokens if t.type == "heading_open"]
    assert [t.tag for t in headings].count("h1") == 1
    head = next(i for i, t in enumerate(tokens) if t.type == "thead_open")
    assert tokens[head - 1].type == "table_open"


@pytest.mark.parametrize("width", [40, 100, 200])
def test_a_terminal_gets_printable_lines(hostile: ragtriage.Comparison, width: int) -> None:
    shown = terminal.render(hostile.report, color=False, width=width)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert max(map(len, shown.splitlines())) <= width


def test_a_terminal_counts_what_it_leaves_out(tmp_path: Path) -> None:
    base = [case(f"q{i}", HIT) for i in range(4)]
    candidate = [case(f"q{i}", (HIT, MISS)[i % 2]) for i in range(4)]
    found = compared(tmp_path, base, candidate, test=True, intervals=True)
    shown = terminal.render(found.report, color=False, width=300)
    limit = terminal.Limits().rows
    for title, lines in (
        ("Metrics (", words.moved_deltas(found.report)),
        ("Tests (", evidence.test_lines(found.report)),
        ("Intervals (", evidence.interval_lines(found.report)),
    ):
        assert len(lines) > limit
        part = shown[shown.index(title) :].splitlines()
        assert part[limit + 1].startswith(f"and {len(lines) - limit} more left out")
    every = terminal.render(found.report, color=False, width=300, detail="verbose")
    assert "left out" not in every


def test_every_format_carries_every_part(tmp_path: Path) -> None:
    found = compared(
        tmp_path, *mixed(2), test=True, intervals=True, max_regressions=0, slice="split"
    )
    first = found.report["cases"][0]["case_id"]
    for page in (
        html.render(found.report),
        markdown.render(found.report),
        terminal.render(found.report, color=False, width=300),
    ):
        flat = " ".join(page.split())
        for text in (
            words.verdict(found.report),
            first,
            "coverage regression",
            "Slices that got worse",
            "split=",
            "seed 0",
        ):
            assert text in flat, text


def test_a_comparison_without_differences_says_so(tmp_path: Path) -> None:
    records = [case("q", HIT)]
    found = compared(tmp_path, records, records)
    for page in (html.render(found.report), markdown.render(found.report)):
        assert "No difference: 1 case, every stage and metric the same" in page


def test_a_comparison_that_measured_nothing_says_so(tmp_path: Path) -> None:
    records = [case("q", HIT, error="down")]
    found = compared(tmp_path, records, records)
    shown = terminal.render(found.report, color=False, width=300)
    for page in (html.render(found.report), markdown.render(found.report), shown):
        assert "Nothing measured: 1 case, no metric scored in both runs" in page
        assert "No difference" not in page


def test_a_lost_measurement_stands_beside_the_gates(tmp_path: Path) -> None:
    found = compared(tmp_path, [case("q", MISS)], [case("q", MISS, error="down")])
    for page in (html.render(found.report), markdown.render(found.report)):
        assert "No gate was set; coverage regression; nothing measured" in page


def test_markdown_keeps_a_value_and_its_verdict_apart(tmp_path: Path) -> None:
    found = compared(tmp_path, [case("q", HIT)], [case("q", MISS)])
    assert "`context_complete` yes → no (worse)" in markdown.render(found.report)


def test_a_difference_never_looks_like_none() -> None:
    assert words.signed(0.0) == "0"
    assert words.signed(0.0004) == "+4.0e-04"
    assert words.signed(-0.25) == "−0.250"  # noqa: RUF001 - a minus sign
    assert words.signed(None) == "undefined"
    assert evidence.p_value(2.0**-19) == "1.9e-06"


TABLES: dict[str, type[pa.DataFrameModel]] = {
    "transitions": models.Transitions,
    "deltas": models.Deltas,
    "cases": models.ChangedCases,
    "tests": models.Tests,
    "delta-intervals": models.Intervals,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    runs = []
    for name, records in zip("ab", mixed(6), strict=True):
        (out / name).write_text(lines_of(records), "utf-8")
        source = (out / name).rename(out / f"{name}.jsonl")
        runs.append(ragtriage.evaluate(source, out=out, run_id=name, k=[5, 2]))
    return ragtriage.compare(*runs, out=out, test=True, intervals=True).folder


@pytest.mark.parametrize("name", TABLES)
def test_written_tables_pass_their_models(folder: Path, name: str) -> None:
    frame = pl.read_parquet(folder / f"{name}.parquet")
    assert frame.height
    assert set(frame["run_id"]) == {folder.name}
    if name == "cases":
        observed = [c for c in columns_for([5, 2]) if f"{c.name}_base" in frame.columns]
        sides = {f"{c.name}_{side}": c for c in observed for side in ("base", "candidate")}
        metrics = {name: column.schema[column.name] for name, column in sides.items()}
        assert dict(frame.schema) == dict(dtypes(models.ChangedCases)) | metrics
        frame = frame.select(list(TABLES[name].to_schema().columns))
    TABLES[name].validate(frame, lazy=True)


def test_schema_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    from ragtriage.cli import run  # noqa: PLC0415 - one use

    assert run(["schema"]) == 0
    shown = capsys.readouterr().out
    assert run(["schema", "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    for name, model in TABLES.items():
        key = f"comparison/{name}"
        assert f"TABLE {key}" in shown
        assert list(tables[key]) == list(model.to_schema().columns)


def test_one_verdict_everywhere(folder: Path) -> None:
    report = json.loads((folder / "report.json").read_text("utf-8"))
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert report["failures"]  # candidates of the mixed runs fail on cases the base run scored
    assert report["comparison"]["status"] == "failed"
    assert manifest["passed"] is False
    assert "✗" in (folder / "report.html").read_text("utf-8")


SCRIPT = """
import sys, ragtriage
out = sys.argv[1]
runs = [ragtriage.evaluate(f"{out}/{n}.jsonl", out=f"{out}/o", run_id=n) for n in "ab"]
ragtriage.compare(*runs, out=f"{out}/o", test=True, intervals=True, seed=3)
"""


@pytest.mark.end_to_end
def test_the_same_seed_gives_the_same_bytes_on_one_thread_or_many(tmp_path: Path) -> None:
    rows = [[], []]  # enough cases that some tests are drawn
    for seed in range(4):
        for side, records in enumerate(mixed(seed)):
            rows[side] += [row | {"case_id": f"{seed}-{row['case_id']}"} for row in records]
    found = []
    for threads in ("1", "4"):
        folder = tmp_path / threads
        folder.mkdir()
        for name, records in zip("ab", rows, strict=True):
            (folder / f"{name}.jsonl").write_text(lines_of(records), "utf-8")
        environment = os.environ | {
            "POLARS_MAX_THREADS": threads,
            "SOURCE_DATE_EPOCH": "1700000000",
            "PYTHONPATH": f"{ROOT / 'src'}",
        }
        subprocess.run([sys.executable, "-c", SCRIPT, "."], cwd=folder, env=environment, check=True)
        made = snapshot(folder / "o" / "compare-a-b")
        found.append({Path(name).name: content for name, content in made.items()})
    assert found[0] == found[1]
    tests = pl.read_parquet(tmp_path / "1" / "o" / "compare-a-b" / "tests.parquet")
    assert "monte-carlo" in set(tests["method"])
