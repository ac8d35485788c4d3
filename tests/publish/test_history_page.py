"""The page of the history: text is text, nothing is loaded, only our two scripts may run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

import ragtriage
from tests.stored_runs import gate_row, mean_row, stage_row, store_run

HOSTILE = (
    "</script><script>document.title='owned'</script>",
    "<!--<script>",
    '"><img src=x onerror=alert(1)>',
    "&lt;b&gt; & <b>bold</b>",
    "\u202egnirts\u2028line",
    "{{ 7 * 7 }} {% raw %}",
    "\\u003c/script>",
    "long " * 500,
)
SCRIPT = re.compile(r"<script([^>]*)>(.*?)</script>", re.DOTALL)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    top = tmp_path_factory.mktemp("runs")
    slices = [mean_row("recall", 5, 0.5, 3, 4, slice="tag", value=text) for text in HOSTILE]
    store_run(
        top,
        "a",
        summary=[
            mean_row("recall", 5, 0.5, 8, 10),
            mean_row("<b>odd</b>", None, 1.0, 1, 1),
            *slices,
        ],
        stages=[stage_row("<i>stage</i>", 10, 10)],
        gates=[gate_row(text, 0.1, 0.5, passed=False) for text in HOSTILE],
        contract=HOSTILE[0],
        version=HOSTILE[1],
        about={"note": HOSTILE[0]},
    )
    for number, text in enumerate(HOSTILE[:4]):
        store_run(top, f"old{number}", schema_version=text)
    store_run(top, "<img src=x>", run_id="<img src=x>")
    return ragtriage.build_history(top).path.read_text("utf-8")


@pytest.fixture(scope="module")
def shell(page: str) -> str:
    """The page without what stands in its scripts."""
    return SCRIPT.sub("", page)


def test_text_from_runs_is_text(shell: str) -> None:
    assert "<script" not in shell
    assert "<img" not in shell
    assert "<b>" not in shell
    assert "\u202e" not in shell
    assert "49" not in shell
    assert "&lt;img src=x&gt;: " in shell or "&lt;img src=x&gt;</code>" in shell
    assert "&lt;/script&gt;&lt;script&gt;document.title=&#39;owned&#39;" in shell


def _data(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(SCRIPT.findall(page)[0][1])
    return found


def test_the_data_cannot_leave_its_element(page: str) -> None:
    scripts = SCRIPT.findall(page)
    assert [attributes for attributes, _ in scripts] == [
        ' type="application/json" id="data"',
        "",
        "",
    ]
    assert not set("<>&") & set(scripts[0][1])
    data = _data(page)
    values = [entry["value"] for entry in data["slices"] if entry["slice"] == "tag"]
    assert HOSTILE[0] in values
    assert r"\u202egnirts\u2028line" in values
    assert max(map(len, values)) <= 121
    assert set(data["failed"][0]) >= {HOSTILE[0], HOSTILE[2]}


def test_what_never_changes_stands_once(tmp_path: Path) -> None:
    for name, mean in (("a", 0.5), ("b", None)):
        rows = [mean_row("recall", 5, mean, 8, 10), mean_row("hit", 5, 1.0, 8, 10)]
        store_run(tmp_path, name, summary=rows)
    (entry,) = _data(ragtriage.build_history(tmp_path).path.read_text("utf-8"))["slices"]
    assert entry["cases"] == 10
    assert entry["metrics"] == {"recall@5": [[0.5, None], 8], "hit@5": [1.0, 8]}
    assert entry["stages"] == {"pass": 10}


def test_only_our_scripts_may_run(page: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    digests = [
        "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
        for _, text in SCRIPT.findall(page)[1:]
    ]
    assert policy.group(1) == (
        f"default-src 'none'; script-src {digests[0]} {digests[1]}; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )
    # It must stand before any script to rule it.
    assert policy.start() < page.index("<script")


def test_the_library_stands_in_it_once_and_nothing_is_loaded(page: str, shell: str) -> None:
    assert page.count("* plotly.js v") == 1
    loads = r"<(?:link|iframe|object|embed|img|base|video|audio|source|form)\b"
    assert not re.search(loads, shell)
    assert not re.search(r"<[^>]*\ssrc=", shell)
    style = shell.partition("<style>")[2].partition("</style>")[0]
    assert not re.search(r"@import|url\(", style)
    assert re.findall(r'href="([^"]*)"', shell).count("a/report.html") >= 1
    assert all(
        href.startswith("#") or href.endswith("/report.html")
        for href in re.findall(r'href="([^"]*)"', shell)
    )


def test_without_scripts_it_is_a_table_of_runs(shell: str) -> None:
    assert "<noscript>" in shell
    assert '<div class="scripted" hidden>' in shell
    runs = shell.partition('<section id="runs"')[2].partition("</section>")[0]
    assert 'href="a/report.html"' in runs
    assert "10 cases passed" in shell


def test_many_runs_are_folded(tmp_path: Path) -> None:
    for number in range(52):
        store_run(tmp_path, f"r{number:02}")
    text = ragtriage.build_history(tmp_path).path.read_text("utf-8")
    assert "<summary>2 older runs</summary>" in text
    shell = SCRIPT.sub("", text)
    assert all(f'href="r{number:02}/report.html"' in shell for number in range(52))
