"""The agreement report as GitHub-flavoured Markdown. No wording and no numbers of its own."""

from __future__ import annotations

from collections.abc import Sequence

from ragtriage.publish.agreement import document as doc
from ragtriage.publish.agreement import wording
from ragtriage.publish.escape import code, first, prose
from ragtriage.publish.kept import kept
from ragtriage.publish.markdown_parts import bullets, table

ROWS = 50
DISAGREEMENTS = 50


def render(report: doc.AgreementReport) -> str:
    """The whole report as Markdown."""
    parts = [
        *_head(report),
        *_disputed(report),
        *_pairs(report),
        *_judges(report),
        *_settled(report),
        *_judge_disagreements(report),
        "## What agreement cannot tell",
        bullets(prose(limit) for limit in report["limits"]),
        *_run(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(report: doc.AgreementReport) -> list[str]:
    facts = "; ".join(f"{prose(name)} {prose(text)}" for name, text in wording.facts(report))
    return [
        f"# ragtriage: {prose(wording.verdict(report))}",
        f"{facts}.",
        bullets(prose(notice) for notice in wording.notices(report)),
    ]


def _disputed(report: doc.AgreementReport) -> list[str]:
    rows = [
        (
            wording.TARGETS[row["target"]],
            *(
                f"{n:,}"
                for n in (
                    row["n"],
                    row["disputed"],
                    row["adjudicated"],
                    row["agreed"],
                    row["alone"],
                    row["open"],
                )
            ),
        )
        for row in wording.rows(report["items"])
    ]
    head = ("About", "Items>", "Disputed>", "Adjudicated>", "Agreed>", "by one alone>", "Open>")
    return [
        "## Disputed and unsettled",
        table(head, rows),
        wording.DISPUTED_HINT if report["disputed"] else "",
        *_entries(report, report["disputed"], "disputed", "disagreements.parquet"),
    ]


def _entries(
    report: doc.AgreementReport,
    entries: Sequence[doc.Disagreement],
    name: str,
    file: str,
    said: Sequence[str] = (),
) -> list[str]:
    """An item a bullet, its labels below it; then how many more there are."""
    if not entries:
        return ["None."]
    shown, _ = first(entries, DISAGREEMENTS)
    blocks = []
    for place, entry in enumerate(shown):
        lines = [f"- {_item(entry)}" + (f": {said[place]}" if said else "")]
        lines += [f"  - {_voice(*voice)}" for voice in wording.voices(entry)]
        blocks.append("\n".join(lines))
    rest = len(entries) - len(shown) + report["omitted"][name]
    where = kept(f"`{file}`", written=report["run"]["written"])
    return ["\n".join(blocks), f"{rest:,} more{where}." if rest else ""]


def _item(entry: doc.Disagreement) -> str:
    return ", ".join(f"{word} {code(name)}" for word, name in wording.names(entry))


def _voice(name: str, label: str, note: str | None) -> str:
    return f"{code(name)}: {label}" + (f"; {code(note)}" if note else "")


def _pairs(report: doc.AgreementReport) -> list[str]:
    shown, _ = first(wording.rows(report["pairs"]), ROWS)
    rest = len(wording.rows(report["pairs"])) - len(shown) + report["omitted"]["pairs"]
    head = ("About", "Items>", "Agreement>", "Cohen's κ>", "Krippendorff's α>")
    by_pair = [
        (f"{code(r['reviewer_a'] or '')}, {code(r['reviewer_b'] or '')}", *_pair(r)) for r in shown
    ]
    where = kept("`pairs.parquet`", written=report["run"]["written"])
    return [
        "## Agreement of people",
        wording.AGREEMENT_HINT,
        table(head, [_pair(row) for row in wording.rows(report["overall"])]),
        "### Two by two",
        table(("People", *head), by_pair) if by_pair else "No two people gave labels.",
        f"{rest:,} more rows{where}." if rest else "",
    ]


def _pair(row: doc.PairRow) -> tuple[str, ...]:
    return (
        wording.TARGETS[row["target"]],
        f"{row['n']:,}",
        wording.agreement(row),
        wording.coefficient(row["kappa"], row["kappa_reason"]),
        wording.coefficient(row["alpha"], row["alpha_reason"]),
    )


def _judges(report: doc.AgreementReport) -> list[str]:
    if not report["judges"]:
        return ["## Judges", "No judge gave a label."]
    listed = wording.judged(report)
    shown, _ = first(listed, ROWS)
    rest = len(listed) - len(shown) + report["omitted"]["judges"]
    head = ("Judge", "About", "Common labels>", "Validated", "tp>", "fp>", "tn>", "fn>")
    rows = [
        (
            code(row["judge"]),
            wording.TARGETS[row["target"]],
            wording.common(row),
            "yes" if row["validated"] else f"**{wording.validated(row)}**",
            *(f"{n:,}" for n in (row["tp"], row["fp"], row["tn"], row["fn"])),
            *wording.quotients(row),
            wording.coefficient(row["kappa"], row["kappa_reason"]),
        )
        for row in shown
    ]
    where = kept("`judges.parquet`", written=report["run"]["written"])
    return [
        "## Judges",
        wording.JUDGES_HINT,
        table((*head, "Sensitivity>", "Specificity>", "Precision>", "Cohen's κ>"), rows),
        f"{rest:,} more rows{where}." if rest else "",
    ]


def _settled(report: doc.AgreementReport) -> list[str]:
    entries = report["adjudicated"]
    said = [wording.label(entry["target"], entry["label"]) for entry in entries]
    return [
        "## Disagreements that were settled",
        *_entries(report, entries, "adjudicated", "disagreements.parquet", said),
    ]


def _judge_disagreements(report: doc.AgreementReport) -> list[str]:
    entries = report["judge_disagreements"]
    said = []
    for entry in entries:
        target, note = entry["target"], entry["judge_note"]
        voice = _voice(entry["judge"], wording.label(target, entry["judge_label"]), note)
        said.append(f"{voice}; settled as {wording.label(target, entry['label'])}")
    if not report["judges"]:
        return []
    return [
        "## Where judges differ from what is settled",
        *_entries(report, entries, "judge_disagreements", "judge-disagreements.parquet", said),
    ]


def _run(report: doc.AgreementReport) -> list[str]:
    run, lines = report["run"], report["run"]["lines"]
    inputs, rest = first(run["inputs"], ROWS)
    rows = [
        (
            code(file["path"]),
            *(f"{n:,}" for n in (file["lines"], file["accepted"], file["set_aside"])),
            code(file["sha256"]),
        )
        for file in inputs
    ]
    aside = [(code(rule), f"{n:,}") for rule, n in report["rejects"].items()]
    made = (
        f"{code(run['run_id'])}, started {prose(run['started'])}, ragtriage "
        f"{prose(run['version'])}, schema {prose(run['schema_version'])}, "
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
        *(["### Set aside, by rule", table(("Rule", "n>"), aside)] if aside else []),
        table(("File", "Lines>", "Accepted>", "Set aside>", "SHA-256"), rows),
        f"{rest} files in `manifest.json`." if rest else "",
    ]
