"""Options one by one: cutoffs, the config file, mappings and aliases, slices, normalisers."""

from __future__ import annotations

from typing import Any

import pytest

import ragtriage
from tests.support import (
    CONTRACTS,
    Command,
    Evaluate,
    Writer,
    by_case,
    summary_row,
)

ANSWER = CONTRACTS / "answer.jsonl"
SHOWN = ("--no-write", "--format", "json")
GOOD = {"case_id": "a", "required_ids": ["p1"], "retrieved_ids": ["p2", "p1"]}


@pytest.mark.parametrize(
    ("given", "cutoffs"),
    [
        ((), [10]),
        (("--k", "3"), [3]),
        (("--k", "5,1,20"), [5, 1, 20]),
        (("--k", "5", "--k", "1"), [5, 1]),
        (("--k", " 5 , 1 "), [5, 1]),
        (("--k", "5,5,1"), [5, 1]),
        (("--k", "2147483647"), [2147483647]),
    ],
)
def test_cutoffs_in_the_order_given(
    cli: Command, written: Writer, given: tuple[str, ...], cutoffs: list[int]
) -> None:
    report = cli("evaluate", written([GOOD]), *given, *SHOWN).report()
    assert report["run"]["cutoffs"] == cutoffs
    ks = [row["k"] for row in report["summary"] if row["metric"] == "hit" and row["slice"] == "all"]
    assert ks == cutoffs


def test_the_ledger_and_the_minima_use_the_first_as_given(cli: Command, written: Writer) -> None:
    path = written([GOOD])
    for first, found in (("1,2", False), ("2,1", True)):
        shown = cli("evaluate", path, "--k", first, "--min-recall", "1", *SHOWN)
        assert shown.code == int(not found)
        report = shown.report()
        assert report["gates"][0]["gate"] == f"recall@{first[0]} >= 1"
        assert report["cases"][0]["evidence"][0]["in_top_k"] is found


BAD_CUTOFFS = ["0", "-1", "2.5", "true", "", "5,,6", "5;6", "1e3", "٣", "0x5", "5,", str(10**30)]


@pytest.mark.parametrize("value", [*BAD_CUTOFFS, "9" * 5000])
def test_cutoffs_refused_before_a_row_is_read(cli: Command, value: str) -> None:
    cli("evaluate", "no-such-file.jsonl", f"--k={value}", *SHOWN).refuses("--k")


@pytest.mark.parametrize("value", ["0", "2.5", "true", '"5"', "[]", "[5, 0]", "[[5]]", str(10**30)])
def test_cutoffs_refused_in_the_config_file_too(cli: Command, written: Writer, value: str) -> None:
    config = written(f"k = {value}\n", "run.toml")
    cli("evaluate", "no-such-file.jsonl", "--config", config, *SHOWN).refuses("--k")


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "10", [0], [True], ["10"], [], None])
def test_cutoffs_refused_in_python_too(value: Any) -> None:
    with pytest.raises(ragtriage.UsageError, match="--k"):
        ragtriage.evaluate("no-such-file.jsonl", k=value, write=False)


CONFIG = """
inputs = {path!r}
contract = "citation"
k = [3, 1]
gate = ["recall@1 >= 0.99"]
min-mrr = 0.5
write = false
"""


def test_a_config_file_with_flags_over_it(cli: Command, written: Writer) -> None:
    path = str(CONTRACTS / "citation.jsonl")
    config = written(CONFIG.format(path=path), "run.toml")
    alone = cli("evaluate", "--config", config, "--format", "json")
    assert alone.code == 1
    report = alone.report()
    assert (report["run"]["contract"], report["run"]["cutoffs"]) == ("citation", [3, 1])
    assert {gate["gate"]: gate["passed"] for gate in report["gates"]} == {
        "reciprocal_rank >= 0.5": True,
        "recall@1 >= 0.99": False,
    }
    flags = ("--k", "1,7", "--min-mrr", "0.6", "--gate", "recall@7 >= 0.5")
    over = cli("evaluate", "--config", config, "--format", "json", *flags).report()
    assert over["run"]["cutoffs"] == [1, 7]
    assert {gate["gate"]: gate["passed"] for gate in over["gates"]} == {
        "reciprocal_rank >= 0.6": False,
        "recall@1 >= 0.99": False,
        "recall@7 >= 0.5": True,
    }


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("cutoff = 5\n", "cutoff"),
        ("min_recal = 0.5\n", "min_recall"),
        ("min_recall = 1.5\n", "--min-recall"),
        ('min_recall = "0.5"\n', "--min-recall"),
        ("min_recall = true\n", "--min-recall"),
        ("gate = 5\n", "--gate"),
        ("all_cases = 5\n", "--all-cases"),
        ('map = "a=b"\n', "--map"),
        ("k = \n", "not valid TOML"),
        (b"# \xe9\n", "not valid UTF-8"),
    ],
)
def test_config_files_refused(cli: Command, written: Writer, text: str | bytes, word: str) -> None:
    config = written(text, "run.toml")
    for further in ((), ("--map", "x=question"), ("--gate", "recall@10 >= 0")):
        cli("evaluate", ANSWER, "--config", config, *further, *SHOWN).refuses(word)


