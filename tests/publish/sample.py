"""A Report built by hand: a fictional handbook assistant, every stage and break point once.

No evaluation happens here; the numbers are written down so that renderers can be checked alone.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

from ragtriage.metrics import REGISTRY
from ragtriage.publish.document import (
    CaseEntry,
    ClaimRow,
    EvidenceRow,
    FunnelRow,
    Report,
    StageRow,
    SummaryRow,
)

HOSTILE = (
    "<script>alert(1)</script> [a](http://evil.example/x) ![i](//evil.example/i.png) @mention #1 "
    "| cell | `tick` **bold** www.evil.example a@evil.example {{ 7*7 }} [red]x[/red] \"q' & "
    "\x1b[31mred\x1b[0m \u202egnp.exe \x00 \ud800 line one\nline two"
)


def evidence(ids: list[str], **changes: Any) -> EvidenceRow:
    """A requirement delivered and cited, but for `changes`."""
    row = {
        "requirement": 0,
        "ids": ids,
        "in_source": True,
        "in_index": True,
        "in_chunks": True,
        "in_candidates": True,
        "filtered": False,
        "retrieved_rank": 1,
        "retrieved_id": ids[0],
        "in_top_k": True,
        "in_context": True,
        "context_rank": 1,
        "context_size": 3,
        "cited": True,
        "delivered": True,
        "lost_at": None,
    }
    return cast(EvidenceRow, row | changes)


def lost(ids: list[str], at: str, **changes: Any) -> EvidenceRow:
    """A requirement lost at one place, never retrieved unless `changes` say so."""
    absent = {
        "retrieved_rank": None,
        "retrieved_id": None,
        "in_top_k": False,
        "in_context": False,
        "context_rank": None,
        "cited": False,
        "delivered": False,
        "in_candidates": False,
        "lost_at": at,
    }
    return evidence(ids, **absent | changes)


def step(name: str, left: int, **changes: Any) -> FunnelRow:
    """A step of the funnel; `lost` is the sum of `lost_by`."""
    by: dict[str, int] = changes.pop("lost_by", {})
    row = {"step": name, "left": left, "lost": sum(by.values()), "lost_by": by}
    return cast(FunnelRow, row | {"unknown": 0, "unrecorded": 0} | changes)


def claim(claim_id: str, **changes: Any) -> ClaimRow:
    """A supported claim, but for `changes`."""
    row = {
        "claim_id": claim_id,
        "proposed": True,
        "required": False,
        "supported": True,
        "label_source": "inline",
        "disputed": False,
        "cited_ids": ["leave-2"],
        "citation_valid": True,
        "text": "Leave is pro rata.",
    }
    return cast(ClaimRow, row | changes)


def case(case_id: str, stage: str, break_point: str | None = None, **changes: Any) -> CaseEntry:
    """A case of a stage; everything else is ordinary unless `changes` say otherwise."""
    entry = {
        "case_id": case_id,
        "source_file": "data/handbook/cases.jsonl",
        "line": 1,
        "question": "How many days of annual leave does a part-time employee get?",
        "split": "test",
        "tags": ["leave", "difficulty=easy"],
        "answerable": True,
        "stage": stage,
        "break_point": break_point,
        "missing": [],
        "lucky": False,
        "label_source": "staff",
        "answer_label": stage == "pass",
        "context_observed": True,
        "findings": [],
        "unsupported_claims": None,
        "omitted_claims": None,
        "disputed_claims": None,
        "answer_disputed": False,
        "near_misses": None,
        "next_check": None if stage == "pass" else f"Look at what {stage} did with this case.",
        "error": None,
        "ambiguity": None,
        "expected_answers": ["Fifteen days, pro rata to the hours worked."],
        "answer": "Fifteen days, pro rata.",
        "abstained": False,
        "retrieved_ids": ["leave-2", "leave-9", "pay-1"],
        "context_ids": ["leave-2", "leave-9", "pay-1"],
        "cited_ids": ["leave-2"],
        "metrics": {
            "recall_at_5": 1.0,
            "hit_at_5": True,
            "redundant_at_5": 0,
            "context_recall": 1.0,
            "citation_coverage": 1.0,
            "answer_match": stage == "pass",
            "over_refusal": False,
            "appropriate_abstention": False,
            "answered_unsupported": True,
            "unauthorized_context": 0,
            "ndcg_at_5": 0.9675,
        },
        "evidence": [evidence(["leave-2"])],
        "evidence_omitted": 0,
        "claims": [],
        "slices": {},
    }
    return cast(CaseEntry, entry | changes)


def _lost_case(case_id: str, at: str, **changes: Any) -> CaseEntry:
    row = lost(["travel-4"], at, **changes)
    return case(
        case_id,
        "retrieval",
        at,
        question="Which receipts do I keep for a hotel booked abroad?",
        tags=["travel", "difficulty=hard"],
        missing=["travel-4"],
        expected_answers=["The invoice and the card slip."],
        answer="Only the invoice.",
        evidence=[row],
        next_check=f"Follow travel-4 through {at}: it was there one step earlier.",
    )


def _retrieval_cases() -> list[CaseEntry]:
    groups = [
        evidence(["leave-2"]),
        lost(["sick-1", "sick-7", "sick-8"], "ranking", retrieved_rank=14, retrieved_id="sick-7")
        | {"requirement": 1},
        evidence(["pay-1", "pay-3"], retrieved_rank=3, retrieved_id="pay-3", cited=False)
        | {"requirement": 2, "context_rank": 2},
    ]
    return [
        case(
            "leave-and-sickness",
            "retrieval",
            "ranking",
            question="I fell ill during my leave: do I get the days back, and is the pay the same?",
            missing=["sick-1"],
            evidence=groups,
            answer="Yes, the days are given back; pay stays the same.",
            lucky=True,
            answer_label=True,
            findings=["near-miss-id", "unjudged"],
            next_check="Compare the rank of sick-7 with the cutoff, then look at the reranker.",
        ),
        _lost_case("hotel-source", "source", in_source=False, in_index=None, in_chunks=None),
        _lost_case("hotel-index", "index", in_index=False, in_chunks=None),
        _lost_case("hotel-chunk", "chunk", in_chunks=False),
        _lost_case("hotel-scope", "scope"),
        _lost_case("hotel-filter", "filter", filtered=True),
        _lost_case("hotel-retrieval", "retrieval"),
        _lost_case("hotel-candidate", "ranking", in_candidates=True),
        _lost_case(
            "hotel-context", "context", retrieved_rank=2, retrieved_id="travel-4", in_top_k=True
        ),
        _lost_case("hotel-unobserved", "unobserved", in_top_k=None)
        | {"retrieved_ids": None, "lucky": None, "answer_label": None},
    ]


def _other_cases() -> list[CaseEntry]:
    unlabelled: dict[str, Any] = {"answer_label": None, "label_source": None, "lucky": None}
    return [
        case("salary-of-a-colleague", "authorization", "leak-context", cited_ids=[]),
        case("board-minutes", "authorization", "leak-retrieved"),
        case("redundancy-list", "authorization", "leak-cited", cited_ids=["list-1"]),
        case("over-refusal", "generation", "over-refusal", answer=None, abstained=True),
        case("wrong-answer", "generation", "wrong-answer", answer="Thirty days."),
        case("omission", "generation", "omission", label_source="claims"),
        case("unsupported", "generation", "unsupported-claim", label_source="claims"),
        case("cites-elsewhere", "citation", "invalid-citation", answer_label=True),
        case("cites-nothing", "citation", "uncited", answer_label=True, cited_ids=[]),
        case("cites-another", "citation", "wrong-source", answer_label=True),
        case(
            "moon-office",
            "abstention",
            "answered-unsupported",
            question="When does the office on the moon open?",
            answerable=False,
            expected_answers=None,
            evidence=[],
            answer="In spring.",
        ),
        case("moon-cited", "abstention", "cited-unsupported", answerable=False, evidence=[]),
        case("no-label", "unprepared", "answer-label", **unlabelled),
        case("no-evidence", "unprepared", "evidence", context_ids=None, context_observed=False),
        case("no-answer", "unprepared", "answer", answerable=False, evidence=[], answer=None),
        case("which-leave", "unresolved", "ambiguity", ambiguity="Parental or annual leave?"),
        case("no-required", "unresolved", "no-required-set", evidence=[], answerable=None),
        case(
            "timeout",
            "not_run",
            "error",
            error="TimeoutError: no reply after 30 s",
            answer=None,
            missing=None,
            evidence=[lost(["leave-2"], "") | {"lost_at": None, "delivered": None}],
            **unlabelled,
        ),
    ]


def hostile_case(case_id: str = HOSTILE) -> CaseEntry:
    """A case whose every text is hostile, and whose answer is huge."""
    return case(
        case_id,
        "generation",
        "wrong-answer",
        source_file=HOSTILE,
        question=HOSTILE,
        split=HOSTILE,
        tags=[HOSTILE],
        missing=[HOSTILE],
        findings=[HOSTILE],
        next_check=HOSTILE,
        error=HOSTILE,
        ambiguity=HOSTILE,
        expected_answers=[HOSTILE, "# heading", "- item", "1. one"],
        answer=HOSTILE + "x" * 5_000_000,
        label_source=HOSTILE,
        retrieved_ids=[HOSTILE] * 3,
        context_ids=[f"id-{n}" for n in range(10_000)],
        cited_ids=[],
        metrics={HOSTILE: 0.5},
        evidence=[evidence([HOSTILE, "b"], retrieved_id=HOSTILE)],
        claims=[claim(HOSTILE, label_source=HOSTILE, cited_ids=[HOSTILE], text=HOSTILE * 50)],
        slices={HOSTILE: HOSTILE},
    )


def _passing_cases() -> list[CaseEntry]:
    return [case(f"leave-{n:02}", "pass", line=40 + n) for n in range(1, 11)] + [
        case(
            "mars-office",
            "pass",
            question="هل يوجد مكتب على المريخ؟",
            answerable=False,
            expected_answers=None,
            answer="I cannot find this in the handbook.",
            abstained=True,
            evidence=[],
            retrieved_ids=[],
            context_ids=[],
            cited_ids=[],
        )
    ]


def metric(
    name: str, k: int | None, total: float | None, scored: int, **changes: Any
) -> SummaryRow:
    """A row over 39 cases, 1 not run; a ratio when `changes` bring numerator and denominator."""
    mean = None if total is None or not scored else total / scored
    kind = REGISTRY[name].kind if name in REGISTRY else "ratio"
    row = {
        "slice": "all",
        "slice_value": "all",
        "metric": name,
        "kind": kind,
        "k": k,
        "mean": mean,
        "weighted_mean": mean,
        "pooled": None,
        "sum": total,
        "numerator": None,
        "denominator": None,
        "n_scored": scored,
        "n_undefined": 38 - scored,
        "n_not_run": 1,
        "n_cases": 39,
    }
    return cast(SummaryRow, row | changes)


def _summary() -> list[SummaryRow]:
    ratio = {"numerator": 25, "denominator": 36, "pooled": 25 / 36}
    rows = [
        metric("recall", 5, 23.5, 32, **ratio),
        metric("recall", 20, 24.5, 32, numerator=26, denominator=36, pooled=26 / 36),
        metric("precision", 5, 7.4, 37, numerator=37, denominator=185, pooled=0.2),
        metric("redundant", 5, 3.0, 37),
        metric("hit", 5, 24.0, 32),
        metric("reciprocal_rank", None, 22.25, 37),
        metric("ndcg", 5, 22.9, 32, weighted_mean=0.7312),
        metric("context_recall", None, 22.5, 31, numerator=24, denominator=35, pooled=24 / 35),
        metric("citation_coverage", None, 20.5, 31, numerator=22, denominator=35, pooled=22 / 35),
        metric("citation_validity", None, 31.0, 37, numerator=31, denominator=34, pooled=31 / 34),
        metric("answer_match", None, 13.0, 33),
        metric("unauthorized_context", None, 2.0, 38, n_undefined=1, n_not_run=0),
        metric("appropriate_abstention", None, 1.0, 3),
        metric("answered_unsupported", None, 1.0, 3),
        metric("over_refusal", None, 1.0, 34),
        metric("required_claim_coverage", None, None, 0),
    ]
    sliced = [("split", "development", 12), ("split", "test", 20), ("tag", "leave", 22)]
    sliced += [("tag", "travel", 9), ("tag", HOSTILE, 0)]
    for name, value, scored in sliced:
        where: dict[str, Any] = {"slice": name, "slice_value": value, "n_cases": scored + 1}
        rows.append(metric("recall", 5, scored * 0.7, scored, **where))
        rows.append(metric("context_recall", None, scored * 0.6, scored, **where))
        rows.append(metric("answer_match", None, scored // 2, scored, **where))
    return rows


def _stages(cases: list[CaseEntry]) -> list[StageRow]:
    counts = Counter((entry["stage"], entry["break_point"]) for entry in cases)
    rows = [
        StageRow(
            slice="all",
            slice_value="all",
            stage=stage,
            break_point=point,
            n=n,
            share=n / len(cases),
        )
        for (stage, point), n in counts.items()
    ]
    for name, value in [("split", "development"), ("split", "test"), ("tag", "leave")]:
        for stage, n in [("retrieval", 3), ("generation", 1), ("pass", 9)]:
            rows.append(
                StageRow(
                    slice=name,
                    slice_value=value,
                    stage=stage,
                    break_point=None,
                    n=n,
                    share=n / 13,
                )
            )
    for value in ["travel", HOSTILE]:
        row = StageRow(
            slice="tag", slice_value=value, stage="pass", break_point=None, n=1, share=1.0
        )
        rows.append(row)
    return rows


def report() -> Report:
    """The whole report, fresh on every call."""
    cases = _retrieval_cases() + _other_cases() + _passing_cases()
    return Report(
        run={
            "run_id": "20261104T020000Z-5f3a91c7",
            "status": "complete",
            "version": "0.1.0",
            "schema_version": "1",
            "started": "2026-11-04T02:00:00Z",
            "contract": "answer",
            "cutoffs": [5, 20],
            "normalizer": "lower-whitespace",
            "on_invalid": "quarantine",
            "no_text": False,
            "written": True,
            "n_cases": len(cases),
            "n_not_run": 1,
            "n_pass": 11,
            "n_lucky": 1,
            "n_unlabelled": 3,
            "n_disputed": 1,
            "context_observed": 36,
            "lines": {"read": 43, "accepted": 39, "set_aside": 3, "blank": 1},
            "inputs": [
                {
                    "role": "records",
                    "path": "data/handbook/cases.jsonl",
                    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                    "bytes": 48_213,
                    "lines": 43,
                    "accepted": 39,
                    "set_aside": 3,
                    "blank": 1,
                }
            ],
            "mapping": {"qid": "case_id", "gold": "expected_answers"},
            "notes": ["2 unknown fields were set aside in 3 lines (--extra ignore)."],
        },
        about={
            "mechanism": "recorded replay of the nightly assistant",
            "population": "questions of October, one per employee",
            "retriever": "bm25 + rerank",
            "judge": {"sees": ["question", "answer"], "predicts": "correct", "config": "none"},
            "owner": {"team": "people operations", "on_call": True},
        },
        failures=[
            "gate failed: recall@5[split=test] >= 0.9: 0.7 is below 0.9 over 20 cases",
            "gate failed: required_claim_coverage >= 0.5: nothing was measured",
        ],
        summary=_summary(),
        stages=_stages(cases),
        funnel=[
            step("required", 40),
            step("corpus", 36, lost_by={"source": 2, "index": 1, "chunk": 1}),
            step("retrieved", 30, lost_by={"retrieval": 6}, unrecorded=1),
            step("top_k", 29, lost_by={"ranking": 1}, unrecorded=1),
            step("context", 27, lost_by={"context": 1}, unknown=1),
            step("cited", 27, unrecorded=27),
            step("answered", 20, lost_by={"wrong-answer": 4}, unknown=3),
        ],
        funnel_bypassed=1,
        abstention=[
            {"answerable": "answerable", "answered": 32, "abstained": 1, "unknown": 1},
            {"answerable": "unanswerable", "answered": 1, "abstained": 2, "unknown": 1},
        ],
        findings=[
            {
                "finding": "near-miss-id",
                "n": 1,
                "example_case_ids": ["leave-and-sickness"],
                "meaning": "A required ID equals a retrieved one only after trimming or folding.",
            },
            {
                "finding": "unjudged",
                "n": 7,
                "example_case_ids": [f"leave-{n:02}" for n in range(1, 8)],
                "meaning": "An ID within the cutoff has no grade.",
            },
        ],
        rejects={"type": 2, "duplicate-case-id": 1},
        gates=[
            {
                "gate": "context_recall >= 0.7",
                "value": 22.5 / 31,
                "threshold": 0.7,
                "passed": True,
                "reason": "",
            },
            {
                "gate": "recall@5[split=test] >= 0.9",
                "value": 0.7,
                "threshold": 0.9,
                "passed": False,
                "reason": "0.7 is below 0.9 over 20 cases",
            },
            {
                "gate": "required_claim_coverage >= 0.5",
                "value": None,
                "threshold": 0.5,
                "passed": False,
                "reason": "nothing was measured",
            },
        ],
        reviews=None,
        intervals=None,
        not_observed=[{"metric": "supported_claim_fraction", "needs": ["claims"]}],
        definitions={"recall": "Requirements hit ÷ requirements."},
        limits=[
            "No internal cause in a model: a wrong answer from complete evidence is all it says.",
            "No entailment, attribution or groundedness: IDs are compared, not sentences.",
            "No semantic correctness beyond the label or the match that was recorded.",
        ],
        cases=cases,
        cases_omitted=0,
    )


def hostile_report() -> Report:
    """The same report with hostile text in every place that can hold text."""
    made = report()
    made["cases"].insert(0, hostile_case())
    made["run"] |= {"run_id": HOSTILE, "started": HOSTILE, "version": HOSTILE, "notes": [HOSTILE]}
    made["run"] |= {"status": HOSTILE, "schema_version": HOSTILE, "on_invalid": HOSTILE}
    made["run"] |= {"contract": HOSTILE, "normalizer": HOSTILE, "mapping": {HOSTILE: HOSTILE}}
    made["run"]["inputs"][0] |= {"path": HOSTILE, "role": HOSTILE, "sha256": HOSTILE}
    made["about"] = {"mechanism": HOSTILE, HOSTILE: [HOSTILE, {HOSTILE: HOSTILE}]}
    made["findings"][0] |= {"finding": HOSTILE, "meaning": HOSTILE, "example_case_ids": [HOSTILE]}
    made["gates"][1] |= {"gate": HOSTILE, "reason": HOSTILE}
    made["failures"] = [HOSTILE]
    made["not_observed"] = [{"metric": HOSTILE, "needs": [HOSTILE]}]
    made["reviews"] = {
        "states": {"agreed": 2, "disputed": 501},
        "claim_labels": {"review": 2, "none": 1},
        "conflicts": 1,
        "judge": HOSTILE,
        "disputed": [
            {
                "target": target,
                "case_id": HOSTILE,
                "claim_id": HOSTILE,
                "evidence_id": None,
                "supporters": [HOSTILE],
                "opponents": [HOSTILE, HOSTILE],
            }
            for target in ("claim", "answer", "relevance", "claim-passage")
        ],
        "disputed_omitted": 1,
    }
    made["abstention"][0]["answerable"] = HOSTILE
    made["funnel"][1]["lost_by"] = {HOSTILE: 4}
    made["rejects"][HOSTILE] = 1
    made["limits"].append(HOSTILE)
    row = made["summary"][0]
    made["summary"].append(row | {"metric": HOSTILE})
    made["stages"][0] |= {"stage": HOSTILE, "break_point": HOSTILE}
    made["stages"][1] |= {"break_point": HOSTILE}
    return made


def ordinary_report() -> Report:
    """A run as most are: 12 of 40 cases did not pass, gates hold, one notice."""
    made = report()
    broken = [entry for entry in made["cases"] if entry["stage"] != "pass"]
    kinds = {("retrieval", "ranking"), ("retrieval", "retrieval"), ("generation", "wrong-answer")}
    kinds |= {("citation", "uncited")}
    chosen = [entry for entry in broken if (entry["stage"], entry["break_point"]) in kinds]
    failing = [entry for entry in chosen for _ in range(3)][:12]
    passing = [case(f"pass-{n:02}", "pass") for n in range(28)]
    made["cases"] = failing + passing
    made["stages"] = [
        *_stages(made["cases"])[: len({(e["stage"], e["break_point"]) for e in made["cases"]})],
        *(row for row in made["stages"] if row["slice"] == "split"),
    ]
    made["run"] |= {"n_cases": 40, "n_not_run": 0, "n_pass": 28, "n_lucky": 0, "n_unlabelled": 0}
    made["run"] |= {"context_observed": 40, "n_disputed": 0}
    del made["about"]["judge"]
    made["gates"] = [gate for gate in made["gates"] if gate["passed"]]
    made["failures"] = []
    made["summary"] = [row for row in made["summary"] if row["slice_value"] != HOSTILE]
    return made
