"""What the formats of the agreement report say alike. Escaping and layout are the renderers'."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ragtriage.publish.agreement import document as doc
from ragtriage.publish.wording import count, number

Row = TypeVar("Row", doc.PairRow, doc.JudgeRow, doc.ItemStates)

# By target: what is said of an item, with true and with false.
LABELS = {
    "claim": ("supported", "not supported"),
    "answer": ("right", "wrong"),
    "relevance": ("relevant", "not relevant"),
    "claim-passage": ("supports the claim", "does not support the claim"),
}
TARGETS = {
    "all": "all",
    "claim": "claims",
    "answer": "answers",
    "relevance": "relevance",
    "claim-passage": "claim and passage",
}
AGREEMENT_HINT = (
    "Agreement is over pairs of labels of one item. κ and α take off what chance alone would "
    "give: 1 is full agreement, 0 no more than chance. Undefined is not 0."
)
JUDGES_HINT = (
    "Each judge against the labels that people settled; true is the positive label. Judges' "
    "labels are in no number above. Validated says that there were labels enough to look at, "
    "not that the judge is good."
)
DISPUTED_HINT = "An adjudication row settles an item; until then it is in no metric."


def verdict(report: doc.AgreementReport) -> str:
    """One sentence: what is unsettled."""
    items = report["items"][0]
    if not report["run"]["n_people"]:
        return "No person labelled anything: there is nothing to agree with"
    if items["disputed"]:
        are = "is" if items["disputed"] == 1 else "are"
        of = f"{items['disputed']:,} of {count(items['n'], 'item')}"
        return f"{of} {are} disputed and unsettled"
    settled = items["agreed"] + items["adjudicated"]
    return f"No dispute is left: {settled:,} of {count(items['n'], 'item')} settled"


def notices(report: doc.AgreementReport) -> list[str]:
    """What must be known before a number is read."""
    run, items = report["run"], report["items"][0]
    aside = run["lines"]["set_aside"]
    where = " in rejects/" if run["written"] else ""
    told = [f"{count(aside, 'line')} set aside{where}: not in these numbers"] if aside else []
    if items["open"]:
        told.append(f"{count(items['open'], 'item')} without any label by a person")
    if items["alone"]:
        were = "was" if items["alone"] == 1 else "were"
        of = f"{items['alone']:,} of {count(items['agreed'], 'agreed item')}"
        told.append(f"{of} {were} labelled by one person only")
    return [*told, *run["notes"]]


def facts(report: doc.AgreementReport) -> list[tuple[str, str]]:
    """What was read, in (name, value) pairs."""
    run = report["run"]
    return [
        ("reviews", f"{run['n_reviews']:,}"),
        ("items", f"{report['items'][0]['n']:,}"),
        ("people", f"{run['n_people']:,}"),
        ("judges", f"{run['n_judges']:,}"),
    ]


def rows(rows: Sequence[Row]) -> list[Row]:
    """Without the pooled rows where there is one target only: they would say the same twice."""
    targets = {row["target"] for row in rows} - {"all"}
    return [row for row in rows if row["target"] != "all" or len(targets) != 1]


def judged(report: doc.AgreementReport) -> list[doc.JudgeRow]:
    """The rows of targets that a judge labelled, or every row of a judge that labelled none."""
    labelled = {row["judge"] for row in report["judges"] if row["n_labels"]}
    return rows(
        [row for row in report["judges"] if row["n_labels"] or row["judge"] not in labelled]
    )


def label(target: str, label: bool | None) -> str:  # noqa: FBT001 - a Boolean is what is put in words
    """`supported`, `wrong`, or `left open`."""
    if label is None:
        return "left open"
    return LABELS[target][0 if label else 1]


def coefficient(value: float | None, reason: str | None) -> str:
    """Three decimals, or why there is no number."""
    return f"undefined: {reason}" if value is None else number(value)


def agreement(row: doc.PairRow) -> str:
    """`35 / 50 = 0.700`."""
    if not row["n_pairs"]:
        return coefficient(None, row["alpha_reason"])
    return f"{row['agreed']:,} / {row['n_pairs']:,} = {number(row['agreement'])}"


def quotients(row: doc.JudgeRow) -> list[str]:
    """Sensitivity, specificity and precision, each with what was divided."""
    parts = (
        (row["tp"], row["tp"] + row["fn"], row["sensitivity"], row["sensitivity_reason"]),
        (row["tn"], row["tn"] + row["fp"], row["specificity"], row["specificity_reason"]),
        (row["tp"], row["tp"] + row["fp"], row["precision"], row["precision_reason"]),
    )
    return [
        coefficient(None, reason) if value is None else f"{part:,} / {of:,} = {number(value)}"
        for part, of, value, reason in parts
    ]


def validated(row: doc.JudgeRow) -> str:
    """`not validated: 12 of 30 common labels`."""
    if row["validated"]:
        return "validated"
    return f"not validated: {row['n']:,} of {row['min_validated']:,} common labels"


def common(row: doc.JudgeRow) -> str:
    """`12 of 40`: labels on settled items, of all the judge gave."""
    return f"{row['n']:,} of {row['n_labels']:,}"


def names(entry: doc.Disagreement) -> list[tuple[str, str]]:
    """What an item is, as (word, ID) pairs; the IDs are text from a fixture."""
    found = [
        ("case", entry["case_id"]),
        ("claim", entry["claim_id"]),
        ("passage", entry["evidence_id"]),
    ]
    return [(word, name) for word, name in found if name is not None]


def voices(entry: doc.Disagreement) -> list[tuple[str, str, str | None]]:
    """Who said what and why: (name, label in words, note), adjudications last."""
    target = entry["target"]
    people = [(v["reviewer"], label(target, v["label"]), v["note"]) for v in entry["labels"]]
    settling = [
        (v["reviewer"], f"adjudicates: {label(target, v['label'])}", v["note"])
        for v in entry["adjudications"]
    ]
    return [*people, *settling]


def left_out(report: doc.AgreementReport, name: str, table: str) -> str:
    """How many rows of a list stand in the table alone; nothing where none does."""
    n = report["omitted"][name]
    return f"{n:,} more in {table}" if n else ""
