"""The contract computed a second time, in plain Python, to hold the product against.

Standard library only, sets and loops, written from the contract's words and from nothing in
`src`. Claims, reviews and the breaks that need them (`unsupported-claim`, `omission`) are not
here. `READING:` marks a place where the contract is silent and this file decides.
"""

from __future__ import annotations

import math
import re
import string
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Record = dict[str, Any]

BREAK_ORDER = (
    "source",
    "index",
    "chunk",
    "scope",
    "filter",
    "retrieval",
    "ranking",
    "context",
    "unobserved",
)

RATIOS = (
    "recall",
    "precision",
    "context_precision",
    "r_precision",
    "context_recall",
    "citation_coverage",
    "citation_validity",
    "citation_precision",
    "citation_in_context",
)
PLAIN = (
    "recall",
    "reciprocal_rank",
    "r_precision",
    "context_recall",
    "context_complete",
    "context_dropped",
    "citation_coverage",
    "citation_validity",
    "citation_precision",
    "citation_in_context",
    "citation_valid",
    "source_correct",
    "answer_match",
    "answer_passed",
    "unauthorized_retrieved",
    "unauthorized_context",
    "unauthorized_cited",
    "appropriate_abstention",
    "answered_unsupported",
    "over_refusal",
    "refused_with_evidence",
    "abstention_precision",
    "abstention_recall",
    "false_evidence",
)
AT_K = (
    "recall",
    "precision",
    "context_precision",
    "redundant",
    "hit",
    "all_required",
    "reciprocal_rank",
    "average_precision",
    "ndcg",
)


# --- Words ------------------------------------------------------------------------------------


def is_blank(text: str | None) -> bool:
    """Nothing, or only white space."""
    return text is None or text.strip() == ""


def normalise(text: str, normalizer: str) -> str:
    """The answer as it is compared."""
    if normalizer == "exact":
        return text
    if normalizer == "lower-whitespace":
        return " ".join(text.lower().split())
    if normalizer == "casefold":
        return " ".join(text.casefold().split())
    if normalizer == "squad":
        bare = "".join(c for c in text.lower() if c not in string.punctuation)
        # READING: a "word" is what the SQuAD script's \b(a|an|the)\b matches.
        short = " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())
        return short if short or is_blank(text) else normalise(text, "lower-whitespace")
    raise ValueError(normalizer)


def collapse(ids: list[str]) -> list[str]:
    """Repeats fall to their first place."""
    kept: list[str] = []
    for one in ids:
        if one not in kept:
            kept.append(one)
    return kept


def fold(one: str) -> str:
    """An ID as `near-miss-id` compares it."""
    return unicodedata.normalize("NFC", one).casefold().strip()


def kleene_and(values: list[bool | None]) -> bool | None:
    """False if any is, else unknown if any is, else true."""
    if False in values:
        return False
    return None if None in values else True


def kleene_any(values: list[bool | None]) -> bool | None:
    """True if any is, else unknown if any is, else false."""
    if True in values:
        return True
    return None if None in values else False


# --- The corpus -------------------------------------------------------------------------------


class Corpus:
    """What the corpus file says of an evidence ID."""

    def __init__(self, rows: list[Record]) -> None:
        self.rows = {row["evidence_id"]: row for row in rows}

    def equivalents(self, one: str) -> set[str]:
        """The ID and every ID of its equivalence group."""
        group = self.rows.get(one, {}).get("equivalence_group")
        if group is None:
            return {one}
        return {i for i, row in self.rows.items() if row.get("equivalence_group") == group}

    def in_source(self, one: str) -> bool:
        """Present and not marked as gone."""
        return one in self.rows and self.rows[one].get("in_source") is not False

    def indexed(self, one: str) -> bool | None:
        """Whether this revision is in the index; null where nothing says."""
        row = self.rows[one]
        flag, here, there = row.get("in_index"), row.get("revision"), row.get("indexed_revision")
        both = here is not None and there is not None
        if flag is False or (both and here != there):
            return False
        if flag is True or both:
            return True
        return None

    def in_chunks(self, one: str) -> bool | None:
        """Whether a chunk holds it; null where nothing says."""
        flag: bool | None = self.rows[one].get("in_chunks")
        return flag


