"""The report as GitHub-flavoured Markdown, for pull requests and for reading as plain text.

Data is shown in code spans, sentences through `escape.prose`: nothing from a fixture can become
markup. No wording and no numbers of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragtriage.publish import abstention, funnel_words, labels, markdown_case, wording
from ragtriage.publish.document import Report
from ragtriage.publish.escape import code, first, prose
from ragtriage.publish.fitting import COMMENT, Measure, Part, fitted, utf16
from ragtriage.publish.markdown_parts import bullets, ids, table
from ragtriage.publish.notices import notices
from ragtriage.publish.page.first import advice
from ragtriage.publish.slice_words import most_broken

CASES = 20
ROWS = 20


def render(report: Report, *, limit: int = COMMENT, measure: Measure = utf16) -> str:
    """The report as Markdown, of at most `limit`: cases are left out first, all of it counted."""
    return fitted(parts(report), limit, measure)


def parts(report: Report) -> list[Part]:
    """The whole report, part by part."""
    return [
        Part.of(_head(report), firm=True),
        Part.of(_funnel(report)),
        Part.of(_stages(report), firm=True),
        _cases(report),
        Part.of(_metrics(report)),
        Part.of(_abstention(report)),
        Part.of(_slices(report)),
        Part.of(_reviews(report)),
        Part.of(_findings(report)),
        Part.of(_limits(report)),
        Part.of(_run(report)),
    ]


def _aside(report: Report) -> str:
    said = wording.set_aside(report["run"])
    return f"_{prose(said)}_" if said else ""


def _head(report: Report) -> list[str]:
    """Verdict, gates, what must be known first, and the facts of the run."""
    said, gates = wording.gates(report["gates"])
    rows = [
        (
            "holds" if gate["passed"] else "**failed**",
            code(gate["gate"]),
            wording.exact(gate["value"]),
            wording.exact(gate["threshold"]),
            prose(gate["reason"]) if gate["reason"] else "",
        )
        for gate in gates
    ]
    return [
        f"# ragtriage: {prose(wording.verdict(report))}",
        f"**{said}.**",
        table(("Verdict", "Gate", "Value>", "Threshold>", "Reason"), rows) if rows else "",
        f"**Look first:** {prose(told)}" if (told := advice(report)) else "",
        bullets(prose(notice) for notice in notices(report)),
        table(("Run", ""), map(_fact, wording.facts(report))),
    ]


def _fact(fact: tuple[str, str]) -> tuple[str, str]:
    """A row; a value that begins with its name stands alone."""
    name, text = fact
    return (prose(text), "") if text.startswith(f"{name} ") else (prose(name), prose(text))


def _funnel(report: Report) -> list[str]:
    rows = [
        (prose(line.name), line.left, line.lost, prose(line.told) if line.told else "")
        for line in funnel_words.lines(report)
    ]
    if not rows:
        return []
    head = ("Step", "Requirements left>", "Lost here>", "How")
    note = funnel_words.note(report)
    return [f"## {funnel_words.TITLE}", table(head, rows), f"{prose(note)}." if note else ""]


def _stages(report: Report) -> list[str]:
    rows = [
        (
            prose(wording.stage_words(row["stage"])),
            code(row["break_point"]) if row["break_point"] else "",
            f"{row['n']:,}",
            wording.percent(row["share"]),
            wording.BREAK_POINTS.get(row["break_point"] or "", ""),
        )
        for row in report["stages"]
        if row["slice"] == "all"
    ]
    head = ("Stage", "Break point", "Cases>", "Share>", "What happened")
    return ["## Where the cases broke", _aside(report), table(head, rows)]


def _cases(report: Report) -> Part:
    """The first failing cases, then how many more there are."""
    failing = [case for case in report["cases"] if case["stage"] != "pass"][:CASES]
    k = report["run"]["cutoffs"][0]
    total = report["run"]["n_cases"] - report["run"]["n_pass"]
    rest = total - len(failing)
    where = "; every case is in `cases/*.parquet`" if report["run"]["written"] else ""
    more = f"{wording.count(rest, 'more case')} did not pass{where}."
    hidden = report["run"]["no_text"]
    shown = [markdown_case.block(n, case, k, no_text=hidden) for n, case in enumerate(failing, 1)]
    heading = "## Cases that did not pass" + (f"\n\n{more}" if rest > 0 else "")
    return Part(heading, shown or ["None."], noun="case", first=True)


def _metric_table(lines: Sequence[wording.MetricLine]) -> str:
    weighted = any(line.weighted for line in lines)
    asked = any(line.interval for line in lines)
    head = ["Metric", "Mean>", "Cases scored>", "Pooled>", "Undefined>", "Not run>"]
    rows = []
    for line in lines:
        row = line.row
        scored = f"{row['n_scored']:,} of {row['n_cases']:,}"
        cells = [code(line.label), line.value, scored, line.pooled]
        cells += [f"{row['n_undefined']:,}", f"{row['n_not_run']:,}"]
        cells += [line.weighted] if weighted else []
        rows.append(cells + ([line.interval] if asked else []))
    head += ["Weighted mean>"] if weighted else []
    return table(head + (["95% interval"] if asked else []), rows)


def _metrics(report: Report) -> list[str]:
    lines, _ = abstention.apart(report)
    note = f"`answer_match` is normalised by {code(report['run']['normalizer'])}."
    matched = any(line.row["metric"] == "answer_match" for line in lines)
    return [
        "## Metrics",
        "Each mean is over the cases scored. Undefined means nothing to divide by; it is not 0.",
        _aside(report),
        _metric_table(lines) if lines else "No metric was observed.",
        f"{note} {wording.NOTES['answer_match']}" if matched else "",
        wording.NOTES["intervals"] if report["intervals"] else "",
    ]


def _abstention(report: Report) -> list[str]:
    found = abstention.answered(report)
    if not found:
        return []
    rows = [
        (
            prose(row["answerable"]),
            *(f"{row[key]:,}" for key in ("answered", "abstained", "unknown")),
        )
        for row in found
    ]
    _, lines = abstention.apart(report)
    head = ("Cases", "Answered>", "Abstained>", "Unknown>")
    return [
        "### Abstention",
        wording.NOTES["abstention"],
        table(head, rows),
        _metric_table(lines) if lines else "",
    ]


def _slices(report: Report) -> list[str]:
    parts: list[str] = []
    for name, (columns, lines) in wording.slices(report).items():
        shown, rest = most_broken(lines, ROWS)
        head = [code(name), "Passed>", *(f"{code(column)}>" for column in columns), "Did not pass"]
        rows = [
            (
                code(line.value),
                line.passed,
                *(f"{mean} (n {over})" if over else "" for mean, over in line.cells),
                prose(line.mix) if line.mix else "",
            )
            for line in shown
        ]
        where = " in `summary.parquet`" if report["run"]["written"] else " left out"
        parts += [table(head, rows), f"{rest}{where}." if rest else ""]
    return ["## Slices", _aside(report), *parts] if parts else []


def _reviews(report: Report) -> list[str]:
    reviews = report["reviews"]
    if reviews is None:
        return []
    shown = reviews["disputed"][:ROWS]
    omitted = reviews["disputed_omitted"] + len(reviews["disputed"]) - len(shown)
    rows = [
        (
            code(row["case_id"]),
            labels.subject(row),
            code(row["claim_id"]) if row["claim_id"] else "",
            code(row["evidence_id"]) if row["evidence_id"] else "",
            ids(row["supporters"]),
            ids(row["opponents"]),
        )
        for row in shown
    ]
    head = ("Case", "Label of", "Claim", "Passage", "Say yes", "Say no")
    return [
        "## Reviews",
        bullets(labels.summary(reviews)),
        *(["### Disputed", table(head, rows)] if rows else []),
        f"{wording.count(omitted, 'more disputed label')}." if omitted else "",
    ]


def _findings(report: Report) -> list[str]:
    found = [
        (
            code(row["finding"]),
            f"{row['n']:,}",
            prose(row["meaning"]),
            ids(row["example_case_ids"][:5], limit=100),
        )
        for row in report["findings"]
    ]
    aside = [(code(rule), f"{n:,}") for rule, n in report["rejects"].items()]
    blind = [(code(row["metric"]), ids(row["needs"])) for row in report["not_observed"]]
    head = ("Finding", "n>", "Meaning", "Example cases")
    return [
        "## Findings",
        table(head, found) if found else "None.",
        *(["### Set aside, by rule", table(("Rule", "n>"), aside)] if aside else []),
        *(["### Metrics not observed", table(("Metric", "Needs"), blind)] if blind else []),
    ]


def _limits(report: Report) -> list[str]:
    return ["## What these labels cannot tell", bullets(prose(limit) for limit in report["limits"])]


def _run(report: Report) -> list[str]:
    """About table, inputs, mapping and notes."""
    run, lines = report["run"], report["run"]["lines"]
    inputs, rest = first(run["inputs"], ROWS)
    rows = [
        (
            code(file["path"]),
            prose(file["role"]),
            *(f"{n:,}" for n in (file["lines"], file["accepted"], file["set_aside"])),
            code(file["sha256"]),
        )
        for file in inputs
    ]
    about = [f"{code(name)}: {prose(text)}" for name, text in wording.flat(report["about"])]
    mapping = [f"{code(theirs)} read as {code(ours)}" for theirs, ours in run["mapping"].items()]
    made = (
        f"{code(run['run_id'])}, started {prose(run['started'])}, status {prose(run['status'])}, "
        f"ragtriage {prose(run['version'])}, schema {prose(run['schema_version'])}, "
        f"on invalid {prose(run['on_invalid'])}."
    )
    read = (
        f"{lines['read']:,} lines read: {lines['accepted']:,} accepted, "
        f"{lines['set_aside']:,} set aside, {lines['blank']:,} blank."
    )
    return [
        "## Run",
        made,
        read,
        table(("File", "Role", "Lines>", "Accepted>", "Set aside>", "SHA-256"), rows),
        f"{rest} files in `manifest.json`." if rest else "",
        *(["### About", bullets(about[:100])] if about else []),
        *(["### Field mapping", bullets(mapping)] if mapping else []),
        *(
            ["### Notes", bullets(prose(note) for note in run["notes"][:ROWS])]
            if run["notes"]
            else []
        ),
    ]
