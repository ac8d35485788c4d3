"""One self-contained, well-formed, harmless page."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from types import ModuleType
from typing import cast

import pytest

from ragtriage.publish import markdown, terminal
from ragtriage.publish.document import CaseEntry, Report
from ragtriage.publish.page import first
from ragtriage.publish.page.render import render
from ragtriage.publish.template_files import template

VOID = {"meta", "link", "br", "img", "input", "hr", "wbr"}


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
    text = render(hostile)
    page = Page(text)
    tags: Counter[str] = Counter(tag for tag, _ in page.elements)
    assert tags["script"] == 1
    assert not set(tags) & {"img", "iframe", "a:href", "object", "svg", "link", "base"}
    names = {name for _, attributes in page.elements for name in attributes}
    assert names == {
        *("lang", "charset", "http-equiv", "content", "name", "class", "href", "id", "role"),
        *(
            "aria-label",
            "aria-labelledby",
            "aria-hidden",
            "tabindex",
            "scope",
            "rowspan",
            "colspan",
        ),
        *("style", "dir", "open", "hidden", "for", "type", "value", "autocomplete"),
        *("data-stage", "data-point", "data-slices", "data-sort"),
    }
    assert "<script>alert(1)</script>" in "".join(page.text)
    assert not set("\x1b\u202e\x00\r") & set(text)
    assert text.encode("utf-8")


def test_what_a_filter_reads_is_what_its_choice_says(hostile: Report) -> None:
    page = Page(render(hostile))
    choices = {a.get("value") for tag, a in page.elements if tag == "option"}
    for tag, attributes in page.elements:
        if tag == "details" and attributes.get("class") == "case":
            assert set(json.loads(str(attributes["data-slices"]))) <= choices
            assert attributes["data-stage"] in choices
            assert attributes.get("data-point", "") in choices


def test_the_page_refers_to_nothing_outside(report: Report) -> None:
    page = Page(render(report))
    links = {attributes["href"] for _, attributes in page.elements if "href" in attributes}
    anchors = {f"#{attributes['id']}" for _, attributes in page.elements if "id" in attributes}
    assert links <= anchors
    assert not any("src" in attributes for _, attributes in page.elements)
    for name in ("report.css", "page.css"):
        assert not re.search(r"url\(|@import|@font-face|//", template(name))
    assert not re.search(r"fetch|XMLHttp|import\b|innerHTML|eval|https?:", template("page.js"))


def test_the_head_allows_one_script_and_nothing_from_elsewhere(report: Report) -> None:
    text = render(report)
    page = Page(text)
    metas = [attributes for tag, attributes in page.elements if tag == "meta"]
    assert metas[0] == {"charset": "utf-8"}
    assert metas[1]["http-equiv"] == "Content-Security-Policy"
    script = text.split("<script>")[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert metas[1]["content"] == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_what_broke_comes_before_means(report: Report) -> None:
    text = render(report)
    order = ["<h1>28 of 39", "gates failed", 'id="first"', 'id="funnel"', 'id="stages"']
    order += [
        'id="cases"',
        "Cases that passed",
        'id="metrics"',
        'id="slices"',
        'id="findings"',
        'id="limits"',
        'id="run"',
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_the_first_failing_case_is_open(report: Report) -> None:
    page = Page(render(report))
    cases = [a for tag, a in page.elements if tag == "details" and a.get("class") == "case"]
    assert len(cases) == 39
    assert ["open" in attributes for attributes in cases] == [True] + [False] * 38


def test_the_lost_step_is_marked_by_a_word(report: Report) -> None:
    assert render(report).count(">lost here<") == 10


def test_set_aside_is_said_beside_every_block_of_numbers(report: Report) -> None:
    assert render(report).count("3 lines set aside in rejects/") == 5
    report["run"]["lines"]["set_aside"] = 0
    assert "set aside in rejects/" not in render(report)


def test_what_is_left_out_is_counted(report: Report) -> None:
    report["cases_omitted"] = 1_200
    assert "1,200 cases left out of this page" in render(report)


def test_a_huge_cell_is_cut(report: Report, sample: ModuleType) -> None:
    report["cases"] = [sample.case("big", "generation", "wrong-answer", answer="x" * 5_000_000)]
    text = render(report)
    assert "… cut, 5,000,000 characters in all" in text
    assert "x" * 2_000 in text
    assert "x" * 2_001 not in text


def test_five_hundred_ordinary_cases_stay_small(report: Report) -> None:
    report["cases"] = (report["cases"] * 13)[:500]
    assert len(render(report).encode()) < 4_000_000


def test_many_requirements_are_cut_with_the_lost_ones_first(
    report: Report, sample: ModuleType
) -> None:
    rows = [sample.evidence([f"doc-{n}"]) | {"requirement": n} for n in range(99)]
    rows.append(sample.lost(["doc-99"], "retrieval") | {"requirement": 99})
    report["cases"] = [sample.case("many", "retrieval", "retrieval", evidence=rows)]
    text = render(report)
    assert text.index("Requirement 100") < text.index("Requirement 1:")
    assert "and 90 more requirements" in text


def test_an_empty_report_renders(report: Report) -> None:
    report |= {"summary": [], "stages": [], "abstention": [], "findings": [], "gates": []}
    report |= {"cases": [], "rejects": {}, "not_observed": [], "about": {}}
    report["run"] |= {"n_cases": 0, "n_not_run": 0, "n_pass": 0}
    text = render(report)
    assert "No case was accepted" in text
    assert "mechanism not stated" in text
    assert "No gate was set" in text


def test_the_same_report_gives_the_same_bytes(report: Report, sample: ModuleType) -> None:
    assert render(report) == render(sample.report())


def test_headings_go_down_one_level_at_a_time(report: Report) -> None:
    page = Page(render(report))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_landmarks_and_controls_have_names(hostile: Report) -> None:
    page = Page(render(hostile))
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for tag, attributes in page.elements:
        if tag in ("nav", "form"):
            assert attributes["aria-label"]
        if tag == "section":
            assert attributes["aria-labelledby"] in ids
        if attributes.get("role") == "region":
            assert attributes["aria-label"]
            assert attributes["tabindex"] == "0"
    labelled = {a["for"] for tag, a in page.elements if tag == "label"}
    controls = {a["id"] for tag, a in page.elements if tag in ("input", "select")}
    assert labelled == controls == {"find", "stage", "point", "slice"}
    assert Counter(tag for tag, _ in page.elements)["main"] == 1


def test_every_table_has_a_caption_and_scoped_heads(report: Report, sample: ModuleType) -> None:
    report["cases"][0]["claims"] = [sample.claim("one")]
    tags = [tag for tag, _ in Page(render(report)).elements]
    assert all(tags[at + 1] == "caption" for at, tag in enumerate(tags) if tag == "table")
    heads = [a for tag, a in Page(render(report)).elements if tag == "th"]
    assert {a["scope"] for a in heads} == {"col", "row", "rowgroup"}


def test_the_funnel_says_what_was_lost_and_what_is_not_known(report: Report) -> None:
    text = _words(render(report))
    assert "in corpus 36 4 lost : not in the source 2; in the source, not in the index 1" in text
    assert "in top 5 29 1 lost : ranked too low 1 of those left: not recorded" in text
    assert "in context 27 1 lost : retrieved, left out of the context 1 not known" in text
    assert "cited not observed" in text
    assert "answered right 20 4 lost : answer wrong 3 not known" in text
    assert "1 requirement reached the context past the first 5." in text


def test_a_step_at_which_nothing_is_known_is_not_observed_and_no_zero(report: Report) -> None:
    report["funnel"][-1] |= {"left": 0, "lost": 0, "lost_by": {}, "unknown": 27, "unrecorded": 0}
    assert "answered right not observed 27 not known" in _words(render(report))
    left = {"left": 0, "lost": 0, "lost_by": {}, "unrecorded": 0}
    report["funnel"][-3] |= left | {"unknown": 29}
    report["funnel"][-2] |= left | {"unknown": 0}
    report["funnel"][-1] |= left | {"unknown": 0}
    text = _words(render(report))
    assert "in context not observed 29 not known cited not observed answered right not ob" in text


def test_what_to_look_at_first_starts_with_leaks(report: Report) -> None:
    text = _words(render(report))
    start = text.index("Look first authorization 3")
    assert text.index("retrieval 10", start) < text.index("Then:", start)
    assert "Look at what authorization did with this case." in text[start:]


def test_what_is_not_observed_stands_among_the_metrics(report: Report) -> None:
    text = _words(render(report))
    assert "fraction not observed: the input lacks claims" in text
    assert text.index("not observed: the input") < text.index("The warmer a cell")


def test_claims_stand_with_their_labels(report: Report, sample: ModuleType) -> None:
    report["cases"][0]["claims"] = [
        sample.claim("held", required=True),
        sample.claim("wrong", supported=False, label_source="review", citation_valid=False),
        sample.claim("open", supported=None, label_source=None, cited_ids=None),
        sample.claim("split", supported=None, disputed=True, label_source=None),
        sample.claim("left-out", proposed=False, required=True, supported=None, text=None),
    ]
    text = _words(render(report))
    assert "held ✓ supported (inline) required Leave is pro rata. leave-2" in text
    assert "wrong ✗ not supported (review) Leave is pro rata. leave-2 not all supplied" in text
    assert "open ? no label Leave" in text
    assert "split ? disputed Leave" in text
    assert "left-out ✗ omitted (inline) required" in text


def test_heat_follows_the_better_direction(report: Report) -> None:
    row = next(r for r in report["summary"] if r["metric"] == "recall" and r["slice"] == "split")
    report["summary"].append(row | {"metric": "over_refusal", "k": None, "mean": 0.9})
    text = render(report)
    worst = re.search(r'<td class="num heat h(\d)" data-sort="0.9">0.900', text)
    assert worst
    assert worst.group(1) == "4"


def _words(text: str) -> str:
    """What is read of a page, one space between any two words."""
    return " ".join(" ".join(Page(text).text).split())


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "ground"),
    [
        *(("--ink", ground) for ground in ("--page", "--sheet", "--quote", "--warn-sheet")),
        *(("--ink", ground) for ground in ("--calm-sheet", *(f"--heat-{n}" for n in range(1, 5)))),
        *(("--soft", ground) for ground in ("--page", "--sheet", "--quote")),
        *(("--link", ground) for ground in ("--page", "--sheet")),
        *((f"--{tone}", f"--{tone}-sheet") for tone in ("bad", "good", "warn", "calm")),
        *((f"--{tone}", "--sheet") for tone in ("bad", "good", "warn")),
    ],
)
def test_text_has_contrast(theme: int, ink: str, ground: str) -> None:
    colours = _colours(theme)
    assert _contrast(colours[ink], colours[ground]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_bars_can_be_told_from_the_page(theme: int) -> None:
    colours = _colours(theme)
    for name in [name for name in colours if name.startswith("--s-")]:
        assert _contrast(colours[name], colours["--page"]) >= 2.5, name


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _colours(theme: int) -> dict[str, str]:
    """The colours of the light (0) or the dark (1) scheme."""
    found: dict[str, str] = {}
    for name in ("report.css", "page.css"):
        themes = re.findall(r":root \{(.*?)\}", template(name), re.DOTALL)[:2]
        found |= dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", themes[theme]))
    return found


def test_a_metric_is_defined_once_and_names_in_it_are_code(report: Report) -> None:
    report["definitions"]["recall"] = "Requirements hit, of `required_ids` alone."
    told = "Requirements hit, of <code>required_ids</code> alone."
    assert [row["k"] for row in report["summary"] if row["metric"] == "recall"].count(5) > 0
    assert render(report).count(told) == 1


def test_what_to_look_at_first_is_what_most_of_its_cases_ask_for(report: Report) -> None:
    asked = ["Settle it.", "Label it.", "Label it."]
    case = next(case for case in report["cases"] if case["break_point"] == "retrieval")
    report["cases"] = [
        cast("CaseEntry", case | {"case_id": str(n), "next_check": check})
        for n, check in enumerate(asked)
    ]
    page = render(report)
    first = page[page.index('id="first"') : page.index('id="stages"')]
    assert "Label it." in first
    assert "Settle it." not in first


def test_the_same_is_advised_everywhere(report: Report) -> None:
    told = first.advice(report)
    assert told == "authorization, 3 cases: Look at what authorization did with this case."
    assert f"Look first: {told}" in terminal.render(report, color=False, width=200)
    assert f"**Look first:** {told}" in markdown.render(report)
    assert "Look at what authorization did with this case." in _words(render(report))


def test_nothing_is_advised_where_nothing_broke(report: Report) -> None:
    report["stages"] = [row | {"stage": "pass", "break_point": None} for row in report["stages"]]
    assert first.advice(report) == ""
    assert "Look first" not in terminal.render(report, color=False, width=200)
    report["stages"] = []
    assert first.advice(report) == ""
