"""The report in a real browser: offline, its own script alone, hostile text shown as text."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import ragtriage

pytestmark = pytest.mark.end_to_end

HOSTILE = (
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "\" onmouseover=\"document.title='owned'",
    "\u202egnirts desrever\u200b",
    "{{ 7 * 7 }} {% raw %}",
)


def rendered(page: Path, profile: Path) -> str:
    """The page's document after the browser has done all it would."""
    chromium = shutil.which("chromium")
    assert chromium, "Debian's chromium is needed: apt-get install chromium"
    done = subprocess.run(
        [
            chromium,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={profile}",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        check=True,
        timeout=120,
    )
    return done.stdout.decode("utf-8")


def test_hostile_text_is_text(tmp_path: Path) -> None:
    records = [
        {
            "case_id": f"case {i} {text}".replace("\u200b", "").replace("\u202e", ""),
            "question": text,
            "tags": [text],
            "required_ids": ["a"],
            "retrieved_ids": ["b"],
            "context_ids": ["b"],
            "answer": text,
            "answer_correct": False,
        }
        for i, text in enumerate(HOSTILE)
    ]
    source = tmp_path / "cases.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    run = ragtriage.evaluate(source, out=str(tmp_path / "out"))
    assert run.path is not None
    document = rendered(run.path / "report.html", tmp_path / "profile")
    assert "<title>owned" not in document
    assert document.count("<script") == 1
    assert "<img" not in document
    assert "5 of 5 cases did not pass" in document
    assert "document.title='owned'" in document.replace("&#39;", "'")
    assert "\u202e" not in document
    assert "49" not in document.split("{{ 7 * 7 }}")[0][-20:]


def test_a_comparison_holds_hostile_text_as_text(tmp_path: Path) -> None:
    def records(retrieved: str) -> str:
        rows = [
            {
                "case_id": f"case {i}",
                "question": text,
                "tags": [text],
                "required_ids": ["a"],
                "retrieved_ids": [retrieved],
                "context_ids": [retrieved],
                "answer": text,
                "answer_correct": True,
            }
            for i, text in enumerate(HOSTILE)
        ]
        return "".join(json.dumps(row) + "\n" for row in rows)

    sources = []
    for name in ("a", "b"):
        source = tmp_path / f"{name}.jsonl"
        source.write_text(records(name), encoding="utf-8")
        sources.append(source)
    found = ragtriage.compare(*sources, out=tmp_path / "out", test=True, intervals=True)
    document = rendered(found.folder / "report.html", tmp_path / "profile")
    assert "<title>owned" not in document
    assert "<script" not in document
    assert "<img" not in document
    assert "5 of 5 cases regressed" in document
    assert "\u202e" not in document
