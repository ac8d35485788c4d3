"""The report of a run in a real browser: filters, sorting, keyboard, widths, print, huge input."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragtriage
from tests.end_to_end.devtools import Page, browser

pytestmark = pytest.mark.end_to_end

ROOT = Path(__file__).parents[2]
HANDBOOK = ROOT / "data" / "handbook"
VISIBLE = "[...document.querySelectorAll('details.case')].filter(c => !c.hidden)"
SHOWN = f"{VISIBLE}.map(c => c.querySelector('.id').textContent)"
TAB, ENTER, SPACE = ("Tab", 9), ("Enter", 13, "\r"), (" ", 32, " ")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = ragtriage.evaluate(
        None,
        cases=str(HANDBOOK / "cases.jsonl"),
        trace=str(HANDBOOK / "run-a.jsonl"),
        corpus=str(HANDBOOK / "corpus.jsonl"),
        about=str(HANDBOOK / "about-a.toml"),
        k=[5],
        gate=["recall@5 >= 0.8", "stage.generation <= 0.05"],
        out=str(tmp_path_factory.mktemp("report")),
    )
    return run.folder / "report.html"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(chromium: Page, report: Path) -> Page:
    chromium.events.clear()
    chromium.resize(1280, 900)
    chromium.ask("Page.navigate", url="about:blank")
    chromium.open(report.as_uri())
    return chromium


def at_rest(page: Page) -> None:
    """No complaint, and nothing asked for but the page itself."""
    assert page.complaints() == []
    assert {url.split("#")[0].rsplit("/", 1)[-1] for url in page.requests()} <= {
        "report.html",
        "about:blank",
        "blank",
    }


def test_filters_narrow_the_cases_and_say_so(page: Page) -> None:
    assert len(page.run(SHOWN)) == 28
    assert page.run("document.getElementById('count').textContent") == "28 of 50 cases shown"
    page.choose("stage", "retrieval")
    assert len(page.run(SHOWN)) == 12
    page.choose("point", "filter")
    assert page.run(SHOWN) == ["junior-overdue"]
    page.run("document.getElementById('reset').click()")
    assert len(page.run(SHOWN)) == 28
    page.choose("slice", "tag=fees")
    assert len(page.run(SHOWN)) == 10
    page.choose("slice", "")
    page.choose("stage", "*")
    assert len(page.run(SHOWN)) == 50
    assert not page.run("document.getElementById('passing').hidden")
    page.run("document.getElementById('find').focus()")
    page.ask("Input.insertText", text="DVD lent")
    page.wait(f"{VISIBLE}.length === 1")
    assert page.run(SHOWN) == ["dvd-loan"]
    at_rest(page)


def test_links_lead_to_cases_also_where_a_filter_hid_them(page: Page) -> None:
    page.run("document.querySelector('#stages a[data-point=\"index\"]').click()")
    assert len(page.run(SHOWN)) == 2
    page.run("document.querySelector('#first a[href^=\"#case-\"]').click()")
    page.wait("document.activeElement.tagName === 'SUMMARY'")
    assert page.run("document.activeElement.parentNode.open")
    assert page.run("document.activeElement.querySelector('.id').textContent") == "lost-item-waiver"
    at_rest(page)


def test_a_case_is_opened_by_its_address(chromium: Page, report: Path) -> None:
    chromium.ask("Page.navigate", url="about:blank")
    chromium.open(report.as_uri() + "#case-40")
    chromium.wait("document.getElementById('case-40').open")
    assert not chromium.run("document.getElementById('case-40').hidden")


def test_columns_sort_both_ways_with_what_is_undefined_last(page: Page) -> None:
    head = "document.querySelectorAll('table.sortable')[1].tHead.rows[0].cells[2]"
    cells = "[...document.querySelectorAll('table.sortable')[1].tBodies[0].rows]"
    values = f"{cells}.map(r => r.cells[2].firstChild.textContent)"
    page.run(f"{head}.firstChild.focus()")
    orders = []
    for direction in ("ascending", "descending"):
        page.press(*ENTER)
        assert page.run(f"{head}.getAttribute('aria-sort')") == direction
        orders.append(page.run(values))
    for order in orders:
        defined = [value for value in order if value != "undefined"]
        assert len(defined) == 8
        assert order[:8] == defined
    assert orders[0][:8] == sorted(orders[0][:8])
    assert orders[1][:8] == sorted(orders[1][:8], reverse=True)
    assert page.run("document.querySelectorAll('[aria-sort]').length") == 1
    at_rest(page)


def test_everything_is_reached_and_opened_by_keyboard(page: Page) -> None:
    page.press(*TAB)
    assert page.run("document.activeElement.className") == "skip"
    page.run("document.getElementById('unfold').focus()")
    page.press(*TAB)
    assert page.run("document.activeElement.tagName") == "SUMMARY"
    was = page.run("document.activeElement.parentNode.open")
    page.press(*SPACE)
    assert page.run("document.activeElement.parentNode.open") is not was
    page.run("document.getElementById('unfold').focus()")
    page.press(*ENTER)
    assert page.run(f"{VISIBLE}.every(c => c.open)")
    button = "document.getElementById('unfold').textContent"
    assert page.run(button) == "Close all"
    page.choose("stage", "*")  # those that passed are closed still
    assert page.run(button) == "Open all"
    page.choose("stage", "")
    page.run("document.getElementById('unfold').focus()")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.run(outline) == "solid"
    at_rest(page)


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_never_scrolls_sideways(page: Page, width: int, *, dark: bool) -> None:
    page.resize(width, 800, dark=dark)
    page.run(f"{VISIBLE}.forEach(c => c.open = true)")
    assert page.overflow() == 0
    at_rest(page)


def test_no_table_scrolls_on_a_desk(page: Page) -> None:
    wide = page.run(
        "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1)"
        ".map(e => e.getAttribute('aria-label'))"
    )
    assert wide == []


def test_on_a_phone_gates_and_lost_steps_are_read_without_scrolling(page: Page) -> None:
    page.resize(390, 800)
    gates = "document.querySelector('.of-gates').parentNode"
    assert page.run(f"{gates}.scrollWidth <= {gates}.clientWidth + 1")
    reason = "document.querySelector('.of-gates td.sentence')"
    assert page.run(f"{reason}.getBoundingClientRect().right <= innerWidth")
    page.run(f"{VISIBLE}.forEach(c => c.open = true)")
    parts = "[...document.querySelector('.step.lost').children].map(e => e.getBoundingClientRect())"
    assert page.run(f"{parts}.every(r => Math.abs(r.bottom - {parts}[0].bottom) < 8)")
    assert page.run(f"{parts}[1].left >= {parts}[2].right")


RIGHTMOST = (
    "Math.max(...[...document.querySelectorAll('{}')].map(e => e.getBoundingClientRect().right))"
)


def test_on_a_phone_what_is_not_observed_is_read_without_scrolling(page: Page) -> None:
    page.resize(390, 844)
    assert 0 < page.run(RIGHTMOST.format(".needs")) <= 390


def test_on_a_phone_why_a_comparison_failed_is_read_without_scrolling(
    chromium: Page, report: Path, tmp_path: Path
) -> None:
    base = report.parent
    made = ragtriage.compare(
        base, base, out=str(tmp_path), max_regressions=0, gate=["delta.recall@5 >= 0.01"]
    )
    assert made.path is not None
    chromium.resize(390, 844)
    chromium.open((made.path / "report.html").as_uri())
    assert 0 < chromium.run(RIGHTMOST.format(".of-gates td.sentence")) <= 390


def test_long_names_and_many_metrics_make_no_table_scroll_on_a_desk(
    chromium: Page, tmp_path: Path
) -> None:
    long = "x" * 300
    record = _record(0) | {"tags": [long], "cited_ids": ["a"], "expected_answers": ["An answer."]}
    record |= {"answerable": True, "required_claims": [long]}
    record["claims"] = [{"claim_id": long, "supported": False, "cited_ids": ["a"], "text": "c"}]
    source = tmp_path / "wide.jsonl"
    source.write_text(json.dumps(record) + "\n", encoding="utf-8")
    run = ragtriage.evaluate(source, out=str(tmp_path / "out"))
    chromium.resize(1280, 900)
    chromium.open((run.folder / "report.html").as_uri())
    assert chromium.run("document.querySelectorAll('.slices.many').length") > 0
    test_no_table_scrolls_on_a_desk(chromium)


def test_controls_have_names_and_roles_for_those_who_hear_the_page(page: Page) -> None:
    page.ask("Accessibility.enable")
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    page.ask("Accessibility.disable")
    told: dict[str, list[str]] = {}
    for node in nodes:
        if not node.get("ignored"):
            role = node["role"]["value"]
            told.setdefault(role, []).append(str(node.get("name", {}).get("value", "")))
    for role in ("searchbox", "combobox", "button", "table", "region", "navigation", "link"):
        assert told[role], role
        assert all(told[role]), role
    assert "Means by tag" in told["table"]
    assert len(told["main"]) == 1
    assert "status" in told


def test_it_prints_without_controls_and_within_the_sheet(page: Page) -> None:
    page.resize(718, 1000)  # A4 between its margins
    page.ask("Emulation.setEmulatedMedia", media="print", features=[])
    for spacing in ("0", "1px"):  # as fonts wider than this machine's would have it
        page.run(f"document.body.style.letterSpacing = '{spacing}'")
        assert page.overflow() == 0, spacing
    page.run("document.body.style.letterSpacing = ''")
    for control in ("find", "stage", "point", "slice", "reset", "unfold"):
        assert not page.run(f"document.getElementById('{control}').checkVisibility()")
    assert page.run("document.getElementById('count').checkVisibility()")
    assert not page.run("document.querySelector('nav').checkVisibility()")
    printed = base64.b64decode(page.ask("Page.printToPDF", printBackground=False)["data"])
    page.ask("Emulation.setEmulatedMedia", media="", features=[])
    pages = printed.count(b"/Type /Page\n") or printed.count(b"/Type /Page ")
    assert printed.startswith(b"%PDF")
    assert pages <= 20


def test_huge_input_opens_fast_with_exact_counts(chromium: Page, tmp_path: Path) -> None:
    source = tmp_path / "many.jsonl"
    with source.open("w", encoding="utf-8") as stream:
        for n in range(200_000):
            stream.write(json.dumps(_record(n)) + "\n")
    run = ragtriage.evaluate(source, out=str(tmp_path / "out"))
    page = run.folder / "report.html"
    assert page.stat().st_size < 6_000_000
    chromium.events.clear()
    chromium.resize(1280, 900)
    chromium.ask("Page.navigate", url="about:blank")
    start = time.perf_counter()
    chromium.open(page.as_uri())
    assert time.perf_counter() - start < 5
    text = chromium.run("document.body.innerText")
    assert "100,000 of 200,000 cases did not pass" in text
    assert "199,500 cases left out of this page" in text
    assert "… cut, 5,000,000 characters in all" in chromium.run("document.body.textContent")
    start = time.perf_counter()
    chromium.run("document.getElementById('find').value = 'case-0000007'")
    chromium.run("document.getElementById('find').dispatchEvent(new Event('input'))")
    chromium.wait(f"{VISIBLE}.length === 1")
    assert time.perf_counter() - start < 3
    assert chromium.overflow() == 0
    at_rest(chromium)


def _record(n: int) -> dict[str, Any]:
    """Every odd case has no evidence in its context; one answer is 5 MB."""
    return {
        "case_id": f"case-{n:07}",
        "question": f"Question {n}?",
        "tags": [f"topic-{n % 2_000}"],
        "required_ids": ["a"],
        "retrieved_ids": ["a", "b"],
        "context_ids": ["b"] if n % 2 else ["a"],
        "answer": "x" * 5_000_000 if n == 1 else "An answer.",
        "answer_correct": True,
    }