# --- Requirements -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Requirement:
    """One thing that must be found: the IDs given, and every ID that satisfies it."""

    ids: list[str]
    members: set[str]


def requirements_of(record: Record, corpus: Corpus | None) -> tuple[list[Requirement], bool]:
    """The requirements of a case in order, and whether any collapsed into another."""
    required: list[str] | None = record.get("required_ids")
    groups: list[list[str]] | None = record.get("required_groups")
    if required is None and groups is None:
        given = [[g["id"]] for g in record.get("grades") or [] if g["grade"] > 0]
    else:
        given = [[one] for one in required or []] + list(groups or [])
    found: list[Requirement] = []
    collapsed = False
    for ids in given:
        members: set[str] = set()
        for one in ids:
            members |= corpus.equivalents(one) if corpus is not None else {one}
        if any(members == other.members for other in found):
            collapsed = True
        else:
            found.append(Requirement(collapse(ids), members))
    return found, collapsed


# --- One case ---------------------------------------------------------------------------------


class Case:
    """One record read as §1 and §2 say; every later rule starts from these values."""

    def __init__(
        self,
        record: Record,
        fields: set[str],
        corpus: Corpus | None,
        normalizer: str,
        abstain_texts: tuple[str, ...],
    ) -> None:
        self.record = record
        self.fields = fields
        self.corpus = corpus
        self.normalizer = normalizer
        self.error = not is_blank(record.get("error"))
        self.ambiguous = not is_blank(record.get("ambiguity"))
        self.requirements, self.collapsed = requirements_of(record, corpus)
        self.labels = any(
            record.get(name) is not None for name in ("required_ids", "required_groups", "grades")
        )
        self.retrieved = self._list("retrieved_ids")
        self.context = self._list("context_ids")
        self.cited = self._list("cited_ids")
        self.candidates = self._list("candidate_ids")
        self.filtered = self._list("filtered_ids")
        self.allowed = self._list("allowed_ids")
        self.forbidden = self._list("forbidden_ids")

        self.answerable: bool | None = record.get("answerable")
        if self.answerable is None:
            if self.requirements:
                self.answerable = True
            elif record.get("_none_given") is True:
                self.answerable = False

        self.derived_abstained: bool | None = None
        if "answer" in fields:
            answer = record.get("answer")
            self.derived_abstained = is_blank(answer) or any(
                normalise(answer or "", normalizer) == normalise(text, normalizer)
                for text in abstain_texts
            )
        self.declared_abstained: bool | None = record.get("abstained")
        self.abstained = (
            self.declared_abstained
            if self.declared_abstained is not None
            else self.derived_abstained
        )

        relevant: set[str] = set()
        for requirement in self.requirements:
            relevant |= {one for one in requirement.members if self.authorised(one)}
        self.relevant = relevant

    def _list(self, name: str) -> list[str] | None:
        """An ID list without its repeats; null where not observed."""
        ids = self.record.get(name) if name in self.fields else None
        return None if ids is None else collapse(ids)

    def authorised(self, one: str) -> bool:
        """Whether this requester may see the ID."""
        if self.forbidden is not None and one in self.forbidden:
            return False
        return self.allowed is None or one in self.allowed

    def eligible(self, requirement: Requirement) -> set[str]:
        """The members this requester may see."""
        return {one for one in requirement.members if self.authorised(one)}

    def hit(self, requirement: Requirement, ids: list[str]) -> bool:
        """Whether the IDs hold an authorised member."""
        return any(one in self.eligible(requirement) for one in ids)


# --- §5 The ledger ----------------------------------------------------------------------------


def ledger_of(case: Case, k: int) -> list[Record]:
    """One row per requirement."""
    return [_ledger_row(case, i, r, k) for i, r in enumerate(case.requirements)]


