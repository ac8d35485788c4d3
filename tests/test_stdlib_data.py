"""The shipped trace of a real retriever: it evaluates, loses evidence, and its page is right."""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from typing import Any

import pytest

import ragtriage
from ragtriage import Run
from tests.support import ROOT, Command, Record, summary_row

STDLIB = ROOT / "data" / "stdlib"
RUNS = ("plain", "names")
PAGE = (STDLIB / "README.md").read_text("utf-8")


def options(name: str) -> dict[str, str]:
    return {
        "cases": str(STDLIB / "questions.jsonl"),
        "trace": str(STDLIB / f"run-{name}.jsonl"),
        "corpus": str(STDLIB / "corpus.jsonl"),
        "about": str(STDLIB / f"about-{name}.toml"),
    }


@cache
def evaluated(name: str) -> Run:
    return ragtriage.evaluate(None, **options(name), k=[5, 20], write=False)


@cache
def ledger(name: str) -> list[Record]:
    return evaluated(name).evidence.to_dicts()


@cache
def records(name: str) -> list[Record]:
    return [json.loads(line) for line in (STDLIB / name).read_text("utf-8").splitlines()]


def passages() -> dict[str, Record]:
    return {passage["evidence_id"]: passage for passage in records("corpus.jsonl")}


def table(first_cell: str) -> dict[str, tuple[str, str]]:
    """The page's table with this heading: the last two cells of a row by its first."""
    lines = PAGE.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first_cell} |"))
    rows = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[cells[0].replace("`", "")] = (cells[-2], cells[-1])
    return rows


def packed(retrieved: list[str], length: dict[str, int], budget: int) -> list[str]:
    """Passages best first; one that does not fit is skipped."""
    fitting: list[str] = []
    for evidence_id in retrieved:
        if sum(length[kept] for kept in fitting) + length[evidence_id] <= budget:
            fitting.append(evidence_id)
    return fitting


def both(value: Any) -> tuple[str, str]:
    return (str(value(RUNS[0])), str(value(RUNS[1])))


# ------------------------------------------------------------------ the data


def test_required_ids_stand_in_the_corpus() -> None:
    known = set(passages())
    for case in records("questions.jsonl"):
        named = [*case["required_ids"], *(i for group in case["required_groups"] for i in group)]
        assert known.issuperset(named), case["case_id"]
        assert bool(named) is case["answerable"]
        assert ("no-answer" in case["tags"]) is not case["answerable"]
        requirements = len(case["required_ids"]) + len(case["required_groups"])
        assert ("multi" in case["tags"]) is (requirements > 1)


def test_a_pair_is_in_one_split_and_requires_the_same() -> None:
    pairs: dict[str, list[Record]] = {}
    for case in records("questions.jsonl"):
        pairs.setdefault(case["group"], []).append(case)
    for members in pairs.values():
        for key in ("split", "required_ids", "required_groups"):
            assert all(case[key] == members[0][key] for case in members)
        assert all(("paraphrase" in case["tags"]) is (len(members) > 1) for case in members)


@pytest.mark.parametrize("name", RUNS)
def test_a_context_is_the_retrieved_passages_that_fit(name: str) -> None:
    length = {key: len(passage["text"]) for key, passage in passages().items()}
    for row in records(f"run-{name}.jsonl"):
        assert len(row["retrieved_ids"]) == len(set(row["retrieved_ids"])) == 20
        assert row["context_ids"] == packed(row["retrieved_ids"], length, 1000)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_names_the_corpus_it_searched(name: str) -> None:
    digest = hashlib.sha256((STDLIB / "corpus.jsonl").read_bytes()).hexdigest()
    snapshots = {row["corpus_snapshot"] for row in records(f"run-{name}.jsonl")}
    assert snapshots == {f"CPython 3.11.7 sha256:{digest}"}


def test_the_folder_stays_small() -> None:
    assert sum(path.stat().st_size for path in STDLIB.iterdir()) < 2_000_000
    assert max(len(passage["text"]) for passage in records("corpus.jsonl")) <= 600


# ------------------------------------------------------------------ the runs


@pytest.mark.parametrize("name", RUNS)
def test_it_evaluates_without_a_fault(name: str) -> None:
    run = evaluated(name)
    assert run.passed
    assert run.rejects.is_empty()
    assert run.findings.is_empty()
    assert run.cases.height == len(records("questions.jsonl"))


@pytest.mark.parametrize("name", RUNS)
def test_evidence_is_lost_in_ranking_retrieval_and_context(name: str) -> None:
    losses = {row["lost_at"] for row in ledger(name)}
    assert losses == {None, "ranking", "retrieval", "context"}


