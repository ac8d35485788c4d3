"""`llamaindex`: retrieval evaluation data sets, and labelled data sets of texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from ragtriage.errors import InputError
from ragtriage.read.batches import Batch, Reader
from ragtriage.read.files import InputFile, open_bytes
from ragtriage.read.presets.base import CASES, CORPUS, Asked, Preset, Sample, UnmappableError
from ragtriage.read.presets.foreign import Foreign, as_foreign, document
from ragtriage.read.presets.rows import Record, Row, batches_of
from ragtriage.read.presets.values import ids_of, shown, text_of

_PARTS = ("queries", "corpus", "relevant_docs")


def _map(row: Row) -> Record:
    if row.asked.role == CORPUS:
        return {
            "evidence_id": text_of("evidence_id", row.get("id")),
            "text": text_of("text", row.get("text")),
        }
    if row.has("stray"):
        row.use("stray")
        named = shown(row.get("id"))
        raise UnmappableError(
            "question", f"`relevant_docs` names a query that `queries` lacks: {named}"
        )
    record = {
        "case_id": text_of("case_id", row.get("id")),
        "question": text_of("question", row.get("query")),
        "required_ids": ids_of("required_ids", row.get("relevant")),
        "expected_answers": ids_of("expected_answers", _listed(row.get("reference_answer"))),
    }
    if row.asked.texts is not None and row.get("reference_contexts") is not None:
        record["required_ids"] = row.asked.texts.resolve(
            "required_ids", row.get("reference_contexts")
        )
    return record


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) and value else None


def _reader(asked: Asked) -> Reader:
    def read(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
        held = document(stream, file)
        yield from batches_of(_records(held, asked.role, file), _map, asked)

    return read


def _records(held: Any, role: str, file: InputFile) -> Iterator[Foreign]:
    """Queries, or passages, in the order of the file; each at its place."""
    if isinstance(held, dict) and isinstance(held.get("examples"), list) and role != CORPUS:
        # The other kind of data set: texts, and no IDs at all.
        for number, example in enumerate(held["examples"], 1):
            yield as_foreign(number, example)
        return
    parts: list[dict[str, Any]] = [
        held[name] for name in _PARTS if isinstance(held, dict) and isinstance(held.get(name), dict)
    ]
    if len(parts) < len(_PARTS):
        raise InputError(
            f"{file.name}: record: expected an object with {', '.join(_PARTS)}; is this the right "
            "preset? `ragtriage inspect` says what fits [not-an-object]"
        )
    queries, corpus, relevant = parts
    if role == CORPUS:
        for number, (name, text) in enumerate(corpus.items(), 1):
            yield as_foreign(number, {"id": name, "text": _text_in(text)})
        return
    for number, (name, query) in enumerate(queries.items(), 1):
        found = {"id": name, "query": query, "relevant": relevant.get(name, [])}
        yield as_foreign(number, found)
    strays = [name for name in relevant if name not in queries]
    for number, name in enumerate(strays, len(queries) + 1):
        yield as_foreign(number, {"id": name, "stray": True})


def _has_corpus(file: InputFile) -> bool:
    with open_bytes(file) as stream:
        held = document(stream, file)
    return isinstance(held, dict) and isinstance(held.get("corpus"), dict)


def _text_in(passage: Any) -> Any:
    return passage.get("text") if isinstance(passage, dict) else passage


def _recognise(sample: Sample) -> str | None:
    if set(_PARTS) <= sample.keys:
        return f"has {', '.join(_PARTS)}"
    if {"query", "reference_contexts", "reference_answer"} <= sample.keys:
        return "has query, reference_contexts, reference_answer"
    return "has examples" if {"examples"} <= sample.keys else None


PRESET = Preset(
    name="llamaindex",
    about="evaluation data sets of LlamaIndex",
    layout="JSON: `{queries{id: text}, corpus{id: text}, relevant_docs{qid: [ids]}}`; or "
    "`{examples[{query, reference_contexts, reference_answer}]}`",
    maps_to="question, required_ids; corpus; expected_answers",
    quirks=(
        "one file holds cases and corpus: given as `--cases` it is both",
        "a query without relevant documents requires nothing",
        "relevant documents of a query that is not there: rejected",
        "a run over it: our own records, or TREC's by its name (`run.trec`)",
        "the kind with `examples` holds texts only: `--text-ids CORPUS` finds their IDs",
    ),
    roles=(CASES, CORPUS),
    reader=_reader,
    recognise=_recognise,
    brings_corpus=True,
    corpus_in=_has_corpus,
)