def _ledger_row(case: Case, number: int, requirement: Requirement, k: int) -> Record:
    members = requirement.members
    eligible = case.eligible(requirement)
    row: Record = {
        "case_id": case.record["case_id"],
        "requirement": number,
        "ids": requirement.ids,
        "in_source": None,
        "in_index": None,
        "in_chunks": None,
        "in_candidates": None,
        "filtered": None,
        "retrieved_rank": None,
        "retrieved_id": None,
        "in_top_k": None,
        "in_context": None,
        "context_rank": None,
        "context_size": None,
        "cited": None,
        "delivered": None,
        "lost_at": None,
    }
    corpus = case.corpus
    if corpus is not None:
        here = [one for one in sorted(members) if corpus.in_source(one)]
        reachable = [one for one in here if corpus.indexed(one) is not False]
        row["in_source"] = bool(here)
        row["in_index"] = kleene_any([corpus.indexed(one) for one in here])
        row["in_chunks"] = kleene_any([corpus.in_chunks(one) for one in reachable])
    if case.candidates is not None:
        row["in_candidates"] = any(one in members for one in case.candidates)
    if case.filtered is not None:
        row["filtered"] = any(one in members for one in case.filtered)
    if case.retrieved is not None:
        for rank, one in enumerate(case.retrieved, start=1):
            if one in eligible:
                row["retrieved_rank"], row["retrieved_id"] = rank, one
                break
        row["in_top_k"] = row["retrieved_rank"] is not None and row["retrieved_rank"] <= k
    if case.context is not None:
        row["context_size"] = len(case.context)
        for rank, one in enumerate(case.context, start=1):
            if one in eligible:
                row["context_rank"] = rank
                break
        row["in_context"] = row["context_rank"] is not None
    if case.cited is not None:
        row["cited"] = any(one in eligible for one in case.cited)
    if not case.error:
        row["delivered"] = row["in_context"] if case.context is not None else row["in_top_k"]
        if row["delivered"] is False:
            row["lost_at"] = _lost_at(case, requirement, row)
    return row


def _lost_at(case: Case, requirement: Requirement, row: Record) -> str:
    """The first place that applies to a requirement that was not delivered."""
    corpus = case.corpus
    if corpus is not None:
        here = [one for one in sorted(requirement.members) if corpus.in_source(one)]
        reachable = [one for one in here if corpus.indexed(one) is not False]
        if not here:
            return "source"
        if not reachable:
            return "index"
        if all(corpus.in_chunks(one) is False for one in reachable):
            return "chunk"
    if not case.eligible(requirement):
        return "scope"
    if row["filtered"]:
        return "filter"
    if case.retrieved is None:
        return "unobserved"
    if row["retrieved_rank"] is None:
        return "ranking" if row["in_candidates"] else "retrieval"
    return "context" if row["in_top_k"] else "ranking"


# --- §4 Metrics -------------------------------------------------------------------------------


class Metrics:
    """Columns of one case: values as shown, and the same as exact fractions for sums."""

    def __init__(self, ks: tuple[int, ...]) -> None:
        self.values: dict[str, Any] = {}
        self.exact: dict[str, Fraction | None] = {}
        for name in PLAIN:
            self._blank(name, name in RATIOS)
        for name in AT_K:
            for k in ks:
                self._blank(f"{name}_at_{k}", name in RATIOS)

    def _blank(self, column: str, ratio: bool) -> None:
        self.values[column] = None
        self.exact[column] = None
        if ratio:
            self.values[f"{column}_numerator"] = None
            self.values[f"{column}_denominator"] = None

    def put(self, column: str, value: bool | float | Fraction | None) -> None:
        """Set a value that is not a ratio of two shown counts."""
        self.values[column] = float(value) if isinstance(value, Fraction) else value
        self.exact[column] = None if value is None else Fraction(value)

    def ratio(self, column: str, numerator: int, denominator: int, empty: int | None) -> None:
        """Set a ratio; `empty` is its value over an empty denominator.

        READING: an observed ratio over nothing keeps its counts, 0 of 0; they are null only
        where the metric is not observed or the case is not scored.
        """
        self.values[f"{column}_numerator"] = numerator
        self.values[f"{column}_denominator"] = denominator
        if denominator:
            self.put(column, Fraction(numerator, denominator))
        else:
            self.put(column, None if empty is None else Fraction(empty))


def metrics_of(case: Case, ledger: list[Record], ks: tuple[int, ...]) -> Metrics:
    """Every metric of one case."""
    out = Metrics(ks)
    _authorization(case, out)
    if case.error or case.ambiguous:
        return out
    if case.labels and case.retrieved is not None:
        _uncut(case, case.retrieved, out)
        for k in ks:
            _at_k(case, case.retrieved, k, out)
    _context(case, ks[0], out)
    _citation(case, out)
    _answer(case, out)
    _abstention(case, ledger, out)
    return out


