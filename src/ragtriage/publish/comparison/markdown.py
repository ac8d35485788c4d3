"""The comparison as GitHub-flavoured Markdown: what a pull request should open with.

Data is shown in code spans, sentences through `escape.prose`: nothing from a fixture can become
markup. No wording and no numbers of its own.
"""

from __future__ import annotations

from ragtriage.publish import wording
from ragtriage.publish.comparison import evidence, words
from ragtriage.publish.comparison.document import ChangedCase, ComparisonReport
from ragtriage.publish.escape import code, first, prose
from ragtriage.publish.fitting import COMMENT, Measure, Part, fitted, utf16
from ragtriage.publish.kept import kept
from ragtriage.publish.markdown_parts import bullets, table

CASES = 20
ROWS = 30


def render(report: ComparisonReport, *, limit: int = COMMENT, measure: Measure = utf16) -> str:
    """The comparison as Markdown, of at most `limit`: regressed cases are left out last."""
    return fitted(parts(report), limit, measure)


def parts(report: ComparisonReport) -> list[Part]:
    """The whole comparison, part by part."""
    return [
        Part.of(_head(report), firm=True),
        _regressed(report),
        *_others(report),
        Part.of(_transitions(report)),
        Part.of(_deltas(report)),
        Part.of(_evidence(report)),
        Part.of(_made(report)),
    ]


def _head(report: ComparisonReport) -> list[str]:
    _, gates = wording.gates(report["gates"])
    rows = [
        (
            "holds" if gate["passed"] else "**failed**",
            code(gate["gate"]),
            wording.exact(gate["value"]),
            wording.exact(gate["threshold"]),
            prose(gate["reason"]),
        )
        for gate in gates
    ]
    return [
        f"# ragtriage: {prose(words.verdict(report))}",
        f"**{words.outcome(report)}.**",
        table(("Verdict", "Gate", "Value>", "Threshold>", "Reason"), rows) if rows else "",
        bullets(prose(notice, 1_000) for notice in words.notices(report)),
        table(("Comparison", ""), [(prose(n), prose(text)) for n, text in words.facts(report)]),
    ]


def _regressed(report: ComparisonReport) -> Part:
    n = report["changed"]["regressed"]
    more, shown = _cases(words.regressed(report), n, written=report["comparison"]["written"])
    heading = "\n\n".join(filter(None, ("## Regressed cases", more)))
    return Part(heading, shown, noun="case", firm=True)


def _others(report: ComparisonReport) -> list[Part]:
    n = report["comparison"]["n_changed"] - report["changed"]["regressed"]
    if not n:
        return []
    kinds = [(code(kind), f"{n:,}", prose(what)) for kind, n, what in words.counts(report)]
    head = table(("Change", "Cases>", "Meaning"), kinds)
    more, shown = _cases(words.others(report), n, written=report["comparison"]["written"])
    heading = "\n\n".join(filter(None, ("## Other cases that changed", head, more)))
    return [Part(heading, shown, noun="case", first=True)]


def _cases(cases: list[ChangedCase], total: int, *, written: bool) -> tuple[str, list[str]]:
    """How many there are beyond those shown, and those shown."""
    shown, _ = first(cases, CASES)
    rest = total - len(shown)
    where = kept("`cases.parquet`", written=written)
    more = f"{wording.count(rest, 'more case')}{where}." if rest > 0 else ""
    return more, [_case(case) for case in shown] or ["None."]


def _case(case: ChangedCase) -> str:
    moved, rest = first(case["moved"], ROWS)
    values = words.values(case)
    lines = [
        f"Question: {prose(case['question'])}" if case["question"] else "",
        *(f"Moved: {prose(move)}" for move in moved),
        f"{rest} moves" if rest else "",
        "Metrics: " + "; ".join(f"{code(n)} {prose(way)} ({said})" for n, way, said in values)
        if values
        else "",
        *(_answer(case, side) for side in ("base", "candidate")),
    ]
    heading = f"**{code(case['case_id'])}** {case['change']}: {prose(words.way(case))}"
    return heading + "\n\n" + bullets(line for line in lines if line) if any(lines) else heading


def _answer(case: ChangedCase, side: str) -> str:
    entry = case["base"] if side == "base" else case["candidate"]
    same = case["base"]["answer"] == case["candidate"]["answer"]
    told = [f"error {code(entry['error'])}"] if entry["error"] else []
    if entry["answer"] is not None and not same:
        told.append(f"answer {code(entry['answer'])}")
    return f"In the {side}: {', '.join(told)}" if told else ""


def _transitions(report: ComparisonReport) -> list[str]:
    rows, columns, cells = words.transitions(report)
    head = ("Base ↓ candidate →", *(f"{wording.stage_words(name)}>" for name in columns))
    body = [
        (
            prose(wording.stage_words(row)),
            *(f"{cells[row, column]:,}" if (row, column) in cells else "" for column in columns),
        )
        for row in rows
    ]
    return ["## Stages", table(head, body)]


def _deltas(report: ComparisonReport) -> list[str]:
    lines = words.moved_deltas(report)
    same = len(words.deltas(report)) - len(lines)
    head = ("Metric", "Base>", "Candidate>", "Difference>", "In both>", "Cases", "Scored in one")
    worse, rest = first(words.slices_worse(report), ROWS)
    where = kept("`deltas.parquet`", written=report["comparison"]["written"])
    return [
        "## Metrics",
        words.DELTAS_NOTE,
        table(head, [_delta(line) for line in lines]) if lines else "",
        f"{wording.count(same, 'metric')} with every case the same." if same else "",
        "### Slices that got worse" if worse else "",
        table(("Slice", *head), [(code(name), *_delta(line)) for name, line in worse])
        if worse
        else "",
        f"{rest}{where}." if rest else "",
    ]


def _delta(line: words.DeltaLine) -> tuple[str, ...]:
    means = (line.base, line.candidate, line.delta)
    return (code(line.label), *means, line.paired, line.moved, line.one_sided)


def _evidence(report: ComparisonReport) -> list[str]:
    """Tests and intervals, where they were asked for."""
    parts: list[str] = []
    if report["tests"] is not None:
        head = ("Metric", "Differing units", "Method", "p>", "p corrected>", "Smallest p>")
        rows = [(code(row[0]), *row[1:]) for row in evidence.test_lines(report)]
        parts += ["## Tests", evidence.NOTES["tests"], evidence.seeds(report["tests"])]
        parts += [f"**{prose(report['resolution'] or '', 1_000)}**"]
        parts += [table(head, rows) if rows else ""]
        parts += [bullets(f"{n:,} without p: {prose(why)}" for why, n in evidence.untested(report))]
    if report["intervals"] is not None:
        lines = [(code(name), *rest) for name, *rest in evidence.interval_lines(report)]
        parts += ["## Intervals", evidence.NOTES["intervals"], evidence.seeds(report["intervals"])]
        parts += [table(("Metric", "Difference>", "95 percent", "Units>"), lines) if lines else ""]
        without = evidence.without_interval(report)
        parts += [
            f"{without:,} without an interval: no case differs, or too few." if without else ""
        ]
    return parts


def _made(report: ComparisonReport) -> list[str]:
    run = report["comparison"]
    made = (
        f"{code(run['run_id'])}, started {prose(run['started'])}, status {prose(run['status'])}, "
        f"ragtriage {prose(run['version'])}, schema {prose(run['schema_version'])}."
    )
    return ["## Comparison", made]
