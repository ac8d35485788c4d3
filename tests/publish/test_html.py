"""One self-contained, well-formed, harmless page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from importlib import resources
from types import ModuleType

import pytest

from ragtriage.publish import html
from ragtriage.publish.document import Report

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Elements, attributes and text of a page; fails on a tag that does not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_hostile_text_changes_no_element(hostile: Report) -> None:
    text = html.render(hostile)
    page = Page(text)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "img", "iframe", "a:href", "form", "object", "svg", "link", "base"}
    names = {name for _, attributes in page.elements for name in attributes}
    assert names == {
        *("lang", "charset", "http-equiv", "content", "name", "class", "href", "id", "role"),
        *("aria-label", "aria-labelledby", "tabindex", "scope", "style", "dir", "open"),
    }
    assert "<script>alert(1)</script>" in "".join(page.text)
    assert not set("\x1b\u202e\x00\r") & set(text)
    assert text.encode("utf-8")


def test_the_page_refers_to_nothing_outside(report: Report) -> None:
    page = Page(html.render(report))
    links = {attributes["href"] for _, attributes in page.elements if "href" in attributes}
    anchors = {f"#{attributes['id']}" for _, attributes in page.elements if "id" in attributes}
    assert links <= anchors
    assert not any("src" in attributes for _, attributes in page.elements)
    css = resources.files("ragtriage.publish").joinpath("templates/report.css").read_text("utf-8")
    assert not re.search(r"url\(|@import|@font-face|//", css)


def test_the_head_forbids_what_the_page_does_not_need(report: Report) -> None:
    page = Page(html.render(report))
    metas = [attributes for tag, attributes in page.elements if tag == "meta"]
    assert metas[0] == {"charset": "utf-8"}
    assert metas[1]["http-equiv"] == "Content-Security-Policy"
    assert str(metas[1]["content"]).startswith("default-src 'none'; style-src 'unsafe-inline'")


def test_what_broke_comes_before_means(report: Report) -> None:
    text = html.render(report)
    order = ["<h1>28 of 39", "gates failed", 'id="stages"', 'id="cases"', "Cases that passed"]
    order += ['id="metrics"', 'id="slices"', 'id="findings"', 'id="limits"', 'id="run"']
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_the_first_failing_cases_are_open(report: Report) -> None:
    page = Page(html.render(report))
    cases = [a for tag, a in page.elements if tag == "details" and a.get("class") == "case"]
    assert len(cases) == 39
    assert ["open" in attributes for attributes in cases] == [True] * 10 + [False] * 29


def test_the_lost_step_is_marked_by_a_word(report: Report) -> None:
    assert html.render(report).count("lost here") == 10


def test_set_aside_is_said_beside_every_block_of_numbers(report: Report) -> None:
    assert html.render(report).count("3 lines set aside in rejects/") == 5
    report["run"]["lines"]["set_aside"] = 0
    assert "set aside in rejects/" not in html.render(report)


def test_what_is_left_out_is_counted(report: Report) -> None:
    report["cases_omitted"] = 1_200
    assert "1,200 cases left out of this page" in html.render(report)


def test_a_huge_cell_is_cut(report: Report, sample: ModuleType) -> None:
    report["cases"] = [sample.case("big", "generation", "wrong-answer", answer="x" * 5_000_000)]
    text = html.render(report)
    assert "… cut, 5,000,000 characters in all" in text
    assert "x" * 2_000 in text
    assert "x" * 2_001 not in text


def test_five_hundred_ordinary_cases_stay_small(report: Report) -> None:
    report["cases"] = (report["cases"] * 13)[:500]
    assert len(html.render(report).encode()) < 4_000_000


def test_many_requirements_are_cut_with_the_lost_ones_first(
    report: Report, sample: ModuleType
) -> None:
    rows = [sample.evidence([f"doc-{n}"]) | {"requirement": n} for n in range(99)]
    rows.append(sample.lost(["doc-99"], "retrieval") | {"requirement": 99})
    report["cases"] = [sample.case("many", "retrieval", "retrieval", evidence=rows)]
    text = html.render(report)
    assert text.index("Requirement 100") < text.index("Requirement 1:")
    assert "and 70 more requirements" in text


def test_an_empty_report_renders(report: Report) -> None:
    report |= {"summary": [], "stages": [], "abstention": [], "findings": [], "gates": []}
    report |= {"cases": [], "rejects": {}, "not_observed": [], "about": {}}
    report["run"] |= {"n_cases": 0, "n_not_run": 0, "n_pass": 0}
    text = html.render(report)
    assert "No case was accepted" in text
    assert "mechanism not stated" in text
    assert "No gate was set" in text


def test_the_same_report_gives_the_same_bytes(report: Report, sample: ModuleType) -> None:
    assert html.render(report) == html.render(sample.report())


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "ground"),
    [
        *(("--ink", ground) for ground in ("--page", "--sheet", "--quote", "--warn-sheet")),
        *(("--soft", ground) for ground in ("--page", "--sheet", "--quote")),
        *(("--link", ground) for ground in ("--page", "--sheet")),
        *((f"--{tone}", f"--{tone}-sheet") for tone in ("bad", "good", "warn", "calm")),
        *((f"--{tone}", "--sheet") for tone in ("bad", "good")),
    ],
)
def test_text_has_contrast(theme: int, ink: str, ground: str) -> None:
    css = resources.files("ragtriage.publish").joinpath("templates/report.css").read_text("utf-8")
    themes = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[:2]
    colours = dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", themes[theme]))
    light, dark = sorted((_luminance(colours[ink]), _luminance(colours[ground])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5
