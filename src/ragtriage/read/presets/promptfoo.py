"""`promptfoo`: results of an evaluation, a row for each test, prompt and provider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from ragtriage.read.batches import Batch, Reader
from ragtriage.read.files import InputFile, open_bytes
from ragtriage.read.presets.base import RECORDS, TRACE, Asked, Preset, Sample, UnmappableError
from ragtriage.read.presets.foreign import Foreign, foreign_records
from ragtriage.read.presets.rows import Record, Row, batches_of, of_system
from ragtriage.read.presets.values import answers_of, ids_of, opened, shown, text_of
from ragtriage.schemas.inputs import Cases, infos

_IDS = ("case_id", "id", "qid", "query_id", "question_id")
_QUESTIONS = ("query", "question", "user_input", "input", "prompt")
_ERROR = 2  # of failureReason: the provider failed, not an assertion


def _map(row: Row) -> Record:
    given = row.get("vars")
    if not isinstance(given, dict):
        raise UnmappableError("record", "no `vars`: this is no row of promptfoo's results")
    variables: Record = given
    for name in ("provider", "prompt", "promptIdx"):
        row.use(name)
    record: Record = {
        "case_id": text_of("case_id", _first(variables, _IDS)),
        "question": text_of("question", _first(variables, _QUESTIONS)) or _prompt(row.members),
        "required_ids": _gold(variables, row),
        "expected_answers": _expected(variables),
    }
    output, error = _output(row)
    if error is not None:
        record["error"] = error
        return record
    _take_output(output, record, row)
    return record


def _first(variables: Record, names: tuple[str, ...]) -> Any:
    return next((variables[name] for name in names if variables.get(name) is not None), None)


def _prompt(members: Record) -> str | None:
    prompt = members.get("prompt")
    raw = prompt.get("raw") if isinstance(prompt, dict) else prompt
    return raw if isinstance(raw, str) else None


def _names(field: str) -> tuple[str, ...]:
    return (field, *(alias.name for alias in infos(Cases)[field].aliases if not alias.restricted))


_GOLD = (
    *_names("required_ids"),
    "correct_chunks",
    "expected_sources",
    "expected_ids",
    "gold_ids",
    "relevant_chunks",
)


def _gold(variables: Record, row: Row) -> list[str] | None:
    return ids_of("required_ids", _first(variables, _GOLD), row.asked.separator)


def _expected(variables: Record) -> list[str] | None:
    return answers_of("expected_answers", _first(variables, _names("expected_answers")[:-1]))


def _output(row: Row) -> tuple[Any, str | None]:
    """What the provider gave, or why it gave nothing."""
    response = row.get("response")
    output = response.get("output") if isinstance(response, dict) else response
    failed = row.get("failureReason") == _ERROR
    error = row.get("error")
    if output is None or failed:
        inner = response.get("error") if isinstance(response, dict) else None
        told = error or inner or ("the provider gave no output" if output is None else "failed")
        return None, told if isinstance(told, str) else shown(told)
    return output, None


def _take_output(output: Any, record: Record, row: Row) -> None:
    """A list of IDs is what was retrieved, an object may hold both, other text is the answer."""
    if any(ours in ("retrieved_ids", "answer") for ours in row.asked.mapping.values()):
        if isinstance(output, str) and "answer" not in row.asked.mapping.values():
            record["answer"] = output
        return
    held = output if not isinstance(output, str) else _list_in(output)
    if isinstance(held, dict):
        retrieved = _first(held, _names("retrieved_ids"))
        record["retrieved_ids"] = ids_of("retrieved_ids", retrieved, row.asked.separator)
        record["answer"] = text_of("answer", _first(held, (*_names("answer"), "output", "text")))
        if isinstance(output, str) and record["retrieved_ids"] is None is record["answer"]:
            # JSON that speaks of neither is what the assistant said.
            record["answer"] = output
    elif isinstance(held, list):
        record["retrieved_ids"] = ids_of("retrieved_ids", held)
    elif isinstance(output, str):
        record["answer"] = output
    else:
        raise UnmappableError("answer", f"{shown(output)} is neither an answer nor a list of IDs")


def _list_in(text: str) -> Any:
    try:
        return opened("retrieved_ids", text)
    except UnmappableError:
        return text


def provider_of(members: Record) -> str | None:
    """The system: the provider's label or ID."""
    provider = members.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return provider if isinstance(provider, str) and provider else None


def _prompt_label(members: Record) -> str:
    prompt = members.get("prompt")
    label = prompt.get("label") if isinstance(prompt, dict) else None
    return label if isinstance(label, str) else ""


def _is_of(members: Record, system: str) -> bool:
    provider = provider_of(members) or ""
    return system in (provider, f"{provider} / {_prompt_label(members)}")


def _records(stream: BinaryIO, file: InputFile) -> Iterator[Foreign]:
    """`results.results`, or `results` alone; JSON lines hold a row each."""
    yield from foreign_records(stream, file, ("results.results", "results"))


def _reader(asked: Asked) -> Reader:
    def read(stream: BinaryIO, file: InputFile) -> Iterator[Batch]:
        yield from batches_of(of_system(_records(stream, file), asked.system, _is_of), _map, asked)

    return read


def _systems(file: InputFile, _asked: Asked) -> Iterator[str]:
    """Providers; where one has several prompts, each prompt of it."""
    pairs: dict[str, dict[str, None]] = {}
    with open_bytes(file) as stream:
        for foreign in _records(stream, file):
            members = foreign.value if isinstance(foreign.value, dict) else {}
            if (provider := provider_of(members)) is not None:
                pairs.setdefault(provider, {})[_prompt_label(members)] = None
    for provider, labels in pairs.items():
        if len(labels) == 1:
            yield provider
        else:
            yield from (f"{provider} / {label}" for label in labels)


def _recognise(sample: Sample) -> str | None:
    if b'"evalId"' in sample.head or {"vars", "provider"} <= sample.keys:
        return "has evalId, or vars and provider"
    return None


PRESET = Preset(
    name="promptfoo",
    about="results of a promptfoo evaluation",
    layout="JSON, `results.results[]{vars, provider, response.output, error}`; or JSON lines of "
    "such rows",
    maps_to="question, required_ids and expected_answers from `vars`; retrieved_ids or answer from "
    "the output; error",
    quirks=(
        "the gold list is JSON text in a variable: known names, or `--map vars.NAME=required_ids`",
        "an output that is a list of IDs is what was retrieved, other text is the answer",
        "a row with an error and no response: not run",
        "several providers, or prompts of one: one run each",
        "no case ID: it is made from the question",
        "repeated trials of one test are refused",
    ),
    roles=(RECORDS, TRACE),
    reader=_reader,
    systems=_systems,
    recognise=_recognise,
)
