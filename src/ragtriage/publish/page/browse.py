"""The list of cases and what narrows it: by stage, break point, slice and text.

Without a script the controls stay hidden and every case stands there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragtriage.publish import wording
from ragtriage.publish.document import CaseEntry, Report, RunEntry
from ragtriage.publish.page.cases import case_details, slices_of
from ragtriage.publish.page.first import Broken
from ragtriage.publish.page.markup import NOTHING, Html, join, tag, void
from ragtriage.publish.page.parts import hint, section

_OPEN = 1
_SLICES = 300
Numbered = Sequence[tuple[int, CaseEntry]]


def cases(report: Report, stages: list[Broken]) -> Html:
    """The cases that did not pass, then those that did, as far as the page holds them."""
    numbered = list(enumerate(report["cases"], start=1))
    failing = [entry for entry in numbered if entry[1]["stage"] != "pass"]
    passing = [entry for entry in numbered if entry[1]["stage"] == "pass"]
    run = report["run"]
    return section(
        "cases",
        "Cases that did not pass",
        _controls(stages, report["cases"]) if numbered else NOTHING,
        _omitted(report),
        tag("div", *_details(failing, run, opened=_OPEN), id="failing")
        if failing
        else tag("p", "None among the cases shown." if report["cases_omitted"] else "None."),
        _passing(passing, run),
    )


def _omitted(report: Report) -> Html:
    left = report["cases_omitted"]
    if not left:
        return NOTHING
    told = f"{wording.count(left, 'case')} left out of this page; every case is in "
    return tag("p", told, tag("code", "cases/*.parquet"), ".", class_="notice")


def _passing(passing: Numbered, run: RunEntry) -> Html:
    if not passing:
        return NOTHING
    return tag(
        "section",
        tag("h2", "Cases that passed", id="h-passing"),
        hint(f"{wording.count(len(passing), 'case')} shown."),
        *_details(passing, run, opened=0),
        id="passing",
        aria_labelledby="h-passing",
    )


def _details(numbered: Numbered, run: RunEntry, *, opened: int) -> list[Html]:
    return [
        case_details(number, case, run, is_open=place < opened)
        for place, (number, case) in enumerate(numbered)
    ]


def _controls(stages: list[Broken], shown: Sequence[CaseEntry]) -> Html:
    """A search over the cases; counts are of the cases on this page."""
    by_stage = Counter(case["stage"] for case in shown)
    by_point = Counter(case["break_point"] for case in shown if case["break_point"])
    by_slice = Counter(name for case in shown for name in slices_of(case))
    failed = sum(n for stage, n in by_stage.items() if stage != "pass")
    names = [stage.stage for stage in stages if by_stage[stage.stage]]
    points = {name: f"{wording.BREAK_POINTS.get(name, name)}" for name in by_point}
    stage_options = [
        _option("", f"did not pass ({failed:,})"),
        _option("*", f"every case ({len(shown):,})"),
        *(_option(name, f"{wording.stage_words(name)} ({by_stage[name]:,})") for name in names),
    ]
    point_options = [_option(name, f"{points[name]} ({n:,})") for name, n in by_point.most_common()]
    most = sorted(by_slice.items(), key=lambda item: (-item[1], item[0]))[:_SLICES]
    slice_options = [_option(name, f"{name} ({n:,})") for name, n in sorted(most)]
    return tag(
        "form",
        _control(
            "Text or case ID", "find", void("input", type="search", id="find", autocomplete="off")
        ),
        _choice("Stage", "stage", stage_options),
        _choice("Break point", "point", [_option("", "any"), *point_options]),
        _choice("Slice", "slice", [_option("", "any"), *slice_options]),
        tag(
            "div",
            tag("button", "Reset", type="button", id="reset"),
            tag("button", "Open all", type="button", id="unfold"),
            tag("span", "", id="count", role="status"),
            class_="does",
        ),
        id="controls",
        role="search",
        aria_label="Cases",
        hidden=True,
    )


def _option(value: str, words: str) -> Html:
    return tag("option", words, value=value)


def _choice(words: str, name: str, options: Sequence[Html]) -> Html:
    return _control(words, name, tag("select", *options, id=name))


def _control(words: str, name: str, control: Html) -> Html:
    return tag("div", join([tag("label", words, for_=name), control]), class_="control")
