"""How the dashboard says it: labels of choices, evidence paths, values. Rows in, plain text out.

Text from data leaves with hidden characters shown and cut where it is too long to read.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from ragtriage.dashboard.queries import NOT_PASSED, metric_columns
from ragtriage.publish import wording
from ragtriage.publish.escape import clip, first, visible, visible_block
from ragtriage.read.folders import StoredFolder

_LINE = 200
_BLOCK = 20_000
_IDS = 50
_MARKS = {"ok": "✓", "lost": "✗", "no": "○", "unknown": "?"}
NOT_RECORDED = "not recorded"


def line(text: str | None, limit: int = _LINE) -> str:
    """One line of text from data; null is said."""
    if text is None:
        return NOT_RECORDED
    head, mark = clip(text, limit)
    return visible(head) + mark


def block(text: str | None) -> str:
    """Text from data with its line breaks; null and empty are said."""
    if text is None:
        return NOT_RECORDED
    head, mark = clip(text, _BLOCK)
    return visible_block(head) + mark or "(empty)"


def ids(items: list[str] | None) -> str:
    """`a, b and 3 more`; none and not recorded are told apart."""
    if items is None:
        return NOT_RECORDED
    shown, rest = first(items, _IDS)
    return ", ".join([line(item) for item in shown] + ([rest] if rest else [])) or "none"


def run_label(run: StoredFolder) -> str:
    """`2026-11-30 03:00 · nightly-7 · passed · 50 cases`."""
    verdict = "passed" if run.manifest["passed"] else "gate failed"
    cases = wording.count(run.manifest["rows"]["cases"], "case")
    return f"{run.started:%Y-%m-%d %H:%M} · {run.name} · {verdict} · {cases}"


def bar_labels(names: list[str]) -> dict[str, str]:
    """`01 nightly-7`: a label per run, in alphabetical order as given."""
    width = len(str(len(names)))
    return {name: f"{place:0{width}} {name}" for place, name in enumerate(names, 1)}


def others_told(others: list[StoredFolder]) -> str:
    """How many folders are not offered; "" where all are."""
    if not others:
        return ""
    is_not = "is" if len(others) == 1 else "are"
    return f"{wording.count(len(others), 'folder')} {is_not} not offered"


def stage_label(stage: str | None, counts: dict[str, int]) -> str:
    """`retrieval: 7 cases`."""
    total = sum(counts.values())
    if stage is None:
        return f"any: {wording.count(total, 'case')}"
    n = total - counts.get("pass", 0) if stage == NOT_PASSED else counts[stage]
    return f"{line(wording.stage_words(stage))}: {wording.count(n, 'case')}"


def break_point_label(point: str | None, counts: dict[str, int]) -> str:
    """`context: retrieved, left out of the context: 2 cases`."""
    if point is None:
        return "any"
    words = wording.BREAK_POINTS.get(point)
    told = line(point) if words is None else f"{point}: {words}"
    return f"{told}: {wording.count(counts[point], 'case')}"


def broke(row: dict[str, Any]) -> str:
    """`retrieval / context: retrieved, left out of the context`, `pass`."""
    stage, point = line(wording.stage_words(row["stage"])), row["break_point"]
    if point is None:
        return stage
    words = wording.BREAK_POINTS.get(point)
    return f"{stage} / {line(point)}" + (f": {words}" if words else "")


def requirement(row: dict[str, Any], of: int) -> str:
    """`Requirement 1 of 2: doc-1 or doc-2`."""
    shown, rest = first(row["ids"], _IDS)
    members = " or ".join([line(item) for item in shown] + ([rest] if rest else []))
    return f"Requirement {row['requirement'] + 1} of {of}: {members}"


def path(row: dict[str, Any], k: int) -> str:
    """A requirement's way from source to citation, a step a line; `lost here` where it was lost."""
    return "\n".join(_step(step) for step in wording.path(row, k))  # type: ignore[arg-type] # a row of the ledger


def _step(step: wording.Step) -> str:
    text = f"{_MARKS[step.state]} {line(step.name)}: {line(step.text)}"
    member = f" as {line(step.member)}" if step.member else ""
    return text + member + (" (lost here)" if step.state == "lost" else "")


