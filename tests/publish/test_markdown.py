"""Markdown that shows the report and nothing a fixture would like it to."""

from __future__ import annotations

import re
from types import ModuleType

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragtriage.publish import markdown
from ragtriage.publish.document import Report

INLINE = {"text", "text_special", "code_inline", "strong_open", "strong_close"}
INLINE |= {"em_open", "em_close", "softbreak"}
ALIVE = re.compile(r"[@<>\[\]`]|#\d|://|www\.")


def parse(text: str) -> list[Token]:
    """Tokens as GitHub would see them: CommonMark with tables and strikethrough."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def test_hostile_text_stays_text(hostile: Report) -> None:
    text = markdown.render(hostile)
    assert text.encode("utf-8")
    assert not set("\x1b\u202e\x00\r\t") & set(text)
    tokens = parse(text)
    blocks = {token.type.removesuffix("_open").removesuffix("_close") for token in tokens}
    assert blocks == {
        *("heading", "paragraph", "inline", "bullet_list", "list_item"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
    inline = [child for token in tokens for child in token.children or []]
    assert {child.type for child in inline} <= INLINE
    outside = [child.content for child in inline if child.type.startswith("text")]
    assert not [words for words in outside if ALIVE.search(words)]


def test_every_row_of_a_table_has_its_cells(hostile: Report) -> None:
    widths: list[set[int]] = []
    cells = 0
    for token in parse(markdown.render(hostile)):
        if token.type == "table_open":
            widths.append(set())
        elif token.type == "tr_open":
            cells = 0
        elif token.type in {"td_open", "th_open"}:
            cells += 1
        elif token.type == "tr_close":
            widths[-1].add(cells)
    assert widths
    assert all(len(width) == 1 for width in widths)


def test_structure_does_not_depend_on_the_text(report: Report, sample: ModuleType) -> None:
    plain = sample.case("plain", "generation", "wrong-answer", findings=["x"], error="e")
    plain |= {"ambiguity": "a", "missing": ["m"]}
    plain["expected_answers"] = ["a", "b", "c", "d"]
    report["cases"] = [plain]
    before = [token.type for token in parse(markdown.render(report))]
    report["cases"] = [sample.hostile_case()]
    assert [token.type for token in parse(markdown.render(report))] == before


def test_twenty_failing_cases_then_a_count(report: Report) -> None:
    text = markdown.render(report)
    assert len(re.findall(r"^### \d+\. ", text, re.MULTILINE)) == 20
    assert "8 more cases did not pass" in text


def test_the_lost_step_is_marked(report: Report) -> None:
    assert (
        "Requirement 2: `sick-1` or `sick-7` or `sick-8`; in source, index, chunks → retrieved: "
        "rank 14 as `sick-7` → **lost at top 5: below cutoff** → not in context → not cited"
    ) in markdown.render(report)


def test_numbers_stand_beside_their_denominators(report: Report) -> None:
    text = markdown.render(report)
    assert "| `recall@5` | 0.734 | 32 of 39 | 25 / 36 = 0.694 | 6 | 1 |  |" in text
    assert "| `required_claim_coverage` | undefined | 0 of 39 |" in text
    assert "A higher refusal rate is never by itself better." in text
    assert "`answer_match` is normalised by `lower-whitespace`. Exact match is narrow" in text
    assert text.count("3 lines set aside in `rejects/`") == 4


def test_what_broke_comes_before_means(report: Report) -> None:
    text = markdown.render(report)
    order = ["# ragtriage: 28 of 39", "gates failed", "## Where", "## Cases", "## Metrics"]
    order += ["## Slices", "## Findings", "## What these labels cannot tell", "## Run"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_a_huge_cell_is_cut(hostile: Report, sample: ModuleType) -> None:
    text = markdown.render(hostile)
    assert f"… cut, {5_000_000 + len(sample.HOSTILE):,} characters in all" in text
    assert max(len(line) for line in text.split("\n")) < 4_000


def test_an_empty_report_renders(report: Report) -> None:
    report |= {"summary": [], "stages": [], "abstention": [], "findings": [], "gates": []}
    report |= {"cases": [], "rejects": {}, "not_observed": [], "about": {}}
    report["run"] |= {"n_cases": 0, "n_not_run": 0, "n_pass": 0}
    text = markdown.render(report)
    assert "# ragtriage: No case was accepted" in text
    assert "mechanism not stated" in text


def test_the_same_report_gives_the_same_bytes(report: Report, sample: ModuleType) -> None:
    text = markdown.render(report)
    assert text == markdown.render(sample.report())
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
