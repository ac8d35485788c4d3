"""Claims and reviews computed a second time: standard library only, from the contract's words.

What a case is, its ledger and its other metrics come from `oracle.py`; nothing comes from `src`.
`READING:` marks a place where the contract is silent and this file decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests import oracle

Record = dict[str, Any]
Item = tuple[str, str | None, str | None]

# A metric is observed where the file supplies one field of each set.
CLAIMS, REQUIRED, CONTEXT = {"claims"}, {"required_claims"}, {"context_ids"}
SUPPLIED = {"context_ids", "retrieved_ids"}
NEEDS: dict[str, tuple[set[str], ...]] = {
    "supported_claim_fraction": (CLAIMS,),
    "required_claim_coverage": (CLAIMS, REQUIRED),
    "claim_precision": (CLAIMS, REQUIRED),
    "claim_recall": (CLAIMS, REQUIRED),
    "context_utilization": (CLAIMS, REQUIRED, CONTEXT),
    "valid_citation_claims": (CLAIMS, SUPPLIED),
    "intrinsic_hallucinations": (CLAIMS, SUPPLIED),
    "extrinsic_hallucinations": (CLAIMS, SUPPLIED),
}
RATIOS = tuple(NEEDS)[:5]


# --- Reviews ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """What people's labels of one item come to."""

    label: bool | None = None
    disputed: bool = False


def verdict_of(rows: list[Record]) -> Verdict:
    """Adjudications if any is given, else people; they agree, or it is disputed."""
    for kind in ("adjudication", "human"):
        said = {row["label"] for row in rows if row["kind"] == kind and row["label"] is not None}
        if said:
            return Verdict(disputed=True) if len(said) > 1 else Verdict(said.pop())
    return Verdict()


class Reviews:
    """The labels of one reviews file that are about cases and claims which exist."""

    def __init__(self, rows: list[Record], records: list[Record], judge: str | None) -> None:
        known = {record["case_id"]: set(claim_ids(record)) for record in records}
        items: dict[Item, list[Record]] = {}
        for row in rows:
            case, claim = row["case_id"], row.get("claim_id")
            if case in known and (claim is None or claim in known[case]):
                items.setdefault((case, claim, row.get("evidence_id")), []).append(row)
        self.verdicts = {item: verdict_of(labels) for item, labels in items.items()}
        self.judged = {
            item: row["label"]
            for item, labels in items.items()
            for row in labels
            if row["kind"] == "judge" and row["reviewer"] == judge
        }

    def of(self, case: str, claim: str | None) -> Verdict:
        """On a claim, or on the whole answer."""
        return self.verdicts.get((case, claim, None), Verdict())

    def passages(self, case: str, claim: str) -> dict[str, bool]:
        """The passages settled as supporting this claim, or as not supporting it."""
        return {
            passage: verdict.label
            for (of_case, of_claim, passage), verdict in self.verdicts.items()
            if (of_case, of_claim) == (case, claim)
            and passage is not None
            and verdict.label is not None
        }

    def disputed(self, case: str) -> bool:
        """READING: a disputed label of whatever item is a finding of its case."""
        return any(item[0] == case and v.disputed for item, v in self.verdicts.items())


def claim_ids(record: Record) -> list[str]:
    """The claims a case proposes, then those it requires and does not propose."""
    proposed = [claim["claim_id"] for claim in record.get("claims") or []]
    return oracle.collapse(proposed + (record.get("required_claims") or []))


# --- One claim --------------------------------------------------------------------------------


def label_in_force(
    claim: Record, verdict: Verdict, judged: bool | None
) -> tuple[bool | None, str | None]:
    """A proposed claim's label and where it is from."""
    if verdict.disputed:
        return None, None
    for label, source in (
        (verdict.label, "review"),
        (claim.get("supported"), "inline"),
        (judged, "judge"),
    ):
        if label is not None:
            return label, source
    return None, None


