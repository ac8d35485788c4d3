"""Make the corpus and the two traces beside this file; README.md says what they are.

Run with CPython 3.11 and the packages of requirements.txt. The questions are read, never
written: they were there first. The same interpreter and packages give the same bytes.
"""
# ruff: noqa: INP001 - a script beside its data, not a module of a package

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import inspect
import json
import platform
import re
import sys
import sysconfig
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import bm25s
import Stemmer

HERE = Path(__file__).resolve().parent
PYTHON = (3, 11)  # docstrings differ between feature releases

TEXT_LIMIT = 600  # characters of a docstring that are kept
TOP = 20  # passages retrieved a question
BUDGET = 1000  # characters of passages put into a context
DIGITS = 6  # scores closer than this are a tie, which the ID settles

# fmt: off
MODULES = [
    "argparse", "base64", "bisect", "calendar", "collections", "concurrent.futures",
    "configparser", "contextlib", "copy", "csv", "dataclasses", "datetime", "difflib", "enum",
    "fnmatch", "fractions", "functools", "getpass", "glob", "gzip", "hashlib", "heapq", "hmac",
    "html", "inspect", "io", "itertools", "json", "logging", "logging.handlers", "math",
    "operator", "os", "os.path", "pathlib", "pickle", "pprint", "queue", "random", "re",
    "secrets", "shelve", "shlex", "shutil", "signal", "socket", "sqlite3", "statistics",
    "string", "struct", "subprocess", "tarfile", "tempfile", "textwrap", "threading", "time",
    "timeit", "traceback", "types", "urllib.parse", "urllib.request", "uuid", "warnings",
    "weakref", "zipfile", "zlib", "zoneinfo",
]
# fmt: on


class Configuration(NamedTuple):
    """One way to search the same corpus."""

    name: str
    says: str
    stop_words: str | list[str]
    stemmer: Callable[[list[str]], list[str]] | None
    shown: Callable[[Mapping[str, Any]], str]


def main() -> None:
    """Write corpus.jsonl and one trace a configuration."""
    if sys.version_info[:2] != PYTHON or platform.python_implementation() != "CPython":
        sys.exit("the corpus is CPython 3.11's: run this script with that")
    warnings.simplefilter("ignore")  # deprecated names are looked at too
    corpus = passages()
    written = write(HERE / "corpus.jsonl", corpus)
    digest = hashlib.sha256(written).hexdigest()
    snapshot = f"CPython {platform.python_version()} sha256:{digest}"
    with (HERE / "questions.jsonl").open(encoding="utf-8") as lines:
        questions = [json.loads(line) for line in lines]
    for configuration in configurations():
        write(
            HERE / f"run-{configuration.name}.jsonl",
            trace(questions, corpus, configuration, snapshot),
        )


def configurations() -> list[Configuration]:
    """The plain search, and the one that also knows the names."""
    return [
        Configuration(
            name="plain",
            says="docstring alone, every word as it stands",
            stop_words=[],
            stemmer=None,
            shown=lambda passage: str(passage["text"]),
        ),
        Configuration(
            name="names",
            says="parts of the name and docstring, English stop words removed, Snowball stems",
            stop_words="english",
            stemmer=Stemmer.Stemmer("english").stemWords,
            shown=lambda passage: f"{name_parts(passage['evidence_id'])}\n{passage['text']}",
        ),
    ]


def trace(
    questions: Iterable[Mapping[str, Any]],
    corpus: list[dict[str, Any]],
    configuration: Configuration,
    snapshot: str,
) -> Iterator[dict[str, Any]]:
    """What was retrieved for each question, and what of it fitted into the context."""
    lengths = {passage["evidence_id"]: len(passage["text"]) for passage in corpus}
    index = bm25s.BM25(k1=1.5, b=0.75, method="lucene", dtype="float64")
    index.index(
        tokens([configuration.shown(passage) for passage in corpus], configuration),
        show_progress=False,
    )
    config = (
        f"bm25s {importlib.metadata.version('bm25s')}, lucene, k1 1.5, b 0.75; "
        f"{configuration.says}; top {TOP}; context of {BUDGET} characters"
    )
    for question in questions:
        words = tokens([question["question"]], configuration)[0]
        scores = [round(float(score), DIGITS) for score in index.get_scores(words)]
        hits = sorted(
            (-score, passage["evidence_id"])
            for score, passage in zip(scores, corpus, strict=True)
            if score > 0
        )
        retrieved = [evidence_id for _, evidence_id in hits[:TOP]]
        yield {
            "case_id": question["case_id"],
            "retrieved_ids": retrieved,
            "context_ids": packed(retrieved, lengths),
            "retrieval_config": config,
            "corpus_snapshot": snapshot,
        }