def _uncut(case: Case, ranked: list[str], out: Metrics) -> None:
    wanted = case.requirements
    out.ratio("recall", sum(case.hit(r, ranked) for r in wanted), len(wanted), None)
    first = [one for one in ranked[: len(wanted)] if one in case.relevant]
    out.ratio("r_precision", len(first), len(wanted), None)
    out.put("reciprocal_rank", _reciprocal_rank(case, ranked))


def _reciprocal_rank(case: Case, ranked: list[str]) -> Fraction:
    for rank, one in enumerate(ranked, start=1):
        if one in case.relevant:
            return Fraction(1, rank)
    return Fraction(0)


def _at_k(case: Case, ranked: list[str], k: int, out: Metrics) -> None:
    top = ranked[:k]
    wanted = case.requirements
    relevant = [one for one in top if one in case.relevant]
    hits = sum(case.hit(r, top) for r in wanted)
    out.ratio(f"recall_at_{k}", hits, len(wanted), None)
    out.ratio(f"precision_at_{k}", len(relevant), k, 0)
    out.ratio(f"context_precision_at_{k}", len(relevant), len(top), 0)
    out.put(f"reciprocal_rank_at_{k}", _reciprocal_rank(case, top))
    if wanted:
        out.put(f"hit_at_{k}", hits > 0)
        out.put(f"all_required_at_{k}", hits == len(wanted))

    pending = list(range(len(wanted)))
    redundant = 0
    ranks_with_news = 0
    precision_sum = Fraction(0)
    dcg = 0.0
    gains = [_gain(case, r) for r in wanted]
    for rank, one in enumerate(top, start=1):
        news = [i for i in pending if one in case.eligible(wanted[i])]
        pending = [i for i in pending if i not in news]
        if news:
            ranks_with_news += 1
            precision_sum += len(news) * Fraction(ranks_with_news, rank)
            dcg += sum(gains[i] for i in news) / math.log2(rank + 1)
        elif one in case.relevant:
            # READING: redundant = a relevant ID that is no requirement's first.
            redundant += 1
    out.put(f"redundant_at_{k}", redundant)
    if wanted:
        out.put(f"average_precision_at_{k}", precision_sum / len(wanted))
        best = sorted(gains, reverse=True)[:k]
        ideal = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(best, start=1))
        out.put(f"ndcg_at_{k}", min(1.0, dcg / ideal))


def _gain(case: Case, requirement: Requirement) -> int:
    # READING: a requirement whose only graded members (equivalents) are at most 0 counts as
    # ungraded: 1. READING: an unauthorised member's grade still sets the gain, so that the
    # ideal is that of the labels.
    grades = [
        g["grade"]
        for g in case.record.get("grades") or []
        if g["id"] in requirement.members and g["grade"] > 0
    ]
    return max(grades) if grades else 1


def _context(case: Case, k: int, out: Metrics) -> None:
    if case.context is None or not case.labels:
        return
    wanted = case.requirements
    held = [r for r in wanted if case.hit(r, case.context)]
    out.ratio("context_recall", len(held), len(wanted), None)
    if wanted:
        out.put("context_complete", len(held) == len(wanted))
    if case.retrieved is not None:
        # READING: the column has no k of its own, so it takes the first, as the ledger does.
        top = case.retrieved[:k]
        out.put("context_dropped", sum(case.hit(r, top) and r not in held for r in wanted))


def _citation(case: Case, out: Metrics) -> None:
    cited = case.cited
    if cited is None:
        return
    wanted = case.requirements
    good = [one for one in cited if one in case.relevant]
    covered = [r for r in wanted if case.hit(r, cited)]
    if case.labels:
        out.ratio("citation_coverage", len(covered), len(wanted), None)
        out.ratio("citation_precision", len(good), len(cited), None)
    if case.retrieved is not None:
        valid = [one for one in cited if one in case.retrieved]
        out.ratio("citation_validity", len(valid), len(cited), 0)
        if cited:
            out.put("citation_valid", len(valid) == len(cited))
        elif case.answerable is not None:
            out.put("citation_valid", not case.answerable)
    if case.context is not None:
        # READING: like citation_validity, this asks what was there, not what was allowed.
        there = [one for one in cited if one in case.context]
        out.ratio("citation_in_context", len(there), len(cited), None)
    if case.answerable is False:
        out.put("source_correct", not cited)
    elif case.answerable is True and wanted:
        out.put("source_correct", len(covered) == len(wanted) and len(good) == len(cited))


