"""What stands below the numbers: reviews, findings, rejects, limits, the run itself."""

from __future__ import annotations

from ragtriage.publish import labels, wording
from ragtriage.publish.document import DisputedRow, FindingRow, InputEntry, Report, ReviewsEntry
from ragtriage.publish.escape import first
from ragtriage.publish.page.markup import NOTHING, Html, join, tag
from ragtriage.publish.page.parts import (
    ROWS,
    heads,
    hint,
    listed,
    number,
    pairs,
    row_head,
    section,
    table,
)
from ragtriage.publish.page.texts import ids, line


def reviews(told: ReviewsEntry | None) -> Html:
    """What was reviewed, and what people dispute."""
    if told is None:
        return NOTHING
    disputed = NOTHING
    if told["disputed"]:
        names = ("Case", "Label of", "Claim", "Passage", "Say yes", "Say no")
        rows = table("Disputed labels", heads(*names), map(_disputed, told["disputed"]))
        disputed = join([tag("h3", "Disputed"), rows])
    if told["disputed_omitted"]:
        more = wording.count(told["disputed_omitted"], "more disputed label")
        disputed = join([disputed, tag("p", f"{more}.", class_="notice")])
    return section("reviews", "Reviews", *(hint(said) for said in labels.summary(told)), disputed)


def _disputed(row: DisputedRow) -> Html:
    return tag(
        "tr",
        row_head(tag("code", line(row["case_id"], 200))),
        tag("td", labels.subject(row)),
        tag("td", line(row["claim_id"] or "", 200)),
        tag("td", line(row["evidence_id"] or "", 200)),
        tag("td", ids(row["supporters"], limit=300), class_="wrap"),
        tag("td", ids(row["opponents"], limit=300), class_="wrap"),
    )


def findings(report: Report) -> Html:
    """What looks odd, and what was set aside."""
    shown = tag("p", "None.")
    if report["findings"]:
        names = ("Finding", "#n", "Meaning", "Example cases")
        shown = join(
            [
                hint("Not errors: what looks odd in the records, and may explain a number."),
                table("Findings", heads(*names), map(_finding, report["findings"])),
            ]
        )
    return section("findings", "Findings", shown, _rejects(report))


def _finding(row: FindingRow) -> Html:
    return tag(
        "tr",
        row_head(tag("code", line(row["finding"], 200))),
        number(row["n"]),
        tag("td", line(row["meaning"], 600), class_="sentence"),
        tag("td", ids(row["example_case_ids"], limit=300), class_="wrap"),
    )


def _rejects(report: Report) -> Html:
    if not report["rejects"] and not report["run"]["lines"]["set_aside"]:
        return NOTHING
    told = wording.set_aside(report["run"]) or "No line was set aside."
    rows = [
        tag("tr", row_head(tag("code", line(rule, 200))), number(n))
        for rule, n in report["rejects"].items()
    ]
    counts = table("Set aside, by rule", heads("Rule", "#n"), rows, kind="narrow")
    return join([tag("h3", "Set aside"), tag("p", told, class_="notice"), counts])


def limits(report: Report) -> Html:
    """What the labels cannot tell."""
    told = listed([line(limit) for limit in report["limits"]])
    return section("limits", "What these labels cannot tell", told)


def run(report: Report) -> Html:
    """What was run, on what."""
    entry = report["run"]
    facts = [
        ("run", entry["run_id"]),
        ("started", entry["started"]),
        ("status", entry["status"]),
        ("version", f"{entry['version']}, schema {entry['schema_version']}"),
        ("normaliser", entry["normalizer"]),
        ("on invalid", entry["on_invalid"]),
    ]
    return section(
        "run",
        "Run",
        pairs(facts),
        _about(report),
        _inputs(report),
        _mapping(entry["mapping"]),
        _notes(entry["notes"]),
    )


def _about(report: Report) -> Html:
    if not report["about"]:
        return NOTHING
    shown, rest = first(wording.flat(report["about"]), ROWS)
    return join([tag("h3", "About"), pairs(shown, "facts long"), rest])


def _inputs(report: Report) -> Html:
    lines = report["run"]["lines"]
    read = (
        f"{lines['read']:,} lines read: {lines['accepted']:,} accepted, "
        f"{lines['set_aside']:,} set aside, {lines['blank']:,} blank."
    )
    shown, rest = first(report["run"]["inputs"], ROWS)
    names = ("File", "Role", "#Lines", "#Accepted", "#Set aside", "#Blank", "#Bytes", "SHA-256")
    files = table("Inputs", heads(*names), map(_input, shown))
    return join([tag("h3", "Inputs"), hint(read), files, rest])


def _input(file: InputEntry) -> Html:
    counts = (file["lines"], file["accepted"], file["set_aside"], file["blank"], file["bytes"])
    return tag(
        "tr",
        row_head(line(file["path"], 600), class_="wrap"),
        tag("td", line(file["role"], 200)),
        *map(number, counts),
        tag("td", tag("code", line(file["sha256"], 200), class_="hash")),
    )


def _mapping(mapping: dict[str, str]) -> Html:
    if not mapping:
        return NOTHING
    rows = [
        tag("tr", row_head(tag("code", line(theirs, 200))), tag("td", tag("code", line(ours, 200))))
        for theirs, ours in mapping.items()
    ]
    return join(
        [
            tag("h3", "Field mapping"),
            table("Field mapping", heads("In the file", "Read as"), rows, kind="narrow"),
        ]
    )


def _notes(notes: list[str]) -> Html:
    if not notes:
        return NOTHING
    shown, rest = first(notes, ROWS)
    return join([tag("h3", "Notes"), listed([line(note) for note in shown]), rest])
