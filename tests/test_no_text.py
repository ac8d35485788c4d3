"""`--no-text`: marked texts of every field reach no byte of any output, and numbers stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragtriage
from ragtriage.errors import RagtriageError, UsageError
from ragtriage.schemas.inputs import CASE_FIELDS, dtypes
from ragtriage.schemas.results import CaseResults
from ragtriage.schemas.texts import LEFT_OUT, MARKED, NULLED, TEXT_FIELDS, WITHOUT_TEXT
from ragtriage.without_text import nothing_quoted
from tests.support import Command

MARK = "ZEBRA"


def mark(name: str, *, spaced: bool = True) -> str:
    """A text that nothing else holds, and that can be told to be of this field."""
    return f"{MARK} {name} text" if spaced else f"{MARK}-{name}"


def case(case_id: str, **changes: Any) -> dict[str, Any]:
    """A case with marked text in every field that holds text, and plain IDs elsewhere."""
    record = {
        "case_id": case_id,
        "question": mark("question"),
        "intended_meaning": mark("meaning"),
        "split": "test",
        "group": "family",
        "tags": ["topic"],
        "required_ids": ["a"],
        "required_claims": ["c1", "c2"],
        "expected_answers": [mark("expected"), mark("expected 2")],
        "retrieved_ids": ["a", "b"],
        "context_ids": ["a"],
        "context_text": mark("context"),
        "cited_ids": ["a"],
        "answer": mark("answer"),
        "claims": [
            {"claim_id": "c1", "supported": True, "cited_ids": ["a"], "text": mark("claim")}
        ],
        "filters": mark("filters"),
        "retrieval_config": "bm25",
        "query_rewrite": mark("rewrite"),
        "answer_correct": False,
    }
    return record | changes


def written(path: Path, records: list[Any]) -> str:
    """JSON lines; a string stands as it is."""
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


VALID = [
    case("plain"),
    case("failed", error=mark("error")),
    case("unclear", ambiguity=mark("ambiguity")),
    case("silent", answer=mark("abstain"), answer_correct=None),
    case("matched", answer=mark("expected"), answer_correct=None),
]
FAULTY = [
    '{"case_id": "broken", "question": "' + mark("syntax"),
    json.dumps([mark("array")]),
    json.dumps(mark("string")),
    case("typed", question=[mark("in a list")]),
    case("number", answer={"said": mark("in an object")}),
    case("labelled", answer_correct=mark("label")),
    case("unlisted", expected_answers=mark("not a list, of several")),
    case("nulls", expected_answers=[None, mark("beside null")]),
    case("items", retrieved_ids=[{"id": mark("object for ID")}]),
    case("claimed", claims=[{"claim_id": "c", "supported": mark("label"), "text": mark("c")}]),
    case("doubled", claims=[{"claim_id": "c", "supported": True, "text": mark("c")}] * 2),
    case("extra", extra_field=mark("extra")),
    case("keyed", **{mark("a question as a key"): 1}),
    '{"' + mark("key") + '": 1, "' + mark("key") + '": 2}',
    json.dumps(case("twice"))[:-1] + ', "question": "' + mark("second") + '"}',
    json.dumps(case("surrogate", question=mark("x")))[:-1]
    + ', "error": "\\ud800 '
    + mark("y")
    + '"}',
    case("plain", question=mark("of a repeated case")),
    case("weights", weight=-1),
]
REVIEWS = [
    {"case_id": "plain", "claim_id": "c1", "reviewer": name, "kind": kind, "label": label,
     "note": mark(f"note by {name}")}
    for name, kind, label in (
        ("ana", "human", True), ("ben", "human", False), ("cyd", "adjudication", False),
        ("nli", "judge", True),
    )
] + [
    {"case_id": "plain", "reviewer": "ana", "kind": mark("kind"), "label": True,
     "note": mark("faulty note")},
    {"case_id": "nowhere", "reviewer": "ana", "kind": "human", "label": True, "note": mark("n")},
]  # fmt: skip
CORPUS = [
    {"evidence_id": "a", "text": mark("passage"), "title": mark("title"), "location": "1"},
    {"evidence_id": "b", "text": [mark("faulty passage")]},
]


def everything(folder: Path) -> bytes:
    """Every byte of every file, Parquet decoded as well as raw, and every name."""
    parts = []
    for file in sorted(folder.rglob("*")):
        parts.append(str(file.relative_to(folder)).encode())
        if file.is_file():
            parts.append(file.read_bytes())
        if file.suffix == ".parquet":
            parts.append(pl.read_parquet(file).write_json().encode())
    return b"\n".join(parts)


def holds_no_mark(cli_texts: list[str], folder: Path) -> None:
    assert all(MARK not in text for text in cli_texts)
    assert folder.is_dir()
    assert MARK.encode() not in everything(folder)


@pytest.mark.parametrize(
    ("on_invalid", "format_"),
    [
        ("fail", "table"),
        ("quarantine", "table"),
        ("quarantine", "markdown"),
        ("quarantine", "json"),
    ],
)
def test_evaluate_leaves_every_text_out(
    cli: Command, tmp_path: Path, format_: str, on_invalid: str
) -> None:
    source = written(tmp_path / "cases.jsonl", [*VALID, *FAULTY])
    options = ["--reviews", written(tmp_path / "reviews.jsonl", REVIEWS)]
    options += ["--corpus", written(tmp_path / "corpus.jsonl", CORPUS)]
    options += ["--abstain-text", mark("abstain"), "--on-invalid", on_invalid, "--format", format_]
    out = tmp_path / "out"
    done = cli("evaluate", source, *options, "--no-text", "--out", str(out), "--run-id", "run")
    assert done.code == (2 if on_invalid == "fail" else 0), done.err
    holds_no_mark([done.out, done.err], out)
    assert (out / "run" / "rejects").is_dir()
    plain = cli("evaluate", source, *options, "--out", str(tmp_path / "told"))
    assert MARK.encode() in everything(tmp_path / "told")
    assert MARK in plain.out + plain.err


def test_extra_fields_and_separate_files_are_no_way_out(cli: Command, tmp_path: Path) -> None:
    labels = ("case_id", "question", "split", "required_ids", "expected_answers")
    cases = [{k: v for k, v in record.items() if k in labels} for record in VALID]
    traces = [
        {k: v for k, v in record.items() if k == "case_id" or k not in labels} for record in VALID
    ]
    traces[0] |= {"question": mark("another question"), "extra": mark("extra")}
    traces[1] |= {mark("a question as a key"): 1}
    traces.append({"case_id": "unknown", **{k: v for k, v in traces[1].items() if k != "case_id"}})
    files = ["--cases", written(tmp_path / "cases.jsonl", cases)]
    files += ["--trace", written(tmp_path / "trace.jsonl", traces)]
    out = tmp_path / "out"
    done = cli("evaluate", *files, "--extra", "ignore", "--on-invalid", "quarantine", "--no-text",
               "--out", str(out), "--format", "json")  # fmt: skip
    assert done.code == 0, done.err
    assert "extra (1)" in done.err
    assert "key left out (2)" in done.err
    holds_no_mark([done.out, done.err], out)


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_no_format_of_input_is_a_way_out(cli: Command, tmp_path: Path, ending: str) -> None:
    source = tmp_path / f"cases.{ending}"
    record = case("one", expected_answers=[mark("expected")])
    del record["claims"]
    if ending == "csv":
        cells = {k: json.dumps(v) if isinstance(v, list) else v for k, v in record.items()}
        faulty = cells | {"case_id": "two", "required_ids": mark("no list"), "weight": mark("w")}
        pl.DataFrame([cells | {"weight": "1"}, faulty]).write_csv(source)
    elif ending == "json":
        faulty = record | {"case_id": "two", "answer": [mark("list")]}
        source.write_text(json.dumps([record, faulty]), encoding="utf-8")
    else:
        rows = [record, record | {"case_id": " two"}]
        pl.DataFrame(rows).write_parquet(source)
    out = tmp_path / "out"
    done = cli("evaluate", str(source), "--on-invalid", "quarantine", "--no-text", "--out",
               str(out), "--format", "markdown")  # fmt: skip
    assert done.code == 0, done.err
    holds_no_mark([done.out, done.err], out)


def test_validate_quotes_nothing(cli: Command, tmp_path: Path) -> None:
    source = written(tmp_path / "cases.jsonl", [*VALID, *FAULTY])
    done = cli("validate", source, "--no-text")
    assert done.code == 2
    assert MARK not in done.out + done.err
    assert "cases.jsonl:9: question: wrong type [type]" in done.err
    assert "'plain' is not unique" in done.err


def test_a_comparison_leaves_texts_out(cli: Command, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    base = written(tmp_path / "base.jsonl", [case(f"c{i}", answer_correct=True) for i in range(3)])
    worse = [case(f"c{i}", answer=mark("other"), error=mark("boom")) for i in range(3)]
    candidate = written(tmp_path / "candidate.jsonl", worse)
    for name, source in (("base", base), ("candidate", candidate)):
        cli("evaluate", source, "--out", str(out), "--run-id", name)
    told = tmp_path / "compared"
    for format_ in ("table", "markdown", "json"):
        done = cli("compare", str(out / "base"), str(out / "candidate"), "--no-text", "--out",
                   str(told), "--format", format_)  # fmt: skip
        assert done.code == 1, done.err
        holds_no_mark([done.out, done.err], told)
    pages = [file.read_text("utf-8") for file in told.rglob("report.html")]
    assert pages
    for page in pages:
        assert "left out (--no-text)</p>" in page
        assert "none recorded" not in page
        assert "the same in both" not in page
    done = cli("compare", base, candidate, "--no-text", "--out", str(tmp_path / "inputs"))
    holds_no_mark([done.out, done.err], tmp_path / "inputs")
    done = cli("evaluate", candidate, "--baseline", str(out / "base"), "--no-text", "--out",
               str(tmp_path / "against"))  # fmt: skip
    holds_no_mark([done.out, done.err], tmp_path / "against")


def test_abstain_texts_are_not_named_where_they_differ(cli: Command, tmp_path: Path) -> None:
    source = written(tmp_path / "cases.jsonl", VALID)
    out = tmp_path / "runs"
    for name, flags in (("a", ["--abstain-text", mark("abstain")]), ("b", [])):
        cli("evaluate", source, *flags, "--out", str(out), "--run-id", name)
    done = cli("compare", str(out / "a"), str(out / "b"), "--no-text", "--no-write")
    assert done.code == 2
    assert MARK not in done.out + done.err
    assert "sha256:" in done.err


def test_a_run_without_texts_compares_as_one_with_them(tmp_path: Path) -> None:
    source = written(tmp_path / "cases.jsonl", VALID)
    options: dict[str, Any] = {"abstain_text": [mark("abstain")], "out": str(tmp_path / "out")}
    told = ragtriage.evaluate(source, run_id="told", **options)
    silent = ragtriage.evaluate(source, run_id="silent", no_text=True, **options)
    found = ragtriage.compare(told.folder, silent.folder, out=str(tmp_path / "out"))
    assert found.cases.is_empty()
    assert "question, ambiguity" not in " ".join(found.failures)
    notes = found.report["comparison"]["notes"]
    assert any("texts were left out" in note for note in notes)
    assert found.report["deltas"]


def test_numbers_and_ids_are_those_of_a_run_with_texts(tmp_path: Path) -> None:
    source = written(tmp_path / "cases.jsonl", VALID)
    told = ragtriage.evaluate(source, write=False, abstain_text=[mark("abstain")])
    silent = ragtriage.evaluate(source, write=False, abstain_text=[mark("abstain")], no_text=True)
    for name in ("summary", "stages", "findings", "evidence"):
        one, other = getattr(told, name), getattr(silent, name)
        assert one.drop("run_id").equals(other.drop("run_id")), name
    kept = [n for n in told.cases.columns if n not in (*TEXT_FIELDS, "run_id", "claims")]
    assert told.cases.select(kept).equals(silent.cases.select(kept))
    assert all(silent.cases[name].null_count() == len(VALID) for name in NULLED)
    for name in MARKED:
        set_ = told.cases[name].is_not_null()
        assert set_.any()
        assert silent.cases[name].is_not_null().equals(set_)
        assert silent.cases[name].drop_nulls().unique().to_list() == [LEFT_OUT]
    claims = silent.cases["claims"].explode().struct.unnest()
    assert claims["text"].null_count() == claims.height
    assert claims["claim_id"].unique().to_list() == ["c1"]


@pytest.mark.parametrize("format_", ["table", "markdown", "json"])
def test_agreement_leaves_notes_out(cli: Command, tmp_path: Path, format_: str) -> None:
    source = written(tmp_path / "reviews.jsonl", REVIEWS)
    out = tmp_path / "out"
    done = cli("agreement", source, "--on-invalid", "quarantine", "--no-text", "--out", str(out),
               "--format", format_)  # fmt: skip
    assert done.code == 0, done.err
    holds_no_mark([done.out, done.err], out)
    assert b"ana" in everything(out)


@pytest.mark.parametrize("format_", ["table", "markdown", "json"])
def test_leakage_leaves_texts_out(cli: Command, tmp_path: Path, format_: str) -> None:
    long = mark("a question that stands in a prompt as well")
    cases = [
        case("one", question=long, split="test"),
        case("two", question=long, split="development"),
        case("three", question=long + " " + mark("expected"), split="test"),
        *FAULTY,
    ]
    source = written(tmp_path / "cases.jsonl", cases)
    prompt = tmp_path / "prompt.txt"
    prompt.write_text(f"{long}\n{mark('expected')}\n", encoding="utf-8")
    out = tmp_path / "out"
    done = cli("leakage", source, "--against", str(prompt), "--on-invalid", "quarantine",
               "--no-text", "--out", str(out), "--format", format_)  # fmt: skip
    assert done.code == 1, done.err
    holds_no_mark([done.out, done.err], out)
    assert "duplicate-question" in done.out


def test_it_may_stand_in_a_config_file(cli: Command, tmp_path: Path) -> None:
    source = written(tmp_path / "cases.jsonl", VALID)
    config = tmp_path / "ci.toml"
    config.write_text("no-text = true\n", encoding="utf-8")
    out = tmp_path / "out"
    done = cli("evaluate", source, "--config", str(config), "--out", str(out))
    holds_no_mark([done.out, done.err], out)


@pytest.mark.parametrize("field", sorted(set(TEXT_FIELDS) - {"expected_answers"}))
def test_slicing_by_a_text_is_refused(field: str, tmp_path: Path) -> None:
    source = written(tmp_path / "cases.jsonl", VALID)
    with pytest.raises(UsageError, match=f"--slice {field} would show texts"):
        ragtriage.evaluate(source, no_text=True, slice=[field], write=False)


def test_what_nobody_foresaw_is_told_without_its_message() -> None:
    with pytest.raises(RagtriageError) as told, nothing_quoted(no_text=True):
        raise ValueError(mark("value"))
    assert MARK not in str(told.value)
    assert "ValueError" in str(told.value)
    assert told.value.exit_code == 3
    with pytest.raises(ValueError, match=MARK), nothing_quoted(no_text=False):
        raise ValueError(mark("value"))


def test_every_field_is_a_text_or_decided_not_to_be() -> None:
    ids_labels_and_numbers = {
        *("case_id", "split", "group", "tags", "weight", "answerable", "required_ids"),
        *("required_groups", "grades", "allowed_ids", "forbidden_ids", "required_claims"),
        *("candidate_ids", "filtered_ids", "retrieved_ids", "context_ids", "cited_ids"),
        *("abstained", "answer_correct", "claims", "corpus_snapshot", "retrieval_config"),
    }
    assert set(CASE_FIELDS) == ids_labels_and_numbers | set(TEXT_FIELDS)
    assert not ids_labels_and_numbers & set(TEXT_FIELDS)
    assert set(WITHOUT_TEXT["cases"]) <= set(dtypes(CaseResults))


def test_the_contract_says_what_is_null_then(cli: Command) -> None:
    page = cli("schema", "--format", "markdown").out
    for name in NULLED:
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert "always with `--no-text`" in row
    assert page.count(f"it is `{LEFT_OUT}` where it is set") == len(MARKED)


def test_the_report_says_that_texts_are_left_out_and_not_that_there_are_none(
    tmp_path: Path,
) -> None:
    source = written(tmp_path / "cases.jsonl", VALID)
    run = ragtriage.evaluate(source, no_text=True, out=str(tmp_path / "out"))
    page = (run.folder / "report.html").read_text("utf-8")
    assert page.count("texts are left out (--no-text)") == 2
    assert page.count("left out (--no-text)</p>") == 2 * len(VALID)
    assert "none recorded" not in page
    assert "not recorded</p>" not in page
    told = (run.folder / "report.md").read_text("utf-8")
    assert "texts are left out (`--no-text`)" in told
    assert "- Answer, not labelled: left out (`--no-text`)" in told
    assert "none recorded" not in told
