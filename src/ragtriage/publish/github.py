"""What GitHub Actions shows of a command: annotations, and the summary of the job's step.

Annotations are commands in the log. Their text is escaped as the runner undoes it, and made
visible before, so that nothing from a fixture is a command of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from ragtriage.publish import case_words, wording
from ragtriage.publish.comparison import words
from ragtriage.publish.comparison.document import ComparisonReport
from ragtriage.publish.document import CaseEntry, Report
from ragtriage.publish.escape import clip, first, visible_block
from ragtriage.publish.fitting import JOB_SUMMARY, cut, utf8

# GitHub shows ten errors, ten warnings and ten notices of a step.
SHOWN = 9
_LIMIT = 2_000
_FAULT = re.compile(r"(?P<file>.+?):(?P<line>\d+): ")
# Of these a line is no line of text.
_BINARY = (".parquet", ".gz", ".zst")


def command(kind: str, message: str, **properties: str) -> str:
    """One workflow command, on one line whatever the text."""
    told = ",".join(
        f"{name}={_escaped(value).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in properties.items()
        if value
    )
    return f"::{kind}{' ' if told else ''}{told}::{_escaped(message)}"


def _escaped(text: str) -> str:
    head, mark = clip(text, _LIMIT)
    shown = visible_block(head) + mark
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def of_run(report: Report, system: str | None = None) -> list[str]:
    """The failed gates as one error; the first cases that did not pass, at their lines.

    Cases are errors where the run failed, else warnings. `system`: whose run it is, where one
    command evaluates several.
    """
    failures = report["failures"]
    whose = "" if system is None else f"{system}: "
    title = f"ragtriage: {whose}{wording.verdict(report)}"
    told = [command("error", "\n".join(failures), title=title)] if failures else []
    failing = [case for case in report["cases"] if case["stage"] != "pass"][:SHOWN]
    k = report["run"]["cutoffs"][0]
    told += [_case("error" if failures else "warning", case, k, whose) for case in failing]
    rest = report["run"]["n_cases"] - report["run"]["n_pass"] - len(failing)
    if rest > 0:
        more = f"{wording.count(rest, 'more case')} did not pass"
        told.append(command("notice", f"{more}; see the report of run {report['run']['run_id']}"))
    return told


def of_comparison(report: ComparisonReport) -> list[str]:
    """Why the comparison failed as one error, and each of the first regressed cases."""
    failures = report["failures"]
    title = f"ragtriage compare: {words.verdict(report)}"
    told = [command("error", "\n".join(failures), title=title)] if failures else []
    kind = "error" if failures else "warning"
    for case in words.regressed(report)[:SHOWN]:
        moved, rest = first(case["moved"], 5)
        text = "\n".join(line for line in (words.way(case), *moved, rest) if line)
        told.append(command(kind, text, title=f"{case['case_id']} regressed"))
    return told


def of_refusal(reason: str) -> list[str]:
    """What was wrong with the input, each fault at its line; else the reason as it stands."""
    lines = reason.strip().split("\n")
    faults = [(found, line) for line in lines if (found := _FAULT.match(line))][:SHOWN]
    told = [
        command("error", line[found.end() :], **_at(found["file"], int(found["line"])))
        for found, line in faults
    ]
    return told or [command("error", reason.strip(), title="ragtriage")]


def _case(kind: str, case: CaseEntry, k: int, whose: str) -> str:
    missing, rest = first(case["missing"] or [], 5)
    lines = [
        f"missing {', '.join(missing)} {rest}".rstrip() if missing else "",
        *(
            f"{row['ids'][0]}: {case_words.way(row, k, str)}"
            for row in wording.lost_first(case)[:3]
            if row["lost_at"] is not None
        ),
        case["next_check"] or "",
    ]
    text = "\n".join(line for line in lines if line) or case_words.broke(case)
    title = f"{whose}{case['case_id']}: {case_words.broke(case)}"
    return command(kind, text, **_at(case["source_file"], case["line"]), title=title)


def _at(file: str, line: int) -> dict[str, str]:
    """The place that an annotation points to; nowhere for standard input."""
    if file == "-":
        return {}
    place = {"file": _in_checkout(file)}
    return place if file.endswith(_BINARY) else place | {"line": str(line)}


def _in_checkout(file: str) -> str:
    """A file's path as GitHub knows it: from the checkout's root, wherever the step runs."""
    root = os.environ.get("GITHUB_WORKSPACE")
    path = os.path.abspath(file)
    return os.path.relpath(path, root) if root and Path(path).is_relative_to(root) else file


def add_summary(markdowns: Sequence[str]) -> str | None:
    """Append to the summary of the step; why it could not be, or None.

    GitHub drops a summary above 1 MiB whole, so what does not fit beside that which a step has
    written already is cut.
    """
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    if not target:
        return None
    try:
        room = JOB_SUMMARY - (os.path.getsize(target) if os.path.exists(target) else 0)
        text = "\n".join(markdowns)
        if utf8(text) + 1 > room:
            text = cut(text, room, utf8) if room > _LIMIT else ""
        with open(target, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        return f"GITHUB_STEP_SUMMARY: {target}: cannot be written: {error.strerror or error}"
    return None