def proposed_row(claim: Record, case: oracle.Case, reviews: Reviews) -> Record:
    """The row of a claim that the answer makes."""
    case_id, claim_id = case.record["case_id"], claim["claim_id"]
    verdict = reviews.of(case_id, claim_id)
    label, source = label_in_force(claim, verdict, reviews.judged.get((case_id, claim_id, None)))
    inline, cited = claim.get("supported"), claim.get("cited_ids")
    supplied = case.context if case.context is not None else case.retrieved
    known = cited is not None and supplied is not None
    held = [one in (supplied or []) for one in cited or []]
    return {
        "case_id": case_id,
        "claim_id": claim_id,
        "proposed": True,
        "required": claim_id in (case.record.get("required_claims") or []),
        "supported": label,
        "label_source": source,
        "disputed": verdict.disputed,
        "conflict": None not in (inline, verdict.label) and inline != verdict.label,
        "cited_ids": cited,
        "citation_valid": bool(held) and all(held) if known else None,
        "hallucination": ("intrinsic" if any(held) else "extrinsic")
        if known and label is False
        else None,
    }


def omitted_row(claim_id: str, case: oracle.Case, reviews: Reviews) -> Record:
    """The row of a required claim that the answer does not make: it has nothing to support."""
    row = proposed_row({"claim_id": claim_id}, case, reviews)
    unmade = {"proposed": False, "supported": None, "label_source": None, "hallucination": None}
    return {**row, **unmade}


# --- One case ---------------------------------------------------------------------------------


class Claims:
    """The claims of one case with the labels in force."""

    def __init__(self, case: oracle.Case, reviews: Reviews) -> None:
        record = case.record
        self.case, self.reviews, self.case_id = case, reviews, record["case_id"]
        # READING: where a row's claims are not observed, no claim is known to be left out.
        given: list[Record] | None = record.get("claims")
        self.observed = given is not None
        self.required: list[str] | None = record.get("required_claims")
        self.required = None if self.required is None else oracle.collapse(self.required)
        self.proposed = [proposed_row(claim, case, reviews) for claim in given or []]
        made = {row["claim_id"] for row in self.proposed}
        left = [one for one in self.required or [] if one not in made] if self.observed else []
        self.omitted = [omitted_row(one, case, reviews) for one in left]

    def ids(self, **wanted: Any) -> list[str]:
        """The proposed claims whose row holds these values."""
        return [r["claim_id"] for r in self.proposed if wanted.items() <= r.items()]

    @property
    def labelled(self) -> bool:
        """Every proposed claim has a label in force."""
        return all(row["supported"] is not None for row in self.proposed)

    def label(self) -> bool | None:
        """The answer label that the claims come to."""
        if not self.observed or not self.labelled or not (self.proposed or self.required):
            return None
        return not self.omitted and all(row["supported"] for row in self.proposed)

    def evidence_in_context(self, claim_id: str) -> bool | None:
        """Whether what supports a required claim was in front of the model."""
        context = self.case.context or []
        labels = self.reviews.passages(self.case_id, claim_id)
        if True in labels.values():
            return any(one in context for one, label in labels.items() if label)
        if labels:
            return False if all(one in labels for one in context) else None
        for row in self.proposed:
            if row["claim_id"] == claim_id and row["supported"] and row["cited_ids"]:
                return any(one in context for one in row["cited_ids"])
        return None

    def metrics(self) -> dict[str, Any]:
        """Every claims metric; ratios as (numerator, denominator)."""
        out: dict[str, Any] = dict.fromkeys(NEEDS)
        if self.case.error or self.case.ambiguous or not self.observed:
            return out
        supported = self.ids(supported=True)
        # As in `oracle.py`: an observed ratio over nothing keeps its counts, 0 of 0.
        if self.labelled:
            out["supported_claim_fraction"] = (len(supported), len(self.proposed))
        if self.required is not None:
            common = len(self.ids(required=True))
            unknown = self.ids(required=True, supported=None)
            if not unknown:
                covered = self.ids(required=True, supported=True)
                out["required_claim_coverage"] = (len(covered), len(self.required))
            out["claim_precision"] = (common, len(self.proposed))
            out["claim_recall"] = (common, len(self.required))
            out["context_utilization"] = self._utilization()
        if self.case.context is not None or self.case.retrieved is not None:
            # READING: a claim whose citations are not given is not a claim validly cited.
            out["valid_citation_claims"] = len(self.ids(citation_valid=True))
            unsure = self.ids(supported=False, hallucination=None)
            if self.labelled and not unsure:
                for kind in ("intrinsic", "extrinsic"):
                    out[f"{kind}_hallucinations"] = len(self.ids(hallucination=kind))
        return out

    def _utilization(self) -> tuple[int, int] | None:
        there = {one: self.evidence_in_context(one) for one in self.required or []}
        if self.case.context is None or None in there.values():
            return None
        could = [one for one, held in there.items() if held]
        stated = [one for one in could if one in self.ids()]
        return len(stated), len(could)


