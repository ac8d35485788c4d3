"""`evidence-sets`: OR of AND sets, as FEVER, HotpotQA, SciFact and FinanceBench have them.

One AND set is a group for each of its members, and sets of one member each are one group. What
is neither cannot be said by `required_groups`, and is rejected.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from ragtriage.read.batches import Batch, Reader
from ragtriage.read.files import InputFile
from ragtriage.read.presets.base import CASES, RECORDS, Asked, Preset, Sample, UnmappableError
from ragtriage.read.presets.foreign import Foreign, as_foreign, foreign_records
from ragtriage.read.presets.rows import Record, Row, batches_of
from ragtriage.read.presets.values import opened, shown, text_of

Sets = list[list[str]]
_GROUPS = "required_groups"
_NOTHING = "not enough info"


def _map(row: Row) -> Record:
    get = row.get
    expected = text_of("expected_answers", get("answer"))
    label = text_of("tags", get("label"))
    sets = _sets(row)
    record: Record = {
        "case_id": text_of("case_id", get("_id", "id", "financebench_id")),
        "question": text_of("question", get("question", "claim")),
        "expected_answers": None if expected is None else [expected],
        "tags": None if label is None else [f"label={label}"],
    }
    if sets is not None:
        record[_GROUPS] = as_groups(sets)
    if label is not None and label.strip().lower() == _NOTHING:
        record["answerable"] = False
    return record


def _sets(row: Row) -> Sets | None:
    facts = opened(_GROUPS, row.get("supporting_facts"))
    if facts is not None:
        return [_facts(facts)]
    evidence = opened(_GROUPS, row.get("evidence"))
    if evidence is None:
        return None
    if isinstance(evidence, dict):
        return [one for document, found in evidence.items() for one in _rationales(document, found)]
    if not isinstance(evidence, list):
        raise UnmappableError(_GROUPS, f"expected evidence, got {shown(evidence)}")
    if evidence and all(isinstance(item, dict) for item in evidence):
        return [[_page(item) for item in evidence]]
    return [_annotated(one) for one in evidence]


def as_groups(sets: Sets) -> list[list[str]]:
    """OR of AND sets as AND of OR groups, where one AND set or single members make them so."""
    different = list(dict.fromkeys(tuple(dict.fromkeys(one)) for one in sets if one))
    if not different:
        return []
    if len(different) == 1:
        return [[member] for member in different[0]]
    if all(len(one) == 1 for one in different):
        return [[one[0] for one in different]]
    raise UnmappableError(
        _GROUPS,
        f"{len(different)} alternative sets, of up to {max(map(len, different))} members: groups "
        'cannot say "all of these or all of those"; keep one set',
    )


def _facts(facts: Any) -> list[str]:
    """HotpotQA: pairs of title and sentence, or two lists beside each other."""
    if isinstance(facts, dict):
        titles, places = facts.get("title"), facts.get("sent_id")
        if (
            not isinstance(titles, list)
            or not isinstance(places, list)
            or len(titles) != len(places)
        ):
            raise UnmappableError(_GROUPS, "titles and sentences are not as many")
        facts = list(zip(titles, places, strict=True))
    if not isinstance(facts, list):
        raise UnmappableError(_GROUPS, f"expected supporting facts, got {shown(facts)}")
    return [_sentence(fact, 0, 1) for fact in facts]


def _annotated(one: Any) -> list[str]:
    """FEVER: annotation, evidence, page, sentence; null where there is none."""
    members = one if isinstance(one, list) else [one]
    return [_sentence(m, 2, 3) for m in members if not (isinstance(m, list) and m[2:3] == [None])]


def _sentence(fact: Any, page: int, sentence: int) -> str:
    named = fact[page : sentence + 1] if isinstance(fact, list | tuple) else ()
    if len(named) <= sentence - page or None in named:
        raise UnmappableError(_GROUPS, f"{shown(fact)} names no page and sentence")
    return f"{text_of(_GROUPS, fact[page])}#{text_of(_GROUPS, fact[sentence])}"


def _rationales(document: str, found: Any) -> Sets:
    """SciFact: for each document alternative sets of sentences."""
    sets = []
    for one in found if isinstance(found, list) else [found]:
        sentences = one.get("sentences") if isinstance(one, dict) else one
        if not isinstance(sentences, list) or None in sentences:
            raise UnmappableError(_GROUPS, f"{shown(one)} has no `sentences`")
        sets.append([f"{document}#{text_of(_GROUPS, place)}" for place in sentences])
    return sets


def _page(item: Record) -> str:
    """FinanceBench: a document and a page of it."""
    document = item.get("evidence_doc_name") or item.get("doc_name")
    page = item.get("evidence_page_num")
    if document is None or page is None:
        raise UnmappableError(_GROUPS, f"{shown(item)} names no document and page")
    return f"{text_of(_GROUPS, document)}#{text_of(_GROUPS, page)}"


def _reader(asked: Asked) -> Reader:
    def read(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
        yield from batches_of(_apart(foreign_records(stream, file)), _map, asked)

    return read


def _apart(records: Iterator[Foreign]) -> Iterator[Foreign]:
    """HotpotQA's `{answer: {id: text}, sp: {id: facts}}` as a record for each ID."""
    for foreign in records:
        if not _is_by_id(foreign.value):
            yield foreign
            continue
        answers, facts = foreign.value["answer"], foreign.value["sp"]
        for number, name in enumerate(dict.fromkeys([*answers, *facts]), 1):
            one = {"_id": name, "answer": answers.get(name), "supporting_facts": facts.get(name)}
            yield as_foreign(number, one)


def _is_by_id(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(name), dict) for name in ("answer", "sp")
    )


def _recognise(sample: Sample) -> str | None:
    found = sample.keys & {"supporting_facts"}
    if {"claim", "evidence"} <= sample.keys or "financebench_id" in sample.keys:
        found = {"evidence"}
    if any(_is_by_id(record) for record in sample.records):
        found = {"answer", "sp"}
    return f"has {', '.join(sorted(found))}" if found else None


PRESET = Preset(
    name="evidence-sets",
    about="evidence sets of FEVER, HotpotQA, SciFact and FinanceBench",
    layout="`evidence[[[annotation, id, page, sentence]]]`; `supporting_facts[[title, sentence]]`; "
    "`{answer{id: text}, sp{id: [[title, sentence]]}}`; `evidence{doc: [{sentences}]}`; "
    "`evidence[{evidence_doc_name, evidence_page_num}]`",
    maps_to="question, required_groups (IDs `page#sentence`), expected_answers, answerable",
    quirks=(
        "one set of which all is needed: a group for each member",
        "sets of one member: one group, any of it will do",
        "several sets with several members: rejected, groups cannot say that",
        "nulls for no evidence: nothing is required",
        "IDs as integers, also beyond 64 bits",
    ),
    roles=(RECORDS, CASES),
    reader=_reader,
    recognise=_recognise,
)