def test_slices(evaluated: Evaluate) -> None:
    records = [
        GOOD | {"case_id": "a", "split": "test", "tags": ["x", "y"], "group": "g"},
        GOOD | {"case_id": "b", "split": "dev", "tags": ["x"], "category": "c"},
        GOOD | {"case_id": "c", "retrieved_ids": [], "difficulty": None},
    ]
    summary = evaluated(records, slice=["group"]).summary
    found = {
        (row["slice"], row["slice_value"]): (row["mean"], row["n_cases"])
        for row in summary.to_dicts()
        if (row["metric"], row["k"]) == ("recall", 10)
    }
    assert found == {
        ("all", "all"): (pytest.approx(2 / 3), 3),
        ("split", "test"): (1.0, 1),
        ("split", "dev"): (1.0, 1),
        ("tag", "x"): (1.0, 2),
        ("tag", "y"): (1.0, 1),
        ("tag", "category=c"): (1.0, 1),
        ("answerable", "true"): (pytest.approx(2 / 3), 3),
        ("group", "g"): (1.0, 1),
    }


def test_weights(evaluated: Evaluate) -> None:
    weights = {"a": 3.0, "b": None, "c": 0.5}
    lists: dict[str, list[str]] = {"a": ["p1"], "b": [], "c": ["p1"]}
    records = [
        GOOD | {"case_id": name, "weight": weights[name], "retrieved_ids": lists[name]}
        for name in weights
    ]
    row = summary_row(evaluated(records).summary, "recall", 10)
    assert row["mean"] == pytest.approx(2 / 3)
    assert row["weighted_mean"] == pytest.approx(3.5 / 4.5)


# normaliser: answers that equal the expected "The Caf\u00e9 is open." and some that do not
NORMALIZERS = {
    "lower-whitespace": (["the  CAF\u00c9 is\topen. "], ["the caf\u00e9 is open"]),
    "exact": (["The Caf\u00e9 is open."], ["the caf\u00e9 is open.", "The Caf\u00e9 is open. "]),
    "casefold": (["THE CAF\u00c9 IS OPEN."], ["the caf\u00e9 is open"]),
    "squad": (["caf\u00e9 is open", "A caf\u00e9, is open!"], ["caf\u00e9 is closed"]),
}


@pytest.mark.parametrize("name", NORMALIZERS)
def test_normalizers(evaluated: Evaluate, name: str) -> None:
    equal, other = NORMALIZERS[name]
    record = {"required_ids": ["p1"], "expected_answers": ["The Caf\u00e9 is open."]}
    answers = [*equal, *other]
    run = evaluated(
        [record | {"case_id": str(i), "answer": answer} for i, answer in enumerate(answers)],
        normalizer=name,
    )
    matches = [row["answer_match"] for row in by_case(run).values()]
    assert matches == [True] * len(equal) + [False] * len(other)
    assert run.report["run"]["normalizer"] == name


def test_abstain_texts(evaluated: Evaluate) -> None:
    answers = ["I do not know", " i DO not  know ", "I do not know it", "", None, "Pass"]
    records = [
        {"case_id": str(i), "answerable": False, "answer": answer}
        for i, answer in enumerate(answers)
    ]
    run = evaluated(records, abstain_text=["I do not know", "Pass"])
    appropriate = [row["appropriate_abstention"] for row in by_case(run).values()]
    assert appropriate == [True, True, False, True, True, True]


def test_flags_that_map_one_name_twice_must_agree(cli: Command, written: Writer) -> None:
    path, config = written([GOOD | {"x": "A?"}]), written('[map]\nx = "answer"\n', "run.toml")
    twice = ("--map", "x=answer", "--map", "x=question")
    for command in ("evaluate", "validate"):
        cli(command, path, *twice).refuses("--map: 'x' is mapped to 'answer' and to 'question'")
    # a flag goes over the file, and saying the same again is no contradiction
    again = ("--config", config, "--map", "x=question", "--map", "x=question")
    assert "x = question" in cli("evaluate", path, *again, *SHOWN).err
