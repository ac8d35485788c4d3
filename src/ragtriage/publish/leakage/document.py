"""The leakage report as one document: what report.json holds, and all that renderers read."""

from __future__ import annotations

from typing import TypedDict, cast

import polars as pl

from ragtriage.publish.document import InputEntry, LineCounts
from ragtriage.schemas.leakage import KINDS
from ragtriage.splits.examine import Examined
from ragtriage.splits.words import ABOUT

SHOWN = 200
STRATA = 100

LIMITS = (
    (
        "Words are compared, not meanings: a paraphrase in other words, or a translation, is no "
        "near duplicate. Give both one `group`."
    ),
    "A file that was not given was not looked into, nor was what a model has seen elsewhere.",
    ABOUT,
)


class LeakageRun(TypedDict):
    """What was read, and how it was held against itself."""

    run_id: str
    kind: str
    status: str
    version: str
    schema_version: str
    started: str
    on_invalid: str
    written: bool
    threshold: float
    min_answer_length: int
    max: int
    n_findings: int
    n_cases: int
    n_without_split: int
    n_without_question: int
    n_short_questions: int
    n_short_answers: int
    lines: LineCounts
    inputs: list[InputEntry]
    mapping: dict[str, str]
    notes: list[str]


class SplitRow(TypedDict):
    """A split and its cases; `held_out`: they should stand in no prompt."""

    split: str | None
    n: int
    held_out: bool


class KindRow(TypedDict):
    """A kind of finding: how many (None: not looked for, `why`), and how many rows list them."""

    finding: str
    meaning: str
    unit: str
    n: int | None
    listed: int
    why: str | None


class FindingRow(TypedDict):
    """A row of leaks.parquet."""

    finding: str
    case_id: str
    split: str | None
    other_case_id: str | None
    other_split: str | None
    group: str | None
    file: str | None
    line: int | None
    score: float | None
    pairs: int
    text: str | None
    other_text: str | None


class SearchEntry(TypedDict):
    """How near duplicates were looked for."""

    threshold: float
    permutations: int
    bands: int
    rows: int
    miss: float
    n_texts: int
    n_short: int
    candidates: int
    skipped: int
    planted: int
    found: int


class FileEntry(TypedDict):
    """A file that was looked into."""

    path: str
    bytes: int
    sha256: str


class UnreadEntry(TypedDict):
    """A file that was not, and why."""

    path: str
    why: str


class PromptsEntry(TypedDict):
    """What was looked for in files."""

    files: list[FileEntry]
    unread: list[UnreadEntry]
    n_held_out: int


class SizeRow(TypedDict):
    """A row of sizes.parquet."""

    stratum: str
    stratum_value: str
    split: str
    asked_share: float | None
    asked: float | None
    reached: int
    reached_share: float


class AssignmentEntry(TypedDict):
    """The proposed splits. `n_moved`: cases that had another."""

    seed: int
    reassign: bool
    strata: str | None
    n_families: int
    largest: int
    n_moved: int
    sizes: list[SizeRow]


class LeakageReport(TypedDict):
    """The whole document; `omitted`: findings of a kind that it leaves to the table."""

    run: LeakageRun
    splits: list[SplitRow]
    kinds: list[KindRow]
    findings: list[FindingRow]
    omitted: dict[str, int]
    search: SearchEntry | None
    prompts: PromptsEntry | None
    assignment: AssignmentEntry | None
    rejects: dict[str, int]
    limits: list[str]


def kind_rows(examined: Examined) -> list[KindRow]:
    """Every kind, found or not looked for."""
    return [
        KindRow(
            finding=kind,
            meaning=meaning,
            unit=unit,
            n=examined.found[kind].n if kind in examined.found else None,
            listed=examined.found[kind].rows.height if kind in examined.found else 0,
            why=examined.unlooked.get(kind),
        )
        for kind, (meaning, unit) in KINDS.items()
    ]


def search_entry(examined: Examined) -> SearchEntry | None:
    """How near duplicates were looked for, if they were."""
    search = examined.search
    if search is None:
        return None
    return SearchEntry(
        threshold=search.threshold,
        permutations=search.banding.permutations,
        bands=search.banding.bands,
        rows=search.banding.rows,
        miss=search.miss,
        n_texts=search.n_texts,
        n_short=search.n_short,
        candidates=search.candidates,
        skipped=search.skipped,
        planted=search.planted,
        found=search.found,
    )


def shown_findings(examined: Examined) -> tuple[list[FindingRow], dict[str, int]]:
    """The first `SHOWN` rows of each kind, and how many rows that leaves to the table."""
    shown: list[FindingRow] = []
    omitted = {}
    for kind in KINDS:
        if kind in examined.found:
            rows = examined.found[kind].rows
            shown += cast("list[FindingRow]", rows.head(SHOWN).to_dicts())
            omitted[kind] = max(rows.height - SHOWN, 0)
    return shown, omitted


def size_rows(sizes: pl.DataFrame) -> list[SizeRow]:
    """All cases first, then the largest strata."""
    largest = sizes.filter(pl.col("stratum") != "all").group_by("stratum_value")
    names = largest.agg(n=pl.col("reached").sum()).sort(
        "n", "stratum_value", descending=[True, False]
    )
    kept = names["stratum_value"].head(STRATA)
    shown = sizes.filter(
        (pl.col("stratum") == "all") | pl.col("stratum_value").is_in(kept.implode())
    )
    return cast("list[SizeRow]", shown.to_dicts())
