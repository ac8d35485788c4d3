"""A screen of plain text, harmless to the terminal."""

from __future__ import annotations

import re
from types import ModuleType

import pytest
from rich.cells import cell_len

from ragtriage.publish import terminal
from ragtriage.publish.document import Report


def test_no_control_character_without_colour(hostile: Report) -> None:
    text = terminal.render(hostile, color=False, width=100)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert text.encode("utf-8")


def test_colour_is_the_only_escape(hostile: Report) -> None:
    text = terminal.render(hostile, color=True, width=100)
    assert "\x1b[" in text
    assert "\x1b" not in re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_colour_changes_no_word(report: Report) -> None:
    plain = terminal.render(report, color=False, width=100)
    coloured = re.sub(r"\x1b\[[0-9;]*m", "", terminal.render(report, color=True, width=100))
    assert [line.rstrip() for line in coloured.split("\n")] == plain.split("\n")


def test_rich_markup_is_text(report: Report, sample: ModuleType) -> None:
    report["cases"] = [sample.case("[red]x[/red] :smile:", "generation", "wrong-answer")]
    assert "[red]x[/red] :smile:" in terminal.render(report, color=False, width=100)


def test_the_environment_changes_nothing(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    before = terminal.render(report, color=True, width=100)
    for name, value in {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "40"}.items():
        monkeypatch.setenv(name, value)
    assert terminal.render(report, color=True, width=100) == before
    plain = terminal.render(report, color=False, width=100)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert terminal.render(report, color=False, width=100) == plain


@pytest.mark.parametrize("width", [20, 40, 60, 79, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(report: Report, hostile: Report, width: int) -> None:
    for made in (report, hostile):
        lines = terminal.render(made, color=False, width=width).split("\n")
        assert max(cell_len(line) for line in lines) <= width


def test_an_ordinary_run_fits_a_screen(ordinary: Report) -> None:
    text = terminal.render(ordinary, color=False, width=100)
    assert text.count("\n") <= 53
    assert text.startswith("12 of 40 cases did not pass: 9 retrieval, 3 generation\n")


@pytest.mark.parametrize("width", [60, 100])
def test_each_failing_case_says_where_it_broke(report: Report, width: int) -> None:
    text = terminal.render(report, color=False, width=width)
    assert "Cases that did not pass (10 of 28)" in text
    assert "sick-1 (or 2 more) lost at top 5: below cutoff" in text
    assert "hotel-unobserved" in text
    assert "salary-of-a-colleague" not in text


def test_few_failing_cases_show_their_question(report: Report) -> None:
    report["cases"] = report["cases"][:2]
    text = terminal.render(report, color=False, width=100)
    assert "Which receipts do I keep for a hotel booked abroad?" in text


def test_numbers_stand_beside_their_denominators(report: Report) -> None:
    text = terminal.render(report, color=False, width=100)
    assert re.search(r"recall@5 +0\.734 +32 of 39 +25 / 36 = 0\.694", text)
    assert re.search(r"required_claim_coverage +undefined +0 of 39", text)
    assert text.count("3 lines set aside in rejects/") == 2


def test_a_huge_cell_is_cut(report: Report, sample: ModuleType) -> None:
    report["cases"] = [sample.case("x" * 5_000_000, "generation", "wrong-answer")]
    text = terminal.render(report, color=False, width=300)
    assert "x" * 101 not in text
    assert "… cut, 5,000,000 characters in all" in text


def test_an_empty_report_renders(report: Report) -> None:
    report |= {"summary": [], "stages": [], "abstention": [], "findings": [], "gates": []}
    report |= {"cases": [], "rejects": {}, "not_observed": [], "about": {}}
    report["run"] |= {"n_cases": 0, "n_not_run": 0, "n_pass": 0}
    text = terminal.render(report, color=False, width=80)
    assert text.startswith("No case was accepted: nothing was measured\n")
    assert "mechanism not stated" in text


def test_parts_stand_in_the_order_of_the_page(report: Report) -> None:
    text = terminal.render(report, color=False, width=100)
    heads = (
        "28 of 39",
        "✗ 2 of 3 gates",
        "Where required evidence",
        "Where the cases",
        "Metrics (",
    )
    heads += ("Findings: ", "Set aside: ", "Cases that did not pass")
    places = [text.index(head) for head in heads]
    assert places == sorted(places)


def test_the_funnel_counts_what_was_lost_at_each_step(report: Report) -> None:
    text = terminal.render(report, color=False, width=100)
    assert re.search(r"^required +40$", text, re.MULTILINE)
    assert re.search(r"^in top 5 +29 +-1 +ranking 1, ", text, re.MULTILINE)
    assert "1 requirement reached the context past the first 5" in text
    report["funnel"][4] |= {"lost": 0, "lost_by": {}, "unrecorded": 27}
    assert re.search(r"in context +not observed", terminal.render(report, color=False, width=100))


def test_a_step_at_which_nothing_is_known_is_not_observed_and_no_zero(report: Report) -> None:
    report["funnel"][-1] |= {"left": 0, "lost": 0, "lost_by": {}, "unknown": 27, "unrecorded": 0}
    text = terminal.render(report, color=False, width=100)
    assert re.search(r"answered right +not observed +27 not known", text)
    report["funnel"][-1] |= {"lost": 27, "lost_by": {"wrong-answer": 27}, "unknown": 0}
    text = terminal.render(report, color=False, width=100)
    assert re.search(r"answered right +0 +-27 +answer wrong 27", text)


def test_what_the_input_lacks_is_said_once(report: Report) -> None:
    report["not_observed"] = [
        {"metric": "over_refusal", "needs": ["abstained or answer", "cited_ids"]},
        {"metric": "answer_match", "needs": ["answer or abstained"]},
    ]
    text = terminal.render(report, color=False, width=200)
    assert "Not observed: 2 metrics; the input lacks abstained or answer, cited_ids\n" in text
    every = terminal.render(report, color=False, width=200, detail="verbose")
    assert "Not observed: over_refusal; answer_match\n" in every


def test_quiet_is_the_verdict_and_the_failed_gates(report: Report) -> None:
    lines = terminal.render(report, color=False, width=200, detail="quiet").splitlines()
    assert len(lines) == 4
    assert lines[1] == "! 3 lines set aside in rejects/: not in these numbers"
    assert lines[2].startswith("  ✗ recall@5[split=test] >= 0.9: 0.7")


@pytest.mark.parametrize("width", [40, 80, 100, 250])
def test_slices_are_a_table_only_where_their_numbers_fit(report: Report, width: int) -> None:
    text = terminal.render(report, color=False, width=width, detail="verbose")
    assert max(cell_len(line) for line in text.split("\n")) <= width
    assert ("By tag (passed, " in text) == (width == 250)
    by_tag = " ".join(text[text.index("By tag") : text.index("\nFindings\n")].split())
    assert re.search(r"recall@5 \d\.\d{3} \(n \d+\)" if width < 250 else r"\(n \d+\)", by_tag)


@pytest.mark.parametrize("width", [30, 40, 50, 72, 80])
def test_no_name_of_ours_and_no_number_is_broken(report: Report, width: int) -> None:
    text = terminal.render(report, color=False, width=width, detail="verbose")
    words = set(text.replace(",", " ").split())
    uncut = [row for row in report["summary"] if row["slice"] == "all" and row["k"] is None]
    assert {row["metric"] for row in uncut} <= words
    assert {row["break_point"] for row in report["stages"]} - {None} <= words
    assert re.search(r"^required_claim_coverage( |$)", text, re.MULTILINE)


@pytest.mark.parametrize("width", [40, 60])
def test_further_lines_of_a_notice_or_gate_stand_below_its_words(
    report: Report, width: int
) -> None:
    lines = terminal.render(report, color=False, width=width).split("\n")
    head = lines[: lines.index("")]
    marks = [n for n, line in enumerate(head) if line.startswith(("! ", "  ✗ "))]
    first, last = marks[0], marks[-1]
    for line in head[first : last + 1]:
        assert line.startswith(("! ", "  "))
    assert any(line.startswith("    ") for line in head[first:])


def test_what_is_not_written_is_not_said_to_be_in_a_file(report: Report) -> None:
    report["run"]["written"] = False
    for detail in ("quiet", "normal", "verbose"):
        text = terminal.render(report, color=False, width=100, detail=detail)  # type: ignore[arg-type] # a detail
        assert "3 lines set aside: not in these numbers" in text
        assert "rejects/" not in text
        assert ".parquet" not in text
        assert "in the report" not in text


def test_a_stage_other_than_retrieval_is_said_before_a_loss(report: Report) -> None:
    lost = next(case for case in report["cases"] if case["missing"] and case["evidence"])
    report["cases"] = [lost | {"stage": "authorization", "break_point": "leak-cited"}]  # type: ignore[list-item] # a case
    text = terminal.render(report, color=False, width=120)
    assert "evidence this requester may not see was cited" in text
    assert " lost at " not in text


def test_verbose_has_every_case_slice_and_limit(report: Report, hostile: Report) -> None:
    text = terminal.render(report, color=False, width=100, detail="verbose", timings={"sum": 1.25})
    assert "Cases that did not pass (28 of 28)" in text
    assert "\nBy tag\n" in text
    assert re.search(r"^sum +1\.250$", text, re.MULTILINE)
    assert all(" ".join(text.split()).count(limit) == 1 for limit in report["limits"])
    told = terminal.render(hostile, color=False, width=60, detail="verbose")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", told)