def judged(row: dict[str, Any]) -> str:
    """What the answer label in force says, and where it comes from."""
    disputed = ", people disagree" if row["answer_disputed"] else ""
    if row["answer_label"] is None:
        return "not labelled" + disputed
    word = "right" if row["answer_label"] else "wrong"
    return f"{word} ({line(row['label_source'])})" + disputed


def facts(row: dict[str, Any]) -> str:
    """The rest of a case, one fact a line; what does not apply is left out."""
    near = [f"{line(m['required'])} / {line(m['retrieved'])}" for m in row["near_misses"] or []]
    told = {
        "error": row["error"] and line(row["error"], 2_000),
        "ambiguity": row["ambiguity"] and line(row["ambiguity"], 2_000),
        "missing": row["missing"] and ids(row["missing"]),
        "retrieved": ids(row["retrieved_ids"]),
        "context": ids(row["context_ids"]),
        "cited": ids(row["cited_ids"]),
        "findings": ids(row["findings"]),
        "near misses, required / retrieved": ", ".join(near),
        "unsupported claims": row["unsupported_claims"] and ids(row["unsupported_claims"]),
        "omitted claims": row["omitted_claims"] and ids(row["omitted_claims"]),
        "disputed claims": row["disputed_claims"] and ids(row["disputed_claims"]),
        "split": row["split"] and line(row["split"]),
        "tags": row["tags"] and ids(row["tags"]),
        "recorded in": f"{line(row['source_file'])}, line {row['line']:,}",
    }
    return "\n".join(f"{name}: {value}" for name, value in told.items() if value)


def case_table(rows: pl.DataFrame) -> pl.DataFrame:
    """A page of cases with text made visible."""
    told = [
        {
            "case": line(row["case_id"]),
            "stage": line(wording.stage_words(row["stage"])),
            "broke": "" if row["break_point"] is None else line(row["break_point"]),
            "question": line(row["question"]),
        }
        for row in rows.iter_rows(named=True)
    ]
    return pl.DataFrame(
        told, schema=dict.fromkeys(("case", "stage", "broke", "question"), pl.String)
    )


def claim_table(rows: pl.DataFrame) -> pl.DataFrame:
    """The claims of a case with their labels."""
    columns = ("claim", "made", "required", "label", "label from", "cites", "text")
    told = [
        {
            "claim": line(row["claim_id"]),
            "made": "yes" if row["proposed"] else "no",
            "required": "yes" if row["required"] else "no",
            "label": _label(row),
            "label from": line(row["label_source"]) if row["label_source"] else "",
            "cites": ids(row["cited_ids"]),
            "text": line(row["text"]),
        }
        for row in rows.iter_rows(named=True)
    ]
    return pl.DataFrame(told, schema=dict.fromkeys(columns, pl.String))


def _label(row: dict[str, Any]) -> str:
    if row["disputed"]:
        return "disputed"
    if not row["proposed"]:
        return "omitted"
    known = {True: "supported", False: "unsupported", None: "not labelled"}
    return known[row["supported"]]


def metric_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Means with all that they rest on; undefined is said."""
    told = [
        {
            "metric": line(wording.label(row)),  # type: ignore[arg-type] # a row of the summary
            "mean": wording.number(row["mean"]),
            "scored": row["n_scored"],
            "undefined": row["n_undefined"],
            "not run": row["n_not_run"],
            "cases": row["n_cases"],
        }
        for row in rows.iter_rows(named=True)
    ]
    counts = dict.fromkeys(("scored", "undefined", "not run", "cases"), pl.Int64)
    return pl.DataFrame(told, schema={"metric": pl.String, "mean": pl.String, **counts})


def value_table(row: dict[str, Any]) -> pl.DataFrame:
    """The metrics of one case, ratios with what they are of; undefined is said."""
    told = [
        {"metric": line(name), "value": _value(row[name]), "of": _ratio(row, name)}
        for name in metric_columns(list(row))
    ]
    return pl.DataFrame(told, schema={"metric": pl.String, "value": pl.String, "of": pl.String})


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else wording.number(value)


def _ratio(row: dict[str, Any], name: str) -> str:
    top, bottom = row.get(f"{name}_numerator"), row.get(f"{name}_denominator")
    return "" if top is None or bottom is None else f"{top:,} / {bottom:,}"
