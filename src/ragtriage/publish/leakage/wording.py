"""What the formats of the leakage report say alike. Escaping and layout are the renderers'."""

from __future__ import annotations

from ragtriage.publish.kept import kept
from ragtriage.publish.leakage import document as doc
from ragtriage.publish.wording import count, number
from ragtriage.schemas.leakage import (
    ANSWER_IN_PROMPT,
    ANSWER_IN_QUESTION,
    DUPLICATE,
    GROUP,
    NEAR,
    QUESTION_IN_PROMPT,
)

TITLES = {
    GROUP: "Groups across splits",
    DUPLICATE: "Duplicate questions",
    NEAR: "Near-duplicate questions",
    ANSWER_IN_QUESTION: "Questions that hold their answer",
    QUESTION_IN_PROMPT: "Questions in prompts",
    ANSWER_IN_PROMPT: "Answers in prompts",
}


def verdict(report: doc.LeakageReport) -> str:
    """One sentence: does anything leak, and what."""
    found = [f"{row['n']:,} {row['finding']}" for row in report["kinds"] if row["n"]]
    n = report["run"]["n_findings"]
    if not n:
        return "No leak found" + (": splits proposed" if report["assignment"] else "")
    return f"{count(n, 'leak')} found: {', '.join(found)}"


def failure(report: doc.LeakageReport) -> str | None:
    """Why the exit code is 1, if it is."""
    run = report["run"]
    if run["status"] == "passed":
        return None
    return f"{count(run['n_findings'], 'leak')}, allowed {run['max']:,}"


def notices(report: doc.LeakageReport) -> list[str]:
    """What must be known before a number is read."""
    run, search, prompts = report["run"], report["search"], report["prompts"]
    told = []
    if run["lines"]["set_aside"]:
        aside = count(run["lines"]["set_aside"], "line")
        where = " in rejects/" if run["written"] else ""
        told.append(f"{aside} set aside{where}: not in these numbers")
    if 0 < run["n_findings"] <= run["max"]:
        told.append(f"{run['max']:,} allowed (--max): passed all the same")
    if search and search["skipped"]:
        told.append(
            f"very many questions are made alike: {search['skipped']:,} candidate pairs were not "
            "compared, so that near duplicates are at least as many as counted"
        )
    if 0 < run["n_without_split"] < run["n_cases"]:
        told.append(f"{count(run['n_without_split'], 'case')} without a split: compared with none")
    if run["n_without_question"]:
        told.append(f"{count(run['n_without_question'], 'case')} without a question")
    if prompts and prompts["unread"]:
        first = "; ".join(f"{file['path']}: {file['why']}" for file in prompts["unread"][:5])
        told.append(f"{count(len(prompts['unread']), 'file')} not looked into: {first}")
    return [*told, *run["notes"]]


def facts(report: doc.LeakageReport) -> list[tuple[str, str]]:
    """What was read, in (name, value) pairs."""
    run, prompts = report["run"], report["prompts"]
    splits = ", ".join(f"{split_name(row)} {row['n']:,}" for row in report["splits"][:8])
    told = [("cases", f"{run['n_cases']:,}"), ("splits", splits)]
    if prompts:
        told.append(("files looked into", f"{len(prompts['files']):,}"))
        told.append(("held-out cases looked for", f"{prompts['n_held_out']:,}"))
    return told


def split_name(row: doc.SplitRow) -> str:
    """The split, or that there is none."""
    return "(none)" if row["split"] is None else row["split"]


def found_of(row: doc.KindRow) -> str:
    """`12`, or why there is no number."""
    return f"not looked for: {row['why']}" if row["n"] is None else f"{row['n']:,}"


def of_kind(report: doc.LeakageReport, kind: str) -> list[doc.FindingRow]:
    """The shown findings of a kind."""
    return [row for row in report["findings"] if row["finding"] == kind]


def unlisted(row: doc.KindRow, shown: int, *, written: bool) -> str:
    """What a list of the first `shown` leaves out; nothing where it is whole."""
    rest = row["listed"] - shown
    more = f"{rest:,} more{kept('leaks.parquet', written=written)}" if rest > 0 else ""
    if row["n"] is not None and row["n"] > row["listed"]:
        all_named = f"all {row['n']:,} are counted, not every one has a row"
        return f"{more}; {all_named}" if more else all_named
    return more


def places(row: doc.FindingRow) -> list[tuple[str | None, str]]:
    """Where the two texts are from, in (split, case or file with its line) pairs."""
    here = (row["split"], row["case_id"])
    if row["file"] is not None:
        return [here, (None, f"{row['file']}:{row['line']}")]
    if row["other_case_id"] is None:
        return [here]
    return [here, (row["other_split"], row["other_case_id"])]


def score(row: doc.FindingRow) -> str:
    """The similarity, or nothing for a declared group."""
    return "" if row["score"] is None else number(row["score"])


def badge(row: doc.FindingRow) -> str:
    """What two cases have in common, in a word; nothing for what is contained word for word."""
    if row["group"] is not None:
        return f"group {row['group']}"
    return "" if row["other_case_id"] is None else score(row)


def how_sure(search: doc.SearchEntry) -> list[str]:
    """What the candidate step can miss, stated and measured."""
    found = (
        f"Near duplicates share at least {search['threshold']:g} of their word 3-grams (Jaccard). "
        f"Candidates come from MinHash signatures of {search['permutations']:,} values in "
        f"{search['bands']:,} bands of {search['rows']:,}; {search['candidates']:,} were looked "
        "at, and each that is reported was compared exactly."
    )
    missed = (
        f"A pair exactly at {search['threshold']:g} is missed with a probability of "
        f"{search['miss']:.2g}, a closer one more rarely. "
    )
    if search["planted"]:
        missed += (
            f"Of {search['planted']:,} variants of these questions planted at the threshold, "
            f"{search['found']:,} were found."
        )
    else:
        missed += "No question is long enough to plant variants of it and measure that."
    told = [found, missed]
    if search["n_short"]:
        told.append(
            "Questions of fewer than three words have no 3-gram and are compared whole: "
            f"{search['n_short']:,} here."
        )
    return told


def lengths(report: doc.LeakageReport) -> list[str]:
    """What is too short to be looked for."""
    run = report["run"]
    looked = {row["finding"] for row in report["kinds"] if row["n"] is not None}
    told = []
    if looked & {ANSWER_IN_QUESTION, ANSWER_IN_PROMPT}:
        told.append(
            f"Answers of fewer than {run['min_answer_length']:,} characters stand in any text and "
            f"are not looked for: {run['n_short_answers']:,} here."
        )
    if QUESTION_IN_PROMPT in looked:
        told.append(
            "Nor are questions of fewer than three words looked for in files: "
            f"{run['n_short_questions']:,} here."
        )
    return told


def assignment_facts(made: doc.AssignmentEntry) -> list[tuple[str, str]]:
    """What was proposed, in (name, value) pairs."""
    return [
        ("seed", str(made["seed"])),
        ("families", f"{made['n_families']:,}"),
        ("largest family", count(made["largest"], "case")),
        ("cases moved", f"{made['n_moved']:,}"),
    ]


def size(row: doc.SizeRow) -> tuple[str, str]:
    """Asked and reached: `8.0 (80.0%)`, `8 (80.0%)`."""
    reached = f"{row['reached']:,} ({row['reached_share']:.1%})"
    if row["asked"] is None or row["asked_share"] is None:
        return "not asked for", reached
    return f"{row['asked']:,.1f} ({row['asked_share']:.1%})", reached
