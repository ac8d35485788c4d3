"""The agreement report in its formats: order, denominators, reasons, and text that stays text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import polars as pl
import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len

from ragtriage.agreement.disagreements import human_disagreements, judge_disagreements
from ragtriage.agreement.items import item_states
from ragtriage.agreement.judges import judge_table
from ragtriage.agreement.pairs import pair_table
from ragtriage.publish.agreement import document, html, markdown, terminal
from ragtriage.publish.agreement.document import AgreementReport, AgreementRun, build_document
from ragtriage.reviews.settle import settle
from tests.agreement.plain import frame, review, votes

HOSTILE = "</script><script>alert(1)</script> <img src=x> a|b \u202egnirts\u200b\x1b[31m\n# head"


def run_entry(rows: pl.DataFrame) -> AgreementRun:
    kinds = {kind: rows.filter(pl.col("kind") == kind) for kind in ("human", "judge")}
    return AgreementRun(
        run_id="agreement-r",
        kind="agreement",
        status="complete",
        version="0",
        schema_version="1",
        started="2026-11-30T00:00:00Z",
        on_invalid="fail",
        written=True,
        min_validated=30,
        n_reviews=rows.height,
        n_people=kinds["human"]["reviewer"].n_unique(),
        n_judges=kinds["judge"]["reviewer"].n_unique(),
        lines={"read": rows.height, "accepted": rows.height, "set_aside": 0, "blank": 0},
        inputs=[],
        notes=[],
    )


def report_of(reviews: list[dict[str, Any]]) -> AgreementReport:
    rows = frame(reviews)
    settled = settle(rows)
    tables = {
        "pairs": pair_table(rows),
        "judges": judge_table(rows, settled, 30),
        "disagreements": human_disagreements(rows, settled),
        "judge_disagreements": judge_disagreements(rows, settled),
    }
    return build_document(run_entry(rows), item_states(settled), tables, {})


@pytest.fixture
def report() -> AgreementReport:
    """One dispute left, one settled, a judge that errs, a person apart."""
    people = votes({"ann": "TTFFT ", "bob": "TFFTT ", "cy": "     T"})
    return report_of(
        people + votes({"j": "TTTTFF"}, "judge") + votes({"eve": "   F"}, "adjudication")
    )


@pytest.fixture
def hostile() -> AgreementReport:
    """Hostile text wherever a file can put text."""
    said = {"claim_id": HOSTILE, "evidence_id": HOSTILE, "note": HOSTILE}
    return report_of(
        [
            review(f"{case} {HOSTILE}", f"{name} {HOSTILE}", label, kind, **said)
            for case in ("open", "settled")
            for name, label, kind in (
                ("ann", True, "human"),
                ("bob", False, "human"),
                ("j", False, "judge"),
                *([("eve", True, "adjudication")] if case == "settled" else []),
            )
        ]
    )


class Page(HTMLParser):
    """Tags, attribute names and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_what_is_unsettled_comes_first(report: AgreementReport) -> None:
    of_page = re.findall(r"<h[23][^>]*>([^<]*)", html.render(report))
    of_markdown = re.findall(r"^##+ (.*)", markdown.render(report), re.MULTILINE)
    first = ["Disputed and unsettled", "Agreement of people", "Two by two", "Judges"]
    assert of_page[:4] == of_markdown[:4] == first
    assert "What agreement cannot tell" in of_page[4:]
    assert set(of_markdown) <= set(of_page) | {"Set aside, by rule"}
    assert terminal.render(report, color=False, width=100).startswith(
        "1 of 6 items is disputed and unsettled\n"
    )


def test_every_coefficient_stands_beside_its_n(report: AgreementReport) -> None:
    # ann and bob share 5 answers and agree on 3: both true 2, each alone true 1, both false 1;
    # κ = (5·3 - (3·3 + 2·2)) ÷ (25 - 13) = 2/12
    shown = terminal.render(report, color=False, width=100)
    assert re.search(r"ann, bob +answers +n 5 +3 / 5 = 0\.600; κ 0\.167; α ", shown)
    assert "| `ann`, `bob` | answers | 5 | 3 / 5 = 0.600 | 0.167 |" in markdown.render(report)
    page = html.render(report)
    assert '<td class="num">0.600<small>3 / 5</small></td>' in page


def test_undefined_says_why(report: AgreementReport) -> None:
    why = "undefined: no item was labelled by both"
    assert f"| `ann`, `cy` | answers | 0 | {why} | {why} | {why} |" in markdown.render(report)
    assert 'undefined:<small class="why">no item was labelled by both</small>' in html.render(
        report
    )