def _answer(case: Case, out: Metrics) -> None:
    if case.answerable is False:
        out.put("answer_match", case.abstained)
    else:
        expected = case.record.get("expected_answers")
        answer = case.record.get("answer")
        if expected and "answer" in case.fields:
            # READING: abstaining otherwise than by silence is compared like any answer.
            out.put(
                "answer_match",
                answer is not None
                and any(
                    normalise(answer, case.normalizer) == normalise(text, case.normalizer)
                    for text in expected
                ),
            )
    parts = [out.values[name] for name in ("answer_match", "citation_valid", "source_correct")]
    out.put("answer_passed", kleene_and(parts))


def _abstention(case: Case, ledger: list[Record], out: Metrics) -> None:
    abstained = case.abstained
    if case.answerable is False and case.retrieved is not None:
        out.put("false_evidence", bool(case.retrieved))
    if abstained is None:
        return
    if case.answerable is False:
        out.put("appropriate_abstention", abstained and not case.cited)
        out.put("answered_unsupported", not abstained)
        out.put("abstention_recall", abstained)
    if case.answerable is True:
        out.put("over_refusal", abstained)
        delivered = [row["delivered"] for row in ledger]
        if not abstained:
            out.put("refused_with_evidence", False)
        elif delivered and None not in delivered:
            out.put("refused_with_evidence", all(delivered))
    if abstained and case.answerable is not None:
        out.put("abstention_precision", not case.answerable)


def _authorization(case: Case, out: Metrics) -> None:
    if "allowed_ids" not in case.fields and "forbidden_ids" not in case.fields:
        return
    if case.retrieved is not None:
        leaks = [one for one in case.retrieved if not case.authorised(one)]
        out.put("unauthorized_retrieved", len(leaks))
    if case.context is not None:
        leaks = [one for one in case.context if not case.authorised(one)]
        out.put("unauthorized_context", len(leaks))
    if case.cited is not None:
        # READING: "in the corpus" is having a row there, whatever its flags.
        known = set(case.retrieved or []) | set(case.context or []) | set(case.forbidden or [])
        known |= set(case.corpus.rows) if case.corpus is not None else set()
        leaks = [one for one in case.cited if not case.authorised(one) and one in known]
        out.put("unauthorized_cited", len(leaks))


# --- §5 The stage -----------------------------------------------------------------------------


def label_of(case: Case, metrics: dict[str, Any], contract: str) -> tuple[bool | None, str | None]:
    """The answer label and where it comes from."""
    if case.error or case.ambiguous:
        return None, None
    staff = case.record.get("answer_correct")
    if staff is not None:
        return staff, "staff"
    if contract != "diagnosis" and metrics["answer_match"] is not None:
        return metrics["answer_match"], "match"
    return None, None


def stage_of(
    case: Case,
    metrics: dict[str, Any],
    ledger: list[Record],
    label: bool | None,
    contract: str,
) -> tuple[int, str, str | None]:
    """The row of the stage table that applies first, its stage and break point."""
    for reached in ("cited", "context", "retrieved"):
        if metrics[f"unauthorized_{reached}"]:
            return 1, "authorization", f"leak-{reached}"
    if case.error:
        return 2, "not_run", "error"
    if case.ambiguous:
        return 3, "unresolved", "ambiguity"
    if case.answerable is False:
        if case.abstained is None:
            return 6, "unprepared", "answer"
        if not case.abstained:
            return 4, "abstention", "answered-unsupported"
        if case.cited:
            return 4, "abstention", "cited-unsupported"
        return 5, "pass", None
    if not case.requirements:
        return 7, "unresolved", "no-required-set"
    if label is None and contract == "diagnosis":
        return 8, "unprepared", "answer-label"
    supplied = case.context if case.context is not None else case.retrieved
    if supplied is None:
        return 9, "unprepared", "evidence"
    lost = {row["lost_at"] for row in ledger if row["delivered"] is False}
    if lost:
        return 10, "retrieval", next(place for place in BREAK_ORDER if place in lost)
    if label is None:
        return 11, "unprepared", "answer-label"
    if not label:
        return 12, "generation", "over-refusal" if case.abstained else "wrong-answer"
    if case.cited is not None:
        # READING: "retrieved" here is all of it, not its first k.
        if any(one not in supplied for one in case.cited):
            return 13, "citation", "invalid-citation"
        if not case.cited:
            return 13, "citation", "uncited"
        if not any(row["cited"] for row in ledger):
            return 13, "citation", "wrong-source"
    return 14, "pass", None