def tokens(texts: list[str], configuration: Configuration) -> list[list[str]]:
    """Lower-case words of two characters or more, by the configuration."""
    words: list[list[str]] = bm25s.tokenize(
        texts,
        stopwords=configuration.stop_words,
        stemmer=configuration.stemmer,
        return_ids=False,
        show_progress=False,
    )
    return words


def packed(retrieved: list[str], lengths: Mapping[str, int]) -> list[str]:
    """Passages best first while they fit; one that does not is skipped, not cut."""
    context, left = [], BUDGET
    for evidence_id in retrieved:
        if lengths[evidence_id] <= left:
            context.append(evidence_id)
            left -= lengths[evidence_id]
    return context


def name_parts(evidence_id: str) -> str:
    """A dotted name as words: its parts, and what camel case and underscores join."""
    parts = evidence_id.split(".")
    joined = [re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", part) for part in parts]
    return " ".join([*parts, *(words for words in joined if " " in words)])


def passages() -> list[dict[str, Any]]:
    """One passage a documented object, by ID; one object under two names is one group."""
    found = {
        evidence_id: (module, thing)
        for module in MODULES
        for evidence_id, thing in documented(module)
    }
    names: dict[tuple[str, int], list[str]] = {}
    for evidence_id, (module, thing) in sorted(found.items()):
        names.setdefault((module, id(thing)), []).append(evidence_id)
    return [
        {
            "evidence_id": evidence_id,
            "document_id": module,
            "location": location(thing),
            "text": trimmed(docstring(thing)),
            "equivalence_group": same[0] if len(same := names[module, id(thing)]) > 1 else None,
        }
        for evidence_id, (module, thing) in sorted(found.items())
    ]


def documented(name: str) -> Iterator[tuple[str, Any]]:
    """A module, its public functions and classes, and their own public members, by ID."""
    module = importlib.import_module(name)
    if docstring(module):
        yield name, module
    for attribute in public(module):
        thing = unbound(getattr(module, attribute))
        if not (inspect.isroutine(thing) or inspect.isclass(thing)):
            continue
        if docstring(thing):
            yield f"{name}.{attribute}", thing
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                inner = unbound(value)
                shown = inspect.isroutine(inner) or inspect.isdatadescriptor(inner)
                if shown and not member.startswith("_") and docstring(inner):
                    yield f"{name}.{attribute}.{member}", inner


def public(module: Any) -> list[str]:
    """What a module says it offers; where it does not say, what is its own."""
    declared = getattr(module, "__all__", None)
    if declared is not None:
        return sorted(set(declared))
    family = module.__name__.split(".")[0]
    return [
        name
        for name, thing in sorted(vars(module).items())
        if not name.startswith("_")
        and str(getattr(thing, "__module__", None)).split(".")[0].strip("_") == family
    ]


def unbound(thing: Any) -> Any:
    """The function in a static, class or bound method: the same one under each name."""
    return getattr(thing, "__func__", thing)


def docstring(thing: Any) -> str:
    """An object's own docstring without its indentation, or nothing."""
    own = getattr(thing, "__doc__", None)
    return inspect.cleandoc(own).strip() if isinstance(own, str) else ""


def trimmed(text: str) -> str:
    """At most TEXT_LIMIT characters and an ellipsis, ending with a whole word."""
    if len(text) <= TEXT_LIMIT:
        return text
    return text[: TEXT_LIMIT - 1].rsplit(maxsplit=1)[0] + " …"


def location(thing: Any) -> str:
    """File and line in CPython's Lib folder, or that it is built in."""
    code = getattr(thing, "fget", thing)
    try:
        file = Path(inspect.getsourcefile(code) or "").relative_to(sysconfig.get_path("stdlib"))
        line = inspect.getsourcelines(code)[1]
    except (TypeError, OSError, ValueError):
        return "built in"
    return f"Lib/{file.as_posix()}:{line}" if line else f"Lib/{file.as_posix()}"


def write(path: Path, records: Iterable[Mapping[str, Any]]) -> bytes:
    """Records as JSON lines, and the bytes written."""
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    content = lines.encode()
    path.write_bytes(content)
    return content


if __name__ == "__main__":
    main()
