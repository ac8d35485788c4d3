"""Presets through every door: roles, mappings, files of mappings, texts, frames, other layouts."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragtriage
from tests.read.presets.example_openinference import KIND
from tests.read.presets.kit import as_json, asked, jsonl
from tests.support import ROOT, Command, Record, Writer, manifest_of

HOME = as_json(
    {
        "run": 1,
        "results": [
            {
                "vars": {"q": "A?", "gold": "['c2']"},
                "hits": [{"doc": {"id": 7}}, {"doc": {"id": 8}}],
            },
            {"vars": {"q": "B?", "gold": None}, "hits": []},
        ],
    }
)
PATHS = {
    "results[].vars.q": "question",
    "results[].vars.gold": "required_ids",
    "results[].hits[].doc.id": "retrieved_ids",
}
MAPS = [part for theirs, ours in PATHS.items() for part in ("--map", f"{theirs}={ours}")]
FROM_HOME = [
    {
        "case_id": asked("A?"),
        "question": "A?",
        "required_ids": ["c2"],
        "retrieved_ids": ["7", "8"],
    },
    {"case_id": asked("B?"), "question": "B?", "required_ids": None, "retrieved_ids": []},
]


def converted(cli: Command, *arguments: object) -> list[Record]:
    """What `convert` writes of these arguments."""
    out = Path(str(arguments[0])).parent / "converted.jsonl"
    shown = cli("convert", *arguments, "--out", out, "--force")
    assert shown.code == 0, shown.err
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def test_paths_lead_into_a_document(cli: Command, written: Writer) -> None:
    assert converted(cli, written(HOME, "home.json"), *MAPS) == FROM_HOME


@pytest.mark.parametrize(
    "text",
    [
        "".join(f'"{theirs}" = "{ours}"\n' for theirs, ours in PATHS.items()),
        "[map]\n" + "".join(f'"{theirs}" = "{ours}"\n' for theirs, ours in PATHS.items()),
    ],
)
def test_a_file_of_mappings(cli: Command, written: Writer, text: str) -> None:
    mapping = written(text, "map.toml")
    assert converted(cli, written(HOME, "home.json"), "--map-file", mapping) == FROM_HOME


def test_dotted_keys_of_a_mapping_file_need_no_quotes(cli: Command, written: Writer) -> None:
    path = written([{"a": {"b": "A?"}, "ids": [1]}])
    mapping = written('a.b = "question"\nids = "retrieved_ids"\n', "map.toml")
    found = converted(cli, path, "--map-file", mapping)
    assert found == [{"case_id": asked("A?"), "question": "A?", "retrieved_ids": ["1"]}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"a.b" = "no_field"', "'no_field' is not one of our fields"),
        ('"a.b" = 3', "a.b: write"),
        ("=", "not valid TOML"),
    ],
)
def test_a_mapping_file_that_makes_no_sense(
    cli: Command, written: Writer, text: str, words: str
) -> None:
    path = written([{"a": {"b": "x"}}])
    mapping = written(text, "map.toml")
    cli("evaluate", path, "--map-file", mapping, "--no-write").refuses("map.toml", words)


def test_a_path_that_leads_nowhere_is_refused(cli: Command, written: Writer) -> None:
    path = written([{"a": {"b": "A?"}}])
    maps = ("--map", "a.b=question", "--map", "a.c=required_ids")
    cli("evaluate", path, *maps, "--no-write").refuses("--map a.c=required_ids", "no record has")


def test_null_means_none_only_where_a_mapped_field_is_never_a_list(
    cli: Command, written: Writer
) -> None:
    maps = ("--map", "m.id=case_id", "--map", "m.gold=required_ids")
    single = written([{"m": {"id": 1, "gold": "x"}}, {"m": {"id": 2, "gold": None}}], "a.jsonl")
    assert [r["required_ids"] for r in converted(cli, single, *maps)] == [["x"], []]
    lists = written([{"m": {"id": 1, "gold": ["x"]}}, {"m": {"id": 2, "gold": None}}], "b.jsonl")
    assert [r["required_ids"] for r in converted(cli, lists, *maps)] == [["x"], None]


def test_a_declared_separator(cli: Command, written: Writer) -> None:
    path = written("id,question,expected_sources\n1,A?,a | b\n2,B?,\n3,C?,'c'\n", "gold.csv")
    found = converted(cli, path, "--list-separator", "|")
    assert [record["required_ids"] for record in found] == [["a", "b"], None, ["'c'"]]


def test_a_mapping_goes_over_what_a_preset_takes(cli: Command, written: Writer) -> None:
    record = {"user_input": "A?", "reference_context_ids": ["a"], "meta": {"gold": ["b"], "no": 3}}
    path = written([record])
    maps = ("--map", "meta.gold=required_ids", "--map", "meta.no=case_id")
    found = converted(cli, path, "--from", "ragas", *maps)
    assert found == [{"case_id": "3", "question": "A?", "required_ids": ["b"]}]


def test_questions_and_answers_in_separate_files(cli: Command, written: Writer) -> None:
    questions = written([{"id": 1, "question": "A?"}, {"id": 2, "question": "B?"}], "q.jsonl")
    answers = written([{"id": 2, "text": "b"}, {"id": 1, "text": "a"}], "a.jsonl")
    given = (
        "--from",
        "records",
        "--map",
        "text=expected_answers",
        "--out",
        questions.with_name("o"),
    )
    shown = cli("convert", "--cases", questions, "--trace", answers, *given)
    assert shown.code == 0, shown.err
    found = [json.loads(line) for line in questions.with_name("o").read_text().splitlines()]
    assert found == [
        {"case_id": "1", "question": "A?", "expected_answers": ["a"]},
        {"case_id": "2", "question": "B?", "expected_answers": ["b"]},
    ]


def test_a_role_has_its_own_preset(cli: Command, written: Writer) -> None:
    cases = written([{"case_id": "1", "question": "A?", "required_ids": ["d1"]}], "cases.jsonl")
    traces = written(
        [{"query_id": 1, "retrieved_documents": [{"document_id": "d1", "relevance_score": 1}]}],
        "trace.jsonl",
    )
    given = ("evaluate", "--cases", cases, "--trace", traces, "--no-write", "--format", "json")
    report = cli(*given, "--trace-from", "azure").report()
    assert report["cases"][0]["metrics"]["recall_at_10"] == 1.0
    cli(*given, "--from", "azure", "--trace-from", "promptfoo").refuses("vars")


def test_traces_that_know_no_case_id_join_by_question(cli: Command, written: Writer) -> None:
    gold = written([{"id": "case-7", "question": "A?", "gold_chunk_id": "d1"}], "gold.jsonl")
    span = {KIND: "RETRIEVER", "input.value": "A?", "retrieval.documents.0.document.id": "d1"}
    traces = written([span], "spans.jsonl")
    given = ("evaluate", "--cases", gold, "--trace", traces, "--no-write", "--format", "json")
    presets = ("--cases-from", "records", "--trace-from", "openinference")
    cli(*given, *presets).refuses("case-7", "[missing-trace]")
    report = cli(*given, *presets, "--id-from", "question").report()
    assert report["cases"][0]["case_id"] == asked("A?")
    assert report["cases"][0]["metrics"]["recall"] == 1.0


TEXTS: dict[str, tuple[str, Record]] = {
    "ragas": ("ragas", {"user_input": "A?", "retrieved_contexts": ["one", "two"]}),
    "ragas-old": ("ragas", {"question": "A?", "contexts": ["one", "two"], "ground_truth": "x"}),
    "deepeval": ("deepeval", {"input": "A?", "retrieval_context": ["one", "two"]}),
    "deepeval-run": ("deepeval", {"input": "A?", "retrievalContext": ["one", "two"]}),
    "ragchecker": (
        "ragchecker",
        {"query": "A?", "retrieved_context": [{"doc_id": "0", "text": t} for t in ("one", "two")]},
    ),
    "openinference": (
        "openinference",
        {
            KIND: "RETRIEVER",
            "input.value": "A?",
            "retrieval.documents": [{"document.content": t} for t in ("one", "two")],
        },
    ),
    "trulens": (
        "openinference",
        {
            "record_attributes": {
                "ai.observability.span_type": "retrieval",
                "ai.observability.retrieval.query_text": "A?",
                "ai.observability.retrieval.retrieved_contexts": ["one", "two"],
            }
        },
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_become_ids_by_a_corpus(cli: Command, written: Writer, name: str) -> None:
    preset, record = TEXTS[name]
    corpus = written([{"_id": "n1", "text": "one"}, {"_id": "n2", "text": "two"}], "corpus.jsonl")
    path = written([record])
    found = converted(cli, path, "--from", preset, "--text-ids", corpus)
    assert [each["retrieved_ids"] for each in found] == [["n1", "n2"]]
    assert found[0]["question"] == "A?"
    run = ragtriage.evaluate(path, preset=preset, text_ids=corpus, write=False)
    assert [f["path"] for f in run.manifest["inputs"] if f["role"] == "text-ids"] == [str(corpus)]
    # Without a corpus it is said, unless IDs stand beside the texts, as RAGChecker's do.
    plain = cli("evaluate", path, "--from", preset, "--no-write")
    assert ("--text-ids CORPUS" in plain.err) == (preset != "ragchecker")
    other = written([{"_id": "n1", "text": "one "}], "other.jsonl")
    cli("evaluate", path, "--from", preset, "--text-ids", other, "--no-write").refuses(
        "no passage of --text-ids has exactly this text"
    )


def test_texts_beside_ids_need_no_corpus(cli: Command, written: Writer) -> None:
    sample = {"user_input": "A?", "retrieved_contexts": ["one"], "retrieved_context_ids": [1]}
    path = written([sample | {"reference_contexts": ["one"]}])
    shown = cli("evaluate", path, "--from", "ragas", "--no-write")
    assert "texts without IDs: reference_contexts; --text-ids CORPUS finds their IDs" in shown.err
    assert "retrieved_contexts" not in shown.err.partition("texts without IDs")[2]
    found = cli("inspect", path).out
    assert "reference_contexts: no IDs; --text-ids CORPUS finds them" in found


def test_labelled_texts_of_llamaindex(cli: Command, written: Writer) -> None:
    example = {"query": "A?", "reference_contexts": ["one"], "reference_answer": "x"}
    data = written(as_json({"examples": [example]}), "rag.json")
    corpus = written([{"_id": "n1", "text": "one"}], "corpus.jsonl")
    trace = written([{"case_id": asked("A?"), "retrieved_ids": ["n1"]}], "trace.jsonl")
    given = ("evaluate", "--cases", data, "--cases-from", "llamaindex", "--trace", trace)
    report = cli(*given, "--text-ids", corpus, "--no-write", "--format", "json").report()
    assert report["cases"][0]["metrics"]["recall"] == 1.0
    assert report["cases"][0]["question"] == "A?"


RUNS = {
    "ours": ("run.jsonl", {"case_id": "q1", "retrieved_ids": ["n2", "n1"]}, None),
    "by its name": ("run.trec", b"q1 Q0 n1 2 0.5 t\nq1 Q0 n2 1 0.9 t\n", "trec"),
    "packed": ("run.json.gz.run", b"q1 Q0 n1 2 0.5 t\nq1 Q0 n2 1 0.9 t\n", "trec"),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_over_questions_of_another_layout(
    cli: Command, written: Writer, tmp_path: Path, name: str
) -> None:
    questions = {"queries": {"q1": "A?"}, "corpus": {"n1": "x"}, "relevant_docs": {"q1": ["n1"]}}
    data = written(as_json(questions), "set.json")
    file, content, preset = RUNS[name]
    run = written([content] if isinstance(content, dict) else content, file)
    options = ("--from", "llamaindex", "--cases", data, "--out", tmp_path, "--run-id", "r")
    shown = cli("evaluate", *options, "--trace", run, "--format", "json")
    (case,) = shown.report()["cases"]
    assert case["retrieved_ids"] == ["n2", "n1"]
    assert [row["ids"] for row in case["evidence"]] == [["n1"]]
    assert manifest_of(tmp_path / "r")["presets"].get("trace") == preset


def test_evidence_sets_take_a_run_the_same_way(cli: Command, written: Writer) -> None:
    data = written([{"_id": "q1", "question": "A?", "supporting_facts": [["T", 0]]}], "set.jsonl")
    run = written(b"q1 Q0 T#0 1 0.9 t\n", "base.run")
    worse = written(b"q1 Q0 U#0 1 0.9 t\n", "candidate.run")
    arguments = ("--from", "evidence-sets", "--cases", data)
    report = cli("compare", run, worse, *arguments, "--no-write", "--format", "json").report()
    (case,) = report["cases"]
    assert case["moved"] == ["T#0: delivered → lost at retrieval"]


def test_a_dataset_brings_its_corpus(cli: Command, written: Writer) -> None:
    held = {"queries": {"q": "A?"}, "corpus": {"n1": "one"}, "relevant_docs": {"q": ["n1", "n9"]}}
    data = written(as_json(held), "dataset.json")
    trace = written([{"case_id": "q", "retrieved_ids": ["n1"]}], "trace.jsonl")
    given = ("evaluate", "--cases", data, "--cases-from", "llamaindex", "--trace", trace)
    report = cli(*given, "--no-write", "--format", "json").report()
    # n9 is in no corpus: lost before anything could retrieve it
    lost = {tuple(row["ids"]): row["lost_at"] for row in report["cases"][0]["evidence"]}
    assert lost == {("n1",): None, ("n9",): "source"}


OTHER_SPANS: dict[str, tuple[str, bytes]] = {
    "otlp": (
        "otlp.json",
        as_json(
            {
                "resourceSpans": [
                    {
                        "scopeSpans": [
                            {
                                "spans": [
                                    {
                                        "traceId": "t",
                                        "spanId": "s",
                                        "attributes": [
                                            {"key": KIND, "value": {"stringValue": "RETRIEVER"}},
                                            {"key": "input.value", "value": {"stringValue": "A?"}},
                                            {
                                                "key": "retrieval.documents.0.document.id",
                                                "value": {"intValue": "9007199254740993"},
                                            },
                                        ],
                                    }
                                ]
                            }
                        ]
                    }
                ]
            }
        ),
    ),
    "columns": (
        "spans.csv",
        (
            b"context.trace_id,attributes.openinference.span.kind,attributes.input.value,"
            b"attributes.retrieval.documents\n"
            b"t,RETRIEVER,A?,\"[{'document.id': 9007199254740993, 'document.score': 0.5}]\"\n"
        ),
    ),
    "nested": (
        "spans.json",
        as_json(
            [
                {
                    "attributes": {
                        "openinference": {"span": {"kind": "RETRIEVER"}},
                        "input": {"value": '"A?"'},
                        "retrieval": {"documents": [{"document": {"id": 9007199254740993}}]},
                    }
                }
            ]
        ),
    ),
}


@pytest.mark.parametrize("name", OTHER_SPANS)
def test_spans_as_others_export_them(cli: Command, written: Writer, name: str) -> None:
    file, content = OTHER_SPANS[name]
    found = converted(cli, written(content, file), "--from", "openinference")
    assert [record["retrieved_ids"] for record in found] == [["9007199254740993"]]
    assert found[0]["case_id"] == asked("A?")


def test_a_frame_through_a_preset() -> None:
    frame = pl.DataFrame(
        {"qid": ["a"], "query": ["A?"], "retrieval_gt": [[["x"]]], "retrieved_ids": [["x", "x"]]}
    )
    run = ragtriage.evaluate(frame, preset="autorag", write=False)
    assert run.cases["recall"].to_list() == [1.0]
    assert run.manifest["presets"] == {"records": "autorag"}


def test_options_of_formats_in_a_config_file(cli: Command, tmp_path: Path, written: Writer) -> None:
    path = written([{"m": {"id": 5}, "user_input": "A?", "retrieved_context_ids": [1], "x": 0}])
    config = written('from = "ragas"\nout = "r"\n[map]\n"m.id" = "case_id"\n', "ci.toml")
    out = ("--config", config, "--out", tmp_path / "runs", "--run-id", "r")
    assert cli("evaluate", path, *out).code == 0
    manifest = manifest_of(tmp_path / "runs" / "r")
    assert manifest["config"]["from"] == "ragas"
    assert manifest["mapping"] == {"m.id": "case_id"}
    assert manifest["dropped"] == {"x": 1}
    assert manifest["fields"] == ["case_id", "question", "retrieved_ids"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--from", "raga"), ("no preset 'raga'", "did you mean `ragas`?")),
        (("--from", "llamaindex"), ("not for a positional input", "--cases, --corpus")),
        (("--from", "ragas", "--system", "x"), ("--system: no 'x' in the input",)),
        (("--id-from", "line"), ("--id-from",)),
        (("--from", "promptfoo"), ("[unmapped]",)),
    ],
)
def test_what_makes_no_sense_is_said(
    cli: Command, written: Writer, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    path = written([{"user_input": "A?"}])
    cli("evaluate", path, *arguments, "--no-write").refuses(*words)


BROKEN = [
    (b'{"user_input": "A?", "user_input": "B?"}', "[duplicate-key]"),
    (b'{"user_input": "A?"', "[json-syntax]"),
    (b"[1]", "[not-an-object]"),
    (b'{"user_input": "\\ud800"}', "[encoding]"),
    (b'{"user_input": "\xff"}', "[encoding]"),
]


@pytest.mark.parametrize(("line", "rule"), BROKEN)
def test_lines_that_are_no_records(cli: Command, written: Writer, line: bytes, rule: str) -> None:
    path = written(jsonl({"user_input": "fine"}) + b"\n" + line + b"\n")
    cli("evaluate", path, "--from", "ragas", "--no-write").refuses(f"{path}:3: ", rule)


def test_convert_replaces_nothing_unasked(cli: Command, written: Writer) -> None:
    path = written([{"user_input": "A?"}])
    there = written("mine", "there.jsonl")
    given: tuple[Any, ...] = ("convert", path, "--from", "ragas", "--out", there)
    cli(*given).refuses("exists already")
    assert there.read_text() == "mine"
    assert cli(*given, "--force").code == 0
    before = path.read_bytes()
    cli(*given[:-1], path, "--force").refuses("is the input itself")
    assert path.read_bytes() == before
    bad = written([{"user_input": "A?"}, {"user_input": 3}, {"user_input": []}], "bad.jsonl")
    new = there.with_name("new.jsonl")
    cli("convert", bad, "--from", "ragas", "--out", new).refuses("1 error; nothing written")
    assert not new.exists()
    assert not list(new.parent.glob(".new*"))
    assert ragtriage.convert(path, new, preset="ragas").accepted == 1
    cli("convert", path, "--from", "ragas").refuses("--out")


def test_inspect_names_a_mapping_and_its_command_works(cli: Command, written: Writer) -> None:
    path = written(HOME, "home.json")
    document = json.loads(cli("inspect", path, "--format", "json").out)
    assert document["suggestions"] == PATHS
    command = shlex.split(document["command"])
    assert command[0] == "ragtriage"
    report = cli(*command[1:], "--no-write", "--format", "json").report()
    assert {case["case_id"] for case in report["cases"]} == {asked("A?"), asked("B?")}
    assert "recall" in document["metrics"]
    assert document["stages"] == ["retrieval"]


def test_inspect_says_so_where_nothing_fits(cli: Command, written: Writer) -> None:
    for content, name in (
        (b"\x00\x01 nothing", "x.bin"),
        (b'[{"a": 1}]', "x.json"),
        (b"x", "e.jsonl"),
    ):
        shown = cli("inspect", written(content, name))
        assert shown.code == 2, shown.out
        assert "nothing we know" in shown.out
    cli("inspect", "no-such-file").refuses("no such file")
    own = written([{"case_id": "a", "required_ids": ["x"], "retrieved_ids": ["x"]}])
    shown = cli("inspect", own)
    assert shown.code == 0
    assert "our own format" in shown.out
    assert f"ragtriage evaluate {own}\n" in shown.out


def test_the_readme_shows_what_inspect_says(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    excerpt = (ROOT / "README.md").read_text("utf-8").partition("```text\nfits  ")[2]
    lines = ("fits  " + excerpt.partition("```")[0]).splitlines()
    shown = cli("inspect", "data/formats/samples.csv").out.splitlines()
    assert [line for line in shown if line in lines] == [line for line in lines if line != "\u2026"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b""),
        ("a.jsonl", b"\n \n"),
        ("a.json", b" [ ]\n"),
        ("a.csv", b""),
        ("a.csv", b"case_id,required_ids\n"),
    ],
)
def test_inspect_says_that_a_file_holds_no_case(
    cli: Command, written: Writer, name: str, content: bytes
) -> None:
    shown = cli("inspect", written(content, name))
    assert shown.code == 2
    assert "no case in it" in shown.out
    assert "--map" not in shown.out


def test_inspect_does_not_propose_to_set_every_record_aside(cli: Command, written: Writer) -> None:
    record = {"system": "a", "required_ids": ["a"], "retrieved_ids": ["a"]}
    twice = [record | {"case_id": "c1"}, record | {"case_id": "c1", "system": "b"}]
    told = cli("inspect", written(jsonl(*twice), "twice.jsonl")).out
    assert "nothing would be left to evaluate" in told
    assert "quarantine" not in told
    told = cli("inspect", written(jsonl(*twice, record | {"case_id": "c2"}), "some.jsonl")).out
    assert told.rstrip().endswith("--on-invalid quarantine")
