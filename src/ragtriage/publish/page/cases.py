"""One case: its question, the way of each requirement, answer beside expected, claims."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from ragtriage.publish import wording
from ragtriage.publish.document import CaseEntry, ClaimRow, EvidenceRow, RunEntry
from ragtriage.publish.escape import first
from ragtriage.publish.notices import judged_by
from ragtriage.publish.page.markup import NOTHING, Html, join, tag
from ragtriage.publish.page.parts import badge, heads, hint, row_head, table
from ragtriage.publish.page.texts import attribute, cell, ids, line, values

_REQUIREMENTS = 10
_CLAIMS = 50
_TEXTS = 5
_SIGNS = {"ok": "✓ ", "lost": "✗ ", "no": "○ ", "unknown": "? "}
_ASKED = 200
_LEFT_OUT = "left out (--no-text)"


def case_details(place: int, case: CaseEntry, run: RunEntry, *, is_open: bool) -> Html:
    """A case that opens; `place` is its anchor, the data attributes are what filters read."""
    return tag(
        "details",
        tag("summary", *_summary(case)),
        tag("div", *_body(case, run), class_="body"),
        class_="case",
        id=f"case-{place}",
        open=is_open,
        data_stage=case["stage"],
        data_point=case["break_point"],
        data_slices=json.dumps(slices_of(case), ensure_ascii=False),
    )


def slices_of(case: CaseEntry) -> list[str]:
    """The slices a case belongs to, as `name=value`, as they are shown."""
    known = case["answerable"]
    answerable = [] if known is None else [f"answerable={str(known).lower()}"]
    split = [] if case["split"] is None else [f"split={case['split']}"]
    tags = [f"tag={name}" for name in case["tags"] or ()]
    further = [f"{name}={value}" for name, value in case["slices"].items()]
    return [attribute(name, 120) for name in (*split, *tags, *answerable, *further)]


def _summary(case: CaseEntry) -> Iterable[Html]:
    yield tag("span", line(case["case_id"], 200), class_="id")
    yield Html(" ")
    yield badge(case["stage"])
    if case["break_point"]:
        yield Html(" ")
        yield tag("span", line(wording.headline(case), 200), class_="what")
    if case["lucky"]:
        yield Html(" ")
        yield tag("span", "right without its evidence", class_="badge lucky")
    if case["question"] is not None:
        yield tag("span", line(case["question"], _ASKED), class_="asked", dir="auto")


def _body(case: CaseEntry, run: RunEntry) -> Iterable[Html]:
    if case["next_check"]:
        told = line(case["next_check"], 600)
        yield tag("p", tag("strong", "Look first:"), " ", told, class_="next")
    yield _paths(case, run["cutoffs"][0])
    hidden = run["no_text"]
    yield tag("div", _expected(case, hidden=hidden), _answer(case, hidden=hidden), class_="beside")
    if case["claims"]:
        yield _claims(case["claims"])
    yield tag("dl", *_facts(case), class_="facts")
    if case["metrics"]:
        yield _metrics(case)


def _paths(case: CaseEntry, k: int) -> Html:
    shown = wording.lost_first(case)[:_REQUIREMENTS]
    rest = len(case["evidence"]) - len(shown) + case["evidence_omitted"]
    alone = len(case["evidence"]) == 1
    paths = [_path(row, k, alone=alone) for row in shown]
    if rest:
        paths.append(
            hint(
                f"and {rest:,} more requirement{'s'[: rest > 1]} in ",
                tag("code", "evidence/*.parquet"),
                ".",
            )
        )
    return join(paths)


def _path(row: EvidenceRow, k: int, *, alone: bool) -> Html:
    name = "Requirement" if alone else f"Requirement {row['requirement'] + 1}"
    return tag(
        "div",
        tag("p", f"{name}: ", ids(row["ids"], " or ", 600)),
        tag("ol", *(_step(step) for step in wording.path(row, k)), class_="path"),
        class_="requirement",
    )


def _step(step: wording.Step) -> Html:
    member = join([" as ", tag("code", line(step.member, 300))]) if step.member else NOTHING
    return tag(
        "li",
        tag("span", step.name, class_="name"),
        tag("strong", "lost here", class_="word") if step.state == "lost" else NOTHING,
        tag("span", _SIGNS[step.state], step.text, member, class_="text"),
        class_=f"step {step.state}",
    )


def _expected(case: CaseEntry, *, hidden: bool) -> Html:
    if case["expected_answers"]:
        shown, rest = first(case["expected_answers"], _TEXTS)
        told = join([*(_quote(text) for text in shown), rest])
    else:
        absent = _LEFT_OUT if hidden else "not recorded"
        absent = "to abstain" if case["answerable"] is False else absent
        told = tag("p", absent, class_="absent")
    return tag("div", tag("h3", "Expected"), told)


def _answer(case: CaseEntry, *, hidden: bool) -> Html:
    judged = wording.judged(case) + (", abstained" if case["abstained"] else "")
    told = tag("p", _LEFT_OUT if hidden else "none recorded", class_="absent")
    if case["answer"] is not None:
        told = _quote(case["answer"] or "(empty)")
    return tag("div", tag("h3", "Answer ", tag("small", line(judged, 80))), told)


def _quote(text: str) -> Html:
    return tag("p", cell(text), class_="quote", dir="auto")


def _claims(claims: Sequence[ClaimRow]) -> Html:
    shown, rest = first(claims, _CLAIMS)
    return join(
        [
            table(
                "Claims",
                heads("Claim", "Label", "What it says", "Cites"),
                map(_claim, shown),
                kind="claims",
                shown=True,
            ),
            hint(f"{rest} claims in ", tag("code", "claims/*.parquet"), ".") if rest else NOTHING,
        ]
    )


def _claim(claim: ClaimRow) -> Html:
    word, kind = _label(claim)
    source = f" ({claim['label_source']})" if claim["label_source"] else ""
    said = NOTHING if claim["text"] is None else cell(claim["text"], 600)
    cites = ids(claim["cited_ids"], limit=300) if claim["cited_ids"] else "none"
    unsupplied = tag("small", "not all supplied") if claim["citation_valid"] is False else NOTHING
    return tag(
        "tr",
        row_head(tag("code", line(claim["claim_id"], 200))),
        tag(
            "td",
            word,
            source,
            tag("small", "required") if claim["required"] else NOTHING,
            class_=kind,
        ),
        tag("td", said, class_="sentence", dir="auto"),
        tag(
            "td",
            cites if claim["proposed"] and claim["cited_ids"] is not None else NOTHING,
            unsupplied,
        ),
    )


def _label(claim: ClaimRow) -> tuple[str, str]:
    """What is said of a claim, and its tone."""
    if not claim["proposed"]:
        return "✗ omitted", "bad"
    if claim["disputed"]:
        return "? disputed", "absent"
    if claim["supported"] is None:
        return "? no label", "absent"
    return ("✓ supported", "good") if claim["supported"] else ("✗ not supported", "bad")


def _facts(case: CaseEntry) -> Iterable[Html]:
    question = case["question"]
    if question is not None and len(question) > _ASKED:
        yield _text("question", question)
    for name, text in (("error", case["error"]), ("ambiguity", case["ambiguity"])):
        if text:
            yield _text(name, text)
    yield from (_fact(name, told) for name, told in _lists(case) if told)
    if case["answer_disputed"]:
        yield _fact("disputed", "people disagree on the answer as a whole")
    if judged := judged_by(case):
        yield _fact("context", judged)
    where = join([line(case["source_file"], 300), f", line {case['line']:,}"])
    yield _fact("recorded in", where)


def _lists(case: CaseEntry) -> Iterable[tuple[str, Html]]:
    """What is a list of IDs or labels, by name; empty where there is nothing to say."""
    yield "missing", ids(case["missing"] or ())
    yield "retrieved", _observed(case["retrieved_ids"])
    yield "context", _observed(case["context_ids"])
    yield "cited", _observed(case["cited_ids"])
    yield "findings", ids(case["findings"])
    yield "unsupported claims", ids(case["unsupported_claims"] or ())
    yield "omitted claims", ids(case["omitted_claims"] or ())
    yield "disputed claims", ids(case["disputed_claims"] or ())
    for pair in case["near_misses"] or ():
        named = (ids([pair[name]]) for name in ("required", "retrieved"))
        yield "near miss", Html("required {}, retrieved {}".format(*named))
    yield "split", line(case["split"] or "", 200)
    yield "tags", ids(case["tags"] or (), limit=600)


def _observed(listed: list[str] | None) -> Html:
    """IDs; an empty list is said, what is not observed is not."""
    if listed is None:
        return NOTHING
    return ids(listed) if listed else Html("none")


def _fact(name: str, told: str) -> Html:
    return tag("div", tag("dt", name), tag("dd", told))


def _text(name: str, text: str) -> Html:
    quoted = tag("dd", cell(text), dir="auto", class_="quote")
    return tag("div", tag("dt", name), quoted, class_="wide")


def _metrics(case: CaseEntry) -> Html:
    shown = [tag("span", f"{name} ", tag("b", value)) for name, value in values(case["metrics"])]
    return tag(
        "details",
        tag("summary", "Metrics of this case"),
        tag("p", join(shown, " "), class_="values"),
        class_="more",
    )
