"""What a command came to as JUnit XML: a test a gate, a test a case that did not pass.

A test fails only where the run did: while all gates hold, cases that did not pass are skipped
tests, so that this file and the exit code always say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal
from xml.etree import ElementTree as ET

from ragtriage.comparison.coverage import sentence
from ragtriage.decision import NOTHING_RUN
from ragtriage.publish import case_words, wording
from ragtriage.publish.comparison import words
from ragtriage.publish.comparison.document import ChangedCase, ComparisonReport
from ragtriage.publish.document import CaseEntry, GateRow, Report
from ragtriage.publish.escape import clip, first, terminal, visible_block

CASES = 100
MARK = 'name="ragtriage.'
_NAME, _MESSAGE, _BODY = 200, 500, 10_000
Kind = Literal["passed", "failure", "error", "skipped"]


@dataclass(frozen=True)
class Test:
    """One test case; `message` and `body` say why it did not pass."""

    name: str
    kind: Kind = "passed"
    type: str = ""
    message: str = ""
    body: str = ""


@dataclass
class Suite:
    """One test suite; `about`: its properties; `note`: what it leaves out."""

    name: str
    started: str
    tests: list[Test]
    about: dict[str, str] = field(default_factory=dict)
    note: str = ""


def of_run(report: Report, system: str | None = None) -> list[Suite]:
    """A suite of the gates, and of whether anything was run; a suite of the cases.

    `system`: whose run it is, where one command evaluates several: readers tell tests apart by
    the names of suite and test.
    """
    run = report["run"]
    nothing = NOTHING_RUN in report["failures"]
    ran = Test(
        "some case was run",
        "failure" if nothing else "passed",
        "nothing-measured",
        NOTHING_RUN if nothing else "",
    )
    about = {name: str(value) for name, value in wording.facts(report)}
    about |= {"run": run["run_id"], "verdict": wording.verdict(report), "status": run["status"]}
    whose = {} if system is None else {"system": system}
    suffix = "" if system is None else f".{system}"
    failing = [case for case in report["cases"] if case["stage"] != "pass"]
    total, k = run["n_cases"] - run["n_pass"], run["cutoffs"][0]
    kind: Kind = "failure" if report["failures"] else "skipped"
    return [
        Suite(
            f"ragtriage.gates{suffix}",
            run["started"],
            [ran, *map(_gate, report["gates"])],
            whose | about,
        ),
        Suite(
            f"ragtriage.cases{suffix}",
            run["started"],
            [_case(case, k, kind) for case in failing[:CASES]],
            whose | {"cases": f"{run['n_cases']:,}", "cases that did not pass": f"{total:,}"},
            _left_out(total - min(len(failing), CASES), "that did not pass"),
        ),
    ]


def of_comparison(report: ComparisonReport) -> list[Suite]:
    """A suite of the gates and of lost coverage; a suite of the cases that regressed."""
    entry = report["comparison"]
    tests = [_measured(report), *map(_gate, report["gates"])]
    for lost in report["lost_together"]:
        told = sentence(lost["metrics"], lost["n_lost"], lost["example_case_ids"])
        name = f"coverage of {', '.join(lost['metrics'])}"
        tests.append(Test(name, "failure", "coverage", told, told))
    about = {name: str(value) for name, value in words.facts(report)}
    about |= {"verdict": words.verdict(report), "status": entry["status"]}
    kind: Kind = "failure" if report["failures"] else "skipped"
    regressed = words.regressed(report)
    total = report["changed"]["regressed"]
    return [
        Suite("ragtriage.compare.gates", entry["started"], tests, about),
        Suite(
            "ragtriage.compare.regressed",
            entry["started"],
            [_regressed(case, kind) for case in regressed[:CASES]],
            {"cases in both": f"{entry['n_paired']:,}", "regressed": f"{total:,}"},
            _left_out(total - min(len(regressed), CASES), "that regressed"),
        ),
    ]


def of_refusal(reason: str, kind: str, started: str) -> list[Suite]:
    """One test in error: nothing was evaluated, and why."""
    head = reason.strip().split("\n", 1)[0]
    return [Suite("ragtriage.input", started, [Test("input", "error", kind, head, reason)])]


def document(suites: Sequence[Suite]) -> str:
    """The XML document."""
    root = ET.Element("testsuites")
    for place, suite in enumerate(suites):
        root.append(_suite(suite, place))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _measured(report: ComparisonReport) -> Test:
    name = "some metric is scored in both runs"
    if words.nothing_measured(report):
        return Test(name, "failure", "nothing-measured", "nothing measured never passes")
    return Test(name)


def _gate(gate: GateRow) -> Test:
    if gate["passed"]:
        return Test(gate["gate"])
    value, threshold = wording.exact(gate["value"]), wording.exact(gate["threshold"])
    body = f"value {value}, threshold {threshold}\n{gate['reason']}"
    return Test(gate["gate"], "failure", "gate", gate["reason"] or "the gate failed", body)


def _case(case: CaseEntry, k: int, kind: Kind) -> Test:
    """A case that did not pass: stage and missing evidence, then its way from source to answer."""
    missing, rest = first(case["missing"] or [], 20)
    lacks = f"; missing {', '.join(missing)} {rest}".rstrip() if missing else ""
    lines = [
        f"question: {case['question']}" if case["question"] else "",
        *(
            f"requirement {row['requirement'] + 1}, {' or '.join(row['ids'][:5])}: "
            + case_words.way(row, k, str)
            for row in case["evidence"][:20]
        ),
        f"answer, {wording.judged(case)}: {case['answer']}" if case["answer"] is not None else "",
        f"error: {case['error']}" if case["error"] else "",
        f"look first: {case['next_check']}" if case["next_check"] else "",
        f"recorded in {case_words.place(case)}",
    ]
    broke = "error" if kind == "failure" and case["stage"] == "not_run" else kind
    return Test(
        case["case_id"],
        broke,
        case["stage"],
        case_words.broke(case) + lacks,
        "\n".join(line for line in lines if line),
    )


def _regressed(case: ChangedCase, kind: Kind) -> Test:
    lines = [f"question: {case['question']}" if case["question"] else "", *case["moved"]]
    body = "\n".join(line for line in lines if line)
    return Test(case["case_id"], kind, "regressed", words.way(case), body)


def _left_out(n: int, which: str) -> str:
    return f"{wording.count(n, 'more case')} {which} left out here" if n > 0 else ""


def _suite(suite: Suite, place: int) -> ET.Element:
    kinds = [test.kind for test in suite.tests]
    element = ET.Element(
        "testsuite",
        {
            "id": str(place),
            "package": "ragtriage",
            "name": terminal(suite.name, _NAME),
            "timestamp": terminal(suite.started.removesuffix("Z")),
            "hostname": "localhost",
            "tests": str(len(kinds)),
            "failures": str(kinds.count("failure")),
            "errors": str(kinds.count("error")),
            "skipped": str(kinds.count("skipped")),
            "time": "0",
        },
    )
    properties = ET.SubElement(element, "properties")
    for name, value in suite.about.items():
        told = {"name": terminal(name, _NAME), "value": terminal(value, _MESSAGE)}
        ET.SubElement(properties, "property", told)
    for test in suite.tests:
        element.append(_test(test, terminal(suite.name, _NAME)))
    ET.SubElement(element, "system-out").text = suite.note
    ET.SubElement(element, "system-err").text = ""
    return element


def _test(test: Test, suite: str) -> ET.Element:
    name = terminal(test.name, _NAME) or "(empty)"
    element = ET.Element("testcase", {"name": name, "classname": suite, "time": "0"})
    if test.kind == "skipped":
        ET.SubElement(element, "skipped", {"message": terminal(test.message, _MESSAGE)})
    elif test.kind != "passed":
        told = {"message": terminal(test.message, _MESSAGE), "type": terminal(test.type, _NAME)}
        head, mark = clip(test.body, _BODY)
        ET.SubElement(element, test.kind, told).text = visible_block(head) + mark
    return element
