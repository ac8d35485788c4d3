"""The leakage report as GitHub-flavoured Markdown. No wording and no numbers of its own."""

from __future__ import annotations

from ragtriage.publish.escape import code, first, prose
from ragtriage.publish.kept import kept
from ragtriage.publish.leakage import document as doc
from ragtriage.publish.leakage import wording
from ragtriage.publish.markdown_parts import bullets, table

FINDINGS = 50
ROWS = 50


def render(report: doc.LeakageReport) -> str:
    """The whole report as Markdown."""
    parts = [
        *_head(report),
        *_kinds(report),
        *(part for row in report["kinds"] if row["n"] for part in _findings(report, row)),
        *_assignment(report),
        *_search(report),
        "## What this cannot tell",
        bullets(prose(limit, 1000) for limit in report["limits"]),
        *_run(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(report: doc.LeakageReport) -> list[str]:
    facts = "; ".join(f"{prose(name)} {prose(text)}" for name, text in wording.facts(report))
    return [
        f"# ragtriage: {prose(wording.verdict(report))}",
        f"{facts}.",
        bullets(prose(notice, 1000) for notice in wording.notices(report)),
    ]


def _kinds(report: doc.LeakageReport) -> list[str]:
    rows = [
        (code(row["finding"]), prose(row["meaning"]), row["unit"], prose(wording.found_of(row)))
        for row in report["kinds"]
    ]
    return ["## Findings", table(("Finding", "What it says", "One is", "Found>"), rows)]


def _findings(report: doc.LeakageReport, kind: doc.KindRow) -> list[str]:
    name = kind["finding"]
    shown, _ = first(wording.of_kind(report, name), FINDINGS)
    rest = wording.unlisted(kind, len(shown), written=report["run"]["written"])
    return [
        f"### {wording.TITLES[name]}",
        "\n".join(_finding(row) for row in shown),
        f"{prose(rest)}." if rest else "",
    ]


def _finding(row: doc.FindingRow) -> str:
    """Score or group, then each text under where it stands."""
    about = f"group {code(row['group'])}" if row["group"] is not None else wording.score(row)
    places = [
        (f"{code(split)} " if split is not None else "") + code(name)
        for split, name in wording.places(row)
    ]
    texts = [row["text"], row["other_text"]]
    if len(places) == 1:
        places.append("the answer")
    lines = [f"- {about}"]
    lines += [
        f"  - {place}: {code(text) if text is not None else '(no text)'}"
        for place, text in zip(places, texts, strict=True)
    ]
    return "\n".join(lines)


def _assignment(report: doc.LeakageReport) -> list[str]:
    made = report["assignment"]
    if made is None:
        return []
    facts = "; ".join(f"{name} {text}" for name, text in wording.assignment_facts(made))
    rows = [(prose(_stratum(row)), code(row["split"]), *wording.size(row)) for row in made["sizes"]]
    shown, rest = first(rows, ROWS)
    written = report["run"]["written"]
    every = " Every case with its proposed split and family: `assignment.parquet`."
    return [
        "## Proposed splits",
        f"{facts}.{every if written else ''}",
        table(("Of", "Split", "Asked>", "Reached>"), shown),
        f"{rest}{kept('`sizes.parquet`', written=written)}." if rest else "",
    ]


def _stratum(row: doc.SizeRow) -> str:
    return "all cases" if row["stratum"] == "all" else f"tag {row['stratum_value']}"


def _search(report: doc.LeakageReport) -> list[str]:
    told = wording.how_sure(report["search"]) if report["search"] else []
    told += wording.lengths(report)
    return ["## How it was looked for", bullets(prose(line, 1000) for line in told)] if told else []


def _run(report: doc.LeakageReport) -> list[str]:
    run, lines, prompts = report["run"], report["run"]["lines"], report["prompts"]
    made = (
        f"{code(run['run_id'])}, started {prose(run['started'])}, ragtriage "
        f"{prose(run['version'])}, schema {prose(run['schema_version'])}, "
        f"on invalid {prose(run['on_invalid'])}."
    )
    read = (
        f"{lines['read']:,} lines read: {lines['accepted']:,} accepted, "
        f"{lines['set_aside']:,} set aside, {lines['blank']:,} blank."
    )
    aside = [(code(rule), f"{n:,}") for rule, n in report["rejects"].items()]
    files = [
        (code(f["path"]), "cases", f"{f['bytes']:,}", code(f["sha256"])) for f in run["inputs"]
    ]
    files += [
        (code(file["path"]), "--against", f"{file['bytes']:,}", code(file["sha256"]))
        for file in (prompts["files"] if prompts else [])
    ]
    shown, rest = first(files, ROWS)
    return [
        "## Run",
        made,
        read,
        *(["### Set aside, by rule", table(("Rule", "n>"), aside)] if aside else []),
        table(("File", "Read as", "Bytes>", "SHA-256"), shown),
        f"{rest} files in `manifest.json`." if rest else "",
    ]
