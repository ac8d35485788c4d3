"""The leakage report in its formats: what leaks first, both texts, and text that stays text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len

import ragtriage
from ragtriage.publish.leakage import document, html, markdown, terminal
from ragtriage.publish.leakage.document import LeakageReport
from tests.support import lines_of

HOSTILE = "</script><script>alert(1)</script> <img src=x> a|b \u202egnirts\u200b\x1b[31m\n# head"


def made(folder: Path, mark: str = "", **options: Any) -> LeakageReport:
    """One finding of each kind; `mark` wherever a file can put text."""
    asked = f"When does the desk open on Monday morning {mark}?"
    rows = [
        {"case_id": "d1", "split": f"development{mark}", "question": asked},
        {"case_id": "t1", "split": f"test{mark}", "question": asked.upper()},
        {"case_id": "t2", "split": f"test{mark}", "question": asked + " Say now."},
        {"case_id": "t3", "split": f"test{mark}", "question": f"Is it the front desk {mark}?"},
        {"case_id": "x", "split": None, "question": None},
    ]
    for row in rows[:2]:
        row["group"] = f"g {mark}"
    rows[3]["expected_answers"] = [f"the front desk {mark}"]  # type: ignore[assignment]
    for row in rows:
        row["tags"] = [f"tag {mark}"]  # type: ignore[assignment]
    folder.mkdir(exist_ok=True)
    cases, prompt = folder / "cases.jsonl", folder / "prompt.md"
    cases.write_text(lines_of(rows), encoding="utf-8")
    prompt.write_text(f"{asked}\nIs it the front desk {mark}? {mark}", encoding="utf-8")
    (folder / "none.bin").write_bytes(b"\0")
    return ragtriage.leakage(
        cases, against=folder, write=False, assign=True, strata="tag", **options
    ).report


@pytest.fixture
def report(tmp_path: Path) -> LeakageReport:
    return made(tmp_path / "plain")


@pytest.fixture
def hostile(tmp_path: Path) -> LeakageReport:
    return made(tmp_path / "hostile", HOSTILE)


def test_every_kind_is_there(report: LeakageReport) -> None:
    assert {row["finding"]: row["n"] for row in report["kinds"]} == {
        "group-across-splits": 1,
        "duplicate-question": 1,
        "near-duplicate-question": 1,
        "answer-in-question": 1,
        "question-in-prompt": 2,
        "answer-in-prompt": 1,
    }


def test_every_format_says_what_leaks_and_how_surely(report: LeakageReport) -> None:
    page = html.render(report)
    text = markdown.render(report)
    shown = terminal.render(report, color=False, width=100)
    assert shown.startswith("7 leaks found: 1 group-across-splits, 1 duplicate-question,")
    assert "<h1>7 leaks found: 1 group-across-splits" in page
    assert text.startswith("# ragtriage: 7 leaks found")
    for said in (page, text, terminal.render(report, color=False, width=900)):
        plain = said.replace("`", "")
        assert "WHEN DOES THE DESK OPEN ON MONDAY MORNING" in plain
        assert "missed with a probability of 0.00097" in plain
        assert "Of 1,000 variants of these questions planted at the threshold, 1,000" in plain
        assert "Answers of fewer than 4 characters" in plain
        assert "Words are compared, not meanings" in plain
        assert "1 case without a split" in plain
        assert "1 case without a question" in plain
        assert "2 files not looked into" in plain
        assert "cases moved" in plain
    for said in (page, text):
        assert "each character counts as a word" in said


def test_the_near_duplicate_stands_with_both_cases_and_its_score(report: LeakageReport) -> None:
    # 8 words, 6 3-grams; two words more, 8: 6 of 8 are shared.
    shown = terminal.render(report, color=False, width=100)
    assert "\ndevelopment d1  test t2  0.750\n" in shown
    text = markdown.render(report)
    assert "- 0.750\n  - `development` `d1`: `When does" in text


def test_hostile_text_changes_no_element_of_the_page(hostile: LeakageReport) -> None:
    text = html.render(hostile)
    assert "<script" not in text
    assert "<img" not in text
    assert "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert not set("\x1b\u202e\u200b\x00\r") & set(text)


def test_hostile_text_stays_text_in_markdown(hostile: LeakageReport) -> None:
    text = markdown.render(hostile)
    assert not set("\x1b\u202e\u200b\x00\r\t") & set(text)
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    inline = [child for token in tokens for child in token.children or []]
    assert {child.type for child in inline} <= {
        *("text", "text_special", "code_inline", "strong_open", "strong_close", "softbreak")
    }
    headings = [token for token in tokens if token.type == "heading_open"]
    assert len(headings) == 12
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
    assert len(widths) == 3
    assert all(len(width) == 1 for width in widths)


@pytest.mark.parametrize("width", [20, 60, 79, 100, 200])
def test_no_line_is_wider_than_the_terminal(
    report: LeakageReport, hostile: LeakageReport, width: int
) -> None:
    for one in (report, hostile):
        text = terminal.render(one, color=False, width=width)
        assert max(cell_len(line) for line in text.split("\n")) <= width
        assert not set("\x1b\u202e\u200b") & set(text)


def test_long_lists_are_cut_with_exact_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "SHOWN", 20)
    rows = [
        {"case_id": f"{split}{i:02}", "split": split, "question": "Where is the desk?"}
        for split in ("dev", "test")
        for i in range(30)
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text(lines_of(rows), encoding="utf-8")
    one = ragtriage.leakage(path, write=False).report
    one["run"]["written"] = True
    assert len(one["findings"]) == 20
    assert one["omitted"]["duplicate-question"] == 10
    shown = terminal.render(one, color=False, width=100)
    assert "Duplicate questions (5 of 900)" in shown
    assert "25 more in leaks.parquet; all 900 are counted, not every one has a row" in shown
    assert "10 more in leaks.parquet" in html.render(one)
    assert "10 more in leaks.parquet" in markdown.render(one).replace("`", "")


def test_nothing_found(tmp_path: Path) -> None:
    rows = [{"case_id": s, "split": s, "question": f"Is it {s}?"} for s in ("dev", "test")]
    path = tmp_path / "cases.jsonl"
    path.write_text(lines_of(rows), encoding="utf-8")
    one = ragtriage.leakage(path, write=False).report
    shown = terminal.render(one, color=False, width=100)
    assert shown.startswith("No leak found\n")
    assert "group-across-splits (no `group` in the input)" in shown
    assert "No question is long enough" in shown
    assert "<h1>No leak found</h1>" in html.render(one)


def test_what_was_not_compared_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ragtriage.splits import lsh  # noqa: PLC0415 - patched here alone

    monkeypatch.setattr(lsh, "BAND_PAIRS", 50)
    monkeypatch.setattr(lsh, "CROWDED_PAIRS", 50)
    rows = [
        {
            "case_id": f"c{i}",
            "split": ("dev", "test")[i % 2],
            "question": f"When does branch number {i} of the library on Mill Lane close today?",
        }
        for i in range(40)
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text(lines_of(rows), encoding="utf-8")
    one = ragtriage.leakage(path, write=False, threshold=0.4).report
    shown = terminal.render(one, color=False, width=100)
    assert "very many questions are made alike" in shown
    assert "are at least as many as counted" in " ".join(shown.split())