def test_a_judge_below_the_minimum_is_marked_plainly(report: AgreementReport) -> None:
    said = "not validated: 5 of 30 common labels"
    assert said in terminal.render(report, color=False, width=100)
    assert f"**{said}**" in markdown.render(report)
    assert "not validated</span><small>5 of 30 common labels" in html.render(report)


def test_one_sentence_says_what_agreement_does_not(report: AgreementReport) -> None:
    for text in (
        html.render(report),
        markdown.render(report),
        terminal.render(report, color=False, width=200),
    ):
        assert "Agreement is not correctness" in text


def test_hostile_text_changes_no_element_of_the_page(
    report: AgreementReport, hostile: AgreementReport
) -> None:
    text = html.render(hostile)
    page, plain = Page(text), Page(html.render(report))
    assert not {"script", "img"} & set(page.tags)
    assert set(page.tags) <= {*plain.tags, "p", "ul", "li"}
    assert page.names == plain.names
    assert "</script><script>alert(1)</script> <img src=x> a|b" in page.text
    assert not set("\x1b\u202e\u200b\x00\r") & set(text)


def test_hostile_text_stays_text_in_markdown(hostile: AgreementReport) -> None:
    text = markdown.render(hostile)
    assert not set("\x1b\u202e\u200b\x00\r\t") & set(text)
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    inline = [child for token in tokens for child in token.children or []]
    assert {child.type for child in inline} <= {
        *("text", "text_special", "code_inline", "strong_open", "strong_close", "softbreak")
    }
    headings = [token for token in tokens if token.type == "heading_open"]
    assert len(headings) == 9
    widths: list[set[int]] = []
    cells = 0
    for token in tokens:
        if token.type == "table_open":
            widths.append(set())
        elif token.type == "tr_open":
            cells = 0
        elif token.type in {"td_open", "th_open"}:
            cells += 1
        elif token.type == "tr_close":
            widths[-1].add(cells)
    assert len(widths) == 5
    assert all(len(width) == 1 for width in widths)


@pytest.mark.parametrize("width", [20, 60, 79, 100, 200])
def test_no_line_is_wider_than_the_terminal(
    report: AgreementReport, hostile: AgreementReport, width: int
) -> None:
    for made in (report, hostile):
        text = terminal.render(made, color=False, width=width)
        assert max(cell_len(line) for line in text.split("\n")) <= width
        assert not set("\x1b\u202e\u200b") & set(text)


def test_long_lists_are_cut_with_exact_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "SHOWN", 60)
    made = report_of(votes({"ann": "T" * 75, "bob": "F" * 75}))
    assert (len(made["disputed"]), made["omitted"]["disputed"]) == (60, 15)
    assert "15 more in <code>disagreements.parquet</code>" in html.render(made)
    assert "25 more in `disagreements.parquet`" in markdown.render(made)
    shown = terminal.render(made, color=False, width=100)
    assert "(10 of 75)" in shown
    assert "and 65 more in disagreements.parquet" in shown


def test_people_who_share_something_come_first_in_a_cut_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(document, "SHOWN", 2)
    made = report_of(votes({"ann": "T ", "bob": " T", "cy": " F"}))
    assert {(row["reviewer_a"], row["reviewer_b"]) for row in made["pairs"]} == {("bob", "cy")}
    assert made["omitted"]["pairs"] == 4


def test_judges_alone_give_nothing_to_agree_with() -> None:
    made = report_of(votes({"j": "TF"}, "judge"))
    shown = terminal.render(made, color=False, width=100)
    assert shown.startswith("No person labelled anything: there is nothing to agree with\n")
    assert "! 2 items without any label by a person" in shown
    assert "No two people gave labels." in html.render(made)
    assert "No two people gave labels." in markdown.render(made)


def test_one_target_is_shown_once(report: AgreementReport) -> None:
    text = markdown.render(report)
    assert "| all |" not in text
    assert {row["target"] for row in report["pairs"]} == {"all", "answer"}


def test_a_label_by_one_person_alone_is_said() -> None:
    made = report_of(votes({"ann": "TT", "bob": "T "}))
    assert "1 of 2 agreed items was labelled by one person only" in markdown.render(made)


def test_a_target_that_a_judge_never_labelled_is_not_shown() -> None:
    relevance = [review("c0", "ann", True, evidence_id="p")]
    made = report_of(votes({"ann": "T"}) + votes({"j": "T"}, "judge") + relevance)
    assert [row["target"] for row in made["judges"]] == ["all", "answer", "relevance"]
    page = html.render(made)
    assert page.count('<th scope="row">j</th>') == 1
    text = markdown.render(made)
    assert text.count("| `j` |") == 1
