"""JUnit XML that common readers accept: the usual schema's shape, and nothing hostile in it."""

from __future__ import annotations

import re
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest

from ragtriage.publish import junit
from ragtriage.publish.document import Report

# The common schema (Ant's, as Jenkins and GitLab read it): attributes that must be there and that
# may, and children in their order.
ATTRIBUTES = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors", "disabled"}),
    "testsuite": (
        {"id", "package", "name", "timestamp", "hostname", "tests", "failures", "errors", "time"},
        {"skipped"},
    ),
    "properties": (set(), set()),
    "property": ({"name", "value"}, set()),
    "testcase": ({"name", "classname", "time"}, set()),
    "failure": ({"type"}, {"message"}),
    "error": ({"type"}, {"message"}),
    "skipped": (set(), {"message"}),
    "system-out": (set(), set()),
    "system-err": (set(), set()),
}
CHILDREN = {
    "testsuites": r"(testsuite )*",
    "testsuite": r"properties (testcase )*system-out system-err ",
    "properties": r"(property )*",
    "testcase": r"((failure|error|skipped) )?",
}


def checked(text: str) -> ET.Element:
    """The document, held against the schema's shape and against its own counts."""
    root = ET.fromstring(text)  # noqa: S314 - our own
    for element in root.iter():
        must, may = ATTRIBUTES[element.tag]
        assert must <= set(element.attrib) <= must | may, element.tag
        children = "".join(f"{child.tag} " for child in element)
        assert re.fullmatch(CHILDREN.get(element.tag, ""), children), (element.tag, children)
    for suite in root.iter("testsuite"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped",) * 2):
            assert int(suite.attrib[attribute]) == len(suite.findall(f"testcase/{tag}"))
    return root


def of(report: Report) -> ET.Element:
    return checked(junit.document(junit.of_run(report)))


def test_a_test_for_each_gate(report: Report) -> None:
    suite = of(report)[0]
    told = {case.attrib["name"]: [child.tag for child in case] for case in suite.iter("testcase")}
    assert told == {
        "some case was run": [],
        "context_recall >= 0.7": [],
        "recall@5[split=test] >= 0.9": ["failure"],
        "required_claim_coverage >= 0.5": ["failure"],
    }
    failed = suite.find("testcase/failure")
    assert failed is not None
    assert failed.attrib["message"] == "0.7 is below 0.9 over 20 cases"


def test_a_failing_case_has_stage_and_missing_evidence(report: Report) -> None:
    suite = of(report)[1]
    failures = {case.attrib["name"]: case[0] for case in suite.iter("testcase")}
    assert len(failures) == 28
    broken = failures["hotel-candidate"]
    assert broken.attrib["type"] == "retrieval"
    assert broken.attrib["message"].startswith("retrieval: ranked too low; missing ")
    assert "lost at retrieved: candidate, not returned" in str(broken.text)
    errors = [name for name, child in failures.items() if child.tag == "error"]
    assert [failures[name].attrib["type"] for name in errors] == ["not_run"]


def test_while_all_gates_hold_nothing_fails(ordinary: Report) -> None:
    root = of(ordinary)
    assert not list(root.iter("failure")) + list(root.iter("error"))
    assert len(list(root.iter("skipped"))) == 12


def test_beyond_the_cap_cases_are_counted(report: Report, sample: ModuleType) -> None:
    report["cases"] = [sample.case(f"c{n}", "generation", "wrong-answer") for n in range(150)]
    report["run"] |= {"n_cases": 700, "n_pass": 0}
    suite = of(report)[1]
    assert len(suite.findall("testcase")) == junit.CASES
    assert suite.findtext("system-out") == "600 more cases that did not pass left out here"


def test_hostile_text_is_text(hostile: Report) -> None:
    hostile["run"]["started"] = "2026-11-04T02:00:00Z"
    text = junit.document(junit.of_run(hostile))
    root = checked(text)
    assert text.encode("utf-8")
    # What XML 1.0 allows, and no bidirectional mark.
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff\u202a-\u202e]", text)
    names = [case.attrib["name"] for case in root.iter("testcase")]
    assert any("<script>alert(1)</script>" in name for name in names)
    assert any("<script>" in str(child.text) for child in root.iter("failure"))


def test_a_run_in_which_nothing_was_run_fails(report: Report) -> None:
    report["failures"] = ["no case was run: nothing was measured"]
    first = of(report)[0].find("testcase")
    assert first is not None
    assert [child.tag for child in first] == ["failure"]


@pytest.mark.parametrize("reason", ["in.jsonl:2: a: b [c]\n1 error", "x" * 50_000, "\x00\x1b]]>"])
def test_a_refusal_is_one_test_in_error(reason: str) -> None:
    root = checked(junit.document(junit.of_refusal(reason, "InputError", "2026-11-30T00:00:00Z")))
    (error,) = root.iter("error")
    assert error.attrib["type"] == "InputError"
    assert "\n" not in error.attrib["message"]
    assert len(str(error.text)) < 10_100
