"""Every preset on its example: what it gives, what it rejects, and the same once converted."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

from ragtriage.read.presets import _MODULES, PRESETS, preset
from tests.read.presets.kit import Example
from tests.support import Command, manifest_of, rejects_of

QUARANTINED = ("--on-invalid", "quarantine")
# Where a record stood tells a converted file from its original, and nothing else may.
PLACE = ("source_file", "line", "run_id")


def example_of(name: str) -> Example:
    found = import_module(f"tests.read.presets.example_{_MODULES[name]}").EXAMPLE
    assert isinstance(found, Example)
    return found


@pytest.mark.parametrize("name", PRESETS)
def test_it_says_what_it_is(name: str) -> None:
    found = preset(name)
    assert found.name == name
    assert found.about
    assert found.layout
    assert found.maps_to
    assert found.quirks
    assert (found.reader is None) != (found.sources is None)


@pytest.mark.parametrize("name", PRESETS)
def test_its_example_becomes_our_records(cli: Command, tmp_path: Path, name: str) -> None:
    example = example_of(name)
    out = tmp_path / "out.jsonl"
    shown = cli("convert", *example.given(tmp_path), *QUARANTINED, "--out", out)
    assert shown.code == 0, shown.err
    assert [json.loads(line) for line in out.read_text("utf-8").splitlines()] == example.expected


@pytest.mark.parametrize("name", PRESETS)
def test_what_cannot_be_mapped_is_rejected_with_its_reason(
    cli: Command, tmp_path: Path, name: str
) -> None:
    example = example_of(name)
    given = (*example.given(tmp_path), "--out", tmp_path / "runs", "--run-id", "r")
    if example.rejected:
        cli("evaluate", *given).refuses(*(reason for *_, reason in example.rejected))
        (tmp_path / "runs" / "r").rename(tmp_path / "refused")
    shown = cli("evaluate", *given, *QUARANTINED, "--format", "json")
    assert shown.code in (0, 1), shown.err
    found = [(r["line"], r["field"], r["message"]) for r in rejects_of(tmp_path / "runs" / "r")]
    assert len(found) == len(example.rejected)
    for (line, field, message), (where, ours, reason) in zip(found, example.rejected, strict=True):
        assert (field, line if where else 0) == (ours, where)
        assert reason in message
    manifest = manifest_of(tmp_path / "runs" / "r")
    assert name in manifest["presets"].values()
    lines = manifest["lines"]
    assert lines["read"] == lines["accepted"] + lines["set_aside"] + lines["blank"]


@pytest.mark.parametrize("name", PRESETS)
def test_converted_it_evaluates_to_the_same(cli: Command, tmp_path: Path, name: str) -> None:
    example = example_of(name)
    given = (*example.given(tmp_path), *QUARANTINED)
    out = tmp_path / "out.jsonl"
    assert cli("convert", *given, "--out", out).code == 0
    runs = ("--out", tmp_path / "runs", "--format", "json")
    corpus: list[str] = []
    if preset(name).brings_corpus:
        corpus = ["--corpus", str(given[given.index("--cases") + 1]), "--corpus-from", name]
    directly = cli("evaluate", *given, *runs, "--run-id", "directly")
    converted = cli("evaluate", out, *corpus, *runs, "--run-id", "converted")
    assert directly.code == converted.code, (directly.err, converted.err)
    for table in ("cases/*.parquet", "evidence/*.parquet", "summary.parquet", "stages.parquet"):
        ours, theirs = (
            pl.read_parquet(tmp_path / "runs" / run / table).drop(PLACE, strict=False)
            for run in ("directly", "converted")
        )
        assert ours.equals(theirs), table


@pytest.mark.parametrize("name", PRESETS)
def test_inspect_recognises_it(cli: Command, tmp_path: Path, name: str) -> None:
    example = example_of(name)
    example.given(tmp_path)
    shown = cli("inspect", tmp_path / example.known_by, "--format", "json")
    document = json.loads(shown.out)
    assert document["preset"] == name, document
    assert f"-from {name}" in document["command"] or f"--from {name}" in document["command"]