@pytest.mark.parametrize("name", RUNS)
def test_what_arrived_waits_for_an_answer(name: str) -> None:
    for case in evaluated(name).cases.to_dicts():
        if not case["answerable"]:
            assert (case["stage"], case["break_point"]) == ("unprepared", "answer")
        elif case["missing"]:
            assert case["stage"] == "retrieval"
        else:
            assert (case["stage"], case["break_point"]) == ("unprepared", "answer-label")


# ------------------------------------------------------------------ the page


def lost(at: str) -> tuple[str, str]:
    return both(lambda name: sum(row["lost_at"] == at for row in ledger(name)))


def ranked(last: int) -> tuple[str, str]:
    return both(lambda name: sum((row["retrieved_rank"] or 99) <= last for row in ledger(name)))


def mean(metric: str, k: int | None = None, *in_slice: str) -> tuple[str, str]:
    return both(
        lambda name: f"{summary_row(evaluated(name).summary, metric, k, *in_slice)['mean']:.3f}"
    )


def test_the_requirements_it_counts() -> None:
    assert table("requirements") == {
        "in all": both(lambda name: len(ledger(name))),
        "among the first 20": ranked(20),
        "among the first 5": ranked(5),
        "delivered in the context": both(
            lambda name: sum(row["delivered"] for row in ledger(name))
        ),
        "lost at retrieval": lost("retrieval"),
        "lost at ranking": lost("ranking"),
        "lost at context": lost("context"),
    }


def test_the_means_it_gives() -> None:
    assert table("mean over cases") == {
        "recall": mean("recall"),
        "recall@5": mean("recall", 5),
        "context_recall": mean("context_recall"),
        "recall, multi": mean("recall", None, "tag", "multi"),
        "false_evidence": mean("false_evidence"),
    }


def test_the_ranks_it_lists() -> None:
    def cell(row: Record) -> str:
        return f"{row['retrieved_rank'] or '-'}{'*' if row['delivered'] else ''}"

    found = {
        plain["case_id"]: (cell(plain), cell(names))
        for plain, names in zip(*map(ledger, RUNS), strict=True)
        if plain["retrieved_rank"] or names["retrieved_rank"]
    }
    assert table("case") == found


def test_what_a_larger_context_would_deliver() -> None:
    length = {key: len(passage["text"]) for key, passage in passages().items()}

    def delivered(name: str) -> int:
        context = {
            row["case_id"]: packed(row["retrieved_ids"], length, 1500)
            for row in records(f"run-{name}.jsonl")
        }
        found = [
            (row["retrieved_rank"], row["retrieved_id"] in context[row["case_id"]])
            for row in ledger(name)
            if row["retrieved_rank"]
        ]
        assert all(there for rank, there in found if rank <= 5)
        return sum(there for _, there in found)

    plain, names = map(delivered, RUNS)
    said = f"At 1,500 the plain run delivers {plain} requirements and the other {names}."
    assert said in " ".join(PAGE.split())


def test_the_output_it_shows(cli: Command) -> None:
    command = re.search(r"^    ragtriage (evaluate .*)$", PAGE, re.MULTILINE)
    assert command
    arguments = command[1].replace("data/stdlib", str(STDLIB)).split()
    printed = cli(*arguments, "--no-write", "--format", "table")
    assert printed.code == 0
    given = {" ".join(line.split()) for line in printed.out.splitlines()}
    shown = PAGE.split("```text\n")[1].split("```")[0].splitlines()
    assert [line for line in shown if line != "…" and " ".join(line.split()) not in given] == []


def test_the_sizes_it_names() -> None:
    questions, corpus = records("questions.jsonl"), records("corpus.jsonl")

    def tagged(tag: str) -> int:
        return sum(tag in case["tags"] for case in questions)

    modules = len({passage["document_id"] for passage in corpus})
    trimmed = sum(passage["text"].endswith(" …") for passage in corpus)
    assert f"{len(questions)} questions, {len(corpus):,} passages" in PAGE
    assert f"the docstrings of {modules} modules" in " ".join(PAGE.split())
    assert f"({trimmed} of them are longer)" in PAGE
    assert f"{tagged('multi')} require two" in " ".join(PAGE.split())
    assert f"{tagged('interchangeable')} accept any" in PAGE
    assert f"{tagged('paraphrase')} are pairs" in PAGE
    assert f"{tagged('no-answer')} are not" in PAGE


def test_how_many_share_no_word() -> None:
    def words(text: str) -> set[str]:
        return set(re.findall(r"\b\w\w+\b", text.lower()))

    texts = {key: words(passage["text"]) for key, passage in passages().items()}
    strangers = sum(
        not any(words(case["question"]) & texts[evidence_id] for evidence_id in group)
        for case in records("questions.jsonl")
        for group in [*([key] for key in case["required_ids"]), *case["required_groups"]]
    )
    assert f"{strangers} requirements share no word at all" in " ".join(PAGE.split())
