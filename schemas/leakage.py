"""The tables of `ragtriage leakage`: what splits share, and splits that would share nothing."""

from __future__ import annotations

import polars as pl

from ragtriage.schemas.fields import Table
from ragtriage.schemas.fields import field as column

GROUP = "group-across-splits"
DUPLICATE = "duplicate-question"
NEAR = "near-duplicate-question"
ANSWER_IN_QUESTION = "answer-in-question"
QUESTION_IN_PROMPT = "question-in-prompt"
ANSWER_IN_PROMPT = "answer-in-prompt"

# Each kind, what it says, and what one of them is.
KINDS = {
    GROUP: ("one group lies in two splits", "a group and two splits"),
    DUPLICATE: ("the same question is asked in two splits", "two cases"),
    NEAR: ("nearly the same question is asked in two splits", "two cases"),
    ANSWER_IN_QUESTION: ("a question holds its own expected answer", "a case and an answer"),
    QUESTION_IN_PROMPT: ("a held-out question stands in a file", "a case and a file"),
    ANSWER_IN_PROMPT: (
        "the expected answer of a held-out case stands in a file",
        "a case, an answer and a file",
    ),
}


class Findings(Table):
    """`leaks.parquet`: a row per finding; of very many of a kind the first 100,000."""

    run_id: pl.String = column("the run", required=True)
    finding: pl.String = column("the kind", required=True)
    case_id: pl.String = column("a case", required=True)
    split: pl.String = column("its split")
    other_case_id: pl.String = column("the case it shares something with; null for a file")
    other_split: pl.String = column("that case's split")
    group: pl.String = column("the group that both belong to, of group-across-splits")
    file: pl.String = column("the file it stands in, of the findings in prompts")
    line: pl.Int64 = column("the line of that file where it begins")
    score: pl.Float64 = column(
        "Jaccard similarity of word 3-grams; 1 for what is equal or contained; null for a group, "
        "which is declared and not measured"
    )
    pairs: pl.Int64 = column(
        "pairs of cases with these two texts and splits: more than the rows where many cases ask "
        "the same, when each case stands in one row",
        required=True,
    )
    text: pl.String = column("the case's question; of answer-in-prompt the answer")
    other_text: pl.String = column(
        "the other case's question; of answer-in-question the answer; of a file the line"
    )


class Assignment(Table):
    """`assignment.parquet`, with `--assign`: a row per case, its split and the proposed one."""

    run_id: pl.String = column("the run", required=True)
    case_id: pl.String = column("the case", required=True)
    split: pl.String = column("the split it has")
    proposed_split: pl.String = column("the split it should have", required=True)
    family: pl.String = column(
        "the first case ID of all that are kept together: one group, the same or nearly the same "
        "question",
        required=True,
    )
    family_size: pl.Int64 = column("cases in the family", required=True)
    moved: pl.Boolean = column("had a split and should have another", required=True)


class Sizes(Table):
    """`sizes.parquet`, with `--assign`: a row per split and stratum, asked and reached."""

    run_id: pl.String = column("the run", required=True)
    stratum: pl.String = column("all, or tag", required=True)
    stratum_value: pl.String = column("all, or the tag", required=True)
    split: pl.String = column("the split", required=True)
    asked_share: pl.Float64 = column("the share asked for; null for a split not named in --shares")
    asked: pl.Float64 = column("that share of the cases of the stratum")
    reached: pl.Int64 = column("cases with this proposed split", required=True)
    reached_share: pl.Float64 = column("of the cases of the stratum", required=True)