def value_of(metric: Any) -> Any:
    """A metric as its column shows it."""
    if isinstance(metric, tuple):
        return float(Fraction(*metric)) if metric[1] else None
    return metric


def answer_label(
    claims: Claims, staff: bool | None, match: bool | None, contract: str
) -> tuple[bool | None, str | None]:
    """Staff, else the settled whole-answer review, else the claims, else the match."""
    if claims.case.error or claims.case.ambiguous:
        return None, None
    if staff is not None or contract == "diagnosis":
        return staff, None if staff is None else "staff"
    review = claims.reviews.of(claims.case_id, None)
    if review.disputed:
        return None, None
    by_judge = bool(claims.ids(label_source="judge"))
    for label, source in (
        (review.label, "review"),
        (claims.label(), "judge" if by_judge else "claims"),
        (match, "match"),
    ):
        if label is not None:
            return label, source
    return None, None


def findings(claims: Claims, staff: bool | None) -> set[str]:
    """The findings that reviews and claims add, whatever the contract and the case's fate."""
    said = {staff, claims.reviews.of(claims.case_id, None).label, claims.label()}
    conflict = {True, False} <= said or any(row["conflict"] for row in claims.proposed)
    kinds = {"label-conflict"} if conflict else set()
    return kinds | ({"disputed-label"} if claims.reviews.disputed(claims.case_id) else set())


def evaluate_case(record: Record, fields: set[str], reviews: Reviews, contract: str) -> Record:
    """One case, as `oracle.evaluate_cases` would, with its claims and reviews."""
    case = oracle.Case(record, fields, None, "lower-whitespace", ())
    claims = Claims(case, reviews)
    ledger = oracle.ledger_of(case, 10)
    metrics = oracle.metrics_of(case, ledger, (10,)).values
    staff = record.get("answer_correct")
    label, source = answer_label(claims, staff, metrics["answer_match"], contract)
    row, stage, broke = oracle.stage_of(case, metrics, ledger, label, contract)
    if row == 12 and broke != "over-refusal":
        unsupported, omitted = claims.ids(supported=False), claims.omitted
        broke = "unsupported-claim" if unsupported else "omission" if omitted else broke
    return {
        "metrics": claims.metrics(),
        "claims": claims.proposed + claims.omitted,
        "columns": {
            "unsupported_claims": claims.ids(supported=False) if claims.observed else None,
            "omitted_claims": [one["claim_id"] for one in claims.omitted]
            if claims.observed and claims.required is not None
            else None,
            "disputed_claims": claims.ids(disputed=True) if claims.observed else None,
            "answer_label": label,
            "label_source": source,
            "stage": stage,
            "break_point": broke,
            "lucky": oracle.lucky_of(ledger, label),
            "findings": sorted(set(oracle.findings_of(case, 10)) | findings(claims, staff)),
        },
    }
