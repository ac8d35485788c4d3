"""Ten small inputs, what other tools really answer on each, and what is right: docs/other-tools.md.

`python -m tests.other_tools > docs/other-tools.md` writes the page; a test holds it to the tools.
"""

from __future__ import annotations

import json
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from math import log2
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import ir_measures
import pytrec_eval

import ragtriage

Scored = tuple[str, float]


class Query(NamedTuple):
    """One case: its grades, and what was returned with scores, best first."""

    grades: dict[str, int]
    returned: list[Scored]
    groups: list[list[str]] | None = None


class Measure(NamedTuple):
    """One measure by each tool's name; `right`: worked out by hand, None for undefined."""

    trec_eval: str | None
    ir_measures: str | None
    ours: tuple[str, int | None]
    right: float | None


class Input(NamedTuple):
    """One input and why the right value is right."""

    title: str
    told: str
    queries: list[Query]
    measures: list[Measure]
    why: str


def ranked(*ids: str) -> list[Scored]:
    """Falling scores, so that every tool takes the same order."""
    return [(one, float(len(ids) - place)) for place, one in enumerate(ids)]


def flat(*ids: str) -> dict[str, int]:
    """These are required, all alike."""
    return dict.fromkeys(ids, 1)


INPUTS = [
    Input(
        "A passage returned twice",
        "Required a, b; returned a, a, x.",
        [Query(flat("a", "b"), ranked("a", "a", "x"))],
        [
            Measure("P_3", "P@3", ("precision", 3), 1 / 3),
            Measure("recall_3", "R@3", ("recall", 3), 1 / 2),
            Measure("set_P", "SetP", ("context_precision", 3), 1 / 2),
        ],
        "The second copy adds nothing: one of two required passages is found, and of the two "
        "passages that the model would see one is relevant.",
    ),
    Input(
        "Fewer returned than k",
        "Required a; returned a.",
        [Query(flat("a"), ranked("a"))],
        [
            Measure("P_5", "P@5", ("precision", 5), 1 / 5),
            Measure("set_P", "SetP", ("context_precision", 5), 1.0),
        ],
        "Precision at 5 divides by 5. How clean the context was is another question with a name of "
        "its own.",
    ),
    Input(
        "More required than returned",
        "Required a, b, c, d, e; returned a.",
        [Query(flat("a", "b", "c", "d", "e"), ranked("a"))],
        [
            Measure(
                "ndcg_cut_5",
                "nDCG@5",
                ("ndcg", 5),
                1 / sum(1 / log2(rank + 1) for rank in range(1, 6)),
            ),
            Measure("recall_5", "R@5", ("recall", 5), 1 / 5),
        ],
        "The ideal ranking is of all five that are required, not of the one that was found.",
    ),
    Input(
        "A question that returned nothing",
        "Two questions, each with one required passage; the second returned nothing, so a run "
        "file has no line of it.",
        [Query(flat("a"), ranked("a")), Query(flat("b"), [])],
        [
            Measure("recall_5", "R@5", ("recall", 5), 1 / 2),
            Measure("recip_rank", "RR", ("reciprocal_rank", None), 1 / 2),
        ],
        "The second question was asked and failed. Left out of a mean, such failures raise it.",
    ),
    Input(
        "A question without an answer in the collection",
        "Two questions; nothing is required for the second, which returned x.",
        [Query(flat("a"), ranked("a")), Query({}, ranked("x"))],
        [Measure("recall_5", "R@5", ("recall", 5), 1.0)],
        "There is nothing to recall: the mean is over one of two, and both counts are shown.",
    ),
    Input(
        "Every judged passage is worth nothing",
        "x has grade 0 and nothing is relevant; returned x.",
        [Query({"x": 0}, ranked("x"))],
        [
            Measure("recall_5", "R@5", ("recall", 5), None),
            Measure("ndcg_cut_5", "nDCG@5", ("ndcg", 5), None),
        ],
        "0 of 0 is not 0: the labels cannot tell a good retriever from a bad one here.",
    ),
    Input(
        "Two passages with one score",
        "Required a; a and b came back in this order, both with score 1.",
        [Query(flat("a"), [("a", 1.0), ("b", 1.0)])],
        [Measure("recip_rank", "RR", ("reciprocal_rank", None), 1.0)],
        "The model was shown a first: a list's own order is the ranking. From scores alone, ties "
        "are broken by ID, in descending order, whatever was shown.",
    ),
    Input(
        "Average precision of an incomplete ranking",
        "Required a, b, c; returned a, x, b.",
        [Query(flat("a", "b", "c"), ranked("a", "x", "b"))],
        [Measure("map_cut_3", "AP@3", ("average_precision", 3), (1 + 2 / 3) / 3)],
        "Divided by all three required passages, not by the two that were found: else a retriever "
        "could raise it by finding less.",
    ),
    Input(
        "First found below the cutoff",
        "Required a; returned x1 to x10, then a.",
        [Query(flat("a"), ranked(*(f"x{n}" for n in range(1, 11)), "a"))],
        [
            Measure("recip_rank", "RR", ("reciprocal_rank", None), 1 / 11),
            Measure(None, "RR@10", ("reciprocal_rank", 10), 0.0),
        ],
        "Both are right, and they differ: say which one it is.",
    ),
    Input(
        "Either of two passages will do",
        "The answer stands in a1 and in a2; returned a2, x.",
        [Query(flat("a1", "a2"), ranked("a2", "x"), groups=[["a1", "a2"]])],
        [
            Measure("recall_5", "R@5", ("recall", 5), 1.0),
            Measure("ndcg_cut_5", "nDCG@5", ("ndcg", 5), 1.0),
        ],
        "One requirement, two ways to meet it. Relevance by passage has no word for that and asks "
        "for both.",
    ),
]