def missing_of(case: Case, ledger: list[Record], row: int) -> list[str] | None:
    """Undelivered requirements, each by its first ID as given."""
    if row in (2, 3, 6, 7, 8, 9):
        return None
    if case.answerable is False:
        return []
    if not ledger or any(line["delivered"] is None for line in ledger):
        return None
    return sorted({line["ids"][0] for line in ledger if not line["delivered"]})


def lucky_of(ledger: list[Record], label: bool | None) -> bool | None:
    """A right answer while a requirement was not delivered."""
    if label is None:
        return None
    if not label:
        return False
    return kleene_any([None if r["delivered"] is None else not r["delivered"] for r in ledger])


# --- §3 Findings ------------------------------------------------------------------------------


def findings_of(case: Case, k: int) -> list[str]:
    """The kinds of finding this case gives, sorted."""
    kinds: set[str] = set()
    wanted = case.requirements
    if case.collapsed:
        kinds.add("duplicate-required")
    if not wanted and case.answerable is not False:
        kinds.add("no-relevance-labels")
    if case.corpus is not None:
        known = set(case.corpus.rows)
        if any(not (r.members & known) for r in wanted):
            kinds.add("dangling-required")
    if any(not case.eligible(r) for r in wanted):
        kinds.add("required-not-allowed")
    declared, derived = case.declared_abstained, case.derived_abstained
    if declared is not None and derived is not None and declared != derived:
        kinds.add("label-conflict")
    if not case.error:
        kinds |= _trace_findings(case, k)
    return sorted(kinds)


def _trace_findings(case: Case, k: int) -> set[str]:
    kinds: set[str] = set()
    retrieved, context, cited = case.retrieved, case.context, case.cited
    if retrieved is not None:
        if len(case.record["retrieved_ids"]) != len(retrieved):
            kinds.add("duplicate-retrieved")
        if not retrieved:
            kinds.add("empty-retrieval")
        folded = {fold(one) for one in retrieved}
        for requirement in case.requirements:
            # READING: "retrieved exactly" is by any member, seen or not: a forbidden ID that
            # came back as written is no near miss.
            exact = any(one in requirement.members for one in retrieved)
            if not exact and any(fold(one) in folded for one in requirement.ids):
                kinds.add("near-miss-id")
        grades = case.record.get("grades")
        if grades is not None:
            graded = {g["id"] for g in grades}
            if any(one not in graded for one in retrieved[:k]):
                kinds.add("unjudged")
        if context is not None and any(one not in retrieved for one in context):
            kinds.add("context-not-retrieved")
    if cited is not None:
        if retrieved is not None and any(one not in retrieved for one in cited):
            kinds.add("citation-not-retrieved")
        if context is not None and any(one not in context for one in cited):
            kinds.add("citation-not-in-context")
        if not cited and case.answerable is not False and case.abstained is not True:
            kinds.add("no-citations")
    return kinds


def disjoint_ids(
    records: list[Record], *, fields: set[str], corpus: list[Record] | None = None
) -> int:
    """How many cases have `disjoint-ids`: all that could have met, or none.

    READING: a case that was run, has a requirement and retrieved something could have met; if
    there are at least 5 and no requirement's member was retrieved in any, all are counted.
    """
    held = None if corpus is None else Corpus(corpus)
    able = 0
    for record in records:
        case = Case(record, fields, held, "exact", ())
        if case.error or not case.requirements or not case.retrieved:
            continue
        able += 1
        if any(one in r.members for r in case.requirements for one in case.retrieved):
            return 0
    return able if able >= 5 else 0


def groups_across_splits(records: list[Record]) -> int:
    """How many cases have a split and are of a group that has another split too, run or not."""
    lying: dict[str, list[str]] = {}
    for record in records:
        if record.get("group") is not None and record.get("split") is not None:
            lying.setdefault(record["group"], []).append(record["split"])
    return sum(len(splits) for splits in lying.values() if len(set(splits)) > 1)


