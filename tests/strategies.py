"""Hypothesis strategies for valid fixtures: small alphabets, so that everything collides.

Nothing here breaks a rule of §3: invalid input has tests of its own.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

Record = dict[str, Any]
Fixture = tuple[list[Record], set[str], "list[Record] | None", tuple[int, ...], str]

# Two pairs differ by case and by Unicode form only: near misses.
IDS = ("a", "b", "c", "d", "A", "caf\u00e9", "cafe\u0301", "e-1")
KS: tuple[tuple[int, ...], ...] = ((1,), (2,), (3, 1), (10, 2), (10,), (1, 2, 5))
ABSTAIN_TEXTS = ("I do not know.",)
ANSWERS = (
    "Cedar Room",
    "  cedar\troom ",
    "The Cedar Room!",
    "Stra\u00dfe",
    "STRASSE",
    "the",
    "?!",
    "i DO not   know.",
    "I do not know",
    "",
    " \n",
)
EXPECTED = ("Cedar Room", "cedar room", "strasse", "the", "!", "a")
NORMALIZERS = ("lower-whitespace", "exact", "casefold", "squad")
LABEL_FIELDS = ("required_ids", "required_groups", "grades")
TRACE_FIELDS = ("retrieved_ids", "context_ids", "cited_ids", "candidate_ids", "filtered_ids")
# What a contract requires; `answer` may be null all the same.
CONTRACT_FIELDS = {
    "diagnosis": ("required_ids", "context_ids"),
    "citation": ("required_ids", "retrieved_ids", "cited_ids"),
    "ranking": ("question", "retrieved_ids", "required_ids"),
    "answer": (
        "question",
        "split",
        "expected_answers",
        "required_ids",
        "retrieved_ids",
        "answer",
        "cited_ids",
    ),
}
OTHER_FIELDS = (
    "allowed_ids",
    "forbidden_ids",
    "answerable",
    "answer",
    "abstained",
    "answer_correct",
    "expected_answers",
    "error",
    "ambiguity",
    "group",
    "split",
    "tags",
    "weight",
)


def evidence_ids() -> st.SearchStrategy[str]:
    """One ID of the small alphabet."""
    return st.sampled_from(IDS)


def id_lists(max_size: int = 6) -> st.SearchStrategy[list[str]]:
    """A list with repeats."""
    return st.lists(evidence_ids(), max_size=max_size)


@st.composite
def _sometimes(draw: st.DrawFn, strategy: st.SearchStrategy[Any], odds: int, null_at: range) -> Any:
    return None if draw(st.integers(1, odds)) in null_at else draw(strategy)


def rarely(strategy: st.SearchStrategy[Any], odds: int = 5) -> st.SearchStrategy[Any]:
    """The value one time in `odds`, else null."""
    return _sometimes(strategy, odds, range(1, odds))


def mostly(strategy: st.SearchStrategy[Any], odds: int = 6) -> st.SearchStrategy[Any]:
    """Null one time in `odds`, else the value."""
    return _sometimes(strategy, odds, range(odds, odds + 1))


@st.composite
def corpora(draw: st.DrawFn) -> list[Record]:
    """A corpus over part of the alphabet: equivalence groups, revisions, flags."""
    ids = draw(st.lists(st.sampled_from((*IDS, "only-here")), unique=True, min_size=1))
    flag = st.sampled_from((None, None, True, True, False))
    revision = st.sampled_from((None, "r1", "r1", "r2"))
    group = st.sampled_from((None, None, "g1", "g2"))
    return [
        {
            "evidence_id": one,
            "equivalence_group": draw(group),
            "revision": draw(revision),
            "indexed_revision": draw(revision),
            "in_source": draw(flag),
            "in_index": draw(flag),
            "in_chunks": draw(flag),
        }
        for one in ids
    ]


@cache
def _value(name: str) -> st.SearchStrategy[Any]:
    """What one field holds on one row, before the rules between fields are kept."""
    text = st.sampled_from
    table: dict[str, st.SearchStrategy[Any]] = {
        "required_ids": mostly(id_lists(3)),
        "required_groups": mostly(st.lists(st.lists(evidence_ids(), min_size=1, max_size=3))),
        "grades": mostly(
            st.lists(
                st.fixed_dictionaries({"id": evidence_ids(), "grade": st.integers(-1, 3)}),
                unique_by=lambda g: g["id"],
                max_size=5,
            )
        ),
        "allowed_ids": mostly(st.lists(evidence_ids(), min_size=4, max_size=12) | id_lists(3), 3),
        "forbidden_ids": mostly(id_lists(1), 3),
        "answerable": st.sampled_from((None, None, True, False, False)),
        "answer": mostly(text(ANSWERS)),
        "abstained": st.sampled_from((None, True, False, False)),
        "answer_correct": st.sampled_from((None, True, True, False)),
        "expected_answers": mostly(st.lists(text(EXPECTED), max_size=2)),
        "error": rarely(text(("timeout", " ", "")), 6),
        "ambiguity": rarely(text(("which year?", "\t", "")), 6),
        "question": text(("Which room?",)),
        "group": text((None, "family", "other")),
        "split": text((None, "dev", "test")),
        "tags": mostly(st.lists(text(("x", "y", "category=x")), max_size=3)),
        "weight": text((None, 0.5, 1.0, 2.0, 0.1, 3.25)),
    }
    return table.get(name, mostly(id_lists()))


def _keep_rules(record: Record, fields: set[str]) -> None:
    """Make a drawn record valid: change labels, never the trace."""
    for name in LABEL_FIELDS:
        # An unanswerable case has no requirement and no positive grade.
        if record.get("answerable") is False and record.get(name):
            if name == "grades":
                for grade in record[name]:
                    grade["grade"] = min(grade["grade"], 0)
            else:
                record[name] = []
    named = set(record.get("required_ids") or [])
    for group in record.get("required_groups") or []:
        named |= set(group)
    for grade in record.get("grades") or []:
        if grade["id"] in named:
            grade["grade"] = max(grade["grade"], 1)
    if record.get("answerable") is True:
        lists = [name for name in LABEL_FIELDS[:2] if name in fields]
        positive = any(g["grade"] > 0 for g in record.get("grades") or [])
        empty = not any(record[name] for name in lists) if lists else not positive
        if empty and fields & set(LABEL_FIELDS):
            record["answerable"] = None


def _help(record: Record, names: set[str]) -> None:
    """Put what is required at the head of these lists: blind draws rarely deliver in full."""
    wanted = list(record.get("required_ids") or [])
    wanted += [group[-1] for group in record.get("required_groups") or []]
    if not wanted:
        wanted = [grade["id"] for grade in record.get("grades") or [] if grade["grade"] > 0]
    for name in sorted(names):
        if record.get(name):
            record[name] = wanted + record[name][1:]
    if wanted and "cited_ids" in names and record.get("cited_ids"):
        record["cited_ids"] = wanted


@st.composite
def fixtures(
    draw: st.DrawFn,
    *,
    scalar: bool = False,
    contract: str | None = None,
    min_cases: int = 1,
    max_cases: int = 7,
) -> Fixture:
    """Valid (records, fields, corpus or None, ks, contract); without a contract, one is drawn.

    With `scalar`, `required_ids` and `expected_answers` hold at most one item and stand for
    the scalar aliases (`source`, `answer`); `_none_given` says both were given as null.
    """
    fields = {"case_id"}
    for name in LABEL_FIELDS:
        if draw(st.integers(1, 5)) <= (4 if name == "required_ids" else 2):
            fields.add(name)
    for name in TRACE_FIELDS:
        if draw(st.integers(1, 5)) <= (2 if name == "filtered_ids" else 4):
            fields.add(name)
    for name in OTHER_FIELDS:
        if draw(st.integers(1, 5)) <= (1 if name in ("allowed_ids", "forbidden_ids") else 3):
            fields.add(name)
    if scalar:
        fields |= {"required_ids", "expected_answers"}
    if contract is None:
        drawn = {"required_ids", "context_ids"} <= fields and draw(st.booleans())
        contract = "diagnosis" if drawn else "auto"
    needed = CONTRACT_FIELDS.get(contract, ())
    fields |= set(needed)

    records: list[Record] = []
    alien = draw(st.integers(1, 8)) == 1  # nothing retrieved shares the labels' ID space
    for number in range(draw(st.integers(min_cases, max_cases))):
        record: Record = {"case_id": f"q{number}"}
        for name in sorted(fields - {"case_id"}):
            record[name] = draw(_value(name))
        for name in needed:
            if name != "answer" and record[name] is None:
                record[name] = "dev" if name in ("split", "question") else []
        if scalar:
            for name in ("required_ids", "expected_answers"):
                record[name] = (record[name] or [])[:1]
        _keep_rules(record, fields)
        _help(record, draw(st.sets(st.sampled_from(TRACE_FIELDS[:3]))))
        if alien and record.get("retrieved_ids"):
            record["retrieved_ids"] = [f"alien-{one}" for one in record["retrieved_ids"]]
        if scalar:
            record["_none_given"] = not record["required_ids"] and not record["expected_answers"]
        # Fields that may be absent from single records are, now and then.
        for name in sorted(fields & set(OTHER_FIELDS) - {"allowed_ids", "forbidden_ids"}):
            if record[name] is None and draw(st.booleans()):
                del record[name]
        records.append(record)
    corpus = draw(st.none() | corpora())
    return records, fields, corpus, draw(st.sampled_from(KS)), contract


@st.composite
def rankings(draw: st.DrawFn, *, graded: bool = False) -> tuple[list[Record], set[str], int]:
    """Plain single-member answerable cases and a cutoff, as trec_eval knows them."""
    pool = [f"d{number}" for number in range(12)]
    records: list[Record] = []
    for number in range(draw(st.integers(1, 4))):
        ranked = draw(st.lists(st.sampled_from(pool), unique=True, min_size=1))
        relevant = draw(st.lists(st.sampled_from(pool), unique=True, min_size=1))
        record: Record = {"case_id": f"q{number}", "retrieved_ids": ranked}
        if graded:
            grades = [{"id": one, "grade": draw(st.integers(1, 4))} for one in relevant]
            others = [one for one in pool if one not in relevant]
            judged = draw(st.lists(st.sampled_from(others), unique=True)) if others else []
            record["grades"] = grades + [{"id": one, "grade": 0} for one in judged]
        else:
            record["required_ids"] = relevant
        records.append(record)
    fields = {"case_id", "retrieved_ids", "grades" if graded else "required_ids"}
    return records, fields, draw(st.integers(1, 12))