def by_trec_eval(given: Input, name: str) -> str:
    """The mean over what pytrec_eval gives a value for."""
    qrels = {str(n): query.grades for n, query in enumerate(given.queries) if query.grades}
    run = {str(n): dict(query.returned) for n, query in enumerate(given.queries) if query.returned}
    family, _, k = name.rpartition("_") if name[-1].isdigit() else (name, "", "")
    found = pytrec_eval.RelevanceEvaluator(qrels, {f"{family}.{k}" if k else name}).evaluate(run)
    values = [measured[name] for measured in found.values()]
    return shown(sum(values) / len(values) if values else None, len(values), len(given.queries))


def by_ir_measures(given: Input, name: str) -> str:
    """The mean as `calc` gives it."""
    measure = ir_measures.parse_measure(name)
    qrels = [
        ir_measures.Qrel(str(n), one, grade)
        for n, query in enumerate(given.queries)
        for one, grade in query.grades.items()
    ]
    run = [
        ir_measures.ScoredDoc(str(n), one, score)
        for n, query in enumerate(given.queries)
        for one, score in query.returned
    ]
    mean, each = ir_measures.calc([measure], qrels, run)
    return shown(mean[measure], len(list(each)), len(given.queries))


def by_ragtriage(given: Input, name: str, k: int | None) -> tuple[float | None, str]:
    """Our mean, and how it is shown."""
    rows = _evaluated(INPUTS.index(given)).summary.filter(slice="all", metric=name)
    row = next(row for row in rows.iter_rows(named=True) if row["k"] == k)
    return row["mean"], shown(row["mean"], row["n_scored"], row["n_cases"])


@cache
def _evaluated(number: int) -> ragtriage.Run:
    records = []
    for n, query in enumerate(INPUTS[number].queries):
        record: dict[str, Any] = {"case_id": str(n)}
        record["retrieved_ids"] = [one for one, _ in query.returned]
        if query.groups is not None:
            record["required_groups"] = query.groups
        else:
            record["grades"] = [{"id": i, "grade": grade} for i, grade in query.grades.items()]
        records.append(record)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        return ragtriage.evaluate(path, k=[3, 5, 10], write=False)


def shown(value: float | None, scored: int, of: int) -> str:
    """`0.500`; with the queries it is over where these are not all."""
    if value is None:
        return "undefined"
    return f"{value:.3f}" + (f" (over {scored} of {of})" if scored != of else "")


def page() -> str:
    """The page, every number from the tools themselves."""
    head = (
        "Ten small inputs, what two well-known tools answer, and what is right, as worked out by "
        "hand. "
        "Every answer was given by the tool it stands under: "
        f"pytrec_eval {version('pytrec-eval-terrier')} (trec_eval), "
        f"ir_measures {version('ir-measures')} and this one. A test runs them all again and holds "
        "this page to it; a tool that the test cannot run is not on it. Make it anew with "
        "`python -m tests.other_tools > docs/other-tools.md`."
    )
    parts = [f"# What other tools answer\n\n{fill(head, 98)}\n"]
    for number, given in enumerate(INPUTS, 1):
        rows = ["| measure | trec_eval | ir_measures | ragtriage | right |", "|" + " --- |" * 5]
        for measure in given.measures:
            name, k = measure.ours
            theirs = by_trec_eval(given, measure.trec_eval) if measure.trec_eval else "not asked"
            others = (
                by_ir_measures(given, measure.ir_measures) if measure.ir_measures else "not asked"
            )
            _, ours = by_ragtriage(given, name, k)
            label = f"`{name}`" if k is None else f"`{name}@{k}`"
            right = "undefined" if measure.right is None else f"{measure.right:.3f}"
            rows.append(f"| {label} | {theirs} | {others} | {ours} | {right} |")
        table = "\n".join(rows)
        told, why = fill(given.told, 98), fill(given.why, 98)
        parts.append(f"## {number}. {given.title}\n\n{told}\n\n{table}\n\n{why}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
