"""Every rule of the input: its shipped file, its exact message, refusal and quarantine."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from ragtriage.schemas.rules import RULES
from tests.invalid_table import FAULTS
from tests.support import INVALID, ROOT, Command, manifest_of, rejects_of, snapshot


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages name files as they were given: relative, here."""
    monkeypatch.chdir(ROOT)


def path_of(name: str) -> str:
    return f"data/invalid/{name}.jsonl"


def messages(name: str) -> list[str]:
    return [
        f"{path_of(name)}:{line}: {field}: {text} [{rule}]"
        for line, _, field, text, rule in FAULTS[name]
    ]


def readable_lines(name: str) -> list[str]:
    raw = (ROOT / path_of(name)).read_bytes().decode("utf-8", "backslashreplace")
    return raw.splitlines()


def test_every_rule_has_a_file_named_after_it() -> None:
    named = {path.name.split(".")[0] for path in INVALID.glob("*.jsonl")}
    # Known to the joined readers only, and shown below: two files that contradict each other.
    # `unmapped` is of presets alone: tests/read/presets has a record of each kind.
    elsewhere = {"field-conflict", "unmapped"}
    assert named - {"encoding-surrogate", "unknown-review"} == set(RULES) - elsewhere


def test_the_table_covers_every_single_file() -> None:
    single = {path.stem for path in INVALID.glob("*.jsonl") if path.name.count(".") == 1}
    assert single == set(FAULTS)


@pytest.mark.parametrize("name", FAULTS)
def test_refused_with_its_exact_message_and_only_what_was_rejected(
    cli: Command, tmp_path: Path, name: str
) -> None:
    shown = cli("evaluate", path_of(name), "--out", tmp_path, "--run-id", "r")
    shown.refuses()
    count = len(FAULTS[name])
    noun = "error" if count == 1 else "errors"
    assert shown.err.splitlines() == [
        *messages(name),
        f"{count} {noun}; nothing evaluated",
        f"all of them: {tmp_path / 'r' / 'rejects'}",
    ]
    files = [str(p.relative_to(tmp_path)) for p in sorted(tmp_path.rglob("*")) if p.is_file()]
    assert files == ["r/manifest.json", "r/rejects/part-00000.parquet"]
    manifest = manifest_of(tmp_path / "r")
    total = len(readable_lines(name))
    bad = len(FAULTS[name])
    assert manifest["status"] == "refused"
    assert manifest["lines"] == {
        "read": total,
        "accepted": total - bad,
        "set_aside": bad,
        "blank": 0,
    }


@pytest.mark.thorough
@pytest.mark.parametrize("name", FAULTS)
def test_quarantined_beside_the_rest_evaluated(cli: Command, tmp_path: Path, name: str) -> None:
    before = snapshot(INVALID)
    shown = cli(
        *("evaluate", path_of(name), "--on-invalid", "quarantine", "--format", "json"),
        *("--out", tmp_path, "--run-id", "r", "--all-cases"),
    )
    assert shown.code == 0, shown.err
    assert snapshot(INVALID) == before
    run = tmp_path / "r"
    lines = readable_lines(name)
    expected = [
        {
            "run_id": "r",
            "source_file": path_of(name),
            "line": line,
            "case_id": case,
            "field": field,
            "rule": rule,
            "message": text,
            "raw": lines[line - 1],
        }
        for line, case, field, text, rule in FAULTS[name]
    ]
    assert rejects_of(run) == expected
    bad = {line for line, *_ in FAULTS[name]}
    cases = pl.read_parquet(run / "cases" / "*.parquet")
    assert cases["line"].to_list() == [i for i in range(1, len(lines) + 1) if i not in bad]
    assert cases["stage"].to_list() == ["pass"] * cases.height
    manifest = manifest_of(run)
    assert manifest["status"] == "complete"
    assert manifest["lines"]["set_aside"] == len(bad)
    report = shown.report()
    rule = FAULTS[name][0][-1]
    assert report["rejects"] == manifest["rejects"] == {rule: len(bad)}
    for kind in ("report.md", "report.html"):
        text = (run / kind).read_text("utf-8")
        noun = "line" if len(bad) == 1 else "lines"
        assert f"{len(bad)} {noun} set aside" in re.sub(r"<[^>]+>", "", text)


@pytest.mark.parametrize("name", FAULTS)
def test_validate_says_the_same_and_writes_nothing(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    shown = cli("validate", path_of(name))
    shown.refuses()
    count = len(FAULTS[name])
    assert shown.err.splitlines() == [
        *messages(name),
        f"{count} {'error' if count == 1 else 'errors'}",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_the_readme_lists_what_is_wrong_with_each_file() -> None:
    listed = {}
    for row in (INVALID / "README.md").read_text("utf-8").splitlines():
        cells = [cell.strip(" `") for cell in row.split("|")[1:-1]]
        if cells and cells[0].endswith(".jsonl"):
            lines = [int(number) for number in re.findall(r"\d+", cells[2])]
            listed[cells[0].removesuffix(".jsonl")] = (cells[1], lines, cells[3])
    told = {
        name: (rows[0][4], [row[0] for row in rows], rows[0][2]) for name, rows in FAULTS.items()
    }
    # A line that is no record at all has no field.
    told = {
        name: (rule, lines, "\u2013" if field == "record" else field)
        for name, (rule, lines, field) in told.items()
    }
    assert {name: listed[name] for name in FAULTS} == told
