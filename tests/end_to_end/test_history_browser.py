"""A thousand runs on one page in a real browser: it draws, complains of nothing, loads nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import ragtriage
from tests.end_to_end.devtools import Page, browser
from tests.stored_runs import FIRST, gate_row, mean_row, stage_row, store_many, store_run

pytestmark = pytest.mark.end_to_end

HOSTILE = (
    "<a href=\"javascript:document.title='owned'\">x</a></script><script>document.title='owned'//"
)
N = 1_000


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("reports")
    store_many(top, N - 1)
    hostile = {"slice": "tag", "value": HOSTILE}
    store_run(
        top,
        "last",
        started=FIRST + timedelta(days=N),
        summary=[mean_row("recall", 5, 0.5, 8, 10), mean_row("recall", 5, 0.25, 4, 10, **hostile)],
        stages=[stage_row("retrieval", 10, 10), stage_row(HOSTILE, 10, 10, **hostile)],
        gates=[gate_row(HOSTILE, 0.1, 0.5, passed=False)],
    )
    store_run(top, "older", schema_version="0")
    ragtriage.accept_run(top / f"{FIRST:%Y%m%dT%H%M%SZ}-00000000", force=True)
    began = time.perf_counter()
    built = ragtriage.build_history(top)
    assert time.perf_counter() - began < 10
    assert len(built.document["runs"]) == N
    return built.path


@pytest.fixture
def page(index: Path, tmp_path: Path) -> Iterator[Page]:
    with browser(tmp_path / "profile") as page:
        page.resize(1280, 1000)
        page.open(index.as_uri())
        yield page


def drawn(page: Page, chart: str, mark: str) -> int:
    """How many marks of a kind a chart shows."""
    return int(page.run(f"document.querySelectorAll('#{chart} {mark}').length"))


def test_it_draws_and_loads_nothing(page: Page, index: Path) -> None:
    assert drawn(page, "metric-chart", "path.point") == N
    assert drawn(page, "stage-chart", ".bars .point") > N
    assert drawn(page, "gate-chart", ".bars .point") == 2 * N
    assert page.run("document.querySelectorAll('#runs tbody tr').length") == N
    assert page.run("document.querySelectorAll('[hidden].scripted').length") == 0
    assert page.complaints() == []
    assert page.requests() == [index.as_uri()]


def test_a_reader_chooses_metric_slice_value_and_span(page: Page) -> None:
    page.choose("metric", "citation_validity")
    page.choose("slice", "tag")
    assert drawn(page, "metric-chart", "g.scatter") == 7
    page.choose("metric", "recall@5")
    page.choose("slice", "tag")
    assert drawn(page, "metric-chart", "g.scatter") == 8
    page.choose("span", "30")
    low, high = page.run("document.getElementById('metric-chart').layout.xaxis.range")
    assert (low, high) == (N - 30.5, N - 0.5)
    ticks = page.run("document.getElementById('metric-chart').layout.xaxis.ticktext")
    assert 2 <= len(ticks) <= 10
    rows = page.run("document.querySelectorAll('#metric-table tbody tr').length")
    assert rows == 30
    first = page.run("document.querySelector('#metric-table tbody tr').textContent")
    assert "0.250 (4 of 10 scored)" in first
    assert "not observed" in first
    assert page.complaints() == []


def test_a_gap_is_no_point(page: Page) -> None:
    """`store_many` leaves citation_validity undefined in 4 of each 50 runs; `last` lacks it."""
    page.choose("metric", "citation_validity")
    undefined = sum(day % 50 < 4 for day in range(N - 1))
    assert drawn(page, "metric-chart", "path.point") == N - undefined - 1
    values = page.run(
        "document.getElementById('metric-chart').data[0].y.filter(v => v === 0).length"
    )
    assert values == 0


def test_hostile_text_is_text(page: Page) -> None:
    page.choose("slice", "tag")
    names = page.run(
        "[...document.querySelectorAll('#metric-chart .legendtext')].map(e => e.textContent)"
    )
    assert any("</script><script>" in name for name in names)
    place = page.run(
        "[...document.getElementById('stage-slice').options]"
        ".find(o => o.text.includes('owned')).value"
    )
    page.choose("stage-slice", place)
    assert (
        page.run("document.querySelectorAll('a[href^=\"javascript\"], .chart a, img').length") == 0
    )
    assert "owned" not in page.run("document.title")
    assert page.complaints() == []


def test_a_point_leads_to_its_report(page: Page) -> None:
    page.run("document.getElementById('metric-chart').emit('plotly_click', {points: [{x: 999}]})")
    assert (
        page.run("document.querySelector('#picked a').getAttribute('href')") == "last/report.html"
    )


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_in_either_light(page: Page, tmp_path: Path, dark: bool) -> None:
    page.resize(390, 900, dark=dark)
    page.wait(
        "document.querySelector('#metric-chart .main-svg').getBoundingClientRect().width < 390"
    )
    assert page.run("document.documentElement.scrollWidth") == 390
    ink = page.run("document.getElementById('metric-chart').layout.font.color")
    assert ink == ("#e4e7ea" if dark else "#1c2024")
    page.screenshot(tmp_path / "phone.png")
    assert (tmp_path / "phone.png").stat().st_size > 10_000
    assert page.complaints() == []


def test_without_scripts_every_run_is_there(index: Path, tmp_path: Path) -> None:
    with browser(tmp_path / "profile") as page:
        page.ask("Emulation.setScriptExecutionDisabled", value=True)
        page.ask("Page.navigate", url=index.as_uri())
        page.wait("document.readyState === 'complete' && document.getElementById('runs') !== null")
        assert page.run("document.querySelectorAll('#runs tbody tr').length") == N
        assert page.run("document.querySelectorAll('#metric-chart svg').length") == 0
        assert "need JavaScript" in page.run("document.body.innerText")
