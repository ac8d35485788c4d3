"""Lint that is not an error: what a person should look at before trusting the numbers.

One entry a finding, with what it means. Each is an expression over a case's terms, but for
`disjoint-ids` and `group-across-splits`, which only the whole run can tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import polars as pl

from ragtriage.relevance.frames import beside, keyed, same
from ragtriage.schemas.plain import is_folded
from ragtriage.split_groups import GROUP_ACROSS_SPLITS

DISJOINT = "disjoint-ids"
# Fewer cases than this may miss by chance.
DISJOINT_FROM = 5


@dataclass(frozen=True)
class Finding:
    """A kind of finding; `traced`: it speaks of the run, so not on cases that failed."""

    name: str
    meaning: str
    test: pl.Expr
    traced: bool = True


_ANSWERED = pl.col("did_abstain").eq_missing(False) | pl.col("did_abstain").is_null()

FINDINGS: tuple[Finding, ...] = (
    Finding(
        "duplicate-retrieved",
        "an ID was returned more than once; repeats collapse to the first",
        pl.col("retrieved_ids").list.len() > pl.col("n_retrieved"),
    ),
    Finding(
        "duplicate-required",
        "two requirements are the same; they count once",
        pl.col("n_given") > pl.col("n_requirements"),
        traced=False,
    ),
    Finding(
        "empty-retrieval",
        "the retriever returned nothing",
        pl.col("n_retrieved") == 0,
    ),
    Finding(
        "no-relevance-labels",
        "nothing is required and the case is not known to be unanswerable",
        (pl.col("n_requirements") == 0) & pl.col("is_answerable").ne_missing(False),
        traced=False,
    ),
    Finding(
        "citation-not-retrieved",
        "the answer cites an ID that was not retrieved",
        pl.col("n_cited_retrieved") < pl.col("n_cited"),
    ),
    Finding(
        "citation-not-in-context",
        "the answer cites an ID that was not in the context",
        pl.col("n_cited_context") < pl.col("n_cited"),
    ),
    Finding(
        "no-citations",
        "the system answered without citing anything",
        (pl.col("n_cited") == 0) & pl.col("is_answerable").ne_missing(False) & _ANSWERED,
    ),
    Finding(
        "context-not-retrieved",
        "the context holds an ID that was not retrieved",
        pl.col("n_context_retrieved") < pl.col("n_context"),
    ),
    Finding(
        "near-miss-id",
        "a required ID equals a retrieved one but for case, white space or Unicode form",
        pl.col("near_misses").is_not_null(),
    ),
    Finding(
        "dangling-required",
        "a requirement has no member in the corpus",
        pl.col("any_dangling"),
        traced=False,
    ),
    Finding(
        "required-not-allowed",
        "a requirement has no member that this requester may see",
        pl.col("any_barred"),
        traced=False,
    ),
    Finding(
        "label-conflict",
        "labels contradict: declared abstention and answer, two of staff label, review and claims, "
        "or a claim's own label against its review",
        (pl.col("abstained") != pl.col("answer_abstains")).fill_null(False)
        | (pl.col("answer_correct") != pl.col("claims_label")).fill_null(False)
        | (pl.col("answer_correct") != pl.col("review_label")).fill_null(False)
        | (pl.col("review_label") != pl.col("claims_label")).fill_null(False)
        | pl.col("claims_conflict"),
        traced=False,
    ),
    Finding(
        "disputed-label",
        "people disagree on a label and nobody adjudicated: it counts as unknown",
        pl.col("labels_disputed"),
        traced=False,
    ),
    Finding(
        "unjudged",
        "an ID within the first cutoff has no grade",
        pl.col("n_unjudged") > 0,
    ),
)

_SORTED = sorted(FINDINGS, key=lambda finding: finding.name)

MEANINGS = {finding.name: finding.meaning for finding in FINDINGS} | {
    DISJOINT: "no required ID is ever retrieved: the ID spaces of labels and retriever differ",
    GROUP_ACROSS_SPLITS: "one group has cases in more than one split: what is held out is not",
}


def with_findings(cases: pl.DataFrame, ledger: pl.DataFrame, k: int) -> pl.DataFrame:
    """The cases with `findings`, the sorted names of what applies, and `near_misses`."""
    noted = beside(beside(cases, _of_requirements(ledger)), _near_misses(cases, ledger))
    noted = noted.with_columns(n_unjudged=_unjudged(cases, k))
    return noted.with_columns(findings=_names_of(noted.select(bits=_bits()).to_series()))


@cache
def _bits() -> pl.Expr:
    """One number a case: which findings apply."""
    ran = pl.col("error").is_null()
    bits = pl.lit(0, pl.UInt32)
    for place, finding in enumerate(_SORTED):
        applies = finding.test.fill_null(False)
        if finding.traced:
            applies &= ran
        bits += applies.cast(pl.UInt32) * (1 << place)
    return bits


def _names_of(bits: pl.Series) -> pl.Series:
    """The names behind each set of bits: few sets occur, however many the cases."""
    seen = bits.unique().sort()
    names = [[f.name for place, f in enumerate(_SORTED) if value >> place & 1] for value in seen]
    return pl.Series(names, dtype=pl.List(pl.String)).gather(seen.search_sorted(bits))


def _of_requirements(ledger: pl.DataFrame) -> pl.DataFrame:
    """Which cases require what nobody can find, or may not see: the others are left out."""
    at_fault = ~pl.col("listed") | ~pl.col("authorised")
    return (
        ledger.filter(at_fault)
        .group_by("row", maintain_order=True)
        .agg(any_dangling=(~pl.col("listed")).any(), any_barred=(~pl.col("authorised")).any())
    )


def _unjudged(cases: pl.DataFrame, k: int) -> pl.Expr:
    if cases["grades"].null_count() == cases.height:
        return pl.lit(None, pl.Int64)
    graded = pl.col("grades").list.eval(pl.element().struct.field("id"))
    unjudged = pl.col("distinct_retrieved").list.head(k).list.set_difference(graded)
    return unjudged.list.len().cast(pl.Int64)


_NEAR_MISSES: dict[str, Any] = {
    "row": pl.UInt32,
    "near_misses": pl.List(pl.Struct({"required": pl.String, "retrieved": pl.String})),
}


def _near_misses(cases: pl.DataFrame, ledger: pl.DataFrame) -> pl.DataFrame:
    """Requirements nobody returned that look like something that was: `row`, `near_misses`."""
    unmet = ledger.filter("unmet").select("row", required="ids").explode("required")
    returned = (
        cases.select("row", retrieved="distinct_retrieved")
        .join(unmet.select("row").unique(), on="row", how="semi")
        .filter(pl.col("retrieved").list.len() > 0)
        .explode("retrieved")
    )
    if is_folded(unmet["required"]) and is_folded(returned["retrieved"]):
        # What is folded already and differs is no near miss: most collections end here.
        return pl.DataFrame(schema=_NEAR_MISSES)
    plain = not _beyond_ascii(unmet["required"]) and not _beyond_ascii(returned["retrieved"])
    folded = unmet.with_columns(_folded("required", plain=plain))
    among = returned.with_columns(_folded("retrieved", plain=plain))
    if _as_written(folded, "required") and _as_written(among, "retrieved"):
        # Nothing is looked like but itself, and that was not returned.
        folded = folded.clear()
    both = (
        keyed(folded, "folded")
        .join(keyed(among, "folded"), on="key", maintain_order="left")
        .filter(same("folded"))
    )
    pairs = both.select("row", near_misses=pl.struct("required", "retrieved"))
    return pairs.group_by("row").agg(pl.col("near_misses").unique(maintain_order=True))


def _as_written(ids: pl.DataFrame, name: str) -> bool:
    return bool((ids[name] == ids["folded"]).all())


def _beyond_ascii(ids: pl.Series) -> bool:
    return bool((ids.str.len_bytes() != ids.str.len_chars()).any())


def _folded(name: str, *, plain: bool) -> pl.Expr:
    """An ID without case, outer white space or Unicode form; ASCII has no form to fold."""
    stripped = pl.col(name).str.strip_chars()
    if plain:
        return stripped.str.to_lowercase().alias("folded")
    folded = stripped.str.normalize("NFC").str.to_uppercase().str.to_lowercase()
    return folded.str.normalize("NFC").alias("folded")


class DisjointIds:
    """Watches a run for label IDs that the retriever never speaks, in no case whatever."""

    def __init__(self) -> None:
        self._cases = 0
        self._shared = False
        self._examples: list[str] = []
        self._required = pl.Series(dtype=pl.UInt64)
        self._retrieved = pl.Series(dtype=pl.UInt64)

    def add(self, cases: pl.DataFrame, ledger: pl.DataFrame, examples: int) -> None:
        """Take in a chunk's cases with their terms, and their ledger."""
        asked = cases.select(
            pl.col("error").is_null() & (pl.col("n_requirements") > 0) & (pl.col("n_retrieved") > 0)
        ).to_series()
        self._cases += int(asked.sum())
        if len(self._examples) < examples:
            some = cases["case_id"].filter(asked).head(examples - len(self._examples))
            self._examples += some.to_list()
        if self._shared or not asked.any():
            return
        shown = cases.select("row", "distinct_retrieved").filter(asked)
        # Nearly always the first few settle it.
        for part in (shown.head(_FIRST), shown):
            if not self._shared:
                required = ledger["ids"].filter(ledger["row"].is_in(part["row"].implode()))
                self._meet(_hashes(required), _hashes(part["distinct_retrieved"]))

    def _meet(self, required: pl.Series, retrieved: pl.Series) -> None:
        self._required = _some(self._required, required)
        self._retrieved = _some(self._retrieved, retrieved)
        self._shared = bool(
            retrieved.is_in(self._required.implode()).any()
            or required.is_in(self._retrieved.implode()).any()
            or self._shared
        )
        if self._shared:
            # Nobody looks at them again, and whoever carries this elsewhere carries less.
            self._required = self._retrieved = pl.Series(dtype=pl.UInt64)

    def merge(self, later: DisjointIds, examples: int) -> None:
        """Take in what another has seen of the cases that come after."""
        self._cases += later._cases
        self._examples += later._examples[: examples - len(self._examples)]
        self._shared |= later._shared
        self._meet(later._required, later._retrieved)

    def result(self) -> tuple[int, list[str]]:
        """How many cases show it (0: none) and some of them."""
        if self._shared or self._cases < DISJOINT_FROM:
            return 0, []
        return self._cases, self._examples


_FIRST = 1_000
# Two ID spaces that meet at all meet within far fewer IDs than this.
_REMEMBERED = 500_000


def _hashes(lists: pl.Series) -> pl.Series:
    return lists.explode().drop_nulls().hash(seed=0).unique()


def _some(known: pl.Series, more: pl.Series) -> pl.Series:
    """The IDs known so far and new ones, as many as are worth remembering."""
    if known.len() >= _REMEMBERED:
        return known
    return pl.concat([known, more]).unique(maintain_order=True).head(_REMEMBERED)
