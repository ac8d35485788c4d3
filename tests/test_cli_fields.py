"""Names of fields in users' files: mappings, aliases and which contract admits them."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.support import Command, Evaluate, Writer, by_case, cases_in

SHOWN = ("--no-write", "--format", "json")
GOOD = {"case_id": "a", "required_ids": ["p1"], "retrieved_ids": ["p2", "p1"]}


def test_a_mapping_is_used_shown_and_kept(cli: Command, written: Writer) -> None:
    record = {"no": "a", "gold": "p1", "hits": ["p1"]}
    path = written([record])
    cli("evaluate", path, *SHOWN).refuses("no", "[unknown-field]")
    maps = ("--map", "no=case_id", "--map", "gold=required_ids", "--map", "hits=retrieved_ids")
    shown = cli("evaluate", path, *maps, *SHOWN)
    report = shown.report()
    assert cases_in(report)["a"]["recall_at_10"] == 1.0
    mapping = {"no": "case_id", "gold": "required_ids", "hits": "retrieved_ids"}
    assert report["run"]["mapping"] == mapping
    for theirs, ours in mapping.items():
        assert f"{theirs} = {ours}" in shown.err


def test_unknown_fields_are_set_aside_when_asked(cli: Command, written: Writer) -> None:
    path = written([GOOD | {"note": {"a": [1]}, "latency_ms": 3}, GOOD | {"case_id": "b"}])
    cli("evaluate", path, *SHOWN).refuses(f"{path}:1: note: ", f"{path}:1: latency_ms: ")
    report = cli("evaluate", path, "--extra", "ignore", *SHOWN).report()
    assert report["run"]["n_cases"] == 2
    notes = " ".join(report["run"]["notes"])
    assert "latency_ms" in notes
    assert "note" in notes


# Names that JSON can hold and a decoder's field, a terminal or a pattern cannot.
ODD_NAMES = [
    'a"b',
    '":',
    "a\\b",
    "a\nb",
    "a\x00b",
    "\x1b[31mx",
    "\u202ex",
    "",
    " ",
    "*",
    "^x.*$",
    "{x}",
]


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
@pytest.mark.parametrize("lines", [1, 3, 400])
def test_an_unknown_field_may_have_any_name(
    cli: Command, written: Writer, name: str, lines: int
) -> None:
    path = written([GOOD | {"case_id": f"c{n}", name: n} for n in range(lines)])
    shown = cli("evaluate", path, "--extra", "ignore", *SHOWN)
    report = shown.report()
    assert report["run"]["n_cases"] == lines
    assert {case["case_id"] for case in report["cases"]} <= {f"c{n}" for n in range(lines)}
    assert f"{name} ({lines})" in " ".join(report["run"]["notes"])
    assert not set("\x1b\x00\u202e") & set(shown.err)
    told = cli("inspect", path)
    assert told.code == 0, told.err
    assert not set("\x1b\x00\u202e") & set(told.out)


@pytest.mark.parametrize("name", [name for name in ODD_NAMES if name.strip()], ids=ascii)
@pytest.mark.parametrize("lines", [1, 3, 400])
def test_a_mapped_field_may_have_any_name(
    cli: Command, written: Writer, name: str, lines: int
) -> None:
    path = written([GOOD | {"case_id": f"c{n}", name: f"why {n}?"} for n in range(lines)])
    shown = cli("evaluate", path, "--map", f"{name}=question", *SHOWN)
    report = shown.report()
    assert report["run"]["n_cases"] == lines
    assert report["run"]["mapping"] == {name: "question"}
    assert not set("\x1b\x00\u202e") & set(shown.err)


# alias: a value under it, the field, what the field must come to
ALIASES: dict[str, tuple[Any, str, Any]] = {
    "query": ("q", "question", "q"),
    "user_input": ("q", "question", "q"),
    "family": ("f", "group", "f"),
    "slices": (["x"], "tags", ["x"]),
    "category": ("c", "tags", ["category=c"]),
    "difficulty": ("hard", "tags", ["difficulty=hard"]),
    "is_answerable": (True, "answerable", True),
    "required": (["p1"], "required_ids", ["p1"]),
    "relevant_document_ids": (["p1"], "required_ids", ["p1"]),
    "relevant_ids": (["p1"], "required_ids", ["p1"]),
    "relevant_doc_ids": (["p1"], "required_ids", ["p1"]),
    "reference_context_ids": (["p1"], "required_ids", ["p1"]),
    "expected_document_ids": (["p1"], "required_ids", ["p1"]),
    "gold_chunk_ids": (["p1"], "required_ids", ["p1"]),
    "retrieval_gt": ([["p1", "p2"]], "required_groups", [["p1", "p2"]]),
    "required_aspects": (["c"], "required_claims", ["c"]),
    "expected_answer": ("e", "expected_answers", ["e"]),
    "reference": ("e", "expected_answers", ["e"]),
    "ground_truth": (["e", "f"], "expected_answers", ["e", "f"]),
    "expected_output": (None, "expected_answers", []),
    "retrieved": (["p1"], "retrieved_ids", ["p1"]),
    "retrieved_document_ids": (["p1"], "retrieved_ids", ["p1"]),
    "retrieved_chunk_ids": (["p1"], "retrieved_ids", ["p1"]),
    "retrieved_context_ids": (["p1"], "retrieved_ids", ["p1"]),
    "packet_ids": (["p1"], "context_ids", ["p1"]),
    "selected_ids": (["p1"], "context_ids", ["p1"]),
    "context_document_ids": (["p1"], "context_ids", ["p1"]),
    "cited_document_ids": (["p1"], "cited_ids", ["p1"]),
    "citations": (["p1"], "cited_ids", ["p1"]),
    "response": ("a", "answer", "a"),
    "actual_output": ("a", "answer", "a"),
    "prediction": ("a", "answer", "a"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("alias", ALIASES)
def test_aliases(evaluated: Evaluate, alias: str) -> None:
    value, field, expected = ALIASES[alias]
    assert by_case(evaluated([{"case_id": "a", alias: value}]))["a"][field] == expected


@pytest.mark.parametrize("alias", ["id", "qid", "query_id", "question_id", "_id"])
def test_aliases_of_the_case_id(evaluated: Evaluate, alias: str) -> None:
    assert list(by_case(evaluated([{alias: "a"}]))) == ["a"]


# restricted alias: a value, the field, the value as read, the contracts that admit it
RESTRICTED: dict[str, tuple[Any, str, Any, set[str]]] = {
    "input": ("q", "question", "q", set()),
    "type": ("t", "tags", ["type=t"], set()),
    "source": ("p1", "required_ids", ["p1"], {"diagnosis", "answer"}),
    "context": (["p1"], "context_ids", ["p1"], {"diagnosis"}),
    "cited": ("p1", "cited_ids", ["p1"], {"citation", "answer"}),
    "correct": (True, "answer_correct", True, {"diagnosis", "answer"}),
}
FULL = {
    "case_id": "a",
    "question": "q",
    "split": "test",
    "expected_answers": ["e"],
    "required_ids": ["p1"],
    "retrieved_ids": ["p1"],
    "context_ids": ["p1"],
    "answer": "e",
    "cited_ids": ["p1"],
}


@pytest.mark.thorough
@pytest.mark.parametrize("contract", ["auto", "diagnosis", "citation", "ranking", "answer"])
@pytest.mark.parametrize("alias", RESTRICTED)
def test_restricted_aliases(
    cli: Command, written: Writer, evaluated: Evaluate, alias: str, contract: str
) -> None:
    value, field, expected, contracts = RESTRICTED[alias]
    record = {name: given for name, given in FULL.items() if name != field} | {alias: value}
    if contract in contracts:
        assert by_case(evaluated([record], contract=contract))["a"][field] == expected
        return
    path = written([FULL | {"case_id": "own names"}, record])
    refused = cli("evaluate", path, "--contract", contract, *SHOWN)
    refused.refuses(f"{alias}: not a known field", f"--map {alias}={field}")
    mapped = evaluated([record], contract=contract, map={alias: field})
    assert by_case(mapped)["a"][field] == expected


@pytest.mark.parametrize(
    ("first", "second", "field"),
    [
        ("required_ids", "relevant_ids", "required_ids"),
        ("retrieved", "retrieved_chunk_ids", "retrieved_ids"),
        ("id", "case_id", "case_id"),
    ],
)
def test_two_names_for_one_field(
    cli: Command, written: Writer, first: str, second: str, field: str
) -> None:
    value: Any = "a" if field == "case_id" else ["p1"]
    record = {"case_id": "a"} | {first: value, second: value}
    path = written([GOOD | {"case_id": "good"}, record])
    shown = cli("evaluate", path, *SHOWN)
    shown.refuses(f"{path}:2: {field}: given twice", "[duplicate-key]")


def test_no_message_holds_all_of_a_huge_name(cli: Command, written: Writer) -> None:
    huge = "n" * 100_000
    claims = [{"claim_id": "c", huge: 1}]
    path = written([GOOD | {"case_id": huge}] * 2 + [{"case_id": "b", "claims": claims}])
    for message in cli("validate", path).err.splitlines():
        assert len(message) < 500
        assert (
            "; " in message or message.endswith("errors") or message.startswith("another layout?")
        )


def test_the_nearest_of_an_unknown_name_is_sought_once(
    cli: Command, written: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sought: list[str] = []

    def nearest(name: str, _known: list[str]) -> str:
        sought.append(name)
        return ""

    monkeypatch.setattr("ragtriage.read.aliases.nearest", nearest)
    path = written([GOOD | {"case_id": f"c{i}", "retreived": []} for i in range(50)])
    cli("validate", path).refuses(f"{path}:20: retreived: not a known field")
    assert sought == ["retreived"]


# Of names that occur twice, the first is found without a look at all others for each.
WIDE = [f"c{i}" for i in range(20_000)] + ["c19999"]


@pytest.mark.parametrize(
    ("name", "content", "preset"),
    [
        ("wide.csv", ",".join(WIDE) + "\n", ()),
        ("wide.jsonl", "{" + ",".join(f'"{n}": 1' for n in WIDE) + "}\n", ("--from", "records")),
    ],
)
def test_a_name_that_is_given_twice_among_very_many(
    cli: Command, written: Writer, name: str, content: str, preset: tuple[str, ...]
) -> None:
    path, started = written(content, name), time.process_time()
    cli("validate", path, *preset).refuses(f"{path}:1: ", "'c19999' is given", "[duplicate-key]")
    assert time.process_time() - started < 2