# --- The whole --------------------------------------------------------------------------------


def evaluate_cases(
    records: list[Record],
    *,
    fields: set[str],
    ks: tuple[int, ...] = (10,),
    contract: str = "auto",
    normalizer: str = "lower-whitespace",
    abstain_texts: tuple[str, ...] = (),
    corpus: list[Record] | None = None,
) -> list[Record]:
    """Every case by itself, in the order given."""
    held = None if corpus is None else Corpus(corpus)
    results = []
    for record in records:
        case = Case(record, fields, held, normalizer, abstain_texts)
        ledger = ledger_of(case, ks[0])
        metrics = metrics_of(case, ledger, ks)
        label, source = label_of(case, metrics.values, contract)
        row, stage, break_point = stage_of(case, metrics.values, ledger, label, contract)
        results.append(
            {
                "case_id": record["case_id"],
                "answerable": case.answerable,
                "abstained": case.abstained,
                "metrics": metrics.values,
                "exact": metrics.exact,
                "ledger": ledger,
                "stage": stage,
                "stage_row": row,
                "break_point": break_point,
                "missing": missing_of(case, ledger, row),
                "lucky": lucky_of(ledger, label),
                "answer_label": label,
                "label_source": source,
                "context_observed": case.context is not None,
                "findings": findings_of(case, ks[0]),
                "error": case.error,
                "ambiguous": case.ambiguous,
                "split": record.get("split"),
                "tags": collapse(record.get("tags") or []),
                "weight": record.get("weight"),
            }
        )
    return results


# --- §6 Summary -------------------------------------------------------------------------------


def summarise(results: list[Record], columns: list[str]) -> list[Record]:
    """One row per slice, slice value and metric column, exact until the last step.

    READING: the slice `all` has the value None; a case without a split, a tag or a known
    `answerable` is in no such slice. `answerable` has the values "true" and "false".
    """
    slices: dict[tuple[str, str | None], list[Record]] = {("all", None): list(results)}
    for result in results:
        keys: list[tuple[str, str | None]] = [("tag", tag) for tag in result["tags"]]
        if result["split"] is not None:
            keys.append(("split", result["split"]))
        if result["answerable"] is not None:
            keys.append(("answerable", "true" if result["answerable"] else "false"))
        for key in keys:
            slices.setdefault(key, []).append(result)
    return [
        {"slice": name, "slice_value": value, **_summary_row(members, column)}
        for (name, value), members in slices.items()
        for column in columns
    ]


def _summary_row(results: list[Record], column: str) -> Record:
    """The sums of one metric over one slice.

    READING: the `unauthorized_…` counts of cases with `error` or `ambiguity` are in `sum`, but
    those cases are not scored and the mean leaves their counts out. Where nothing was
    measured, sums are null too.
    """
    match = re.fullmatch(r"(.+)_at_(\d+)", column)
    name, k = (match[1], int(match[2])) if match else (column, None)
    not_run = [r for r in results if r["error"]]
    run = [r for r in results if not r["error"]]
    scored = [r for r in run if not r["ambiguous"] and r["exact"][column] is not None]
    values = [r["exact"][column] for r in scored]
    weights = [Fraction(1 if r["weight"] is None else r["weight"]) for r in scored]
    known = [r["exact"][column] for r in results if r["exact"][column] is not None]
    row: Record = {
        "metric": name,
        "k": k,
        "mean": None,
        "weighted_mean": None,
        "pooled": None,
        "sum": float(sum(known)) if known else None,
        "numerator": None,
        "denominator": None,
        "n_scored": len(scored),
        "n_undefined": len(run) - len(scored),
        "n_not_run": len(not_run),
        "n_cases": len(results),
    }
    if scored:
        row["mean"] = float(sum(values) / len(values))
        weighted = sum(w * v for w, v in zip(weights, values, strict=True))
        row["weighted_mean"] = float(weighted / sum(weights))
        if name in RATIOS:
            row["numerator"] = sum(r["metrics"][f"{column}_numerator"] for r in scored)
            row["denominator"] = sum(r["metrics"][f"{column}_denominator"] for r in scored)
            if row["denominator"]:
                row["pooled"] = float(Fraction(row["numerator"], row["denominator"]))
    return row
